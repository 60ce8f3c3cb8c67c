//! Who gets a certificate.

use super::{
    Certificate, CertificateCode, CertificateRules, IssuedBy, Snapshot, printable::unprintable,
};
use crate::{
    Instant, Name,
    attendance::{CourseSessions, Marks},
    committee::Committee,
    course::CourseSummary,
    registration::{Registration, RegistrationState},
    user::User,
};

/// Why a person gets no certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// They are not confirmed.
    NotConfirmed,
    /// No session that counts has a mark of them.
    NotMarked,
    /// They have too few minutes.
    NotEnough,
    /// These characters of their name cannot be printed.
    NameNotPrintable(Vec<char>),
}

/// A course that gives certificates.
#[derive(Debug, Clone, Copy)]
pub struct Issue<'a> {
    /// The course.
    pub course: &'a CourseSummary,
    /// Its sessions.
    pub sessions: &'a CourseSessions,
    /// Its committee.
    pub committee: &'a Committee,
    /// Which certificates it gives.
    pub rules: &'a CertificateRules,
}

/// A person who may get a certificate.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Their registration for the course.
    pub registration: &'a Registration,
    /// Their account.
    pub user: &'a User,
    /// Their marks.
    pub marks: &'a Marks,
}

impl Issue<'_> {
    /// The texts of the course that cannot be printed: the field, as an error names it, and the characters.
    pub fn unprintable(&self) -> Vec<(String, Vec<char>)> {
        let Self { course, committee, rules, .. } = self;
        let mut texts = vec![
            ("courseTitle".to_owned(), Some(course.course_title.as_str())),
            (
                "courseSubTitle".to_owned(),
                course.course_sub_title.as_ref().map(|text| text.as_str()),
            ),
            ("location".to_owned(), course.location.as_ref().map(|text| text.as_str())),
            ("city".to_owned(), course.city.as_ref().map(|text| text.as_str())),
            ("committee.nameArabe".to_owned(), Some(committee.name_arabe.as_str())),
            ("committee.nameLatin".to_owned(), Some(committee.name_latin.as_str())),
            ("certificate.text".to_owned(), rules.text.as_ref().map(|text| text.as_str())),
            ("certificate.signedBy".to_owned(), rules.signed_by.as_ref().map(|text| text.as_str())),
            ("certificate.signedAs".to_owned(), rules.signed_as.as_ref().map(|text| text.as_str())),
        ];
        for (i, session) in self.sessions.iter().enumerate().filter(|(_, one)| !one.cancelled) {
            let names = session.trainers.iter().enumerate();
            texts
                .extend(names.map(|(j, name)| {
                    (format!("sessions[{i}].trainers[{j}]"), Some(name.as_str()))
                }));
        }
        let checked =
            texts.into_iter().map(|(field, text)| (field, unprintable(text.unwrap_or(""))));
        checked.filter(|(_, characters)| !characters.is_empty()).collect()
    }

    /// Why the person gets no certificate, if they do not. Too few minutes are enough if `is_overridden`.
    pub fn refusal(&self, candidate: Candidate<'_>, is_overridden: bool) -> Option<Refusal> {
        let Candidate { registration, user, marks } = candidate;
        if registration.card.state != RegistrationState::Confirmed {
            return Some(Refusal::NotConfirmed);
        }
        let marked = |id| marks.0.get(&id).is_some_and(|mark| mark.status.is_some());
        if !self.sessions.held().any(|session| marked(session.session_id)) {
            return Some(Refusal::NotMarked);
        }
        let (minutes, total) = self.minutes(marks);
        let needed = u64::from(self.rules.minimum_percent) * u64::from(total);
        if !is_overridden && u64::from(minutes) * 100 < needed {
            return Some(Refusal::NotEnough);
        }
        let characters = unprintable(&format!("{} {}", user.name, user.last_name));
        (!characters.is_empty()).then_some(Refusal::NameNotPrintable(characters))
    }

    /// The certificate `code` that the person gets at `now`.
    pub fn certificate(
        &self,
        code: CertificateCode,
        candidate: Candidate<'_>,
        now: Instant,
    ) -> Certificate {
        let Self { course, committee, rules, .. } = self;
        let Candidate { registration, user, marks } = candidate;
        let (minutes, total) = self.minutes(marks);
        let snapshot = Snapshot {
            code,
            kind: rules.kind,
            name: Some(user.name.clone()),
            last_name: Some(user.last_name.clone()),
            course_title: course.course_title.clone(),
            course_sub_title: course.course_sub_title.clone(),
            committee: IssuedBy {
                name_arabe: committee.name_arabe.clone(),
                name_latin: committee.name_latin.clone(),
            },
            location: course.location.clone(),
            city: course.city.clone(),
            start_at: course.start_at,
            end_at: course.end_at,
            minutes: Some(minutes),
            total_minutes: Some(total),
            trainers: self.trainers(),
            text: rules.text.clone(),
            signed_by: rules.signed_by.clone(),
            signed_as: rules.signed_as.clone(),
            issued_at: now,
            expires_at: rules.valid_months.map(|months| now.after_months(months)),
        };
        Certificate {
            snapshot,
            course_id: course.course_id,
            user_id: Some(user.user_id),
            language: registration.card.language.clone(),
            revocation: None,
            version: 1,
        }
    }

    /// The minutes of a person with `marks`, and those of all sessions.
    fn minutes(&self, marks: &Marks) -> (u32, u32) {
        (marks.minutes(self.sessions), self.sessions.minutes())
    }

    /// Who held the sessions, each once, in their order.
    fn trainers(&self) -> Vec<Name> {
        let mut trainers: Vec<Name> = Vec::new();
        for name in self.sessions.held().flat_map(|session| &session.trainers) {
            if !trainers.contains(name) {
                trainers.push(name.clone());
            }
        }
        trainers
    }
}
