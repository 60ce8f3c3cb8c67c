//! Audit entries: who changed which account, committee, course, opt-out or subdomain or sent which batch, when, and
//! what changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    CommitteeId, E164, Instant, UserId,
    attendance::{CourseSessionView, CourseSessions},
    batch::Batch,
    committee::Committee,
    course::{Course, CourseState, CourseSummary},
    file::File,
    question::Question,
    registration::{RegistrationCard, RegistrationSettings},
    user::User,
};

/// The audited action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    /// An account was activated or deactivated.
    UserStatusChanged,
    /// An administrator changed an account.
    TeamMemberUpdated,
    /// An administrator turned off an account's one-time passwords.
    OtpReset,
    /// An operator ended all sessions of an account, which the entry names as actor.
    SessionsEnded,
    /// An account was erased, by its owner or a super admin.
    UserDeleted,
    /// Somebody else removed a public file of an account.
    FileRemoved,
    /// Mails to an address of an account were stopped.
    MailsStopped,
    /// The owner of the mailbox proved that it receives mails again, or an administrator lifted the stop.
    MailsResumed,
    /// A committee was created.
    CommitteeCreated,
    /// A committee was changed.
    CommitteeUpdated,
    /// A published course was changed.
    CourseUpdated,
    /// A question was changed for which people may have given answers.
    QuestionUpdated,
    /// Such a question was deleted.
    QuestionDeleted,
    /// A course was copied to a new draft.
    CourseCopied,
    /// A course was published.
    CoursePublished,
    /// A published course became a draft again.
    CourseReturnedToDraft,
    /// A course was archived.
    CourseArchived,
    /// The settings of a course's registrations were changed.
    RegistrationSettingsUpdated,
    /// A registration was approved.
    RegistrationApproved,
    /// A registration was rejected.
    RegistrationRejected,
    /// The committee cancelled a registration.
    RegistrationCancelled,
    /// The committee changed answers or the note of a registration.
    RegistrationUpdated,
    /// The committee opened a file that answers a question.
    RegistrationFileRead,
    /// The registrations for a course were exported.
    RegistrationsExported,
    /// A course was cancelled.
    CourseCancelled,
    /// The sessions of a course were replaced.
    SessionsUpdated,
    /// Attendance of a course was marked by hand.
    AttendanceCorrected,
    /// Certificates of a course were issued. Recorded before they are stored.
    CertificatesIssued,
    /// A certificate was revoked.
    CertificateRevoked,
    /// A batch of text messages was accepted.
    BatchAccepted,
    /// A phone number was added to a list of opt-outs.
    OptOutAdded,
    /// A phone number was removed from a list of opt-outs.
    OptOutRemoved,
    /// A subdomain was requested. Recorded before the call to cPanel.
    SubdomainRequested,
}

/// The kind of object that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TargetType {
    /// A user account.
    User,
    /// A committee.
    Committee,
    /// A course.
    Course,
    /// A list of opt-outs.
    OptOuts,
    /// A batch of text messages.
    Batch,
    /// A subdomain of the hosting account.
    Subdomain,
    /// A file.
    File,
}

/// Changed values by field name.
pub type AuditValues = BTreeMap<String, Value>;

/// Values by field name, from pairs.
pub fn values<const N: usize>(values: [(&str, Value); N]) -> AuditValues {
    values.map(|(name, value)| (name.to_owned(), value)).into()
}

/// One entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// UUID v7, so that entries sort by time.
    #[serde(rename = "auditID")]
    pub audit_id: Uuid,
    /// The account that performed the action.
    #[serde(rename = "actorID")]
    pub actor_id: UserId,
    /// First and last name at that time, of an administrator: what they did in their office stays theirs when their
    /// account is erased. `None` for others.
    pub actor_name: Option<String>,
    /// What they did.
    #[serde(flatten)]
    pub audited: AuditedAction,
    /// Time of the action.
    pub created_at: Instant,
}

