//! Delivery of one message: claim it, send it once, record the outcome.

use std::time::Duration;

use domain::{
    E164, Email, Instant, UserId,
    outbox::{Notification, OutboxItem, OutboxMessage, Recipient, State},
    sms::{Cause, SenderId, Sms, Type},
    user::User,
};
use identity::random;
use messaging::{
    SendError,
    texts::{self, Mail},
};
use runtime::Error;
use store::{Counter, Outbound, OutboundMessage, StoreError};
use tokio::time::sleep;

use crate::{Dispatcher, MAX_SLOT_WAIT, Services, UNKNOWN};

/// Base of the delay before a retry; it doubles with every attempt.
const BASE_DELAY: Duration = Duration::from_secs(2);
const MAX_DELAY: Duration = Duration::from_secs(900);
/// Maximum time until the slot that a code may reserve; for other text messages it is [`MAX_SLOT_WAIT`].
const MAX_CODE_SLOT_WAIT: Duration = Duration::from_secs(2);

/// Attempts to record an outcome; with the delays between them, about six seconds in total.
const RECORD_ATTEMPTS: u32 = 7;
const RECORD_BASE_DELAY: Duration = Duration::from_millis(50);

/// The outcome of one attempt to send.
enum SendOutcome {
    Sent,
    /// It will never be accepted.
    Failed(Cause, String),
    /// It was not accepted; a retry may succeed.
    NotSent(String),
    /// It was sent, but there was no response.
    Unknown(String),
}

impl From<Result<(), SendError>> for SendOutcome {
    fn from(sent: Result<(), SendError>) -> Self {
        match sent {
            Ok(()) => Self::Sent,
            Err(SendError::Rejected(reason)) => Self::Failed(Cause::CarrierRefused, reason),
            Err(SendError::OptedOut) => {
                Self::Failed(Cause::OptedOut, "opted out at the carrier".to_owned())
            }
            Err(SendError::NotSent(cause)) => Self::NotSent(cause),
            Err(SendError::Unknown(cause)) => Self::Unknown(cause),
        }
    }
}

/// The action for a message once it is claimed.
enum Plan {
    /// Record this outcome without sending the message.
    Skip(SendOutcome),
    Mail {
        to: Email,
        mail: Mail,
        /// Counts the message, once in all its attempts.
        limit: Option<Counter>,
    },
    Text(Sendable),
}

/// The content of a text message.
struct Sendable {
    to: E164,
    text: String,
    kind: Type,
    sender: Option<SenderId>,
    /// Maximum time until the slot that it may reserve.
    max_wait: Duration,
}

impl Dispatcher {
    /// Sends the message `what` unless another worker sends or has sent it. A text message is sent at `slot`, which it
    /// takes out of the option, or at the next free slot. The message is claimed as late as possible: after a crash
    /// before the claim another worker sends it; only a crash between claim and response leaves its delivery unknown.
    pub(crate) async fn deliver(
        &self,
        what: Outbound,
        slot: &mut Option<Instant>,
    ) -> Result<(), Error> {
        let Services {
            store,
            clock,
            carriers,
            claim,
            ..
        } = &*self.0;
        let is_queued = |content: &OutboundMessage| content.status() == State::Queued;
        let Some(content) = store.outbound(what).await?.filter(is_queued) else {
            return Ok(());
        };
        let expires_at = content.expires_at();
        let plan = if clock.now() < expires_at {
            self.plan(content).await?
        } else {
            Plan::Skip(expired())
        };
        if let Plan::Text(text) = &plan {
            match self.slot_in_time(slot.take(), text.max_wait).await? {
                Some(at) => sleep(at.since(clock.now())).await,
                // Later messages, which may be codes, do not wait for this one.
                None => return Ok(store.leave_to_sweep(what, clock.now()).await?),
            }
        }
        let now = clock.now();
        let Some(attempts) = store.claim(what, now.after(*claim), now).await? else {
            return Ok(());
        };
        let outcome = match plan {
            Plan::Skip(outcome) => outcome,
            Plan::Mail { to, mail, limit } => match self.is_within(limit, attempts).await {
                Ok(true) => carriers.mail(&to, &mail).await.into(),
                Ok(false) => over_limit(),
                Err(failure) => SendOutcome::NotSent(failure.to_string()),
            },
            Plan::Text(Sendable {
                to,
                text,
                kind,
                sender,
                ..
            }) => carriers.sms(&to, &text, kind, sender.as_ref()).await.into(),
        };
        self.conclude(what, outcome, attempts, expires_at).await
    }

