//! Feedback of SES on mails: stops mails to addresses that bounce, and to people who complain.

use background::MailFeedback;
use domain::{Email, audit::AuditedAction, mail_stop::StopCause};
use identity::random;
use runtime::Error;
use store::CommitOutcome;

use crate::{Services, Worker};

impl Worker {
    /// Stops mails to the recipients of `feedback`, if it is a reason to. The call can be repeated.
    pub(crate) async fn record_feedback(&self, feedback: &MailFeedback) -> Result<(), Error> {
        let Some(cause) = feedback.stop_cause() else {
            return Ok(());
        };
        for recipient in feedback.recipients() {
            match recipient.parse::<Email>() {
                Ok(email) => self.stop_mails(&email, cause, feedback).await?,
                Err(_) => tracing::error!("feedback of SES names an invalid address"),
            }
        }
        Ok(())
    }

    /// Stops mails to `email` and records it for the account that has the address, or wants it.
    async fn stop_mails(
        &self,
        email: &Email,
        cause: StopCause,
        feedback: &MailFeedback,
    ) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let owner = store.email_owner(email).await?.map(|owner| owner.user_id);
        let user = match owner.or(feedback.account()) {
            Some(id) => store.user(id).await?,
            None => None,
        };
        let now = clock.now();
        let mut tx = store.transaction();
        tx.stop_mails(email, cause, feedback.sent_at(), now);
        if let Some(user) = &user {
            let stopped = AuditedAction::of_mail_stop(user, None, Some(cause));
            tx.record_audit(&stopped.by(user, random::id(now), now));
        }
        // Otherwise they are stopped already, or the mailbox was proved since.
        if tx.commit().await? == CommitOutcome::Committed {
            tracing::warn!(cause = cause.code(), "mails to an address are stopped");
        }
        Ok(())
    }
}
