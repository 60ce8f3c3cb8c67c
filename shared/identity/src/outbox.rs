//! Messages on their way from a handler to the dispatcher: sealed, and all of one size.

use std::{str::FromStr, time::Duration};

use domain::{
    Instant, UserId, code,
    outbox::{Notification, OutboxItem, OutboxMessage, Recipient, State},
    user::User,
};
use uuid::Uuid;

use crate::{
    MalformedKey, random,
    sealing::{Sealer, UnsealError},
};

/// Writes letters for the dispatcher: sealed, and all of one size, so that nobody sees from outside
/// what they are about or whether they are for anybody.
#[derive(Clone)]
pub struct OutboxSealer(Sealer);

/// Longer than any letter.
const PADDED_BYTES: usize = 1024;
/// Notification are told for a day.
const NOTIFICATION_LIFE: Duration = Duration::from_secs(86_400);

/// Reads keys as [`Sealer`] does.
impl FromStr for OutboxSealer {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        text.parse().map(Self)
    }
}

impl OutboxSealer {
    /// The letter that tells `news` of the account `about` to `to`, its owner, whose first name is `name`.
    ///
    /// # Errors
    /// When it cannot be sealed, as [`Sealer::seal`].
    pub fn letter(
        &self,
        to: Recipient,
        about: UserId,
        name: &str,
        news: Notification,
        now: Instant,
    ) -> Result<OutboxItem, UnsealError> {
        let outbox_id = random::id(now);
        let life = if matches!(news, Notification::Code { .. }) {
            code::LIFE
        } else {
            NOTIFICATION_LIFE
        };
        let mut plain = serde_json::to_vec(&OutboxMessage {
            to,
            about,
            name: name.to_owned(),
            news,
        })
        .map_err(|_| UnsealError)?;
        plain.resize(plain.len().max(PADDED_BYTES), b' ');
        Ok(OutboxItem {
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
    pub fn notify(
        &self,
        user: &User,
        news: Notification,
        now: Instant,
    ) -> Result<OutboxItem, UnsealError> {
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
    pub fn open(&self, message: &OutboxItem) -> Result<OutboxMessage, UnsealError> {
        let plain = self.0.open(&message.sealed, &place(message.outbox_id))?;
        serde_json::from_slice(&plain).map_err(|_| UnsealError)
    }
}

/// Table, key and field: what is sealed there opens nowhere else.
fn place(outbox_id: Uuid) -> String {
    format!("records OUTBOX#{outbox_id} sealed")
}
