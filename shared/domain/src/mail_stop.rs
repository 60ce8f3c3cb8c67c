//! Addresses to which mails are stopped because one bounced or its recipient complained.

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
        /// A mail bounced for good: the mailbox does not exist, or refuses mails.
        Bounce "BOUNCE"
        /// The recipient reported a mail as unwanted.
        Complaint "COMPLAINT"
    }
}

impl AuditEntry {
    /// The entry for mails to an address of `user`, which were stopped for `before` and are now stopped for `after`, or
    /// not (`None`). The actor is the account itself: no one else acted.
    pub fn of_mail_stop(
        audit_id: Uuid,
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
            ..Self::new(audit_id, user.user_id, action, target, user.committee_id, now)
        }
    }
}
