//! Background work other than codes, mails and single text messages: expands batches into messages and sends them,
//! updates the search entries of courses, gives free seats to people who wait, handles pending uploads and deleted files, deletes the data of erased users,
//! records delivery receipts of text messages, and stops mails to addresses that bounce or complain.

mod feedback;
mod files;
mod forget;
mod receipts;
mod seats;
mod sweep;

use std::sync::Arc;

use background::{DueWork, Event, Handled, MessageSender, Record, handle_records};
use domain::{CommitteeId, CourseId, FileId, UserId};
use identity::outbox::OutboxSealer;
#[cfg(feature = "lambda")]
use runtime::Settings;
use runtime::{Clock, ConfigError, Error, Key};
use storage::Objects;
use store::{Setup, Store, keys::DueList};

use crate::seats::Retention;

/// The secret keys that this function reads from SSM.
pub const KEYS: &[Key] = &[Key::Outbox];

/// The lists of pending work whose stream records this function receives.
pub const STREAM_LISTS: &[DueList] =
    &[DueList::Chunks, DueList::Erase, DueList::Files, DueList::Courses];

/// The state of the function. Clones share it.
#[derive(Clone)]
pub struct Worker(Arc<Services>);

struct Services {
    store: Store,
    sender: MessageSender,
    due: DueWork,
    objects: Objects,
    outbox: OutboxSealer,
    retention: Retention,
    clock: Clock,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Task {
    /// Expand the chunk with this partition key into messages.
    Expand(String),
    /// Delete the data of an erased user.
    Erase(UserId),
    /// Update the search entries of a course.
    Index(CourseId),
    /// Do what is left to do with the seats of a course.
    Seat(CourseId),
    /// Copy a changed account to its registrations.
    Copy(UserId),
    /// Promote people who wait for courses of a committee that is active again.
    Reopen(CommitteeId),
    /// Handle a pending upload or a deleted file.
    Settle(FileId),
}

impl Task {
    /// The lists of the tasks.
    const LISTS: [DueList; 5] =
        [DueList::Chunks, DueList::Erase, DueList::Unverified, DueList::Courses, DueList::Files];

    /// The task for the item with the partition key `pk` in `list`.
    fn of(list: DueList, pk: &str) -> Option<Self> {
        let (kind, id) = pk.split_once('#')?;
        match list {
            DueList::Chunks => Some(Self::Expand(pk.to_owned())),
            DueList::Erase | DueList::Unverified => Some(Self::Erase(UserId::or_none(id))),
            DueList::Courses => Some(match kind {
                "SEATS" => Self::Seat(CourseId::or_none(id)),
                "USER" => Self::Copy(UserId::or_none(id)),
                "COMMITTEE" => Self::Reopen(CommitteeId::or_none(id)),
                _ => Self::Index(CourseId::or_none(id)),
            }),
            DueList::Files => Some(Self::Settle(FileId::or_none(id))),
            _ => None,
        }
    }

    /// The task to perform at once for `record`. `None` for work that the sweep does: retries, and pending uploads.
    fn of_record(record: &Record) -> Option<Self> {
        let (list, pk) = record.due()?;
        let task = Self::of(list, pk)?;
        let is_for_stream = match task {
            Self::Expand(_) => record.is_new(),
            Self::Settle(_) => !record.is_new(),
            Self::Erase(_) | Self::Index(_) | Self::Seat(_) | Self::Copy(_) | Self::Reopen(_) => {
                true
            }
        };
        is_for_stream.then_some(task)
    }
}

/// Builds the worker and opens connections to the tables.
///
/// # Errors
/// A setting that is missing or invalid.
#[cfg(feature = "lambda")]
pub async fn start(settings: Settings) -> Result<Worker, ConfigError> {
    Worker::new(&Setup::start(settings, KEYS).await?)
}

impl Worker {
    /// Builds the worker from the settings `FILES_BUCKET`, `ANSWERS_RETENTION_DAYS` and `REGISTRATIONS_RETENTION_DAYS`, the
    /// key of the outbox, and the settings of [`MessageSender`].
    ///
    /// # Errors
    /// The first of them that is missing or invalid.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        Ok(Self(Arc::new(Services {
            store: setup.store.clone(),
            sender: MessageSender::new(setup)?,
            due: DueWork::new(setup),
            objects: Objects::new(&setup.aws, &setup.settings)?,
            outbox: setup.keys.parse(Key::Outbox)?,
            retention: Retention {
                answers: setup.settings.days("ANSWERS_RETENTION_DAYS", 365)?,
                cards: setup.settings.days("REGISTRATIONS_RETENTION_DAYS", 1095)?,
            },
            clock: setup.clock.clone(),
        })))
    }

    /// Performs the tasks of the stream records of `event` and returns the records that failed; or records receipts of
    /// text messages or feedback on a mail; or performs a sweep.
    ///
    /// # Errors
    /// A receipt or feedback could not be read or recorded: Lambda repeats the event. Failed stream records are part of
    /// the response, and failed work of a sweep stays due.
    pub async fn answer(self, event: Event) -> Result<Handled, Error> {
        if let Some(logs) = &event.logs {
            self.record_receipts(logs).await?;
        } else if let Some(feedback) = event.feedback()? {
            self.record_feedback(feedback).await?;
        } else if let Some(records) = event.records {
            let this = &self;
            let perform = |task| async move { this.perform(task).await };
            return Ok(handle_records(records, Task::of_record, perform).await);
        } else {
            self.sweep().await;
        }
        Ok(Handled::default())
    }

    async fn perform(&self, task: Task) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        match task {
            Task::Expand(pk) => Ok(store.expand_chunk(&pk, clock.now()).await?),
            Task::Erase(id) => self.delete_user_data(id).await,
            Task::Index(id) => Ok(store.index_course(id).await?),
            Task::Seat(id) => self.process_seats(id).await,
            Task::Copy(id) => self.copy_account(id).await,
            Task::Reopen(id) => self.promote_in_committee(id).await,
            Task::Settle(id) => self.settle_file(id).await,
        }
    }
}
