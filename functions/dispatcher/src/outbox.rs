//! One message leaves: claimed, sent once, and its outcome written down.

use std::time::Duration;

use common::Failure;
use domain::outbox::{Letter, Outgoing, Recipient, State};
use identity::chance;
use notices::{Outcome, texts};
use uuid::Uuid;

use crate::Dispatcher;

/// The first pause before another try; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(900);

impl Dispatcher {
    /// Sends the message `id`, unless somebody else does or did.
    pub(crate) async fn deliver(&self, id: Uuid) -> Result<(), Failure> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let Some(message) = store.claim(id, now.after(self.0.claim)).await? else {
            if store.give_up_claim(id, now).await? {
                tracing::warn!(%id, "a message was claimed and never settled: nobody knows whether it was sent");
            }
            return Ok(());
        };
        let outcome = self.send(&message).await;
        let now = self.0.clock.now();
        let state = match outcome {
            Outcome::Sent => State::Sent,
            Outcome::Never(cause) => {
                tracing::warn!(%id, cause, "a message will not be sent");
                State::Failed
            }
            Outcome::Unknown(cause) => {
                tracing::warn!(%id, cause, "nobody knows whether a message was sent");
                State::Unknown
            }
            Outcome::NotNow(cause) => {
                let next = now.after(pause(message.attempts));
                tracing::warn!(%id, cause, attempts = message.attempts, "a message was not sent");
                if next < message.useless_at {
                    return Ok(store.put_off(id, next).await?);
                }
                State::Failed
            }
        };
        Ok(store.settle(id, state, now).await?)
    }

    async fn send(&self, message: &Outgoing) -> Outcome {
        let (powers, now) = (&self.0, self.0.clock.now());
        if now >= message.useless_at {
            return Outcome::Never("nobody wants it any more".to_owned());
        }
        let Ok(Letter { to, about, name, news }) = powers.post.open(message) else {
            return Outcome::Never("it cannot be opened".to_owned());
        };
        if to != Recipient::Nobody {
            match powers.store.user(about).await {
                Ok(Some(user)) if user.is_active => {}
                Ok(_) => return Outcome::Never("the account was closed meanwhile".to_owned()),
                Err(fault) => return Outcome::NotNow(fault.to_string()),
            }
        }
        match to {
            // What an unknown address costs ends here.
            Recipient::Nobody => Outcome::Sent,
            Recipient::Mail(email) => powers.carriers.mail(&email, &texts::mail(&news, &name, &email, &powers.public_url), now).await,
            Recipient::Sms(phone) => match texts::sms(&news) {
                Some(text) => powers.carriers.sms(&phone, &text, now).await,
                None => Outcome::Never("such news go by mail".to_owned()),
            },
        }
    }
}

/// Full jitter over a doubling pause
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>), never under a second.
fn pause(attempts: u32) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(attempts.min(20))).min(LONGEST_PAUSE);
    let chance = f64::from(u32::from_be_bytes(chance::bytes())) / f64::from(u32::MAX);
    longest.mul_f64(chance).max(Duration::from_secs(1))
}