    async fn plan(&self, content: OutboundMessage) -> Result<Plan, Error> {
        match content {
            OutboundMessage::OutboxMessage(message) => self.plan_outbox_message(&message).await,
            OutboundMessage::Sms(sms) => Ok(self.plan_sms(sms).await?),
        }
    }

    async fn plan_outbox_message(&self, message: &OutboxItem) -> Result<Plan, Error> {
        let Ok(OutboxMessage {
            to,
            about,
            name,
            notification,
        }) = self.0.outbox.open(message)
        else {
            // An error, because the message can be sent once the missing key is restored.
            return Err(StoreError::Unexpected(
                "an outbox message cannot be opened: is its key in OUTBOX_KEYS?".to_owned(),
            )
            .into());
        };
        let mut limit = None;
        if to != Recipient::NoAccount {
            let Some(user) = self.open_account(about).await? else {
                return Ok(Plan::Skip(closed()));
            };
            limit = notification_limit(&user, &notification);
        }
        Ok(match to {
            // Queued for an unknown address, so that the request costs the same as for a known one.
            Recipient::NoAccount => Plan::Skip(SendOutcome::Sent),
            // Such as the canary's: SES would count a bounce.
            Recipient::Mail(to) if !to.is_deliverable() => Plan::Skip(SendOutcome::Failed(
                Cause::CarrierRefused,
                "the domain receives no mail".to_owned(),
            )),
            Recipient::Mail(to) => {
                let mail = texts::mail(&notification, &name, &to, &self.0.public_url);
                Plan::Mail { to, mail, limit }
            }
            Recipient::Sms(phone) => match texts::sms(&notification) {
                Some(text) => {
                    let (to, kind) = (E164::from(&phone), Type::Transactional);
                    Plan::Text(Sendable {
                        to,
                        text,
                        kind,
                        sender: None,
                        max_wait: MAX_CODE_SLOT_WAIT,
                    })
                }
                None => Plan::Skip(SendOutcome::Failed(
                    Cause::CarrierRefused,
                    "this notification is sent by mail only".to_owned(),
                )),
            },
        })
    }

    async fn plan_sms(&self, sms: Sms) -> Result<Plan, StoreError> {
        let Services { store, clock, .. } = &*self.0;
        let (sender, has_opted_out, text) = tokio::try_join!(
            self.open_account(sms.sending.user_id),
            store.has_opted_out(sms.sending.committee_id, &sms.to),
            store.text_of(&sms, clock.now()),
        )?;
        Ok(match text {
            _ if sender.is_none() => Plan::Skip(closed()),
            _ if has_opted_out => Plan::Skip(SendOutcome::Failed(
                Cause::OptedOut,
                "the number has opted out".to_owned(),
            )),
            None => Plan::Skip(SendOutcome::Failed(
                Cause::CarrierRefused,
                "the text is missing or expired".to_owned(),
            )),
            Some(text) => {
                let Sms { to, sending, .. } = sms;
                let text = text.as_str().to_owned();
                Plan::Text(Sendable {
                    to,
                    text,
                    kind: sending.r#type,
                    sender: sending.sender_id,
                    max_wait: MAX_SLOT_WAIT,
                })
            }
        })
    }

