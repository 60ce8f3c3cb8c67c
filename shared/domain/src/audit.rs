//! Audit entries: who changed which account, course or subdomain or sent which batch, when, and what changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    CommitteeId, Instant, UserId,
    batch::Batch,
    course::{CourseSummary, State},
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
    /// A super admin erased another account.
    UserDeleted,
    /// A course was published.
    CoursePublished,
    /// A published course became a draft again.
    CourseReturnedToDraft,
    /// A course was archived.
    CourseArchived,
    /// A batch of text messages was accepted.
    BatchAccepted,
    /// A subdomain was requested. Recorded before the call to cPanel.
    SubdomainRequested,
}

/// The kind of object that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TargetType {
    /// A user account.
    User,
    /// A course.
    Course,
    /// A batch of text messages.
    Batch,
    /// A subdomain of the hosting account.
    Subdomain,
}

/// One changed value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AuditValue {
    /// A boolean.
    Flag(bool),
    /// A number.
    Count(u32),
    /// A string.
    Text(String),
    /// JSON `null`.
    Nothing,
}

/// Changed values by field name.
pub type AuditValues = BTreeMap<String, AuditValue>;

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
    /// The action.
    pub action: Action,
    /// The kind of target.
    pub target_type: TargetType,
    /// The target's identifier; see [`of_subdomain`](Self::of_subdomain) for subdomains.
    #[serde(rename = "targetID")]
    pub target_id: Uuid,
    /// The target's committee at that time; for a subdomain, the actor's.
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
    /// The entry for an `action` that turned the account `before` into `after`. Only fields that differ are recorded,
    /// and personal ones are masked.
    pub fn of_user(
        audit_id: Uuid,
        actor_id: UserId,
        action: Action,
        before: &User,
        after: &User,
        now: Instant,
    ) -> Self {
        let (old, new) = (values_of(before), values_of(after));
        let changed = |values: &AuditValues, other: &AuditValues| -> AuditValues {
            values
                .iter()
                .filter(|(name, value)| other.get(*name) != Some(value))
                .map(|(name, value)| (name.clone(), masked(name, value)))
                .collect()
        };
        let (old_values, new_values) = (changed(&old, &new), changed(&new, &old));
        Self {
            audit_id,
            actor_id,
            action,
            target_type: TargetType::User,
            target_id: before.user_id.uuid(),
            committee_id: before.committee_id,
            before: Some(old_values).filter(|values| !values.is_empty()),
            after: Some(new_values).filter(|values| !values.is_empty()),
            created_at: now,
        }
    }

    /// The entry for moving the course `before` to `state`.
    pub fn of_course(
        audit_id: Uuid,
        actor_id: UserId,
        before: &CourseSummary,
        state: State,
        now: Instant,
    ) -> Self {
        let values = |state: State| {
            Some(AuditValues::from([(
                "state".to_owned(),
                AuditValue::Text(state.code().to_owned()),
            )]))
        };
        let action = match state {
            State::Published => Action::CoursePublished,
            State::Draft => Action::CourseReturnedToDraft,
            State::Archived => Action::CourseArchived,
        };
        Self {
            audit_id,
            actor_id,
            action,
            target_type: TargetType::Course,
            target_id: before.course_id.uuid(),
            committee_id: before.committee_id,
            before: values(before.state),
            after: values(state),
            created_at: now,
        }
    }

    /// The entry for a request for the subdomain `fqdn`. The target's identifier is a UUID v5 of the name (RFC 9562
    /// §5.5), so that all requests for one name have the same target.
    pub fn of_subdomain(
        audit_id: Uuid,
        actor_id: UserId,
        committee_id: CommitteeId,
        fqdn: &str,
        now: Instant,
    ) -> Self {
        Self {
            audit_id,
            actor_id,
            action: Action::SubdomainRequested,
            target_type: TargetType::Subdomain,
            target_id: Uuid::new_v5(&Uuid::NAMESPACE_DNS, fqdn.as_bytes()),
            committee_id,
            before: None,
            after: Some(AuditValues::from([(
                "fqdn".to_owned(),
                AuditValue::Text(fqdn.to_owned()),
            )])),
            created_at: now,
        }
    }

    /// The entry for an accepted `batch`.
    pub fn of_batch(audit_id: Uuid, batch: &Batch) -> Self {
        let counts = [
            ("total", batch.total),
            ("accepted", batch.accepted),
            ("segments", batch.segments),
        ];
        Self {
            audit_id,
            actor_id: batch.sending.user_id,
            action: Action::BatchAccepted,
            target_type: TargetType::Batch,
            target_id: batch.batch_id.uuid(),
            committee_id: batch.sending.committee_id,
            before: None,
            after: Some(
                counts
                    .map(|(name, count)| (name.to_owned(), AuditValue::Count(count)))
                    .into(),
            ),
            created_at: batch.sending.created_at,
        }
    }
}

/// Personal data. The audit log outlives the account, so it records that these fields changed, but not their values.
const PERSONAL_FIELDS: [&str; 6] = [
    "name",
    "lastName",
    "email",
    "pendingEmail",
    "phoneCode",
    "phone",
];

fn masked(name: &str, value: &AuditValue) -> AuditValue {
    match value {
        AuditValue::Text(text) if PERSONAL_FIELDS.contains(&name) && !text.is_empty() => {
            AuditValue::Text("***".to_owned())
        }
        value => value.clone(),
    }
}

fn values_of(user: &User) -> AuditValues {
    let text = |text: &str| AuditValue::Text(text.to_owned());
    let optional = |value: Option<String>| value.map_or(AuditValue::Nothing, AuditValue::Text);
    [
        ("name", text(user.name.as_str())),
        ("lastName", text(user.last_name.as_str())),
        ("email", text(user.email.as_str())),
        (
            "pendingEmail",
            optional(user.pending_email.as_ref().map(ToString::to_string)),
        ),
        ("phoneCode", text(&user.phone.code)),
        ("phone", text(&user.phone.number)),
        ("isActive", AuditValue::Flag(user.is_active)),
        ("isVerified", AuditValue::Flag(user.is_verified)),
        ("isOtpEnabled", AuditValue::Flag(user.is_otp_enabled)),
        ("profile", text(user.profile.code())),
        (
            "role",
            optional(user.role.as_ref().map(ToString::to_string)),
        ),
        (
            "permissions",
            AuditValue::Text(user.permissions.to_string()),
        ),
        (
            "committeeID",
            AuditValue::Text(user.committee_id.to_string()),
        ),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
