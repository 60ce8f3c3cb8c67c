//! Addresses to which mails are stopped because one bounced or its recipient complained.

use std::time::Duration;

use uuid::Uuid;

use crate::{
    Instant,
    audit::{Action, AuditEntry, AuditValues, TargetType},
    choice::choice,
    user::User,
};

choice! {
    /// Why mails to an address are stopped.
    StopCause {
        /// A mail bounced for good: the mailbox does not exist, is full, or refuses mails. Stops all mails for
        /// [`BOUNCE_LIFE`].
        Bounce "BOUNCE"
        /// The recipient reported a mail as unwanted. Stops codes that were requested without a session, beyond one a day.
        Complaint "COMPLAINT"
    }
}

/// How long a bounce stops mails.
pub const BOUNCE_LIFE: Duration = Duration::from_secs(7 * 86_400);

impl AuditEntry {
    /// The entry for mails to an address of `user`, which were stopped for `before` and are now stopped for `after`, or
    /// not (`None`). `actor` is an administrator, or the account itself if no one else acted.
    pub fn of_mail_stop(
        audit_id: Uuid,
        actor: &User,
        user: &User,
        before: Option<StopCause>,
        after: Option<StopCause>,
        now: Instant,
    ) -> Self {
        let values = |cause: StopCause| {
            let cause = cause.code().into();
            AuditValues::from([("mailStop".to_owned(), cause)])
        };
        let action = if after.is_some() { Action::MailsStopped } else { Action::MailsResumed };
        let target = (TargetType::User, user.user_id.uuid());
        Self {
            before: before.map(values),
            after: after.map(values),
            ..Self::new(audit_id, actor, action, target, user.committee_id, now)
        }
    }
}