/// An action with its target and the changed values. [`by`](Self::by) adds who did it, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditedAction {
    /// The action.
    pub action: Action,
    /// The kind of target.
    pub target_type: TargetType,
    /// The target's identifier; see [`of_subdomain`](Self::of_subdomain) for subdomains. For a list of opt-outs, that
    /// of its committee.
    #[serde(rename = "targetID")]
    pub target_id: Uuid,
    /// The target's committee at that time; for a subdomain and the opt-outs of all committees, the actor's.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// The changed fields before the action.
    pub before: Option<AuditValues>,
    /// The changed fields after it.
    pub after: Option<AuditValues>,
}

/// The sessions of a course, and those who may mark them.
#[derive(Debug, Serialize)]
pub struct PlannedSessions<'a> {
    sessions: Vec<CourseSessionView>,
    markers: &'a [UserId],
}

impl<'a> PlannedSessions<'a> {
    /// `sessions`, which `markers` may mark.
    pub fn new(sessions: &CourseSessions, markers: &'a [UserId]) -> Self {
        Self { sessions: sessions.iter().cloned().map(CourseSessionView::from).collect(), markers }
    }
}

impl AuditedAction {
    /// `action` on the target of `committee_id`, without values.
    pub(crate) fn new(
        action: Action,
        (target_type, target_id): (TargetType, Uuid),
        committee_id: CommitteeId,
    ) -> Self {
        Self { action, target_type, target_id, committee_id, before: None, after: None }
    }

    /// The entry with the id `audit_id` for this action of `actor` at `now`: at most 4 KB, so that a page of entries fits
    /// into a response, whatever was changed. The values that exceed it are cut, and say so.
    pub fn by(self, actor: &User, audit_id: Uuid, now: Instant) -> AuditEntry {
        let name = || format!("{} {}", actor.name, actor.last_name);
        let mut entry = AuditEntry {
            audit_id,
            actor_id: actor.user_id,
            actor_name: actor.profile.is_admin().then(name),
            audited: self,
            created_at: now,
        };
        let (before, after) = (entry.audited.before.clone(), entry.audited.after.clone());
        for kept in KEPT {
            if entry.bytes() <= MAX_BYTES {
                break;
            }
            entry.audited.before = before.as_ref().map(|values| cut(values, kept));
            entry.audited.after = after.as_ref().map(|values| cut(values, kept));
        }
        entry
    }

    /// This action with the fields in which its target differs between `before` and `after`; personal ones are masked.
    fn with_change<T: Serialize>(self, before: Option<&T>, after: &T) -> Self {
        let (old, new) = (before.map(values_of), values_of(after));
        Self {
            before: old.as_ref().and_then(|old| changed(old, &new)),
            after: changed(&new, &old.unwrap_or_default()),
            ..self
        }
    }

    /// An `action` that turned the account `before` into `after`.
    pub fn of_user(action: Action, before: &User, after: &User) -> Self {
        let target = (TargetType::User, before.user_id.uuid());
        Self::new(action, target, before.committee_id).with_change(Some(before), after)
    }

    /// Creating the committee `after`, or turning `before` into it.
    pub fn of_committee(before: Option<&Committee>, after: &Committee) -> Self {
        let action = before.map_or(Action::CommitteeCreated, |_| Action::CommitteeUpdated);
        let target = (TargetType::Committee, after.committee_id.uuid());
        Self::new(action, target, after.committee_id).with_change(before, after)
    }

    /// Adding `number` to the opt-outs of `committee`, or of all committees, by `actor`. Of the number, the last two digits
    /// are recorded.
    pub fn of_opt_out(actor: &User, committee: Option<CommitteeId>, number: &E164) -> Self {
        let committee_id = committee.unwrap_or(actor.committee_id);
        let digits = number.as_str();
        let last = digits.get(digits.len().saturating_sub(2)..).unwrap_or_default();
        let target = (TargetType::OptOuts, committee_id.uuid());
        Self {
            after: Some(values([
                ("number", format!("***{last}").into()),
                ("allCommittees", committee.is_none().into()),
            ])),
            ..Self::new(Action::OptOutAdded, target, committee_id)
        }
    }

