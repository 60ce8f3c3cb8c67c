//! Background work other than codes, mails and single text messages: expands batches into messages and sends them,
//! updates the search entries of courses, promotes, ends and forgets registrations, reminds of courses and
//! tells of changed dates, handles pending uploads and deleted
//! files, deletes the data of erased users, makes certificates anonymous, records delivery receipts of text messages, and stops mails to addresses that
//! bounce or complain.

mod announce;
mod certificates;
mod erase;
mod feedback;
mod files;
mod receipts;
mod seats;
mod sweep;

use std::sync::Arc;

use background::{BatchResponse, DueWork, Event, MessageSender, Record, handle_records};
use domain::{CommitteeId, CourseId, FileId, UserId, Zone, registration::Retention};
use identity::outbox::OutboxSealer;
#[cfg(feature = "lambda")]
use runtime::Settings;
use runtime::{Clock, ConfigError, Error, Key};
use storage::Bucket;
use store::{Setup, Store, keys::DueList};

/// The secret keys that this function reads from SSM.
pub const KEYS: &[Key] = &[Key::Outbox];

/// The lists of pending work whose stream records this function receives.
pub const STREAM_LISTS: &[DueList] =
    &[DueList::Chunks, DueList::Erase, DueList::Files, DueList::Courses];

/// The lists of pending work that the sweep reads, beside those of messages.
const SWEEP_LISTS: [DueList; 5] =
    [DueList::Chunks, DueList::Erase, DueList::Unverified, DueList::Courses, DueList::Files];

/// The state of the function. Clones share it.
#[derive(Clone)]
pub struct Worker(Arc<Services>);

struct Services {
    store: Store,
    sender: MessageSender,
    due: DueWork,
    bucket: Bucket,
    outbox: OutboxSealer,
    retention: Retention,
    /// The time zone of the days of sessions.
    zone: Zone,
    clock: Clock,
}

/// Whether the work that `list` has for the item of `record` is done at once. What is left, and what fails, is done by the
/// sweep: retries, pending uploads, and certificates.
fn is_for_stream(list: DueList, record: &Record) -> bool {
    match list {
        DueList::Chunks => record.is_new(),
        DueList::Files => !record.is_new(),
        // They are due in years. The log line of such work contains the code, with which anyone can read the name.
        DueList::Courses if record.kind() == "CERTIFICATE" => false,
        list => STREAM_LISTS.contains(&list),
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
    /// Builds the worker from the settings `FILES_BUCKET`, `ANSWERS_RETENTION_DAYS`, `REGISTRATIONS_RETENTION_DAYS` and
    /// `TIME_ZONE`, the key of the outbox, and the settings of [`MessageSender`].
    ///
    /// # Errors
    /// The first of them that is missing or invalid.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        Ok(Self(Arc::new(Services {
            store: setup.store.clone(),
            sender: MessageSender::new(setup)?,
            due: DueWork::new(setup),
            bucket: Bucket::new(&setup.aws, &setup.settings)?,
            outbox: setup.keys.parse(Key::Outbox)?,
            retention: Retention {
                answers: setup.settings.days("ANSWERS_RETENTION_DAYS", 365)?,
                cards: setup.settings.days("REGISTRATIONS_RETENTION_DAYS", 1095)?,
            },
            zone: setup.settings.parse("TIME_ZONE", "Africa/Tunis")?,
            clock: setup.clock.clone(),
        })))
    }

    /// Performs the tasks of the stream records of `event` and returns the records that failed; or records receipts of
    /// text messages or feedback on a mail; or performs a sweep.
    ///
    /// # Errors
    /// A receipt or feedback could not be read or recorded: Lambda repeats the event. Failed stream records are part of
    /// the response, and failed work of a sweep stays due.
    pub async fn answer(self, event: Event) -> Result<BatchResponse, Error> {
        if let Some(logs) = &event.logs {
            self.record_receipts(logs).await?;
        } else if let Some(feedback) = event.feedback()? {
            self.record_feedback(feedback).await?;
        } else if let Some(records) = event.records {
            let this = &self;
            let perform = |list, pk: String| async move { this.perform(list, &pk).await };
            return Ok(handle_records(records, is_for_stream, perform).await);
        } else {
            self.sweep().await;
        }
        Ok(BatchResponse::default())
    }

    /// Does the work that `list` has for the item with the partition key `pk`. All kinds of work are here.
    async fn perform(&self, list: DueList, pk: &str) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let (item, id) = pk.split_once('#').unwrap_or_default();
        match (list, item) {
            (DueList::Chunks, "CHUNK") => Ok(store.expand_chunk(pk, clock.now()).await?),
            (DueList::Erase | DueList::Unverified, "USER") => {
                self.delete_user_data(UserId::or_none(id)).await
            }
            (DueList::Courses, "COURSE") => Ok(store.index_course(CourseId::or_none(id)).await?),
            (DueList::Courses, "SEATS") => self.process_seats(CourseId::or_none(id)).await,
            (DueList::Courses, "ANNOUNCEMENTS") => self.announce(CourseId::or_none(id)).await,
            (DueList::Courses, "CERTIFICATE") => self.forget_certificate(id).await,
            (DueList::Courses, "REGISTERED") => self.wake_where_waiting(UserId::or_none(id)).await,
            (DueList::Courses, "COMMITTEE") => {
                self.wake_in_committee(CommitteeId::or_none(id)).await
            }
            (DueList::Files, "FILE") => self.settle_file(FileId::or_none(id)).await,
            // Of a newer version of this function.
            _ => Err(format!("{} has no work for such an item", list.code()).into()),
        }
    }
}
