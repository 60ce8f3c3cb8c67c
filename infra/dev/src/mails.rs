//! The page with the mails about registrations and certificates, in each language.

use std::{fmt::Write, time::Duration};

use cloud::LocalError;
use domain::{
    Instant, Language, Recipient,
    attendance::{
        Announcement, AnnouncementNotice, CourseSessions, Marks, Reminder, Schedule, Ticket,
    },
    certificate::{
        Candidate, CertificateCode, CertificateKind, CertificateNotice, CertificateRules, Issue,
    },
    committee::Committee,
    course::Course,
    outbox::{Notification, OutboxMessage},
    registration::{
        Admission, Registration, RegistrationEvent as Event, RegistrationNotice,
        RegistrationSettings,
        RegistrationState::{self, Cancelled, Confirmed, Expired, Pending, Rejected, Waitlisted},
    },
    user::User,
};
use messaging::texts::{
    AnnouncementFacts, CertificateFacts, Facts, MailTexts, RegistrationFacts, RequestsFacts,
};
use serde_json::json;

use crate::seed::{people, records::all};

/// A change of a registration that a mail reports.
struct Change {
    event: Event,
    from: Option<RegistrationState>,
    state: RegistrationState,
}

const HOUR: Duration = Duration::from_secs(3600);

const CHANGES: [Change; 12] = [
    Change { event: Event::Registered, from: None, state: Confirmed },
    Change { event: Event::Registered, from: None, state: Waitlisted },
    Change { event: Event::Registered, from: None, state: Pending },
    Change { event: Event::Approved, from: Some(Pending), state: Confirmed },
    Change { event: Event::Approved, from: Some(Pending), state: Waitlisted },
    Change { event: Event::Promoted, from: Some(Waitlisted), state: Confirmed },
    Change { event: Event::Rejected, from: Some(Pending), state: Rejected },
    Change { event: Event::CancelledByPerson, from: Some(Confirmed), state: Cancelled },
    Change { event: Event::CancelledByCommittee, from: Some(Confirmed), state: Cancelled },
    Change { event: Event::CourseCancelled, from: Some(Confirmed), state: Cancelled },
    Change { event: Event::Expired, from: Some(Pending), state: Expired },
    Change { event: Event::Expired, from: Some(Waitlisted), state: Expired },
];

