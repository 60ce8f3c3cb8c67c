//! Audit entries: who changed which account, committee, course, opt-out or subdomain or sent which batch, when, and
//! what changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    CommitteeId, CourseId, E164, Instant, UserId,
    batch::Batch,
    committee::Committee,
    course::{CourseState, CourseSummary},
    file::File,
    registration::RegistrationSettings,
    sms::Sending,
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
    /// The registrations for a course were exported.
    RegistrationsExported,
    /// A course was cancelled.
    CourseCancelled,
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
    /// Time of the action.
    pub created_at: Instant,
}

impl AuditEntry {
    /// The entry for `action` on the target, without values.
    pub(crate) fn new(
        audit_id: Uuid,
        actor: &User,
        action: Action,
        (target_type, target_id): (TargetType, Uuid),
        committee_id: CommitteeId,
        created_at: Instant,
    ) -> Self {
        let name = || format!("{} {}", actor.name, actor.last_name);
        Self {
            audit_id,
            actor_id: actor.user_id,
            actor_name: actor.profile.is_admin().then(name),
            action,
            target_type,
            target_id,
            committee_id,
            before: None,
            after: None,
            created_at,
        }
    }

    /// The entry for an `action` that turned the account `before` into `after`. Only fields that differ are recorded,
    /// and personal ones are masked.
    pub fn of_user(
        audit_id: Uuid,
        actor: &User,
        action: Action,
        before: &User,
        after: &User,
        now: Instant,
    ) -> Self {
        let (old, new) = (values_of(before), values_of(after));
        let target = (TargetType::User, before.user_id.uuid());
        Self {
            before: changed(&old, &new),
            after: changed(&new, &old),
            ..Self::new(audit_id, actor, action, target, before.committee_id, now)
        }
    }

    /// The entry for creating the committee `after`, or for turning `before` into it. Only fields that differ are
    /// recorded; addresses and numbers are masked.
    pub fn of_committee(
        audit_id: Uuid,
        actor: &User,
        before: Option<&Committee>,
        after: &Committee,
        now: Instant,
    ) -> Self {
        let (old, new) = (before.map(values_of), values_of(after));
        let action = before.map_or(Action::CommitteeCreated, |_| Action::CommitteeUpdated);
        let target = (TargetType::Committee, after.committee_id.uuid());
        Self {
            before: old.as_ref().and_then(|old| changed(old, &new)),
            after: changed(&new, &old.unwrap_or_default()),
            ..Self::new(audit_id, actor, action, target, after.committee_id, now)
        }
    }

    /// The entry for adding (`is_added`) or removing `number` in the opt-outs of `committee`, or of all committees. Of
    /// the number, the last two digits are recorded. `actor` is the account that did it.
    pub fn of_opt_out(
        audit_id: Uuid,
        actor: &User,
        committee: Option<CommitteeId>,
        number: &E164,
        is_added: bool,
        now: Instant,
    ) -> Self {
        let committee_id = committee.unwrap_or(actor.committee_id);
        let digits = number.as_str();
        let last = digits.get(digits.len().saturating_sub(2)..);
        let values = AuditValues::from([
            ("number".to_owned(), format!("***{}", last.unwrap_or_default()).into()),
            ("allCommittees".to_owned(), committee.is_none().into()),
        ]);
        let action = if is_added { Action::OptOutAdded } else { Action::OptOutRemoved };
        let target = (TargetType::OptOuts, committee_id.uuid());
        Self {
            before: (!is_added).then(|| values.clone()),
            after: is_added.then_some(values),
            ..Self::new(audit_id, actor, action, target, committee_id, now)
        }
    }

    /// The entry for the removal of the public `file` of `owner` by somebody else.
    pub fn of_file(audit_id: Uuid, actor: &User, owner: &User, file: &File, now: Instant) -> Self {
        let values = [
            ("userID", owner.user_id.to_string().into()),
            ("contentType", file.content_type.code().into()),
            ("size", file.size.into()),
        ];
        let (action, target) = (Action::FileRemoved, (TargetType::File, file.file_id.uuid()));
        Self {
            before: Some(values.map(|(name, value)| (name.to_owned(), value)).into()),
            ..Self::new(audit_id, actor, action, target, owner.committee_id, now)
        }
    }

    /// The entry for moving the course `before` to `state`.
    pub fn of_course(
        audit_id: Uuid,
        actor: &User,
        before: &CourseSummary,
        state: CourseState,
        now: Instant,
    ) -> Self {
        let values = |state: CourseState| {
            Some(AuditValues::from([("state".to_owned(), state.code().into())]))
        };
        let action = match state {
            CourseState::Published => Action::CoursePublished,
            CourseState::Draft => Action::CourseReturnedToDraft,
            CourseState::Archived => Action::CourseArchived,
        };
        let target = (TargetType::Course, before.course_id.uuid());
        Self {
            before: values(before.state),
            after: values(state),
            ..Self::new(audit_id, actor, action, target, before.committee_id, now)
        }
    }

