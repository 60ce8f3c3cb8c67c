//! Messages on their way from a handler to the dispatcher: sealed, and all of one size.

use std::{str::FromStr, time::Duration};

use domain::{
    Instant, UserId, code,
    outbox::{Letter, News, Outgoing, Recipient, State},
    user::User,
};
use uuid::Uuid;

use crate::{
    MalformedKey, chance,
    sealing::{Sealer, UnsealError},
};

/// Writes letters for the dispatcher: sealed, and all of one size, so that nobody sees from outside
/// what they are about or whether they are for anybody.
#[derive(Clone)]
pub struct Post(Sealer);

/// Longer than any letter.
const LETTER_BYTES: usize = 1024;
/// News are told for a day.
const NEWS_LIFE: Duration = Duration::from_secs(86_400);

/// Reads keys as [`Sealer`] does.
impl FromStr for Post {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        text.parse().map(Self)
    }
}

impl Post {
    /// The letter that tells `news` of the account `about` to `to`, its owner, whose first name is `name`.
    ///
    /// # Errors
    /// When it cannot be sealed, as [`Sealer::seal`].
    pub fn letter(
        &self,
        to: Recipient,
        about: UserId,
        name: &str,
        news: News,
        now: Instant,
    ) -> Result<Outgoing, UnsealError> {
        let outbox_id = chance::id(now);
        let life = if matches!(news, News::Code { .. }) {
            code::LIFE
        } else {
            NEWS_LIFE
        };
        let mut plain = serde_json::to_vec(&Letter {
            to,
            about,
            name: name.to_owned(),
            news,
        })
        .map_err(|_| UnsealError)?;
        plain.resize(plain.len().max(LETTER_BYTES), b' ');
        Ok(Outgoing {
            outbox_id,
            sealed: self.0.seal(&plain, &place(outbox_id))?,
            status: State::Queued,
            created_at: now,
            useless_at: now.after(life),
        })
    }

    /// The letter that tells `news` to the address in force of `user`.
    ///
    /// # Errors
    /// When it cannot be sealed, as [`Sealer::seal`].
    pub fn tell(&self, user: &User, news: News, now: Instant) -> Result<Outgoing, UnsealError> {
        self.letter(
            Recipient::Mail(user.email.clone()),
            user.user_id,
            user.name.as_str(),
            news,
            now,
        )
    }

    /// What `message` says, and to whom.
    ///
    /// # Errors
    /// When it was not sealed here.
    pub fn open(&self, message: &Outgoing) -> Result<Letter, UnsealError> {
        let plain = self.0.open(&message.sealed, &place(message.outbox_id))?;
        serde_json::from_slice(&plain).map_err(|_| UnsealError)
    }
}

/// Table, key and field: what is sealed there opens nowhere else.
fn place(outbox_id: Uuid) -> String {
    format!("records OUTBOX#{outbox_id} sealed")
}
