//! Sending one text message: is it still to be sent, wait for its send time, claim it, send it once, record the outcome.

use std::time::Duration;

use domain::{
    E164, Instant, limits,
    permissions::Right,
    sms::{Cause, SenderId, Sms, Type},
    times::{BATCH_WAIT, SINGLE_WAIT},
};
use runtime::Error;
use store::{Counter, Outbound, StoreError};

use crate::{MessageSender, SendOutcome};

/// A text message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMessage {
    /// The recipient.
    pub to: E164,
    /// The text as it is sent.
    pub text: String,
    /// The type, which the carrier treats differently.
    pub kind: Type,
    /// The sender name; `None`: the carrier chooses.
    pub sender: Option<SenderId>,
    /// How far ahead it may reserve a send time.
    pub max_wait: Duration,
    /// Counts the message, once in all its attempts.
    pub limit: Option<Counter>,
}

impl MessageSender {
    /// Sends the text message `sms` of a user, as [`send_text`](Self::send_text), if they may still send it.
    pub async fn send_sms(&self, sms: Sms, reserved: &mut Option<Instant>) -> Result<(), Error> {
        let what = Outbound::Sms(sms.sms_id);
        let (refused, has_opted_out, text) = tokio::try_join!(
            self.sender_refused(&sms),
            self.store.has_opted_out(sms.sending.committee_id, &sms.to),
            self.store.text_of(&sms, self.clock.now()),
        )?;
        let outcome = match (refused, text) {
            (Some(refused), _) => refused,
            _ if has_opted_out => SendOutcome::failed(Cause::OptedOut, "the number has opted out"),
            (None, None) => SendOutcome::failed(Cause::Expired, "the text is missing or expired"),
            (None, Some(text)) => {
                let key = format!("{} {}", sms.sending.user_id, sms.to);
                let text = TextMessage {
                    limit: Some(Counter::of(limits::TEXTS_TO_RECIPIENT, key)),
                    to: sms.to,
                    text: text.as_str().to_owned(),
                    kind: sms.sending.r#type,
                    sender: sms.sending.sender_id,
                    max_wait: if sms.batch_id.is_some() { BATCH_WAIT } else { SINGLE_WAIT },
                };
                return self.send_text(what, None, &text, reserved).await;
            }
        };
        self.skip(what, None, outcome).await
    }

    /// Why the sender of `sms` may not send it any more, if so. A message may wait for days.
    async fn sender_refused(&self, sms: &Sms) -> Result<Option<SendOutcome>, StoreError> {
        let (id, committee_id) = (sms.sending.user_id, sms.sending.committee_id);
        let (sender, committee) =
            tokio::try_join!(self.open_account(id), self.store.committee(committee_id))?;
        let Some(sender) = sender else {
            let reason = "the account is closed";
            return Ok(Some(SendOutcome::failed(Cause::SenderClosed, reason)));
        };
        let right = match sms.batch_id {
            Some(_) => Right::SendBulkSms,
            None => Right::SendSms,
        };
        let is_open = committee.is_some_and(|committee| sender.may_act_in(&committee));
        let may = sender.is_verified && is_open && sender.rights().may(right, id, committee_id);
        let reason = "the sender may not send it any more";
        Ok((!may).then(|| SendOutcome::failed(Cause::SenderNotAllowed, reason)))
    }

    /// Sends `text` as the message `what` unless another process sends or has sent it: at `reserved`, which it takes out of
    /// the option, or at the next free send time. The message is claimed as late as possible: after a crash before the claim
    /// another process sends it; only a crash between claim and response leaves its delivery unknown.
    pub async fn send_text(
        &self,
        what: Outbound,
        expires_at: Option<Instant>,
        text: &TextMessage,
        reserved: &mut Option<Instant>,
    ) -> Result<(), Error> {
        // Before it is claimed: an error leaves it queued.
        if !self.rate.wait(reserved.take(), text.max_wait).await? {
            // Later messages, which may be codes, do not wait for this one.
            return Ok(self.store.leave_to_sweeps(what, self.clock.now()).await?);
        }
        let Some(claim) = self.claim(what, expires_at).await? else {
            return Ok(());
        };
        let TextMessage { to, text, kind, sender, limit, .. } = text;
        match self.count(limit.as_ref(), &claim).await {
            Ok(Some(_)) => {}
            Ok(None) => {
                let reason = "the sender has sent the number its messages of the day";
                let refused = SendOutcome::failed(Cause::RecipientLimit, reason);
                return self.record_outcome(claim, refused).await;
            }
            Err(failure) => {
                return self.record_outcome(claim, SendOutcome::NotSent(failure.to_string())).await;
            }
        }
        let sent = self.sms.send(to, text, *kind, sender.as_ref()).await;
        let message_id = sent.as_ref().ok().cloned().flatten();
        self.record_outcome(claim, sent.map(drop).into()).await?;
        if let Some(message_id) = message_id {
            self.record_message_id(&message_id, what).await;
        }
        Ok(())
    }
}
