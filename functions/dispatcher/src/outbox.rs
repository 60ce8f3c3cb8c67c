//! One message leaves: claimed, sent once, and its outcome written down.

use runtime::Error;
use std::time::Duration;

use domain::{
    E164, Email, Instant, UserId,
    outbox::{Letter, Outgoing, Recipient, State},
    sms::{Cause, SenderId, Sms, Type},
};
use identity::chance;
use messaging::{
    SendError,
    texts::{self, Mail},
};
use store::{Content, Outbound, StoreError};
use tokio::time::sleep;

use crate::{Dispatcher, PATIENCE, Powers, UNKNOWN};

/// The first pause before another try; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(900);
/// How far ahead a code takes its place in the row of text messages; others stay behind it, at most
/// [`PATIENCE`] ahead.
const CODE_PATIENCE: Duration = Duration::from_secs(2);

/// How often it is told what became of a message, as long as the store does not hear it, and the first pause
/// before it is told again; six seconds together.
const TOLD_AGAIN: u32 = 7;
const FIRST_WAIT: Duration = Duration::from_millis(50);

/// What became of one try.
enum Ended {
    Sent,
    GivenUp(Cause, String),
    /// Nobody took it; another time somebody may.
    NotNow(String),
    /// It left, and nobody said whether it was taken.
    Unknown(String),
}

impl From<Result<(), SendError>> for Ended {
    fn from(sent: Result<(), SendError>) -> Self {
        match sent {
            Ok(()) => Self::Sent,
            Err(SendError::Rejected(cause)) => Self::GivenUp(Cause::ApiError, cause),
            Err(SendError::OptedOut) => {
                Self::GivenUp(Cause::OptedOut, "its carrier says so".to_owned())
            }
            Err(SendError::NotSent(cause)) => Self::NotNow(cause),
            Err(SendError::Unknown(cause)) => Self::Unknown(cause),
        }
    }
}

/// What is to be done with a message once it is claimed.
enum Plan {
    /// It goes nowhere.
    End(Ended),
    Mail(Email, Mail),
    Text(Sendable),
}

/// A text message on its way to the carrier.
struct Sendable {
    to: E164,
    text: String,
    kind: Type,
    sender: Option<SenderId>,
    /// How far ahead it takes its place in the row.
    patience: Duration,
}

impl Dispatcher {
    /// Sends the message `what`, unless somebody else does or did. A text message leaves at `slot`, which stays
    /// there when it is not used, or at the next one. It is claimed when all that comes before is done: whoever
    /// dies before leaves it to others, and only who dies between claiming and hearing leaves it unknown.
    pub(crate) async fn deliver(
        &self,
        what: Outbound,
        slot: &mut Option<Instant>,
    ) -> Result<(), Error> {
        let Powers {
            store,
            clock,
            carriers,
            claim,
            ..
        } = &*self.0;
        let waits = |content: &Content| content.status() == State::Queued;
        let Some(content) = store.outbound(what).await?.filter(waits) else {
            return Ok(());
        };
        let useless_at = content.useless_at();
        let plan = if clock.now() < useless_at {
            self.plan(content).await?
        } else {
            Plan::End(expired())
        };
        if let Plan::Text(text) = &plan {
            match self.slot_in_time(slot.take(), text.patience).await? {
                Some(at) => sleep(at.since(clock.now())).await,
                // Who comes behind it, a code perhaps, does not wait for it.
                None => return Ok(store.leave_to_sweeper(what, clock.now()).await?),
            }
        }
        let now = clock.now();
        let Some(attempts) = store.claim(what, now.after(*claim), now).await? else {
            return Ok(());
        };
        let ended = match plan {
            Plan::End(ended) => ended,
            Plan::Mail(to, mail) => carriers.mail(&to, &mail).await.into(),
            Plan::Text(Sendable {
                to,
                text,
                kind,
                sender,
                ..
            }) => carriers.sms(&to, &text, kind, sender.as_ref()).await.into(),
        };
        self.conclude(what, ended, attempts, useless_at).await
    }

    async fn plan(&self, content: Content) -> Result<Plan, Error> {
        match content {
            Content::Letter(letter) => self.plan_letter(&letter).await,
            Content::Sms(sms) => Ok(self.plan_sms(sms).await?),
        }
    }