    /// The entry for replacing the settings `before` of the registrations for `course` by `after`. Only fields that differ
    /// are recorded.
    pub fn of_registration_settings(
        audit_id: Uuid,
        actor: &User,
        course: &CourseSummary,
        before: &RegistrationSettings,
        after: &RegistrationSettings,
        now: Instant,
    ) -> Self {
        let (old, new) = (values_of(before), values_of(after));
        let action = Action::RegistrationSettingsUpdated;
        let target = (TargetType::Course, course.course_id.uuid());
        Self {
            before: changed(&old, &new),
            after: changed(&new, &old),
            ..Self::new(audit_id, actor, action, target, course.committee_id, now)
        }
    }

    /// The entry for an `action` on all registrations for `course`, with its `values`.
    pub fn of_registrations(
        audit_id: Uuid,
        actor: &User,
        action: Action,
        course: &CourseSummary,
        values: AuditValues,
        now: Instant,
    ) -> Self {
        let target = (TargetType::Course, course.course_id.uuid());
        Self {
            after: Some(values),
            ..Self::new(audit_id, actor, action, target, course.committee_id, now)
        }
    }

    /// The entry for an `action` of the committee on the registration of `user` for `course`, with its `values`. The target
    /// is the person.
    pub fn of_registration(
        audit_id: Uuid,
        actor: &User,
        action: Action,
        (course, user): (&CourseSummary, UserId),
        mut values: AuditValues,
        now: Instant,
    ) -> Self {
        values.insert("courseID".to_owned(), course.course_id.to_string().into());
        let target = (TargetType::User, user.uuid());
        Self {
            after: Some(values),
            ..Self::new(audit_id, actor, action, target, course.committee_id, now)
        }
    }

    /// The entry for the new draft `copy` of the course `source`.
    pub fn of_copy(
        audit_id: Uuid,
        actor: &User,
        source: CourseId,
        copy: &CourseSummary,
        now: Instant,
    ) -> Self {
        let copied_from = ("copiedFrom".to_owned(), source.to_string().into());
        let (action, target) = (Action::CourseCopied, (TargetType::Course, copy.course_id.uuid()));
        Self {
            after: Some(AuditValues::from([copied_from])),
            ..Self::new(audit_id, actor, action, target, copy.committee_id, now)
        }
    }

    /// The entry for a request for the subdomain `fqdn`. The target's identifier is a UUID v5 of the name (RFC 9562
    /// §5.5), so that all requests for one name have the same target.
    pub fn of_subdomain(audit_id: Uuid, actor: &User, fqdn: &str, now: Instant) -> Self {
        let id = Uuid::new_v5(&Uuid::NAMESPACE_DNS, fqdn.as_bytes());
        let (action, target) = (Action::SubdomainRequested, (TargetType::Subdomain, id));
        Self {
            after: Some(AuditValues::from([("fqdn".to_owned(), fqdn.into())])),
            ..Self::new(audit_id, actor, action, target, actor.committee_id, now)
        }
    }

    /// The entry for the `batch` that `actor` sent.
    pub fn of_batch(audit_id: Uuid, actor: &User, batch: &Batch) -> Self {
        let counts =
            [("total", batch.total), ("accepted", batch.accepted), ("segments", batch.segments)];
        let Sending { committee_id, created_at, .. } = batch.sending;
        let (action, target) = (Action::BatchAccepted, (TargetType::Batch, batch.batch_id.uuid()));
        Self {
            after: Some(counts.map(|(name, count)| (name.to_owned(), count.into())).into()),
            ..Self::new(audit_id, actor, action, target, committee_id, created_at)
        }
    }
}

/// Personal data. The audit log outlives the account, so it records that these fields changed, but not their values.
const PERSONAL_FIELDS: [&str; 10] = [
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
];

/// Fields of an account that the log leaves out: counters, times and secrets that follow from other fields, and what is
/// not an administrator's to change.
const HIDDEN_FIELDS: [&str; 14] = [
    "version",
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
    "formerContact",
    "erasedAt",
];

fn masked(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if PERSONAL_FIELDS.contains(&name) && !text.is_empty() => "***".into(),
        value => value.clone(),
    }
}

/// Those of `values` that differ from `other`, with masked personal data; `None` if there are none.
fn changed(values: &AuditValues, other: &AuditValues) -> Option<AuditValues> {
    let of = |values: &AuditValues, name| values.get(name).cloned().unwrap_or(Value::Null);
    let names = values.keys().chain(other.keys());
    let names = names.filter(|name| of(values, *name) != of(other, *name));
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
