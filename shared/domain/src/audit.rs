//! What somebody did to another person: who, what, to whom, when, and what it changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    CommitteeId, Instant, UserId,
    batch::Batch,
    course::{CourseSummary, State},
    user::User,
};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    /// An account was opened or closed.
    UserStatusChanged,
    /// An account was changed by an administrator.
    TeamMemberUpdated,
    /// An administrator turned somebody's one-time passwords off.
    OtpReset,
    /// An account was erased by an administrator.
    UserDeleted,
    /// A course was published.
    CoursePublished,
    /// A course is a draft again.
    CourseReturnedToDraft,
    /// A course was archived.
    CourseArchived,
    /// Text messages to many were accepted.
    BatchAccepted,
    /// A subdomain was asked for; noted before it is made.
    SubdomainRequested,
}

/// What it was done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TargetType {
    /// A person's account.
    User,
    /// A course.
    Course,
    /// Text messages that were sent to many at once.
    Batch,
    /// A name in the hosting account.
    Subdomain,
}

/// A value that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AuditValue {
    /// True or false.
    Flag(bool),
    /// How many.
    Count(u32),
    /// A text.
    Text(String),
    /// Null.
    Nothing,
}

/// Fields by their names.
pub type AuditValues = BTreeMap<String, AuditValue>;

/// One entry of the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Which one; UUID v7, so that they sort by time.
    #[serde(rename = "auditID")]
    pub audit_id: Uuid,
    /// Who did it.
    #[serde(rename = "actorID")]
    pub actor_id: UserId,
    /// What.
    pub action: Action,
    /// To what kind of thing.
    pub target_type: TargetType,
    /// To which.
    #[serde(rename = "targetID")]
    pub target_id: Uuid,
    /// The committee that it belonged to.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// What changed, as it was.
    pub before: Option<AuditValues>,
    /// What changed, as it became.
    pub after: Option<AuditValues>,
    /// When.
    pub created_at: Instant,
}

impl AuditEntry {
    /// `actor` did `action` at `now`, which made `after` of the person `before`.
    pub fn of_user(
        audit_id: Uuid,
        actor_id: UserId,
        action: Action,
        before: &User,
        after: &User,
        now: Instant,
    ) -> Self {
        let (was, is) = (facts(before), facts(after));
        let changed = |this: &AuditValues, other: &AuditValues| -> AuditValues {
            this.iter()
                .filter(|(name, fact)| other.get(*name) != Some(fact))
                .map(|(name, fact)| (name.clone(), masked(name, fact)))
                .collect()
        };
        let (before_facts, after_facts) = (changed(&was, &is), changed(&is, &was));
        Self {
            audit_id,
            actor_id,
            action,
            target_type: TargetType::User,
            target_id: before.user_id.uuid(),
            committee_id: before.committee_id,
            before: Some(before_facts).filter(|facts| !facts.is_empty()),
            after: Some(after_facts).filter(|facts| !facts.is_empty()),
            created_at: now,
        }
    }

    /// `actor` brought the course `before` to `state` at `now`.
    pub fn of_course(
        audit_id: Uuid,
        actor_id: UserId,
        before: &CourseSummary,
        state: State,
        now: Instant,
    ) -> Self {
        let facts = |state: State| {
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
            before: facts(before.state),
            after: facts(state),
            created_at: now,
        }
    }

    /// `actor`, of the committee `committee_id`, asked at `now` for the subdomain `fqdn`. Its identifier is made
    /// of its name (RFC 9562 §5.5), so that all that was asked of one name is found by it.
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
}

impl AuditEntry {
    /// The sender of `batch` had it accepted.
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

/// What is personal: the audit outlives the person, so it says that such a field changed and not how.
const PERSONAL: [&str; 6] = [
    "name",
    "lastName",
    "email",
    "pendingEmail",
    "phoneCode",
    "phone",
];

fn masked(name: &str, fact: &AuditValue) -> AuditValue {
    match fact {
        AuditValue::Text(text) if PERSONAL.contains(&name) && !text.is_empty() => {
            AuditValue::Text("***".to_owned())
        }
        fact => fact.clone(),
    }
}

fn facts(user: &User) -> AuditValues {
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
    .map(|(name, fact)| (name.to_owned(), fact))
    .collect()
}