    /// Removing it there; as [`of_opt_out`](Self::of_opt_out).
    pub fn of_opt_in(actor: &User, committee: Option<CommitteeId>, number: &E164) -> Self {
        let opt_out = Self::of_opt_out(actor, committee, number);
        Self { action: Action::OptOutRemoved, before: opt_out.after, after: None, ..opt_out }
    }

    /// Removing the public `file` of `owner`, by somebody else.
    pub fn of_file(owner: &User, file: &File) -> Self {
        let target = (TargetType::File, file.file_id.uuid());
        Self {
            before: Some(values([
                ("userID", owner.user_id.to_string().into()),
                ("contentType", file.content_type.code().into()),
                ("size", file.size.into()),
            ])),
            ..Self::new(Action::FileRemoved, target, owner.committee_id)
        }
    }

    /// An `action` on `course` or on all registrations for it, with its values `after`.
    pub fn of_course(action: Action, course: &CourseSummary, after: AuditValues) -> Self {
        let target = (TargetType::Course, course.course_id.uuid());
        Self { after: Some(after), ..Self::new(action, target, course.committee_id) }
    }

    /// Changing the published course `before` to `after`.
    pub fn of_course_change(before: &Course, after: &Course) -> Self {
        Self::of_course(Action::CourseUpdated, &before.summary, AuditValues::new())
            .with_change(Some(before), after)
    }

    /// Changing the content of a question of `course` from `before` to `after`, or deleting it.
    pub fn of_question(
        course: &CourseSummary,
        before: &Question,
        after: Option<&Question>,
    ) -> Self {
        let action = after.map_or(Action::QuestionDeleted, |_| Action::QuestionUpdated);
        let change = match after {
            Some(after) => Self::of_course(action, course, AuditValues::new())
                .with_change(Some(&before.wording), &after.wording),
            None => Self {
                before: Some(values_of(&before.wording)),
                after: None,
                ..Self::of_course(action, course, AuditValues::new())
            },
        };
        let mut old = change.before.unwrap_or_default();
        old.insert("questionID".to_owned(), before.question_id.to_string().into());
        Self { before: Some(old), ..change }
    }

    /// Moving the course `before` to `state`.
    pub fn of_course_state(before: &CourseSummary, state: CourseState) -> Self {
        let state_of = |state: CourseState| values([("state", state.code().into())]);
        let action = match state {
            CourseState::Published => Action::CoursePublished,
            CourseState::Draft => Action::CourseReturnedToDraft,
            CourseState::Archived => Action::CourseArchived,
        };
        let old = Some(state_of(before.state));
        Self { before: old, ..Self::of_course(action, before, state_of(state)) }
    }

    /// Replacing the settings `before` of the registrations for `course` by `after`.
    pub fn of_registration_settings(
        course: &CourseSummary,
        before: &RegistrationSettings,
        after: &RegistrationSettings,
    ) -> Self {
        Self::of_course(Action::RegistrationSettingsUpdated, course, AuditValues::new())
            .with_change(Some(before), after)
    }

    /// Replacing the sessions of `course` and those who may mark them.
    pub fn of_sessions(
        course: &CourseSummary,
        before: &PlannedSessions<'_>,
        after: &PlannedSessions<'_>,
    ) -> Self {
        let (before, after) = (values_of(before), values_of(after));
        Self {
            before: changed(&before, &after),
            after: changed(&after, &before),
            ..Self::of_course(Action::SessionsUpdated, course, AuditValues::new())
        }
    }

    /// An `action` of the committee that left the registration `card` for `course`, with its `values`. The target is the
    /// person.
    pub fn of_registration(
        action: Action,
        course: &CourseSummary,
        card: &RegistrationCard,
        mut values: AuditValues,
    ) -> Self {
        values.insert("courseID".to_owned(), course.course_id.to_string().into());
        values.insert("state".to_owned(), card.state.code().into());
        let target = (TargetType::User, card.user_id.uuid());
        Self { after: Some(values), ..Self::new(action, target, course.committee_id) }
    }

