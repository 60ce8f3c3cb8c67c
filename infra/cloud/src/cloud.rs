//! One endpoint for all AWS services: DynamoDB (dynoxide on SQLite), S3 (s3s on a folder), SSM, and a recorder for
//! SNS and SES. Faults can be injected into each of them. A hosting account has an endpoint of its own.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dynoxide::Database;
use runtime::Clock;
use rusqlite::Connection;
use s3s::{
    auth::SimpleAuth,
    config::{S3Config, StaticConfigProvider},
    service::{S3Service, S3ServiceBuilder},
};
use s3s_fs::FileSystem;
use serde_json::{Value, json};
use store::keys::TABLES;
use tokio::net::TcpListener;

use crate::{
    LocalError,
    faults::Faults,
    gate::{CloudEndpoint, accept},
    guard::Authorizer,
    hold::{Hold, Holds},
    parameters::Parameters,
    recorder::Recorder,
    signature::AccessKey,
    strict::{Heat, StrictTables, Strictness, Units},
    tables::{self, request},
    uapi::Uapi,
};

/// The name of the bucket.
pub const BUCKET: &str = "halqa-files";
/// The functions with access to the bucket.
const ROLES: [&str; 4] = ["files", "registrations", "users", "worker"];

/// A function to which the stream is delivered, each by an event source mapping of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumer {
    /// The dispatcher.
    Dispatcher,
    /// The worker.
    Worker,
}

/// How far an event source mapping has read the stream.
struct StreamReader {
    position: String,
    /// Records that will be delivered once more.
    late: Vec<Value>,
}

/// A running local cloud. It stops with the Tokio runtime that it was started on.
#[derive(Clone)]
pub struct Cloud {
    endpoint: SocketAddr,
    /// For all services.
    key: AccessKey,
    /// For S3 alone: its id is public, because presigned forms and links contain it.
    files_key: AccessKey,
    database: Database,
    tables: StrictTables,
    parameters: Parameters,
    recorder: Recorder,
    /// Of the dispatcher and of the worker.
    readers: Arc<[Mutex<StreamReader>; 2]>,
    faults: Faults,
    holds: Holds,
    guard: Authorizer,
    uapi: Uapi,
}

impl Cloud {
    /// Starts a cloud for tests, with everything in memory except the files, which are in `folder`.
    ///
    /// # Errors
    /// When no port can be opened, or the folder cannot be written.
    pub async fn in_memory(folder: &Path) -> Result<Self, LocalError> {
        let database = Database::memory()
            .map_err(|error| LocalError::new(format!("No database in memory: {error}.")))?;
        Self::start(database, folder, Recorder::in_memory(), None).await
    }

    /// Starts a cloud that keeps everything in `folder`.
    ///
    /// # Errors
    /// When the folder cannot be written, or a data file is damaged or in use.
    pub async fn in_folder(folder: &Path) -> Result<Self, LocalError> {
        let file = folder.join("dynamodb.sqlite");
        // The library's own error text suggests features that are not built in.
        let damaged = |_| {
            LocalError::new(format!(
                "The data file {} is damaged or in use; move it away to start with an empty one.",
                file.display()
            ))
        };
        let database = Database::new(&file.to_string_lossy()).map_err(damaged)?;
        // The library's only way to set SQLite's `synchronous = NORMAL`. Otherwise every write waits for the disk, and
        // all requests for the write. A killed process loses nothing; a power failure loses the last writes.
        database.disable_bulk_loading().map_err(damaged)?;
        number_stream(&file).map_err(|error| {
            LocalError::new(format!("The data file {} cannot be used: {error}.", file.display()))
        })?;
        Self::start(database, &folder.join("s3"), Recorder::in_folder(folder)?, Some(folder)).await
    }

