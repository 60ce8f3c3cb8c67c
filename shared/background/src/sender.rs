//! What sends messages: [texts](crate::text) wait for their [rate](crate::rate), are [claimed](crate::claim), sent once, and
//! their [outcome](crate::outcome) is recorded.

use std::time::Duration;

use domain::{UserId, outbox::State, times::CLAIM, user::User};
use messaging::SmsClient;
use runtime::{Clock, ConfigError};
use store::{Channel, Outbound, OutboundMessage, Setup, Store, StoreError};

use crate::{DueWork, Rate};

/// Sends messages: each is claimed, sent once, and its outcome recorded.
pub struct MessageSender {
    pub(crate) store: Store,
    pub(crate) due: DueWork,
    pub(crate) sms: SmsClient,
    pub(crate) clock: Clock,
    /// How long a claim lasts.
    pub(crate) claim: Duration,
    /// Of text messages.
    pub rate: Rate,
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

    /// The account `id` if it is active.
    pub async fn open_account(&self, id: UserId) -> Result<Option<User>, StoreError> {
        let user = self.store.user(id).await?;
        Ok(user.filter(|user| user.is_active))
    }
}
