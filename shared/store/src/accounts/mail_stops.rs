//! Stops of mails to an address, after a bounce or a complaint. The item of an address outlives the stop, so that late
//! feedback on a mail from before does not stop mails again.

use domain::{Email, Instant, mail_stop::StopCause};
use serde::Deserialize;

use crate::{Part, Store, StoreError, Transaction, keys, write::Write};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MailStop {
    cause: StopCause,
    /// When the owner proved that the mailbox receives mails again.
    #[serde(default)]
    lifted_at: Option<Instant>,
}

impl Transaction {
    /// Stops mails to `email` for `cause`, reported about a mail that was sent at `sent_at`. The condition fails
    /// ([`Part::MailStop`]) when they are stopped already, or the mailbox was proved after that mail.
    pub fn stop_mails(&mut self, email: &Email, cause: StopCause, sent_at: Instant, now: Instant) {
        let stop = Write::at(&keys::mail_stop(email))
            .when("attribute_not_exists(pk) OR liftedAt < :sent")
            .expression("SET #cause = :cause, #since = :now REMOVE liftedAt")
            .name("#cause", "cause")
            .name("#since", "since")
            .value(":cause", &cause)
            .value(":sent", &sent_at)
            .value(":now", &now);
        self.update(Part::MailStop, stop);
    }

    /// Ends the stop of mails to `email`. The condition fails ([`Part::MailStop`]) when there never was one.
    pub fn resume_mails(&mut self, email: &Email, now: Instant) {
        let resume = Write::at(&keys::mail_stop(email))
            .when("attribute_exists(pk)")
            .expression("SET liftedAt = :now")
            .value(":now", &now);
        self.update(Part::MailStop, resume);
    }
}

impl Store {
    /// Why mails to `email` are stopped; `None` if they are not.
    pub async fn mail_stop(&self, email: &Email) -> Result<Option<StopCause>, StoreError> {
        let stop: Option<MailStop> = self.get(&keys::mail_stop(email)).await?;
        Ok(stop.filter(|stop| stop.lifted_at.is_none()).map(|stop| stop.cause))
    }
}
