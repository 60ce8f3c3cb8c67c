//! Sends codes, mails and single text messages. `worker` does all other background work, so that a code waits for
//! none of it.

mod outbox;

use std::{sync::Arc, time::Duration};

use background::{
    BatchResponse, Deliver, DueWork, Event, MessageSender, Rate, Record, handle_records,
};
use domain::{
    Instant, Language,
    times::{CODES_PAUSE, SINGLE_WAIT},
};
use identity::outbox::OutboxSealer;
use messaging::{MailClient, texts::MailTexts};
#[cfg(feature = "lambda")]
use runtime::Settings;
use runtime::{Clock, ConfigError, Error, Key};
use store::{Channel, Outbound, OutboundMessage, Setup, Store, keys::DueList};
use tokio::{sync::Notify, time::timeout};

/// The secret keys that this function reads from SSM.
pub const KEYS: &[Key] = &[Key::Outbox];

/// The lists of pending work whose stream records this function receives.
pub const STREAM_LISTS: &[DueList] = &[DueList::Outbox, DueList::Single, DueList::Mails];

/// Messages that are fetched at once.
const FETCH_SIZE: u16 = 20;
/// The state of the function. Clones share it.
#[derive(Clone)]
pub struct Dispatcher(Arc<Services>);

struct Services {
    store: Store,
    sender: MessageSender,
    due: DueWork,
    outbox: OutboxSealer,
    mails: MailClient,
    /// Of mails in numbers.
    rate: Rate,
    clock: Clock,
    texts: MailTexts,
}

/// Builds the dispatcher: reads its keys from SSM and opens connections to the tables.
///
/// # Errors
/// A setting or key that is missing or invalid.
#[cfg(feature = "lambda")]
pub async fn start(settings: Settings) -> Result<Dispatcher, ConfigError> {
    Dispatcher::new(&Setup::start(settings, KEYS).await?)
}

impl Dispatcher {
    /// Builds the dispatcher from the keys of `setup`, the settings `PUBLIC_URL`, `TIME_ZONE`,
    /// `MAIL_FROM`, `MAIL_CONFIGURATION_SET` and `MAIL_RATE_PER_SECOND`, and those of [`MessageSender`].
    ///
    /// # Errors
    /// The first of them that is missing or invalid.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        let settings = &setup.settings;
        let public_url = settings.required_url("PUBLIC_URL")?;
        let mail_from = settings.optional("MAIL_FROM").unwrap_or("Halqa <no-reply@example.org>");
        let configuration_set = settings.optional("MAIL_CONFIGURATION_SET");
        Ok(Self(Arc::new(Services {
            store: setup.store.clone(),
            sender: MessageSender::new(setup)?,
            due: DueWork::new(setup),
            outbox: setup.keys.parse(Key::Outbox)?,
            mails: MailClient::new(
                &setup.aws,
                mail_from.to_owned(),
                configuration_set.map(str::to_owned),
            ),
            rate: Rate::new(setup, Channel::Mails)?,
            clock: setup.clock.clone(),
            texts: MailTexts {
                public_url: public_url.trim_end_matches('/').to_owned(),
                zone: settings.parse("TIME_ZONE", "Africa/Tunis")?,
                language: Language::default(),
            },
        })))
    }

    /// Sends the messages of `event`, or all that are due, and returns the records that failed.
    ///
    /// # Errors
    /// None: failed records are part of the response, and failed work of a sweep stays due.
    pub async fn answer(self, event: Event) -> Result<BatchResponse, Error> {
        let Some(records) = event.records else {
            let Services { sender, due, rate, .. } = &*self.0;
            let sweep =
                |list, rate| sender.sweep(&self, rate, move || due.waiting(list, FETCH_SIZE));
            let is_over = Notify::new();
            let at_rate = async {
                let texts = sweep(DueList::Single, Some(&sender.rate));
                tokio::join!(texts, sweep(DueList::Mails, Some(rate)));
                is_over.notify_one();
            };
            // Codes are swept every second meanwhile, so that none, also no retry, waits for what is sent at a rate.
            let at_once = async {
                loop {
                    sweep(DueList::Outbox, None).await;
                    if timeout(CODES_PAUSE, is_over.notified()).await.is_ok() {
                        return;
                    }
                }
            };
            tokio::join!(at_once, at_rate);
            return Ok(BatchResponse::default());
        };
        let this = &self;
        let send = |_, pk: String| async move {
            match Outbound::of(&pk) {
                Some(what) => this.deliver(what, &mut None).await,
                None => Ok(()),
            }
        };
        // Retries are left to the sweep.
        let is_new = |list, record: &Record| record.is_new() && STREAM_LISTS.contains(&list);
        Ok(handle_records(records, is_new, send).await)
    }
}

impl Deliver for Dispatcher {
    const MAX_WAIT: Duration = SINGLE_WAIT;

    async fn deliver(&self, what: Outbound, reserved: &mut Option<Instant>) -> Result<(), Error> {
        let sender = &self.0.sender;
        match sender.queued(what).await? {
            None => Ok(()),
            Some(OutboundMessage::Sms(sms)) => sender.send_sms(sms, reserved).await,
            Some(OutboundMessage::OutboxMessage(message)) => {
                self.deliver_outbox_message(what, &message, reserved).await
            }
        }
    }
}
