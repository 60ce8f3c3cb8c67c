//! One message leaves: claimed, sent once, and its outcome written down.

use std::time::Duration;

use common::Failure;
use domain::{
    E164, Instant, SmsId, UserId,
    outbox::{Letter, Recipient, State},
    sms::{Cause, LIFE, Sms, Type},
};
use identity::chance;
use notices::{Outcome, texts};
use store::{Claimed, Content, Fault, Outbound};
use tokio::time::sleep;

use crate::{Dispatcher, Powers};

/// The first pause before another try; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(900);
/// How far ahead a code takes its place in the row of text messages; others stay behind it, at most
/// [`PATIENCE`](crate::sweep::PATIENCE) ahead.
const CODE_PATIENCE: Duration = Duration::from_secs(2);

/// What became of one try.
enum Ended {
    Sent,
    GivenUp(Cause, String),
    /// Nobody took it; another time somebody may.
    NotNow(String),
    /// It left, and nobody said whether it was taken.
    Unknown(String),
}

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Sent => Self::Sent,
            Outcome::Never(cause) => Self::GivenUp(Cause::Refused, cause),
            Outcome::OptedOut => Self::GivenUp(Cause::OptedOut, "its carrier says so".to_owned()),
            Outcome::NotNow(cause) => Self::NotNow(cause),
            Outcome::Unknown(cause) => Self::Unknown(cause),
        }
    }
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Self {
        Self::NotNow(fault.to_string())
    }
}

impl Dispatcher {
    /// Sends the message `what`, unless somebody else does or did. A text message that a person sends leaves
    /// at `slot`, which stays there when it is not used.
    pub(crate) async fn deliver(&self, what: Outbound, slot: &mut Option<Instant>) -> Result<(), Failure> {
        let Powers { store, clock, post, claim, .. } = &*self.0;
        let now = clock.now();
        let Some(Claimed { content, attempts }) = store.claim(what, now.after(*claim), now).await? else {
            if store.give_up_claim(what, now).await? {
                tracing::warn!(%what, "a message was claimed and never settled: nobody knows whether it was sent");
            }
            return Ok(());
        };
        let (ended, useless_at) = match content {
            Content::Letter(outgoing) if now >= outgoing.useless_at => (expired(), outgoing.useless_at),
            Content::Letter(outgoing) => {
                let Ok(letter) = post.open(&outgoing) else {
                    // What is sealed under a key that is missing here may still be wanted when it is not.
                    store.put_off(what, now.after(pause(attempts)), now).await?;
                    return Err(Fault::Broken("a letter cannot be opened: is its key among OUTBOX_KEYS?".to_owned()).into());
                };
                (self.send_letter(letter).await, outgoing.useless_at)
            }
            Content::Sms(sms) => {
                let useless_at = sms.sending.created_at.after(LIFE);
                (if now < useless_at { self.send_sms(&sms, slot).await } else { expired() }, useless_at)
            }
        };
        self.conclude(what, ended, attempts, useless_at).await
    }