/// The page: every mail in French, for a course in French, and in Arabic, for one in Arabic.
///
/// # Errors
/// When the demonstration data, which it is about, is malformed.
pub(crate) fn page() -> Result<String, LocalError> {
    let mut page = "# Mails about registrations\n\nWritten by `cargo dev update` from `shared/messaging/src/texts`. Times and \
                    places are those of the demonstration data.\n"
        .to_owned();
    let courses = all::<Course>("courses", &json!({ "questionCount": 0 }))?;
    let committees = all::<Committee>("committees", &json!({}))?;
    let (people, now) = (people()?, Instant::from_unix_milliseconds(0));
    let texts = MailTexts {
        public_url: "https://halqa.example.org".to_owned(),
        zone: "Africa/Tunis".parse().map_err(LocalError::new)?,
        language: Language::default(),
    };
    let mut add = |user: &User, notification, facts| {
        let (name, to) = (user.name.as_str().to_owned(), Recipient::Mail(user.email.clone()));
        let message = OutboxMessage { to, about: user.user_id, name, notification };
        let mail = texts.mail(&message, &user.email, &facts, now);
        // Writing to a string does not fail.
        let _ = write!(page, "\n## {}\n\n```text\n{}```\n", mail.subject, mail.text);
    };
    let user = people.first();
    for Change { event, from, state } in CHANGES {
        for course in in_each_language(&courses) {
            let (Some(user), Some(committee)) = (user, committees.first()) else { continue };
            let course_id = course.summary.course_id;
            let mut registration = Registration::new(None, course_id, user, admission(state), now);
            registration.card.language = course.summary.language.clone();
            let notice =
                RegistrationNotice { from, ..RegistrationNotice::new(event, &registration) };
            let facts = RegistrationFacts {
                registration,
                course: course.clone(),
                sessions: CourseSessions::default(),
                settings: RegistrationSettings::default(),
                committee: Some(committee.clone()),
                position: (state == Waitlisted).then_some(3),
                is_vouched_for: true,
            };
            let facts = Facts::Registration(Box::new(facts));
            add(user, Notification::Registration(Box::new(notice)), facts);
        }
    }
    for course in in_each_language(&courses) {
        let (Some(user), Some(committee)) = (user, committees.first()) else { continue };
        let summary = &course.summary;
        let Some(start) = summary.start_at else { continue };
        let settings = RegistrationSettings::default();
        let sessions = CourseSessions::default();
        let schedule = Schedule::new(summary, &settings, &sessions);
        let mut former = schedule.clone();
        for slot in &mut former.slots {
            slot.start = slot.start.map(|start| start.before(HOUR));
        }
        let reminder = Announcement::Reminder(Reminder { start, hours: 24 });
        for announcement in [reminder, Announcement::Change(now)] {
            let (course_id, language) = (summary.course_id, summary.language.clone());
            let notice = AnnouncementNotice { course_id, number: 1, announcement, language };
            let facts = AnnouncementFacts {
                course: course.clone(),
                sessions: sessions.clone(),
                schedule: schedule.clone(),
                former: Some(former.clone()),
                committee: Some(committee.clone()),
                ticket: Some(admission(Confirmed).ticket),
                is_vouched_for: true,
            };
            let facts = Facts::Announcement(Box::new(facts));
            add(user, Notification::Announcement(Box::new(notice)), facts);
        }
    }
    for course in in_each_language(&courses) {
        let (Some(user), Some(committee)) = (user, committees.first()) else { continue };
        let issued = Issue {
            course: &course.summary,
            sessions: &CourseSessions::default(),
            committee,
            rules: &CertificateRules {
                kind: CertificateKind::Attendance,
                minimum_percent: CertificateRules::MINIMUM_PERCENT,
                text: None,
                signed_by: None,
                signed_as: None,
                valid_months: None,
            },
        };
        let mut registration =
            Registration::new(None, course.summary.course_id, user, admission(Confirmed), now);
        registration.card.language = course.summary.language.clone();
        let candidate = Candidate { registration: &registration, user, marks: &Marks::default() };
        let issued = issued.certificate(CertificateCode::new([17; 16]), candidate, now);
        let reason = "Le nom est corrigé : une autre attestation suit."
            .parse()
            .map_err(|_| LocalError::new("a reason is malformed"))?;
        for certificate in [issued.clone(), issued.revoked(reason, now)] {
            let notice = CertificateNotice {
                code: certificate.snapshot.code.clone(),
                is_revoked: certificate.revocation.is_some(),
                language: certificate.language.clone(),
            };
            let course = Some(course.clone());
            let facts = CertificateFacts { certificate, course, is_vouched_for: true };
            let facts = Facts::Certificate(Box::new(facts));
            add(user, Notification::Certificate(Box::new(notice)), facts);
        }
    }
    for course in in_each_language(&courses) {
        let Some(user) = user else { continue };
        let (course_id, language) = (course.summary.course_id, course.summary.language.clone());
        let facts = RequestsFacts { course: course.clone(), pending: 3 };
        let facts = Facts::Requests(Box::new(facts));
        add(user, Notification::Requests { course_id, language }, facts);
    }
    Ok(page)
}

fn admission(state: RegistrationState) -> Admission {
    Admission { number: 1, state, ticket: Ticket::new([17; 10]) }
}

/// The first course in each language.
fn in_each_language(courses: &[Course]) -> impl Iterator<Item = &Course> {
    let of = |code| courses.iter().find(move |course| course.summary.language.code() == code);
    ["FR", "AR"].into_iter().filter_map(of)
}
