//! Delivery of one message: claim it, send it once, record the outcome.

use std::time::Duration;

use domain::{
    E164, Instant, UserId, limits,
    outbox::State,
    permissions::Right,
    sms::{Cause, SenderId, Sms, Type},
    times::{
        BATCH_WAIT, CLAIM, FIRST_RETRY, LEASE, LONGEST_RETRY, MESSAGE_RETRY, RECORD_ATTEMPTS,
        RECORD_PAUSE, SINGLE_WAIT, STORE_PAUSE, TEXT_LIFE,
    },
    user::User,
};
use messaging::SmsClient;
use runtime::{Clock, ConfigError, Error};
use store::{Channel, Counter, Due, Outbound, OutboundMessage, Setup, Store, StoreError};
use tokio::time::sleep;

use crate::{
    DueWork, SendOutcome,
    rate::{Rate, random_fraction},
};

/// The metric of messages whose delivery is unknown.
const UNKNOWN: &str = "UnknownMessages";

/// Sends messages: each is claimed, sent once, and its outcome recorded.
pub struct MessageSender {
    store: Store,
    due: DueWork,
    sms: SmsClient,
    clock: Clock,
    claim: Duration,
    /// Of text messages.
    pub rate: Rate,
}

/// The claim on a message: only its holder may send the message, once.
#[derive(Debug)]
pub struct Claim {
    /// The number of attempts including this one.
    pub attempts: u32,
    what: Outbound,
    expires_at: Instant,
}

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
    /// Sends with the clients of `setup` and the settings `SMS_CLAIM_SECONDS` (default 300) and
    /// `SMS_RATE_PER_SECOND` (default 10).
    ///
    /// # Errors
    /// The first of them that is invalid.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        Ok(Self {
            store: setup.store.clone(),
            due: DueWork::new(setup),
            sms: SmsClient::new(&setup.aws),
            clock: setup.clock.clone(),
            claim: setup.settings.seconds("SMS_CLAIM_SECONDS", CLAIM.as_secs())?,
            rate: Rate::new(setup, Channel::Texts)?,
        })
    }

    /// The message `what` if it is waiting to be sent.
    pub async fn queued(&self, what: Outbound) -> Result<Option<OutboundMessage>, StoreError> {
        let content = self.store.outbound(what).await?;
        Ok(content.filter(|content| content.status() == State::Queued))
    }

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

    /// Sends `text` as the message `what` unless another process sends or has sent it: at `reserved`, which it takes
    /// out of the option, or at the next free send time. The message is claimed as late as possible: after a crash before the claim
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
            return Ok(self.store.leave_to_sweep(what, self.clock.now()).await?);
        }
        let Some(claim) = self.claim(what, expires_at).await? else {
            return Ok(());
        };
        let TextMessage { to, text, kind, sender, limit, .. } = text;
        match self.left(limit.as_ref(), &claim).await {
            Ok(Some(_)) => {}
            Ok(None) => {
                let reason = "the sender has sent the number its messages of the day";
                let refused = SendOutcome::failed(Cause::RecipientLimit, reason);
                return self.conclude(claim, refused).await;
            }
            Err(failure) => {
                return self.conclude(claim, SendOutcome::NotSent(failure.to_string())).await;
            }
        }
        let sent = self.sms.send(to, text, *kind, sender.as_ref()).await;
        let message_id = sent.as_ref().ok().cloned().flatten();
        self.conclude(claim, sent.map(drop).into()).await?;
        if let Some(message_id) = message_id {
            let link = || self.store.link_receipt(&message_id, what, self.clock.now());
            if let Err(failure) = retried(what, link).await {
                tracing::warn!(%what, %failure, "the receipt of a message will not be found");
            }
        }
        Ok(())
    }

    /// Counts the message of `claim` by `limit` in its first attempt: later ones send the same message, which the carrier
    /// refused or the stream delivered again. Returns how many more are allowed; `None` if this one is not.
    pub async fn left(
        &self,
        limit: Option<&Counter>,
        claim: &Claim,
    ) -> Result<Option<u64>, StoreError> {
        let Some(counter) = limit.filter(|_| claim.attempts == 1) else {
            return Ok(Some(u64::MAX));
        };
        let (_, count) = self.store.count_one(counter, self.clock.now()).await?;
        let left = counter.max.checked_sub(count);
        if left.is_none() {
            tracing::warn!(metric = counter.name, "a limit of messages is reached");
        }
        Ok(left)
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

    /// Records `outcome` of the message `what` without sending it.
    pub async fn skip(
        &self,
        what: Outbound,
        expires_at: Option<Instant>,
        outcome: SendOutcome,
    ) -> Result<(), Error> {
        match self.claim(what, expires_at).await? {
            Some(claim) => self.conclude(claim, outcome).await,
            None => Ok(()),
        }
    }

    /// Claims the message `what`, which is retried until `expires_at`, or for a day after its first attempt (`None`).
    /// Returns `None` when another process has claimed or sent it.
    pub async fn claim(
        &self,
        what: Outbound,
        expires_at: Option<Instant>,
    ) -> Result<Option<Claim>, StoreError> {
        let now = self.clock.now();
        let claimed = self.store.claim(what, now.after(self.claim), now).await?;
        Ok(claimed.map(|claimed| Claim {
            attempts: claimed.attempts,
            what,
            expires_at: expires_at.unwrap_or_else(|| claimed.tried_at.after(TEXT_LIFE)),
        }))
    }

    /// Records the `outcome` of the message of `claim`. A message that was not sent is queued again until it expires.
    pub async fn conclude(&self, claim: Claim, outcome: SendOutcome) -> Result<(), Error> {
        let Claim { attempts, what, expires_at } = claim;
        let next = self.clock.now().after(delay(attempts));
        let (state, failure) = match outcome {
            SendOutcome::Sent => (State::Sent, None),
            SendOutcome::Failed(cause, reason) => {
                // Its sender sees the cause; there is nothing for an operator to do.
                tracing::info!(%what, cause = reason, "a message failed permanently");
                (State::Failed, cause)
            }
            SendOutcome::Unknown(cause) => {
                tracing::warn!(%what, cause, metric = UNKNOWN, "the delivery of a message is unknown");
                (State::Unknown, None)
            }
            SendOutcome::NotSent(cause) => {
                tracing::warn!(%what, cause, attempts, "a message was not sent");
                if next < expires_at {
                    (State::Queued, None)
                } else {
                    (State::Failed, Some(Cause::Expired))
                }
            }
        };
        let record = || async move {
            let (store, now) = (&self.store, self.clock.now());
            match state {
                State::Queued => store.requeue(what, attempts, next, now).await,
                state => store.record_outcome(what, attempts, state, failure, now).await,
            }
        };
        Ok(retried(what, record).await?)
    }

    /// The account `id` if it is active.
    pub async fn open_account(&self, id: UserId) -> Result<Option<User>, StoreError> {
        let user = self.store.user(id).await?;
        Ok(user.filter(|user| user.is_active))
    }

    /// Leases the message of `due` to this process; `None` when that is not possible. A message whose claim has
    /// expired ends as `UNKNOWN`, one that cannot be read is postponed.
    pub(crate) async fn lease(&self, due: &Due) -> Option<Due> {
        let (now, what) = (self.clock.now(), Outbound::of(&due.pk)?);
        let leased = async {
            let leased = self.store.lease(due, now.after(LEASE)).await?;
            if leased.is_none() && self.store.expire_claim(what, now).await? {
                tracing::warn!(%what, metric = UNKNOWN, "the claim of a message expired: its delivery is unknown");
            }
            Ok::<_, StoreError>(leased)
        };
        match leased.await {
            Ok(leased) => leased,
            Err(failure) => {
                if matches!(failure, StoreError::Unexpected(_)) {
                    tracing::error!(%failure, %what, "leasing a message failed");
                    // No retry will remove it, and the message would stay the first of its list.
                    self.postpone(due, &failure.into()).await;
                } else {
                    tracing::warn!(%failure, %what, "leasing a message failed");
                }
                // The store may be throttling.
                sleep(STORE_PAUSE).await;
                None
            }
        }
    }

    /// Postpones the message of `due`, whose delivery failed with `failure`.
    pub(crate) async fn postpone(&self, due: &Due, failure: &Error) {
        self.due.postpone(due, failure, MESSAGE_RETRY).await
    }
}

/// Repeats `record`, which records what became of `what`, so that a short failure of the store does not lose it.
async fn retried<F>(what: Outbound, record: impl Fn() -> F) -> Result<(), StoreError>
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut attempt = 1;
    loop {
        match record().await {
            Err(error) if attempt < RECORD_ATTEMPTS => {
                tracing::warn!(%what, failure = %error, "recording the outcome of a message failed");
                sleep(RECORD_PAUSE * 2_u32.pow(attempt - 1)).await;
                attempt += 1;
            }
            recorded => return recorded,
        }
    }
}

/// Exponential backoff with full jitter, 1 second at least and [`LONGEST_RETRY`] at most
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
fn delay(attempts: u32) -> Duration {
    let factor = 2_u32.saturating_pow(attempts.saturating_sub(1));
    let longest = FIRST_RETRY.saturating_mul(factor).min(LONGEST_RETRY);
    longest.mul_f64(random_fraction()).max(Duration::from_secs(1))
}