    async fn start(
        database: Database,
        files: &Path,
        recorder: Recorder,
        account: Option<&Path>,
    ) -> Result<Self, LocalError> {
        let (faults, holds) = (Faults::default(), Holds::default());
        let (key, files_key) = (AccessKey::generate("local"), AccessKey::generate("files"));
        for table in &TABLES {
            tables::make(&database, table)?;
        }
        let no_port =
            |error| LocalError::new(format!("No port can be opened on 127.0.0.1: {error}."));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
        let endpoint = listener.local_addr().map_err(no_port)?;
        let (parameters, guard) = (Parameters::default(), Authorizer::default());
        let tables = StrictTables::new(database.clone());
        let service = CloudEndpoint {
            key: key.clone(),
            files_key: files_key.clone(),
            database: database.clone(),
            tables: tables.clone(),
            parameters: parameters.clone(),
            files: file_store(files, [&key, &files_key])?,
            folder: files.to_owned(),
            files_lock: tokio::sync::Mutex::default(),
            recorder: recorder.clone(),
            clock: Clock::default(),
            faults: faults.clone(),
            holds: holds.clone(),
            guard: guard.clone(),
        };
        let latest = latest(&database)?;
        let readers = [latest.clone(), latest]
            .map(|position| Mutex::new(StreamReader { position, late: Vec::new() }));
        tokio::spawn(accept(listener, Arc::new(service)));
        let uapi = Uapi::start(account, faults.clone()).await?;
        tokio::spawn(expire(database.clone()));
        Ok(Self {
            endpoint,
            key,
            files_key,
            database,
            tables,
            parameters,
            recorder,
            readers: Arc::new(readers),
            faults,
            holds,
            guard,
            uapi,
        })
    }

    /// The settings that make a function use this cloud.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", format!("http://{}", self.endpoint)),
            ("AWS_REGION", "eu-west-3".to_owned()),
            ("AWS_ACCESS_KEY_ID", self.key.id.clone()),
            ("AWS_SECRET_ACCESS_KEY", self.key.secret.clone()),
            ("RECORDS_TABLE", "records".to_owned()),
            ("TRANSIENT_TABLE", "transient".to_owned()),
            ("FILES_BUCKET", BUCKET.to_owned()),
        ]
    }

    /// Writes an SSM parameter.
    pub fn put_parameter(&self, name: &str, value: &str) {
        self.parameters.put(name, value);
    }

    /// The value of the SSM parameter `name`.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.parameters.get(name)
    }

    /// Takes the time of the functions, by which it is [counted](crate::conditions) whether items are over, from `clock`.
    pub fn set_clock(&self, clock: Clock) {
        self.tables.set_clock(clock);
    }

    /// The recorder of sent mails and text messages.
    pub const fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The hosting account.
    pub const fn uapi(&self) -> &Uapi {
        &self.uapi
    }

    /// The new records of the records table's stream, since the last call for `consumer` or the start; at most 1,000.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub fn stream_records(&self, consumer: Consumer) -> Result<Vec<Value>, LocalError> {
        let mut reader = self.reader(consumer);
        let read = request(json!({ "ShardIterator": reader.position }))?;
        let read = self.database.get_records(read);
        let read =
            read.map_err(|error| LocalError::new(format!("The stream cannot be read: {error}.")))?;
        if let Some(next) = read.next_shard_iterator {
            reader.position = next;
        }
        match json!(read.records) {
            Value::Array(records) => Ok(records),
            _ => Ok(Vec::new()),
        }
    }

    /// Where `consumer` will read the stream next.
    pub fn stream_position(&self, consumer: Consumer) -> String {
        self.reader(consumer).position.clone()
    }

    /// Makes `consumer` read the stream from `position` once more.
    pub fn rewind_stream(&self, consumer: Consumer, position: String) {
        self.reader(consumer).position = position;
    }

    /// Keeps `records` of the stream for another delivery to `consumer` and returns those that were kept before.
    pub fn exchange_late_records(&self, consumer: Consumer, records: Vec<Value>) -> Vec<Value> {
        std::mem::replace(&mut self.reader(consumer).late, records)
    }

    fn reader(&self, consumer: Consumer) -> MutexGuard<'_, StreamReader> {
        let [dispatcher, worker] = &*self.readers;
        let reader = match consumer {
            Consumer::Dispatcher => dispatcher,
            Consumer::Worker => worker,
        };
        reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The faults that are injected.
    pub const fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Holds back the requests of a DynamoDB `operation`, such as `TransactWriteItems`, until it is released.
    pub fn hold(&self, operation: &str) -> Hold {
        self.holds.hold(operation, "", usize::MAX)
    }

    /// As [`hold`](Self::hold), for the next request alone whose body contains `text`.
    pub fn hold_next(&self, operation: &str, text: &str) -> Hold {
        self.holds.hold(operation, text, 1)
    }

    /// Sets what DynamoDB may do and this store does not do by itself.
    pub fn set_strictness(&self, strictness: Strictness) {
        self.tables.set(strictness);
    }

    /// The partitions of tables and indexes that were written since [`set_strictness`](Self::set_strictness) turned the
    /// meter on, those with the most units first.
    pub fn hottest(&self) -> Vec<Heat> {
        self.tables.hottest()
    }

    /// What all requests to the tables so far consumed.
    pub fn units(&self) -> Units {
        self.tables.units()
    }

    /// Makes all changes so far visible to eventually consistent reads, as they are on AWS after some time.
    pub fn settle(&self) {
        self.tables.settle();
    }

    /// The access control of this cloud. Until it is set, everything is allowed.
    pub const fn guard(&self) -> &Authorizer {
        &self.guard
    }

    /// The id of the access key of the function `role`, by which the [`Authorizer`] identifies it.
    pub fn key_of(&self, role: &str) -> String {
        self.key.id_of(role)
    }

    /// The settings with the access key of the function `role` for S3 alone.
    pub fn files_key_of(&self, role: &str) -> [(&'static str, String); 2] {
        [
            ("AWS_ACCESS_KEY_ID", self.files_key.id_of(role)),
            ("AWS_SECRET_ACCESS_KEY", self.files_key.secret.clone()),
        ]
    }

    /// Replaces all items of `table` by `items`, as a restore of the table does.
    ///
    /// # Errors
    /// When there is no such table, or one of them is no item.
    pub fn restore(&self, table: &str, items: &[Value]) -> Result<(), LocalError> {
        tables::restore(&self.database, table, items)
    }

    /// All items of `table`, unordered, for tests that inspect the stored data.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn items(&self, table: &str) -> Result<Vec<Value>, LocalError> {
        tables::items(&self.database, table)
    }
}