    async fn conclude(
        &self,
        what: Outbound,
        outcome: SendOutcome,
        attempts: u32,
        expires_at: Instant,
    ) -> Result<(), Error> {
        let next = self.0.clock.now().after(delay(attempts));
        let (state, failure) = match outcome {
            SendOutcome::Sent => (State::Sent, None),
            SendOutcome::Failed(cause, reason) => {
                tracing::warn!(%what, cause = reason, "a message failed permanently");
                (State::Failed, Some(cause))
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
        // Retried, so that a short failure of the store does not lose a known outcome.
        for attempt in 1.. {
            let (store, now) = (&self.0.store, self.0.clock.now());
            let recorded = match state {
                State::Queued => store.requeue(what, attempts, next, now).await,
                state => {
                    store
                        .record_outcome(what, attempts, state, failure, now)
                        .await
                }
            };
            match recorded {
                Err(error) if attempt < RECORD_ATTEMPTS => {
                    tracing::warn!(%what, failure = %error, "recording the outcome of a message failed");
                    sleep(RECORD_BASE_DELAY * 2_u32.pow(attempt)).await;
                }
                recorded => return Ok(recorded?),
            }
        }
        Ok(())
    }

    /// The slot `taken`, or a new one if it is `None` or more than half an interval in the past: a message sent that
    /// late would exceed the rate in the following second.
    async fn slot_in_time(
        &self,
        taken: Option<Instant>,
        max_wait: Duration,
    ) -> Result<Option<Instant>, StoreError> {
        let Services {
            store,
            clock,
            sms_rate,
            ..
        } = &*self.0;
        let (now, half) = (
            clock.now(),
            Duration::from_millis(500) / u32::try_from(*sms_rate).unwrap_or(u32::MAX),
        );
        match taken.filter(|slot| now <= slot.after(half)) {
            Some(slot) => Ok(Some(slot)),
            None => store.take_slot(*sms_rate, max_wait, now).await,
        }
    }

    /// The account `id` if it is active.
    async fn open_account(&self, id: UserId) -> Result<Option<User>, StoreError> {
        let user = self.0.store.user(id).await?;
        Ok(user.filter(|user| user.is_active))
    }

    /// Whether the attempt number `attempts` is within `limit`. Only the first one counts: later ones send the same
    /// message, which the carrier refused or the stream delivered again.
    async fn is_within(&self, limit: Option<Counter>, attempts: u32) -> Result<bool, StoreError> {
        let Some(counter) = limit.filter(|_| attempts == 1) else {
            return Ok(true);
        };
        let (_, is_full) = self
            .0
            .store
            .count_up_to(&counter, self.0.clock.now())
            .await?;
        if is_full {
            tracing::warn!(metric = counter.name, "a limit of messages is reached");
        }
        Ok(!is_full)
    }
}

/// A mailbox gets a hundred notifications a day besides codes, one that is not verified and may belong to someone else
/// ten. Otherwise changes of the account would flood it with mail.
fn notification_limit(user: &User, notification: &Notification) -> Option<Counter> {
    let (name, max) = if user.has_verified_mailbox() {
        ("NotificationsToVerified", 100)
    } else {
        ("NotificationsToUnverified", 10)
    };
    let is_code = matches!(notification, Notification::Code { .. });
    (!is_code).then(|| Counter {
        name,
        key: user.email.to_string(),
        max,
        window: Duration::from_secs(86_400),
    })
}

fn expired() -> SendOutcome {
    SendOutcome::Failed(Cause::Expired, "the message has expired".to_owned())
}

fn over_limit() -> SendOutcome {
    let reason = "the mailbox has had its notifications of the day";
    SendOutcome::Failed(Cause::SenderClosed, reason.to_owned())
}

fn closed() -> SendOutcome {
    SendOutcome::Failed(Cause::SenderClosed, "the account is closed".to_owned())
}

/// Exponential backoff with full jitter, 1 second at least and [`MAX_DELAY`] at most
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
fn delay(attempts: u32) -> Duration {
    let longest = BASE_DELAY
        .saturating_mul(2_u32.saturating_pow(attempts.min(20)))
        .min(MAX_DELAY);
    let fraction = f64::from(u32::from_be_bytes(random::bytes())) / f64::from(u32::MAX);
    longest.mul_f64(fraction).max(Duration::from_secs(1))
}
