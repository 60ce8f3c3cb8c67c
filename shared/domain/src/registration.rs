//! Registrations of people for courses: states, transitions, and the seats of a course.

mod answers;
mod availability;
mod notice;
mod settings;
mod view;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::{
    answers::{Answer, AnswerError, Clearing, answered, form_language, merged, missing},
    availability::{Availability, Status},
    notice::{RegistrationEvent, RegistrationNotice},
    settings::{Audience, Mode, RegistrationSettings},
    view::RegistrationView,
};
use crate::{
    CommitteeId, CourseId, E164, Email, Instant, Name, Prose, QuestionId, UserId, ValueError,
    choice::{choice, codes},
    course::Language,
    user::User,
};

/// Highest number of a registration in one course.
pub const MAX_NUMBER: u64 = 50_000;
/// Most registrations of one person for one course, one after the other.
pub const MAX_TIMES: u32 = 10;
/// Most places of a waiting list that are counted.
pub const MAX_POSITION: u16 = 100;
/// Most entries of a history; older ones are dropped.
const MAX_HISTORY: usize = 100;

/// The reason of a refusal or cancellation.
pub type Reason = Prose<500>;
/// The committee's note on a registration.
pub type Note = Prose<1000>;

choice! {
    /// State of a registration. The first three are active.
    RegistrationState {
        /// Waits for the committee's decision.
        Pending "PENDING"
        /// On the waiting list.
        Waitlisted "WAITLISTED"
        /// Has a seat.
        Confirmed "CONFIRMED"
        /// Refused by the committee.
        Rejected "REJECTED"
        /// Cancelled by the person, the committee or the service.
        Cancelled "CANCELLED"
        /// The course began before a seat was free.
        Expired "EXPIRED"
    }
}

impl RegistrationState {
    /// The states that take part in the course or wait for it.
    pub const ACTIVE: [Self; 3] = [Self::Pending, Self::Waitlisted, Self::Confirmed];

    /// Whether it is one of [`ACTIVE`](Self::ACTIVE).
    pub fn is_active(self) -> bool {
        Self::ACTIVE.contains(&self)
    }
}

choice! {
    /// The order of a course's registrations.
    ListOrder {
        /// By number.
        Number "number"
        /// By last name and name.
        Name "name"
    }
}

choice! {
    /// The format of an export of registrations.
    ExportFormat {
        /// A workbook of Excel 2007 and later.
        Xlsx "XLSX"
        /// Text with separators, as Excel reads it.
        Csv "CSV"
    }
}

choice! {
    /// The language of an export's headings.
    HeadingLanguage {
        /// French.
        French "FR"
        /// Arabic.
        Arabic "AR"
        /// English.
        English "EN"
    }
}

codes! {
    /// Who moved a registration to another state.
    Party {
        /// The registered person.
        Person "PERSON"
        /// A writer of the course.
        Committee "COMMITTEE"
        /// The service.
        System "SYSTEM"
    }
}

/// What a registration copies of the account, so that lists need no second read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registrant {
    /// First name.
    pub name: Name,
    /// Last name.
    pub last_name: Name,
    /// E-mail address.
    pub email: Email,
    /// Phone number; `None` if the account has none.
    pub phone: Option<E164>,
    /// Committee of the account.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
}

impl Registrant {
    /// What is shown of the account `user` in `committee_id` after its erasure. Parsing does not fail in practice.
    pub fn erased(user: UserId, committee_id: CommitteeId) -> Result<Self, ValueError> {
        Ok(Self {
            name: "Compte".parse()?,
            last_name: "supprimé".parse()?,
            email: format!("{user}@erased.invalid").parse()?,
            phone: None,
            committee_id,
        })
    }
}

impl From<&User> for Registrant {
    fn from(user: &User) -> Self {
        Self {
            name: user.name.clone(),
            last_name: user.last_name.clone(),
            email: user.email.clone(),
            phone: (!user.phone.number.is_empty()).then(|| E164::from(&user.phone)),
            committee_id: user.committee_id,
        }
    }
}

/// The part of a registration that lists contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationCard {
    /// The course.
    #[serde(rename = "courseID")]
    pub course_id: CourseId,
    /// The person.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// Place in the order of registrations of the course, from 1; never given twice.
    pub number: u64,
    /// State.
    pub state: RegistrationState,
    /// The person's account.
    #[serde(flatten)]
    pub person: Registrant,
    /// Language of the answered questions; `None` if the course had no questions.
    pub language: Option<Language>,
    /// The questions that have an answer.
    pub answered: Vec<QuestionId>,
    /// When the person registered, the last time.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
    /// Number of changes; guards concurrent updates.
    pub version: u64,
}

/// The fields of a registration that lists of a course leave out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationDetails {
    /// Why it was refused or cancelled.
    pub reason: Option<Reason>,
    /// Who cancelled it.
    pub cancelled_by: Option<Party>,
    /// When the person consented to the course's text.
    pub consent_at: Option<Instant>,
    /// SHA-256 of that text, in hexadecimal digits.
    pub consent_hash: Option<String>,
    /// When the seat was given.
    pub confirmed_at: Option<Instant>,
    /// The committee's note.
    pub note: Option<Note>,
    /// How often the person registered for this course.
    pub times: u32,
    /// Version of the last change of state, which the last message is about.
    pub state_version: u64,
}