/// Adds an index for the last sequence number of a stream. Without it the library reads the whole stream, which it
/// never truncates, at every write.
fn number_stream(file: &Path) -> rusqlite::Result<()> {
    let index = "CREATE INDEX IF NOT EXISTS stream_numbers ON _stream_records (table_name, CAST(sequence_number AS INTEGER))";
    Connection::open(file)?.execute_batch(index)
}

/// An iterator at the current end of the stream.
fn latest(database: &Database) -> Result<String, LocalError> {
    let request_json = json!({ "StreamArn": "stream/records", "ShardId": "shardId-00000001-records", "ShardIteratorType": "LATEST" });
    let found = database
        .get_shard_iterator(request(request_json)?)
        .map_err(|error| LocalError::new(format!("There is no stream: {error}.")))?;
    found.shard_iterator.ok_or_else(|| LocalError::new("There is no stream."))
}

/// S3 on the folder `files`, for requests that are signed with one of `keys`.
fn file_store(files: &Path, keys: [&AccessKey; 2]) -> Result<S3Service, LocalError> {
    let unwritable = |error| {
        LocalError::new(format!("The folder {} cannot be written: {error}.", files.display()))
    };
    std::fs::create_dir_all(files.join(BUCKET)).map_err(unwritable)?;
    let store = FileSystem::new(files).map_err(|error| {
        LocalError::new(format!("No file store in {}: {error:?}.", files.display()))
    })?;
    let mut service = S3ServiceBuilder::new(store);
    let mut auth = SimpleAuth::new();
    for key in keys {
        auth.register(key.id.clone(), key.secret.as_str().into());
        for role in ROLES {
            auth.register(key.id_of(role), key.secret.as_str().into());
        }
    }
    service.set_auth(auth);
    // Tests can set the clock of the service but not this one.
    let mut config = S3Config::default();
    config.presigned_url_max_skew_time_secs = u32::MAX;
    service.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
    Ok(service.build())
}

/// Removes expired items every hour, for which it reads the whole tables: the embedded store does not do so by itself.
async fn expire(database: Database) {
    let mut hours = tokio::time::interval(Duration::from_secs(3600));
    loop {
        hours.tick().await;
        if let Err(failure) = database.sweep_ttl() {
            tracing::warn!(%failure, "expired items were not removed");
        }
    }
}
