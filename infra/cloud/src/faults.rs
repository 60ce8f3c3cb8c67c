//! Fault injection: errors and delays of a service, as its clients see them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::tables::PARTITION_LIMIT;

/// A service that faults can be injected into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// DynamoDB: the tables, and the stream that the dispatcher and the worker receive.
    Dynamodb,
    /// S3: the bucket.
    S3,
    /// SNS: text messages.
    Sns,
    /// SES: mails.
    Ses,
    /// SSM: the keys.
    Ssm,
    /// cPanel: the hosting account.
    Cpanel,
}

/// The operation by which Lambda reads the stream.
pub const GET_RECORDS: &str = "GetRecords";

/// The kind of a fault. Those of DynamoDB have no effect on another service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Responds after `delayMs`.
    Slow,
    /// Responds with a throttling error, of DynamoDB for a whole table, or for the reason that `error` names.
    Throttle,
    /// Reports a conflict with another transaction. DynamoDB, writes only.
    Conflict,
    /// Processes only the first key and returns the others as unprocessed. DynamoDB, BatchGetItem only.
    Partial,
    /// Answers queries of indexes and eventually consistent reads as of `delayMs` ago, or of the moment when the fault was
    /// set. DynamoDB, reads only; those of TransactGetItems are of one moment.
    Stale,
    /// Reads the items of a BatchGetItem, or of a Query, up to `delayMs` apart. DynamoDB.
    Torn,
    /// Throttles requests to partitions that had more than 1,000 write units or 3,000 read units in a second. DynamoDB.
    Hot,
    /// Delivers each record of the stream repeatedly, late and beside a poisoned one (see `cargo dev`). DynamoDB.
    Stream,
    /// Closes a connection that was idle for `delayMs` when it is used again. Not for cPanel.
    Reset,
    /// Fails without doing anything: DynamoDB drops the connection, all others respond with 503.
    Refuse,
    /// Executes the request and then drops the connection, DynamoDB after `delayMs` if it is given.
    Silent,
    /// Responds with the error that `error` names. For cPanel: `token`, `forbidden`, `status0`, `missing`,
    /// `wrapped`, `oversized`, `broken`, `redirect`, `blank` and `html`.
    Error,
}

impl Mode {
    /// Whether it changes what a read finds, without an error.
    const fn is_of_reads(self) -> bool {
        matches!(self, Self::Stale | Self::Torn)
    }
}

/// A fault of one service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// The kind.
    pub mode: Mode,
    /// The number of requests left to fail, for `stale` and `torn` of those whose answer it changes; `None`: until cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The time of `slow`, `stale`, `torn`, `reset` and `silent` in milliseconds; default 3,000, of `silent` 0; at
    /// most 60,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// The operation to fail, such as `UpdateItem`, or the cPanel function, such as `list_databases` or
    /// `Mysql::list_databases`; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The name of the error of `error`, or of the reason of `throttle`, such as `TableWriteKeyRangeThroughputExceeded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Fault {
    /// A fault of kind `mode`, for all requests until cleared.
    pub const fn new(mode: Mode) -> Self {
        Self { mode, times: None, delay_ms: None, operation: None, error: None }
    }

    /// Limits the fault to `times` requests.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Limits the fault to `operation`.
    #[must_use]
    pub fn on(self, operation: &str) -> Self {
        Self { operation: Some(operation.to_owned()), ..self }
    }

    /// A fault of kind [`Mode::Error`] with this `name`, until cleared.
    pub fn named(name: &str) -> Self {
        Self { error: Some(name.to_owned()), ..Self::new(Mode::Error) }
    }

    /// Throttles requests as DynamoDB does those to a partition that gets more than it serves, until cleared.
    pub fn hot_key() -> Self {
        Self { error: Some(PARTITION_LIMIT.to_owned()), ..Self::new(Mode::Throttle) }
    }

    /// The delay, or its default.
    pub fn delay(&self) -> Duration {
        let default = if self.mode == Mode::Silent { 0 } else { 3000 };
        Duration::from_millis(self.delay_ms.unwrap_or(default).min(60_000))
    }

    fn applies_to(&self, operation: &str) -> bool {
        let is_write =
            ["UpdateItem", "PutItem", "DeleteItem", "TransactWriteItems"].contains(&operation);
        let function = operation.split_once("::").map(|(_, function)| function);
        let is_operation = self
            .operation
            .as_deref()
            .is_none_or(|only| only == operation || Some(only) == function);
        is_operation
            && match self.mode {
                Mode::Conflict => is_write,
                Mode::Partial => operation == "BatchGetItem",
                Mode::Stale => ["GetItem", "BatchGetItem", "Query"].contains(&operation),
                Mode::Torn => ["BatchGetItem", "Query"].contains(&operation),
                Mode::Stream => operation == GET_RECORDS,
                // Apply to partitions and connections.
                Mode::Hot | Mode::Reset => false,
                Mode::Slow | Mode::Throttle | Mode::Refuse | Mode::Silent | Mode::Error => {
                    operation != GET_RECORDS
                }
            }
    }
}