    /// Requesting the subdomain `fqdn`, by `actor`. The target's identifier is a UUID v5 of the name (RFC 9562 §5.5), so that
    /// all requests for one name have the same target.
    pub fn of_subdomain(actor: &User, fqdn: &str) -> Self {
        let id = Uuid::new_v5(&Uuid::NAMESPACE_DNS, fqdn.as_bytes());
        let target = (TargetType::Subdomain, id);
        Self {
            after: Some(values([("fqdn", fqdn.into())])),
            ..Self::new(Action::SubdomainRequested, target, actor.committee_id)
        }
    }

    /// Sending the `batch`.
    pub fn of_batch(batch: &Batch) -> Self {
        let target = (TargetType::Batch, batch.batch_id.uuid());
        Self {
            after: Some(values([
                ("total", batch.total.into()),
                ("accepted", batch.accepted.into()),
                ("segments", batch.segments.into()),
            ])),
            ..Self::new(Action::BatchAccepted, target, batch.sending.committee_id)
        }
    }
}

impl AuditEntry {
    fn bytes(&self) -> usize {
        serde_json::to_vec(self).map_or(0, |json| json.len())
    }
}

/// Maximum length of an entry as JSON.
const MAX_BYTES: usize = 4096;
/// How many characters are kept of each value of a longer entry: as many as fit.
const KEPT: [usize; 3] = [2000, 200, 0];

/// `values`, each of which is shortened to a text of its first `kept` characters and its length, unless it is short.
fn cut(values: &AuditValues, kept: usize) -> AuditValues {
    let shortened = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let start: String = text.chars().take(kept).collect();
        let short = format!("{start}… ({} bytes)", text.len());
        if short.len() < text.len() { short.into() } else { value.clone() }
    };
    values.iter().map(|(name, value)| (name.clone(), shortened(value))).collect()
}

/// Personal data, and what is for confirmed people alone. The audit log outlives the account, so it records that these fields
/// changed, but not their values.
const PERSONAL_FIELDS: [&str; 14] = [
    "primaryEmail",
    "secondaryEmail",
    "primaryPhone",
    "secondaryPhone",
    "name",
    "lastName",
    "email",
    "pendingEmail",
    "phoneCode",
    "phone",
    "contactPerson",
    "contactPhone",
    "contactEmail",
    "joinInfo",
];

/// Fields that the log leaves out: counters, times and secrets that follow from other fields, and what of an account is not
/// an administrator's to change.
const HIDDEN_FIELDS: [&str; 16] = [
    "version",
    "updatedAt",
    "epoch",
    "lastActive",
    "avatar",
    "avatarNumber",
    "isOtpVerified",
    "isPhoneVerified",
    "isMailboxVerified",
    "isVerificationWithdrawn",
    "removalCode",
    "unverifiedUntil",
    "passkeySeries",
    "deviceSeries",
    "formerContact",
    "erasedAt",
];

fn masked(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if PERSONAL_FIELDS.contains(&name) && !text.is_empty() => "***".into(),
        value => value.clone(),
    }
}

/// The `values` that differ from `other`, with masked personal data; `None` if there are none.
fn changed(values: &AuditValues, other: &AuditValues) -> Option<AuditValues> {
    let of = |values: &AuditValues, name| values.get(name).cloned().unwrap_or(Value::Null);
    let names =
        values.keys().chain(other.keys()).filter(|name| of(values, *name) != of(other, *name));
    let changed: AuditValues =
        names.map(|name| (name.clone(), masked(name, &of(values, name)))).collect();
    Some(changed).filter(|values| !values.is_empty())
}

/// All fields of `target` that the log may show.
fn values_of<T: Serialize>(target: &T) -> AuditValues {
    let Ok(Value::Object(fields)) = serde_json::to_value(target) else {
        return AuditValues::new();
    };
    fields.into_iter().filter(|(name, _)| !HIDDEN_FIELDS.contains(&name.as_str())).collect()
}

#[cfg(test)]
mod tests;
