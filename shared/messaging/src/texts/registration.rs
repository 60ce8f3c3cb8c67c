//! Mails about registrations for courses.

use domain::{
    Instant, Line, Prose, Zone,
    attendance::CourseSessions,
    committee::Committee,
    course::Course,
    registration::{
        CalendarContent, EventStatus, Registration, RegistrationEvent, RegistrationNotice,
        RegistrationSettings,
        RegistrationState::{Cancelled, Confirmed, Pending, Waitlisted},
        calendar,
    },
};

use super::{
    Part, Words,
    language::{MailOpening, Texts},
};

/// What a mail about a registration names, as it is when the mail is sent.
#[derive(Debug, Clone)]
pub struct RegistrationFacts {
    /// The registration.
    pub registration: Registration,
    /// The course.
    pub course: Course,
    /// Its sessions.
    pub sessions: CourseSessions,
    /// The settings of its registrations.
    pub settings: RegistrationSettings,
    /// Its committee; `None` if it was deleted.
    pub committee: Option<Committee>,
    /// The place on the waiting list, up to 100.
    pub position: Option<usize>,
    /// Whether the mailbox is the person's. Another's gets no texts that people wrote.
    pub is_vouched_for: bool,
}

/// What a mail about registrations that wait for a decision names.
#[derive(Debug, Clone)]
pub struct RequestsFacts {
    /// The course.
    pub course: Course,
    /// How many wait.
    pub pending: u32,
}

impl RegistrationFacts {
    /// The title of the course, if it may be shown.
    pub(super) fn title(&self) -> Option<&Line<200>> {
        self.is_vouched_for.then_some(&self.course.summary.course_title)
    }

    /// The event to attach: the course of a confirmed person, or that it is cancelled for them.
    pub(super) fn calendar(
        &self,
        notice: &RegistrationNotice,
        public_url: &str,
        now: Instant,
    ) -> Option<String> {
        let status = self.event_status(notice)?;
        let join_info = self.settings.join_info.as_ref().filter(|_| notice.state == Confirmed);
        let (course, sessions) = (&self.course, &self.sessions);
        calendar(&CalendarContent { course, sessions, join_info }, status, public_url, now)
    }

    /// The status of the event that the person of `notice` has in their calendar, if any.
    fn event_status(&self, notice: &RegistrationNotice) -> Option<EventStatus> {
        let has_event = self.is_vouched_for && self.course.summary.start_at.is_some();
        match (notice.state, notice.from) {
            (Confirmed, _) if has_event => Some(EventStatus::Confirmed),
            (Cancelled, Some(Confirmed)) if has_event => Some(EventStatus::Cancelled),
            _ => None,
        }
    }
}

/// The subject without the title of the course, and the parts between greeting and closing.
pub(super) fn registration_words(
    notice: &RegistrationNotice,
    facts: Option<&RegistrationFacts>,
    public_url: &str,
    zone: &Zone,
) -> Words {
    let texts = Texts::of(&notice.language);
    let MailOpening { subject, what } = opening(notice, texts);
    let what = Part::Paragraph((*what).to_owned());
    let details = facts.map(|facts| details(notice, facts, texts, public_url, zone));
    (subject, [what].into_iter().chain(details.into_iter().flatten()).collect())
}

/// The subject without the title of the course, and the parts between greeting and closing.
pub(super) fn requests_words(
    facts: Option<&RequestsFacts>,
    texts: &'static Texts,
    public_url: &str,
) -> Words {
    let what = Part::Paragraph(texts.requests.what.to_owned());
    let details = facts.map(|RequestsFacts { course, pending }| {
        let facts = vec![
            (texts.course, course.summary.course_title.as_str().to_owned()),
            (texts.waiting, pending.to_string()),
        ];
        [Part::Facts(facts), link(course, texts, public_url)]
    });
    (texts.requests.subject, [what].into_iter().chain(details.into_iter().flatten()).collect())
}

const fn opening<'a>(notice: &RegistrationNotice, texts: &'a Texts) -> &'a MailOpening {
    match (notice.event, notice.state) {
        (RegistrationEvent::Registered, Confirmed) => &texts.confirmed,
        (RegistrationEvent::Registered, Pending) => &texts.received,
        (RegistrationEvent::Registered, _) => &texts.waitlisted,
        (RegistrationEvent::Approved, Waitlisted) => &texts.accepted_and_waitlisted,
        (RegistrationEvent::Approved, _) => &texts.accepted,
        (RegistrationEvent::Promoted, _) => &texts.promoted,
        (RegistrationEvent::Rejected, _) => &texts.rejected,
        (RegistrationEvent::CancelledByPerson, _) => &texts.cancelled_by_person,
        (RegistrationEvent::CancelledByCommittee, _) => &texts.cancelled_by_committee,
        (RegistrationEvent::CourseCancelled, _) => &texts.course_cancelled,
        (RegistrationEvent::Expired, _) => match notice.from {
            Some(Pending) => &texts.expired_undecided,
            _ => &texts.expired_waiting,
        },
    }
}

/// The facts of the course and the registration, and the link to the page of the course.
fn details(
    notice: &RegistrationNotice,
    facts: &RegistrationFacts,
    texts: &'static Texts,
    public_url: &str,
    zone: &Zone,
) -> Vec<Part> {
    let RegistrationFacts { registration, course, settings, committee, position, .. } = facts;
    let summary = &course.summary;
    let names = committee.as_ref().map(|committee| texts.name_of(committee));
    let join_info = settings.join_info.as_ref().filter(|_| notice.state == Confirmed);
    let reason = registration.details.reason.as_ref();
    let written = |text: Option<&str>| text.filter(|_| facts.is_vouched_for).map(str::to_owned);
    let (place, contact) = (summary.place(), course.details.contact());
    let named = [
        (texts.course, written(Some(summary.course_title.as_str()))),
        (texts.start, summary.start_at.map(|at| texts.moment(at, zone))),
        (texts.end, summary.end_at.map(|at| texts.moment(at, zone))),
        (texts.place, written(place.as_deref())),
        (texts.committee, written(names.map(Line::as_str))),
        (texts.contact, written(contact.as_deref())),
        (texts.position, position.map(|position| position.to_string())),
        (texts.reason, written(reason.map(Prose::as_str))),
        (texts.join_info, written(join_info.map(Prose::as_str))),
    ];
    let named: Vec<_> = named.into_iter().filter_map(|(name, fact)| Some((name, fact?))).collect();
    let mut parts = Vec::new();
    if !named.is_empty() {
        parts.push(Part::Facts(named));
    }
    parts.extend(facts.event_status(notice).map(|status| {
        let text = match status {
            EventStatus::Cancelled => texts.cancelled_event_attached,
            _ => texts.event_attached,
        };
        Part::Paragraph(text.to_owned())
    }));
    parts.push(link(course, texts, public_url));
    parts
}

pub(super) fn link(course: &Course, texts: &Texts, public_url: &str) -> Part {
    Part::Button { intro: texts.page, button: texts.page_button, url: course.page(public_url) }
}
