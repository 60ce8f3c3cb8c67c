//! Addresses to which mails are stopped because one bounced or its recipient complained.

use std::time::Duration;

use crate::{
    audit::{Action, AuditedAction, TargetType, values},
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

impl AuditedAction {
    /// Stopping or resuming mails to an address of `user`: they were stopped for `before` and are now stopped for `after`, or
    /// not (`None`).
    pub fn of_mail_stop(user: &User, before: Option<StopCause>, after: Option<StopCause>) -> Self {
        let values = |cause: StopCause| values([("mailStop", cause.code().into())]);
        let action = if after.is_some() { Action::MailsStopped } else { Action::MailsResumed };
        let target = (TargetType::User, user.user_id.uuid());
        Self {
            before: before.map(values),
            after: after.map(values),
            ..Self::new(action, target, user.committee_id)
        }
    }
}