/// One change of state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// When.
    pub at: Instant,
    /// The state before; `None` for the first registration.
    pub from: Option<RegistrationState>,
    /// The state after.
    pub to: RegistrationState,
    /// Who did it.
    pub by: Party,
    /// Why.
    pub reason: Option<Reason>,
}

/// The registration of one person for one course, without its answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// What lists contain.
    pub card: RegistrationCard,
    /// The other fields.
    pub details: RegistrationDetails,
    /// All changes of state, the oldest first.
    #[serde(default)]
    pub history: Vec<HistoryEntry>,
}

impl Registration {
    /// The registration of `user` for `course_id`, which follows `before` if the person was registered already.
    pub fn new(
        before: Option<&Self>,
        course_id: CourseId,
        user: &User,
        (number, state): (u64, RegistrationState),
        now: Instant,
    ) -> Self {
        let former = before.map(|before| &before.details);
        let card = RegistrationCard {
            course_id,
            user_id: user.user_id,
            number,
            // Replaced by `moved`.
            state,
            person: user.into(),
            language: None,
            answered: Vec::new(),
            created_at: now,
            updated_at: now,
            version: before.map_or(0, |before| before.card.version),
        };
        let details = RegistrationDetails {
            note: former.and_then(|former| former.note.clone()),
            times: former.map_or(1, |former| former.times + 1),
            ..RegistrationDetails::default()
        };
        let history = before.map(|before| before.history.clone()).unwrap_or_default();
        let from = before.map(|before| before.card.state);
        Self { card, details, history }.moved_from(from, state, Party::Person, None, now)
    }

    /// The registration in the state `to`, with a higher version and one entry more in its history.
    #[must_use]
    pub fn moved(
        &self,
        to: RegistrationState,
        by: Party,
        reason: Option<Reason>,
        now: Instant,
    ) -> Self {
        self.clone().moved_from(Some(self.card.state), to, by, reason, now)
    }

    fn moved_from(
        mut self,
        from: Option<RegistrationState>,
        to: RegistrationState,
        by: Party,
        reason: Option<Reason>,
        now: Instant,
    ) -> Self {
        let Self { card, details, history } = &mut self;
        card.state = to;
        card.version += 1;
        card.updated_at = now.max(card.updated_at);
        details.state_version = card.version;
        details.reason.clone_from(&reason);
        details.cancelled_by = (to == RegistrationState::Cancelled).then_some(by);
        if to == RegistrationState::Confirmed {
            details.confirmed_at = Some(now);
        }
        history.push(HistoryEntry { at: now, from, to, by, reason });
        history.drain(..history.len().saturating_sub(MAX_HISTORY));
        self
    }

    /// Applies `change`, which leaves the state, and raises the version.
    #[must_use]
    pub fn changed(&self, now: Instant, change: impl FnOnce(&mut Self)) -> Self {
        let mut after = self.clone();
        change(&mut after);
        after.card.version += 1;
        after.card.updated_at = now.max(self.card.updated_at);
        after
    }

    /// The registration without personal data. `person` is that of an erased account.
    #[must_use]
    pub fn anonymised(&self, person: Registrant, now: Instant) -> Self {
        self.changed(now, |registration| {
            registration.card.person = person;
            registration.card.answered.clear();
            let details = &mut registration.details;
            (details.reason, details.note, details.consent_hash) = (None, None, None);
            registration.history.clear();
        })
    }

    /// The id of the message about the last change of state: a UUID v5 (RFC 9562 §5.5) of course, person and version, so
    /// that each change has one message.
    pub fn message_id(&self) -> Uuid {
        let name = format!("{} {}", self.card.user_id, self.card.version);
        Uuid::new_v5(&self.card.course_id.uuid(), name.as_bytes())
    }
}

/// The seats of a course, in one item that is part of every change of state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seats {
    /// Number of confirmed registrations.
    pub taken: u32,
    /// Length of the waiting list.
    pub waiting: u32,
    /// Registrations that wait for the committee.
    pub pending: u32,
    /// Number of seats; `None` without a limit.
    #[serde(rename = "seats")]
    pub capacity: Option<u32>,
    /// Number of changes of settings, course state and question types, none of which a registration may overlook.
    pub revision: u64,
    /// Number of all changes.
    pub changes: u64,
    /// Whether anybody has ever registered.
    pub registered: bool,
}

impl Seats {
    /// The number of seats that are not taken; `None` without a limit.
    pub fn free(&self) -> Option<u32> {
        self.capacity.map(|capacity| capacity.saturating_sub(self.taken))
    }

    /// Whether a seat is not taken.
    pub fn has_room(&self) -> bool {
        self.free() != Some(0)
    }

    /// Where a newcomer or an approved person gets: a seat if one is free and nobody waits, else the waiting list if
    /// fewer than `waitlist_limit` are on it.
    pub fn place(&self, waitlist_limit: u32) -> Option<RegistrationState> {
        if self.has_room() && self.waiting == 0 {
            Some(RegistrationState::Confirmed)
        } else {
            (self.waiting < waitlist_limit).then_some(RegistrationState::Waitlisted)
        }
    }

    /// Active registrations.
    pub fn active(&self) -> u32 {
        self.taken + self.waiting + self.pending
    }
}

#[cfg(test)]
mod tests;
