//! What happens after the answer: messages leave, batches become messages, courses are found by their words,
//! files come or go, and what is left of erased people goes.
//!
//! The stream of the table brings what has just been written; every minute the sweeper looks for what
//! the stream missed, or what was put off. Both may come twice or at once: whatever is done begins with
//! a conditional write that only one of them wins.

mod event;
mod files;
mod forget;
mod outbox;
mod sweep;

use std::{sync::Arc, time::Duration};

use domain::{CourseId, FileId, Instant, UserId};
use futures_util::{StreamExt, stream};
use identity::outbox::Post;
use messaging::Carriers;
#[cfg(feature = "lambda")]
use runtime::Settings;
use runtime::{Clock, ConfigError, Error, Key};
use storage::Objects;
use store::{Outbound, Setup, Store};
use tokio::sync::Mutex;

pub use event::{Event, Handled};

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::Outbox];

/// How many pieces of work are done at once.
const AT_ONCE: usize = 8;

/// How far ahead a message takes its place in the row: a code that comes then waits no longer than that.
const PATIENCE: Duration = Duration::from_millis(500);
/// The metric of messages of which nobody knows whether they were sent.
const UNKNOWN: &str = "UnknownMessages";

/// What this function can do. Cloning shares it.
#[derive(Clone)]
pub struct Dispatcher(Arc<Powers>);

struct Powers {
    store: Store,
    post: Post,
    carriers: Carriers,
    objects: Objects,
    clock: Clock,
    public_url: String,
    claim: Duration,
    sms_rate: u64,
    /// Whoever holds it asks for a slot.
    row: Mutex<()>,
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Task {
    /// Send this message.
    Deliver(Outbound),
    /// Make messages of the chunk with this partition key.
    Expand(String),
    /// Remove what is left of this person.
    Forget(UserId),
    /// Have this course be found by its words.
    Index(CourseId),
    /// See whether this file has come, or remove it.
    Settle(FileId),
}

impl Task {
    /// What there is to do about the item whose partition key is `pk`.
    fn of(pk: &str) -> Option<Self> {
        let message = Outbound::of(pk).map(Self::Deliver);
        let chunk = || store::is_chunk(pk).then(|| Self::Expand(pk.to_owned()));
        let file = || store::file_id(pk).map(Self::Settle);
        let course = || store::course_id(pk).map(Self::Index);
        let person = || store::user_id(pk).map(Self::Forget);
        message
            .or_else(chunk)
            .or_else(file)
            .or_else(course)
            .or_else(person)
    }

    /// Whether it is a message that leaves in a slot that was taken before.
    const fn takes_slot(&self) -> bool {
        matches!(self, Self::Deliver(Outbound::Sms(_)))
    }
}

/// A dispatcher with what the environment says, its keys and open connections to the tables.
///
/// # Errors
/// As [`Dispatcher::new`], and a key that is missing.
#[cfg(feature = "lambda")]
pub async fn start(settings: Settings) -> Result<Dispatcher, ConfigError> {
    Dispatcher::new(&Setup::start(settings, KEYS).await?)
}

impl Dispatcher {
    /// A dispatcher with the keys and settings of `setup`: `PUBLIC_URL`, `MAIL_FROM`, `FILES_BUCKET`,
    /// `SMS_CLAIM_SECONDS` (300), `SMS_RATE_PER_SECOND` (10).
    ///
    /// # Errors
    /// A key or a setting that is missing or makes no sense.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        let settings = &setup.settings;
        let missing = || ConfigError::new("PUBLIC_URL", "is missing");
        let public_url = settings.url("PUBLIC_URL")?.ok_or_else(missing)?;
        let mail_from = settings
            .optional("MAIL_FROM")
            .unwrap_or("Halqa <no-reply@example.org>");
        Ok(Self(Arc::new(Powers {
            store: setup.store.clone(),
            post: setup.keys.parse(Key::Outbox)?,
            carriers: Carriers::new(&setup.aws, mail_from.to_owned()),
            objects: Objects::new(&setup.aws, settings)?,
            clock: setup.clock.clone(),
            public_url: public_url.trim_end_matches('/').to_owned(),
            claim: settings.seconds("SMS_CLAIM_SECONDS", 300)?,
            sms_rate: settings.number("SMS_RATE_PER_SECOND", 10)?,
            row: Mutex::default(),
        })))
    }

    /// The same as an answer to Lambda.
    ///
    /// # Errors
    /// None: what fails is named in the answer, or stays due.
    pub async fn answer(self, event: Event) -> Result<Handled, Error> {
        Ok(self.handle(event).await)
    }

    /// Does what `event` brings, and says which of its records are to be brought again.
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
            tracing::error!(?failure, "a record of the stream was not dealt with");
        }
        Handled::failing(failed.into_iter().map(|(number, _)| number))
    }

    /// Does `task`; a text message leaves at `slot`, or at one of its own.
    async fn perform(&self, task: Task, slot: &mut Option<Instant>) -> Result<(), Error> {
        let Powers { store, clock, .. } = &*self.0;
        match task {
            Task::Deliver(what) => self.deliver(what, slot).await,
            Task::Expand(pk) => Ok(store.expand_chunk(&pk, clock.now()).await?),
            Task::Forget(id) => self.forget(id).await,
            Task::Index(id) => Ok(store.index_course(id).await?),
            Task::Settle(id) => self.settle_file(id).await,
        }
    }
}