/// The active faults, and counts of injected ones. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<ActiveFaults>>);

#[derive(Debug, Default)]
struct ActiveFaults {
    by_service: BTreeMap<Service, Fault>,
    injected: BTreeMap<(Service, Mode), u64>,
}

impl Faults {
    /// Replaces all faults by `faults`.
    pub fn set(&self, faults: BTreeMap<Service, Fault>) {
        self.active().by_service = faults;
    }

    /// Adds `fault` to `service`, unless it has one already.
    pub fn add(&self, service: Service, fault: Fault) {
        self.active().by_service.entry(service).or_insert(fault);
    }

    /// The active faults.
    pub fn left(&self) -> BTreeMap<Service, Fault> {
        self.active().by_service.clone()
    }

    /// The number of injected faults, by service and kind.
    pub fn struck(&self) -> BTreeMap<(Service, Mode), u64> {
        self.active().injected.clone()
    }

    /// The fault that fails or delays this request, if any; counts it down. Faults of reads: [`of_reads`](Self::of_reads).
    pub fn inject_fault(&self, service: Service, operation: &str) -> Option<Fault> {
        self.take(service, |fault| fault.applies_to(operation) && !fault.mode.is_of_reads())
    }

    /// The fault that may change the answer to this operation of DynamoDB. It is counted down by
    /// [`count_changed`](Self::count_changed).
    pub(crate) fn of_reads(&self, operation: &str) -> Option<Fault> {
        let active = self.active();
        let fault = active.by_service.get(&Service::Dynamodb);
        fault.filter(|fault| fault.mode.is_of_reads() && fault.applies_to(operation)).cloned()
    }

    /// Counts an answer that the fault of this `mode` has changed.
    pub(crate) fn count_changed(&self, mode: Mode) {
        self.take(Service::Dynamodb, |fault| fault.mode == mode);
    }

    /// Whether a connection to `service` that was idle for this time is closed when it is used again; counts it down.
    pub(crate) fn closes_after(&self, service: Service, idle: Duration) -> bool {
        let is_dead = |fault: &Fault| fault.mode == Mode::Reset && idle >= fault.delay();
        self.take(service, is_dead).is_some()
    }

    /// Whether a request to a partition is throttled, if it `is_hot`, which is asked only when it matters; counts it down.
    pub(crate) fn throttles_hot(&self, is_hot: impl Fn() -> bool) -> bool {
        self.take(Service::Dynamodb, |fault| fault.mode == Mode::Hot && is_hot()).is_some()
    }

    /// How late reads get changes, while a fault of kind [`Mode::Stale`] is left.
    pub(crate) fn lag(&self) -> Option<Duration> {
        let active = self.active();
        let fault = active.by_service.get(&Service::Dynamodb);
        fault.filter(|fault| fault.mode == Mode::Stale).map(Fault::delay)
    }

    fn take(&self, service: Service, applies: impl Fn(&Fault) -> bool) -> Option<Fault> {
        let mut active = self.active();
        let fault = active
            .by_service
            .get_mut(&service)
            .filter(|fault| applies(fault) && fault.times != Some(0))?;
        fault.times = fault.times.map(|times| times - 1);
        let injected = fault.clone();
        if injected.times == Some(0) {
            active.by_service.remove(&service);
        }
        *active.injected.entry((service, injected.mode)).or_default() += 1;
        Some(injected)
    }

    fn active(&self) -> MutexGuard<'_, ActiveFaults> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
