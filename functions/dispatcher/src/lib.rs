//! What happens after the answer: messages leave the outbox, courses are found by their words, files come or
//! go, and what is left of erased people goes.
//!
//! The stream of the table brings what has just been written; every minute the sweeper looks for what
//! the stream missed, or what was put off. Both may come twice or at once: whatever is done begins with
//! a conditional write that only one of them wins.

mod event;
mod files;
mod forget;
mod outbox;

use std::{sync::Arc, time::Duration};

use common::{BadSetting, Clock, Failure, Key, Post, Setup};
use domain::{CourseId, FileId, UserId};
use futures_util::{StreamExt, stream};
use notices::Carriers;
use objects::Objects;
use store::Store;
use uuid::Uuid;

pub use event::{Event, Handled};

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::Outbox];

/// How many messages are on their way at once.
const AT_ONCE: usize = 8;
/// How many a sweep looks at in one go.
const SWEEP: u16 = 100;
/// How often it looks again in one minute when there was more.
const GOES: usize = 10;

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
}

/// A piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Send this message.
    Deliver(Uuid),
    /// Remove what is left of this person.
    Forget(UserId),
    /// Have this course be found by its words.
    Index(CourseId),
    /// See whether this file has come, or remove it.
    Settle(FileId),
}

impl Dispatcher {
    /// A dispatcher with the keys and settings of `setup`.
    ///
    /// # Errors
    /// A key or a setting that is missing or makes no sense.
    pub fn new(setup: &Setup) -> Result<Self, BadSetting> {
        let settings = &setup.settings;
        let missing = || BadSetting::new("PUBLIC_URL", "is missing");
        Ok(Self(Arc::new(Powers {
            store: setup.store.clone(),
            post: Post::new(setup)?,
            carriers: Carriers::new(setup.aws.clone(), settings.mail_from.clone()),
            objects: Objects::new(setup.aws.clone(), settings.files_bucket.as_deref())?,
            clock: setup.clock.clone(),
            public_url: settings.public_url.clone().ok_or_else(missing)?,
            claim: settings.claim,
        })))
    }

    /// Does what `event` brings, and says which of its records are to be brought again.
    pub async fn handle(self, event: Event) -> Handled {
        let Some(records) = event.records else {
            self.sweep().await;
            return Handled::default();
        };
        let work = records.into_iter().filter_map(|record| record.task().map(|task| (record.sequence_number(), task)));
        let this = &self;
        let results = stream::iter(work).map(|(number, task)| async move { (number, this.perform(task).await) });
        let failed = results.buffered(AT_ONCE).filter_map(|(number, done)| async move { done.err().map(|failure| (number, failure)) });
        let failed: Vec<_> = failed.collect().await;
        for (_, failure) in &failed {
            tracing::error!(?failure, "a record of the stream was not dealt with");
        }
        Handled::failing(failed.into_iter().map(|(number, _)| number))
    }

    /// Looks for what is due, until there is nothing or it has looked long enough for one minute.
    async fn sweep(&self) {
        for _ in 0..GOES {
            let found = self.due().await.unwrap_or_else(|failure| {
                tracing::error!(?failure, "the sweeper could not look");
                Vec::new()
            });
            let all = found.len();
            let done = stream::iter(found).map(|task| self.perform(task)).buffer_unordered(AT_ONCE);
            let failed: Vec<Failure> = done.filter_map(|done| async { done.err() }).collect().await;
            for failure in &failed {
                tracing::error!(?failure, "what is due was not dealt with");
            }
            if all < usize::from(SWEEP) || !failed.is_empty() {
                return;
            }
        }
    }

    async fn due(&self) -> Result<Vec<Task>, Failure> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let (messages, erased, courses, files) = tokio::join!(
            store.due_messages(now, SWEEP),
            store.erased(now, SWEEP),
            store.courses_to_index(now, SWEEP),
            store.due_files(now, SWEEP),
        );
        let (messages, erased) = (messages?.into_iter().map(Task::Deliver), erased?.into_iter().map(Task::Forget));
        let (courses, files) = (courses?.into_iter().map(Task::Index), files?.into_iter().map(Task::Settle));
        Ok(messages.chain(erased).chain(courses).chain(files).collect())
    }

    async fn perform(&self, task: Task) -> Result<(), Failure> {
        match task {
            Task::Deliver(id) => self.deliver(id).await,
            Task::Forget(id) => self.forget(id).await,
            Task::Index(id) => Ok(self.0.store.index_course(id).await?),
            Task::Settle(id) => self.settle_file(id).await,
        }
    }
}
