//! Background work: sends messages, expands batches into messages, updates the search entries of courses, handles
//! pending uploads and deleted files, and deletes the data of erased users.
//!
//! The table's stream triggers work right after the write. Every minute a sweep picks up work that the stream has
//! missed, or that was postponed. Both may be repeated or run concurrently, so each task begins with a conditional
//! write that succeeds only once.

mod event;
mod files;
mod forget;
mod outbox;
mod sweep;

use std::{sync::Arc, time::Duration};

use domain::{CourseId, FileId, Instant, UserId};
use futures_util::{StreamExt, stream};
use identity::outbox::OutboxSealer;
use messaging::Carriers;
#[cfg(feature = "lambda")]
use runtime::Settings;
use runtime::{Clock, ConfigError, Error, Key};
use storage::Objects;
use store::{Outbound, Setup, Store};
use tokio::sync::Mutex;

pub use event::{Event, Handled};

/// The secret keys that this function reads from SSM.
pub const KEYS: &[Key] = &[Key::Outbox];

/// Number of concurrent tasks.
const AT_ONCE: usize = 8;

/// How far ahead a message may take a slot. A code that is queued afterwards waits no longer than this.
const MAX_SLOT_WAIT: Duration = Duration::from_millis(500);
/// The metric of messages whose delivery is unknown.
const UNKNOWN: &str = "UnknownMessages";

/// The state of the function. Clones share it.
#[derive(Clone)]
pub struct Dispatcher(Arc<Services>);

struct Services {
    store: Store,
    outbox: OutboxSealer,
    carriers: Carriers,
    objects: Objects,
    clock: Clock,
    public_url: String,
    claim: Duration,
    sms_rate: u64,
    /// Held while a slot is requested, so that the workers of this process do not compete for slots.
    slot_lock: Mutex<()>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Task {
    /// Send a message.
    Deliver(Outbound),
    /// Expand the chunk with this partition key into messages.
    Expand(String),
    /// Delete the data of an erased user.
    Erase(UserId),
    /// Update the search entries of a course.
    Index(CourseId),
    /// Handle a pending upload or a deleted file.
    Settle(FileId),
}

impl Task {
    /// The task for the item with the partition key `pk`.
    fn of(pk: &str) -> Option<Self> {
        let message = Outbound::of(pk).map(Self::Deliver);
        let chunk = || store::is_chunk(pk).then(|| Self::Expand(pk.to_owned()));
        let file = || store::file_id(pk).map(Self::Settle);
        let course = || store::course_id(pk).map(Self::Index);
        let user = || store::user_id(pk).map(Self::Erase);
        message
            .or_else(chunk)
            .or_else(file)
            .or_else(course)
            .or_else(user)
    }

    /// Whether it sends a text message, which needs a slot.
    const fn takes_slot(&self) -> bool {
        matches!(self, Self::Deliver(Outbound::Sms(_)))
    }
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
    /// Builds the dispatcher from the keys of `setup` and the settings `PUBLIC_URL`, `MAIL_FROM`, `FILES_BUCKET`,
    /// `SMS_CLAIM_SECONDS` (default 300) and `SMS_RATE_PER_SECOND` (default 10).
    ///
    /// # Errors
    /// The first of them that is missing or invalid.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        let settings = &setup.settings;
        let missing = || ConfigError::new("PUBLIC_URL", "is missing");
        let public_url = settings.url("PUBLIC_URL")?.ok_or_else(missing)?;
        let mail_from = settings
            .optional("MAIL_FROM")
            .unwrap_or("Halqa <no-reply@example.org>");
        Ok(Self(Arc::new(Services {
            store: setup.store.clone(),
            outbox: setup.keys.parse(Key::Outbox)?,
            carriers: Carriers::new(&setup.aws, mail_from.to_owned()),
            objects: Objects::new(&setup.aws, settings)?,
            clock: setup.clock.clone(),
            public_url: public_url.trim_end_matches('/').to_owned(),
            claim: settings.seconds("SMS_CLAIM_SECONDS", 300)?,
            sms_rate: settings.number("SMS_RATE_PER_SECOND", 10)?,
            slot_lock: Mutex::default(),
        })))
    }

    /// [`handle`](Self::handle), with the signature of a Lambda handler.
    ///
    /// # Errors
    /// None: failed records are part of the response, and failed work of a sweep stays due.
    pub async fn answer(self, event: Event) -> Result<Handled, Error> {
        Ok(self.handle(event).await)
    }

    /// Performs the tasks of `event`, or a sweep, and returns the records that failed.
    pub async fn handle(self, event: Event) -> Handled {
        let Some(records) = event.records else {
            self.sweep().await;
            return Handled::default();
        };
        let work = records
            .into_iter()
            .filter_map(|record| record.task().map(|task| (record.sequence_number(), task)));
        let this = &self;
        let results = stream::iter(work)
            .map(|(number, task)| async move { (number, this.perform(task, &mut None).await) });
        let failed = results
            .buffered(AT_ONCE)
            .filter_map(
                |(number, done)| async move { done.err().map(|failure| (number, failure)) },
            );
        let failed: Vec<_> = failed.collect().await;
        for (_, failure) in &failed {
            tracing::error!(?failure, "handling a stream record failed");
        }
        Handled::failing(failed.into_iter().map(|(number, _)| number))
    }

    /// Performs `task`. A text message is sent at `slot`, or takes a slot if that is `None`.
    async fn perform(&self, task: Task, slot: &mut Option<Instant>) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        match task {
            Task::Deliver(what) => self.deliver(what, slot).await,
            Task::Expand(pk) => Ok(store.expand_chunk(&pk, clock.now()).await?),
            Task::Erase(id) => self.delete_user_data(id).await,
            Task::Index(id) => Ok(store.index_course(id).await?),
            Task::Settle(id) => self.settle_file(id).await,
        }
    }
}