    async fn conclude(&self, what: Outbound, ended: Ended, attempts: u32, useless_at: Instant) -> Result<(), Failure> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let (state, given_up) = match ended {
            Ended::Sent => (State::Sent, None),
            Ended::GivenUp(why, cause) => {
                tracing::warn!(%what, cause, "a message will not be sent");
                (State::Failed, Some(why))
            }
            Ended::Unknown(cause) => {
                tracing::warn!(%what, cause, "nobody knows whether a message was sent");
                (State::Unknown, None)
            }
            Ended::NotNow(cause) => {
                let next = now.after(pause(attempts));
                tracing::warn!(%what, cause, attempts, "a message was not sent");
                if next < useless_at {
                    return Ok(store.put_off(what, next, now).await?);
                }
                (State::Failed, Some(Cause::Expired))
            }
        };
        Ok(store.settle(what, state, given_up, now).await?)
    }

    async fn send_letter(&self, letter: Letter) -> Ended {
        let Powers { store, clock, carriers, public_url, .. } = &*self.0;
        let Letter { to, about, name, news } = letter;
        if to != Recipient::Nobody {
            match self.has_open_account(about).await {
                Ok(true) => {}
                Ok(false) => return closed(),
                Err(fault) => return fault.into(),
            }
        }
        match to {
            // What an unknown address costs ends here.
            Recipient::Nobody => Ended::Sent,
            Recipient::Mail(email) => carriers.mail(&email, &texts::mail(&news, &name, &email, public_url), clock.now()).await.into(),
            Recipient::Sms(phone) => {
                let Some(text) = texts::sms(&news) else {
                    return Ended::GivenUp(Cause::Refused, "such news go by mail".to_owned());
                };
                let slot = match store.take_slot(self.0.sms_rate, CODE_PATIENCE, clock.now()).await {
                    Ok(slot) => slot,
                    Err(fault) => return fault.into(),
                };
                let Some(slot) = slot else { return too_many() };
                sleep(slot.since(clock.now())).await;
                carriers.sms(&E164::from(&phone), &text, Type::Transactional, None, clock.now()).await.into()
            }
        }
    }

    async fn send_sms(&self, sms: &Sms, slot: &mut Option<Instant>) -> Ended {
        let Powers { store, clock, carriers, .. } = &*self.0;
        let Sms { to, sending, .. } = sms;
        let (sender, opted_out, text) = tokio::join!(
            self.has_open_account(sending.user_id),
            store.has_opted_out(sending.committee_id, to),
            store.text_of(sms, clock.now()),
        );
        let text = match (sender, opted_out, text) {
            (Err(fault), ..) | (_, Err(fault), _) | (.., Err(fault)) => return fault.into(),
            (Ok(false), ..) => return closed(),
            (_, Ok(true), _) => return Ended::GivenUp(Cause::OptedOut, "its number is on our list".to_owned()),
            (.., Ok(None)) => return Ended::GivenUp(Cause::Refused, "nobody knows what it says".to_owned()),
            (.., Ok(Some(text))) => text,
        };
        match self.slot_in_time(slot.take()).await {
            Ok(Some(slot)) => sleep(slot.since(clock.now())).await,
            Ok(None) => return too_many(),
            Err(fault) => return fault.into(),
        }
        carriers.sms(to, text.as_str(), sending.r#type, sending.sender_id.as_ref(), clock.now()).await.into()
    }

    /// The slot that was taken, unless half of its share is over: who is late would be one too many in the
    /// second that begins with him.
    async fn slot_in_time(&self, taken: Option<Instant>) -> Result<Option<Instant>, Fault> {
        let Powers { store, clock, sms_rate, .. } = &*self.0;
        let (now, half) = (clock.now(), Duration::from_millis(500) / u32::try_from(*sms_rate).unwrap_or(u32::MAX));
        match taken.filter(|slot| now <= slot.after(half)) {
            Some(slot) => Ok(Some(slot)),
            None => store.take_slot(*sms_rate, CODE_PATIENCE, now).await,
        }
    }

    /// Text messages that leave in the name of an account that is closed were not wanted by its owner.
    async fn has_open_account(&self, user: UserId) -> Result<bool, Fault> {
        Ok(self.0.store.user(user).await?.is_some_and(|user| user.is_active))
    }

    /// Sends the single message `id` that the stream brought, if there is a slot soon: who comes behind it in
    /// the stream, a code perhaps, does not wait for it.
    pub(crate) async fn deliver_at_once(&self, id: SmsId) -> Result<(), Failure> {
        let Powers { store, clock, sms_rate, .. } = &*self.0;
        match store.take_slot(*sms_rate, crate::sweep::PATIENCE, clock.now()).await? {
            Some(slot) => self.deliver(Outbound::Sms(id), &mut Some(slot)).await,
            None => Ok(store.leave_to_sweeper(Outbound::Sms(id), clock.now()).await?),
        }
    }
}

fn expired() -> Ended {
    Ended::GivenUp(Cause::Expired, "nobody wants it any more".to_owned())
}

fn closed() -> Ended {
    Ended::GivenUp(Cause::SenderClosed, "the account was closed meanwhile".to_owned())
}

fn too_many() -> Ended {
    Ended::NotNow("too many text messages are on their way".to_owned())
}

/// Full jitter over a doubling pause
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>), never under a second.
fn pause(attempts: u32) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(attempts.min(20))).min(LONGEST_PAUSE);
    let chance = f64::from(u32::from_be_bytes(chance::bytes())) / f64::from(u32::MAX);
    longest.mul_f64(chance).max(Duration::from_secs(1))
}
