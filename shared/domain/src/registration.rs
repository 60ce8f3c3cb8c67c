//! Registrations of people for courses: states, transitions, and the seats of a course.

mod answers;
mod availability;
mod calendar;
mod notice;
mod reader;
mod seats;
mod settings;
mod view;
mod work;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use self::answers::missing;
pub(crate) use self::answers::{DATES, DECIMALS, LONG_REPLY, MAX_NUMBER, SHORT_REPLY};
pub use self::{
    answers::{Answer, AnswerError, Clearing, answered, form_language, merged},
    availability::{Availability, Status},
    calendar::{CalendarContent, EventStatus, calendar},
    notice::{RegistrationEvent, RegistrationNotice, next_requests_message, requests_message_id},
    reader::Reader,
    seats::{Cleanup, Seats},
    settings::{Audience, Mode, RegistrationSettings, SettingsView},
    view::{AnswerView, RegistrationView, ViewContext},
    work::{Ending, Retention, Work},
};
use crate::{
    CommitteeId, CourseId, E164, Email, FileId, Instant, Name, Prose, QuestionId, UserId,
    ValueError,
    attendance::Ticket,
    choice::{choice, codes},
    course::Language,
    file::File,
    question::RequiredQuestion,
    user::User,
};

/// Most registrations for one course, active or not; each person has one. Requests in progress may exceed it by a few.
pub const MAX_REGISTRATIONS: u32 = 50_000;
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
    /// What a committee decides on a registration.
    Verdict {
        /// The person gets a seat or a place.
        Approve "APPROVE"
        /// The person is refused.
        Reject "REJECT"
    }
}

choice! {
    /// What the list of a course's registrations has beside them.
    ListPart {
        /// Their answers.
        Answers "answers"
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

choice! {
    /// What an export contains.
    ExportContent {
        /// All about the registrations.
        Registrations "REGISTRATIONS"
        /// A list for the people to sign.
        Sheet "SHEET"
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

/// What registrations show of the account of their person, as it is when they are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Registrant {
    /// First name.
    pub name: Name,
    /// Last name.
    pub last_name: Name,
    /// E-mail address; `None` of an erased account and after the retention period.
    pub email: Option<Email>,
    /// Phone number; `None` also if the account has none.
    pub phone: Option<E164>,
    /// Committee of the account.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
}

/// What a new registration gets.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Its place in the order of registrations.
    pub number: u64,
    /// Its state.
    pub state: RegistrationState,
    /// Its ticket, which no other one has.
    pub ticket: Ticket,
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
    /// What the person shows at the door while they are confirmed; `None` once they are anonymous.
    pub ticket: Option<Ticket>,
    /// First name at the last change of the registration; lists are ordered by it after the last name.
    pub name: Name,
    /// Last name at that time.
    pub last_name: Name,
    /// Whether the personal data was deleted at the end of its retention period.
    pub is_anonymous: bool,
    /// Language of the questions that the person answers.
    pub language: Language,
    /// The questions that have an answer, with the file if that is one.
    pub answered: BTreeMap<QuestionId, Option<FileId>>,
    /// When the person registered, the last time.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
    /// Number of changes; guards concurrent updates.
    pub version: u64,
}

impl RegistrationCard {
    /// What is shown of the account `user` of the person.
    pub fn registrant(&self, user: &User) -> Registrant {
        let (name, last_name) = if self.is_anonymous {
            (&self.name, &self.last_name)
        } else {
            (&user.name, &user.last_name)
        };
        let is_shown = !self.is_anonymous && user.erased_at.is_none();
        Registrant {
            name: name.clone(),
            last_name: last_name.clone(),
            email: is_shown.then(|| user.email.clone()),
            phone: (is_shown && !user.phone.number.is_empty()).then(|| E164::from(&user.phone)),
            committee_id: user.committee_id,
        }
    }

    /// The ticket, if it opens the door.
    pub fn valid_ticket(&self) -> Option<&Ticket> {
        self.ticket.as_ref().filter(|_| self.state == RegistrationState::Confirmed)
    }

    /// The files that answer one of the `required` questions.
    pub fn required_files(&self, required: &[RequiredQuestion]) -> impl Iterator<Item = FileId> {
        required.iter().filter_map(|one| *self.answered.get(&one.question_id)?)
    }

    /// Whether `file`, one of `ready` files, can answer a question of this registration.
    pub fn is_usable(&self, file: FileId, ready: &HashMap<FileId, File>) -> bool {
        ready.get(&file).is_some_and(|file| file.user_id == self.user_id)
    }

    /// The ids of the `required` questions of its language that have no answer. A file counts only if it is usable, one of
    /// `ready` files.
    pub fn missing(
        &self,
        required: &[RequiredQuestion],
        ready: &HashMap<FileId, File>,
    ) -> Vec<QuestionId> {
        let is_answered = |id: &QuestionId| {
            let answer = self.answered.get(id);
            answer.is_some_and(|file| file.is_none_or(|file| self.is_usable(file, ready)))
        };
        missing(required, &self.language, is_answered)
    }
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
    /// The registration of `user` for `course_id`, which follows `before` if the person was registered already, in the
    /// default language and without answers.
    pub fn new(
        before: Option<&Self>,
        course_id: CourseId,
        user: &User,
        Admission { number, state, ticket }: Admission,
        now: Instant,
    ) -> Self {
        let former = before.map(|before| &before.details);
        let card = RegistrationCard {
            course_id,
            user_id: user.user_id,
            number,
            // Replaced by `moved`.
            state,
            ticket: Some(ticket),
            name: user.name.clone(),
            last_name: user.last_name.clone(),
            is_anonymous: false,
            language: Language::default(),
            answered: BTreeMap::new(),
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

    /// The same with the present names of its person, `user`, unless it is anonymous. Every change that knows the account
    /// begins with this.
    #[must_use]
    pub fn named(&self, user: &User) -> Self {
        let mut named = self.clone();
        if !self.card.is_anonymous {
            named.card.name.clone_from(&user.name);
            named.card.last_name.clone_from(&user.last_name);
        }
        named
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

    /// The registration without personal data. Parsing the names that it shows instead does not fail in practice.
    pub fn anonymised(&self, now: Instant) -> Result<Self, ValueError> {
        let (name, last_name) = ("Compte".parse()?, "supprimé".parse()?);
        Ok(self.changed(now, |registration| {
            let card = &mut registration.card;
            (card.name, card.last_name, card.is_anonymous) = (name, last_name, true);
            card.ticket = None;
            card.answered.clear();
            let details = &mut registration.details;
            (details.reason, details.note, details.consent_hash) = (None, None, None);
            registration.history.clear();
        }))
    }

    /// The id of the message about the last change of state: a UUID v5 (RFC 9562 §5.5) of course, person and version, so
    /// that each change has one message.
    pub fn message_id(&self) -> Uuid {
        let name = format!("{} {}", self.card.user_id, self.card.version);
        Uuid::new_v5(&self.card.course_id.uuid(), name.as_bytes())
    }
}

#[cfg(test)]
pub(crate) mod tests;