    async fn plan_letter(&self, letter: &Outgoing) -> Result<Plan, Error> {
        let Ok(Letter {
            to,
            about,
            name,
            news,
        }) = self.0.post.open(letter)
        else {
            // What is sealed under a key that is missing here may still be wanted when it is not.
            return Err(StoreError::Unexpected(
                "a letter cannot be opened: is its key among OUTBOX_KEYS?".to_owned(),
            )
            .into());
        };
        if to != Recipient::Nobody && !self.has_open_account(about).await? {
            return Ok(Plan::End(closed()));
        }
        Ok(match to {
            // What an unknown address costs ends here.
            Recipient::Nobody => Plan::End(Ended::Sent),
            Recipient::Mail(to) => {
                let mail = texts::mail(&news, &name, &to, &self.0.public_url);
                Plan::Mail(to, mail)
            }
            Recipient::Sms(phone) => match texts::sms(&news) {
                Some(text) => {
                    let (to, kind) = (E164::from(&phone), Type::Transactional);
                    Plan::Text(Sendable {
                        to,
                        text,
                        kind,
                        sender: None,
                        patience: CODE_PATIENCE,
                    })
                }
                None => Plan::End(Ended::GivenUp(
                    Cause::ApiError,
                    "such news go by mail".to_owned(),
                )),
            },
        })
    }

    async fn plan_sms(&self, sms: Sms) -> Result<Plan, StoreError> {
        let Powers { store, clock, .. } = &*self.0;
        let (has_open_account, has_opted_out, text) = tokio::try_join!(
            self.has_open_account(sms.sending.user_id),
            store.has_opted_out(sms.sending.committee_id, &sms.to),
            store.text_of(&sms, clock.now()),
        )?;
        Ok(match text {
            _ if !has_open_account => Plan::End(closed()),
            _ if has_opted_out => Plan::End(Ended::GivenUp(
                Cause::OptedOut,
                "its number is on our list".to_owned(),
            )),
            None => Plan::End(Ended::GivenUp(
                Cause::ApiError,
                "nobody knows what it says".to_owned(),
            )),
            Some(text) => {
                let Sms { to, sending, .. } = sms;
                let text = text.as_str().to_owned();
                Plan::Text(Sendable {
                    to,
                    text,
                    kind: sending.r#type,
                    sender: sending.sender_id,
                    patience: PATIENCE,
                })
            }
        })
    }

    async fn conclude(
        &self,
        what: Outbound,
        ended: Ended,
        attempts: u32,
        useless_at: Instant,
    ) -> Result<(), Error> {
        let next = self.0.clock.now().after(pause(attempts));
        let (state, given_up) = match ended {
            Ended::Sent => (State::Sent, None),
            Ended::GivenUp(why, cause) => {
                tracing::warn!(%what, cause, "a message will not be sent");
                (State::Failed, Some(why))
            }
            Ended::Unknown(cause) => {
                tracing::warn!(%what, cause, metric = UNKNOWN, "nobody knows whether a message was sent");
                (State::Unknown, None)
            }
            Ended::NotNow(cause) => {
                tracing::warn!(%what, cause, attempts, "a message was not sent");
                if next < useless_at {
                    (State::Queued, None)
                } else {
                    (State::Failed, Some(Cause::Expired))
                }
            }
        };
        // What is known is not lost because the store is busy for a moment.
        for tries in 1.. {
            let (store, now) = (&self.0.store, self.0.clock.now());
            let told = match state {
                State::Queued => store.put_off(what, attempts, next, now).await,
                state => store.settle(what, attempts, state, given_up, now).await,
            };
            match told {
                Err(failure) if tries < TOLD_AGAIN => {
                    tracing::warn!(%what, %failure, "what became of a message was not written down");
                    sleep(FIRST_WAIT * 2_u32.pow(tries)).await;
                }
                told => return Ok(told?),
            }
        }
        Ok(())
    }

    /// The slot that was taken, unless half of its share is over: who is late would be one too many in the
    /// second that begins with him.
    async fn slot_in_time(
        &self,
        taken: Option<Instant>,
        patience: Duration,
    ) -> Result<Option<Instant>, StoreError> {
        let Powers {
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
            None => store.take_slot(*sms_rate, patience, now).await,
        }
    }

    /// Text messages that leave in the name of an account that is closed were not wanted by its owner.
    async fn has_open_account(&self, user: UserId) -> Result<bool, StoreError> {
        Ok(self
            .0
            .store
            .user(user)
            .await?
            .is_some_and(|user| user.is_active))
    }
}

fn expired() -> Ended {
    Ended::GivenUp(Cause::Expired, "nobody wants it any more".to_owned())
}

fn closed() -> Ended {
    Ended::GivenUp(
        Cause::SenderClosed,
        "the account was closed meanwhile".to_owned(),
    )
}

/// Full jitter over a doubling pause
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>), never under a second.
fn pause(attempts: u32) -> Duration {
    let longest = FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(attempts.min(20)))
        .min(LONGEST_PAUSE);
    let chance = f64::from(u32::from_be_bytes(chance::bytes())) / f64::from(u32::MAX);
    longest.mul_f64(chance).max(Duration::from_secs(1))
}
