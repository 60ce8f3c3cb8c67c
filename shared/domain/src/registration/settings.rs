//! The settings of a course's registrations.

use serde::{Deserialize, Serialize};

use super::Reason;
use crate::{
    Instant, Prose, UserId, certificate::CertificateRules, choice::choice, course::CourseSummary,
    permissions::Right, user::User,
};

choice! {
    /// How people register.
    Mode {
        /// Nobody can register; earlier registrations stay and are promoted.
        None "NONE"
        /// First come, first served.
        Automatic "AUTOMATIC"
        /// The committee decides on each registration.
        Manual "MANUAL"
    }
}

choice! {
    /// Who can register.
    Audience {
        /// Every verified account.
        All "ALL"
        /// Members of the course's committee.
        Committee "COMMITTEE"
    }
}

/// The settings; by default nobody can register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationSettings {
    /// How people register.
    pub mode: Mode,
    /// Number of seats, at most 20,000; `None` without a limit.
    pub capacity: Option<u32>,
    /// Longest waiting list, at most 10,000.
    pub waitlist_limit: u32,
    /// When registration opens; `None`: with the publication.
    pub opens_at: Option<Instant>,
    /// When it closes; `None`: when the course starts.
    pub closes_at: Option<Instant>,
    /// Until when a confirmed person can cancel; `None`: until the course starts.
    pub cancel_until: Option<Instant>,
    /// Who can register.
    pub audience: Audience,
    /// The text to which people must consent.
    pub consent_text: Option<Prose<2000>>,
    /// Room or link, for confirmed people.
    pub join_info: Option<Prose<2000>>,
    /// How many hours before the first session of a day confirmed people are reminded of it, at most
    /// [`MAX_REMINDER_HOURS`](crate::attendance::MAX_REMINDER_HOURS); `None`: never.
    pub reminder_hours: Option<u8>,
    /// Which certificates people get; `None`: none.
    pub certificate: Option<CertificateRules>,
    /// When the course was cancelled.
    pub cancelled_at: Option<Instant>,
    /// Why.
    pub cancel_reason: Option<Reason>,
    /// Time of the last change; `None` for the defaults.
    pub updated_at: Option<Instant>,
}

impl Default for RegistrationSettings {
    fn default() -> Self {
        Self {
            mode: Mode::None,
            capacity: None,
            waitlist_limit: 0,
            opens_at: None,
            closes_at: None,
            cancel_until: None,
            audience: Audience::All,
            consent_text: None,
            join_info: None,
            reminder_hours: Some(24),
            certificate: None,
            cancelled_at: None,
            cancel_reason: None,
            updated_at: None,
        }
    }
}

/// The settings as responses show them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingsView {
    /// The settings, with `joinInfo` for writers of the course alone.
    #[serde(flatten)]
    pub settings: RegistrationSettings,
    /// Who may mark attendance beside the writers; for these alone.
    pub markers: Option<Vec<UserId>>,
}

impl RegistrationSettings {
    /// Most seats.
    pub const MAX_CAPACITY: u32 = 20_000;

    /// When registration for `course` opens.
    pub fn opening(&self, course: &CourseSummary) -> Option<Instant> {
        self.opens_at.or(course.published_at)
    }

    /// When registration for `course` closes, at the latest at its end; `None`: never. Registrations that the committee has
    /// not decided on expire when the course starts, so none begins after it.
    pub fn closing(&self, course: &CourseSummary) -> Option<Instant> {
        let latest = if self.mode == Mode::Manual { course.start() } else { course.end() };
        [self.closes_at.or(course.start()), latest].into_iter().flatten().min()
    }

    /// Until when confirmed people can cancel; `None`: always.
    pub fn cancellation_end(&self, course: &CourseSummary) -> Option<Instant> {
        self.cancel_until.or(course.start())
    }

    /// Whether `other` decides alike who can register and who gets a seat. The texts, reminders, certificates, and until when
    /// people can cancel, decide neither.
    pub fn decides_as(&self, other: &Self) -> bool {
        let deciding = |settings: &Self| Self {
            cancel_until: None,
            consent_text: None,
            join_info: None,
            reminder_hours: None,
            certificate: None,
            cancel_reason: None,
            updated_at: None,
            ..settings.clone()
        };
        deciding(self) == deciding(other)
    }
}

impl CourseSummary {
    /// Whether `user` decides on registrations for the course: an active, verified account that may write it.
    pub fn is_decided_by(&self, user: &User) -> bool {
        let may_write = user.rights().may(Right::WriteCourses, self.created_by, self.committee_id);
        user.is_active && user.is_verified && may_write
    }

    /// Whether `user` may mark attendance if they are one of the course's markers.
    pub fn is_marked_by(&self, user: &User) -> bool {
        user.is_active && user.is_verified && user.committee_id == self.committee_id
    }

    /// When the course starts: at its start, else its end; `None` without dates.
    pub fn start(&self) -> Option<Instant> {
        self.start_at.or(self.end_at)
    }

    /// Whether the course has started at `now`.
    pub fn has_started(&self, now: Instant) -> bool {
        self.start().is_some_and(|start| start <= now)
    }

    /// Whether the course is over at `now`.
    pub fn has_ended(&self, now: Instant) -> bool {
        self.end().is_some_and(|end| end <= now)
    }

    /// When the course ends: at its end, else its start; `None` without dates.
    pub fn end(&self) -> Option<Instant> {
        self.end_at.or(self.start_at)
    }
}
