//! Stops of mails to an address, after a bounce or a complaint. The item of an address outlives the stop, so that late
//! feedback on a mail from before does not stop mails again.

use domain::{
    Email, Instant,
    mail_stop::{BOUNCE_LIFE, StopCause},
};
use serde::Deserialize;

use crate::{Part, Store, StoreError, Transaction, keys, write::Write};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MailStop {
    bounced_at: Option<Instant>,
    complained_at: Option<Instant>,
    /// When the owner proved that the mailbox receives mails again, or an administrator lifted the stop.
    lifted_at: Option<Instant>,
}

impl MailStop {
    /// What stops mails at `now`. A bounce stops more than a complaint.
    fn cause(self, now: Instant) -> Option<StopCause> {
        let is_in_force = |at: &Instant| self.lifted_at.is_none_or(|lifted| lifted < *at);
        let bounced = self.bounced_at.filter(is_in_force);
        if bounced.is_some_and(|at| now < at.after(BOUNCE_LIFE)) {
            return Some(StopCause::Bounce);
        }
        self.complained_at.filter(is_in_force).map(|_| StopCause::Complaint)
    }
}

impl Transaction {
    /// Stops mails to `email` for `cause`, reported about a mail that was sent at `sent_at`. The condition fails
    /// ([`Part::MailStop`]) when an earlier report of `cause`, or the end of the stop, is newer than that mail.
    pub fn stop_mails(&mut self, email: &Email, cause: StopCause, sent_at: Instant, now: Instant) {
        let name = match cause {
            StopCause::Bounce => "bouncedAt",
            StopCause::Complaint => "complainedAt",
        };
        let stop = Write::at(&keys::mail_stop(email))
            .when("(attribute_not_exists(liftedAt) OR liftedAt < :sent) AND (attribute_not_exists(#at) OR #at < :sent)")
            .expression("SET #at = :now")
            .name("#at", name)
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
    /// Why mails to `email` are stopped at `now`; `None` if they are not.
    pub async fn mail_stop(
        &self,
        email: &Email,
        now: Instant,
    ) -> Result<Option<StopCause>, StoreError> {
        let stop: Option<MailStop> = self.get(&keys::mail_stop(email)).await?;
        Ok(stop.and_then(|stop| stop.cause(now)))
    }
}
