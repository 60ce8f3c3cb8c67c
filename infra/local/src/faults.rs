//! Faults on demand: what a bad day of a service looks like to the SDK in front of it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// A service that can have a bad day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// The tables.
    Dynamodb,
    /// The bucket.
    S3,
    /// Text messages.
    Sns,
    /// Mails.
    Ses,
    /// The keys.
    Ssm,
    /// The hosting account.
    Cpanel,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Answers after `delayMs`.
    Slow,
    /// Says that it is asked too much.
    Throttle,
    /// Says that another transaction holds the item; writes only.
    Conflict,
    /// Gets to the first key of a batch alone and leaves the others to be asked for again; BatchGetItem only.
    Partial,
    /// Fails before it does anything: the tables drop the connection, all others say 503.
    Refuse,
    /// Does what it was asked and then drops the connection.
    Silent,
    /// Answers with the error that `error` names. Of cPanel: `token`, `forbidden`, `status0`, `missing`,
    /// `wrapped`, `oversized`, `broken`, `redirect`, `blank` and `html`.
    Error,
}

/// A bad day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong.
    pub mode: Mode,
    /// How often it still does; until cleared when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// How long `slow` takes; 3000 when not said, a minute at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// The only operation that it happens to, such as `UpdateItem`, or function of cPanel, such as
    /// `list_databases` or `Mysql::list_databases`; all when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What `error` answers with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Fault {
    /// A bad day of kind `mode`, until cleared.
    pub const fn new(mode: Mode) -> Self {
        Self {
            mode,
            times: None,
            delay_ms: None,
            operation: None,
            error: None,
        }
    }

    /// The same for `times` requests.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self {
            times: Some(times),
            ..self
        }
    }

    /// The same for `operation` alone.
    #[must_use]
    pub fn on(self, operation: &str) -> Self {
        Self {
            operation: Some(operation.to_owned()),
            ..self
        }
    }

    /// An error of this `name`, until cleared.
    pub fn named(name: &str) -> Self {
        Self {
            error: Some(name.to_owned()),
            ..Self::new(Mode::Error)
        }
    }

    /// How long `slow` takes.
    pub fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms.unwrap_or(3000).min(60_000))
    }

    fn happens_to(&self, operation: &str) -> bool {
        let is_write =
            ["UpdateItem", "PutItem", "DeleteItem", "TransactWriteItems"].contains(&operation);
        let function = operation.split_once("::").map(|(_, function)| function);
        let is_asked = self
            .operation
            .as_deref()
            .is_none_or(|only| only == operation || Some(only) == function);
        is_asked
            && match self.mode {
                Mode::Conflict => is_write,
                Mode::Partial => operation == "BatchGetItem",
                _ => true,
            }
    }
}

/// The bad days that are on, and how often one was felt. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<ActiveFaults>>);

#[derive(Debug, Default)]
struct ActiveFaults {
    on: BTreeMap<Service, Fault>,
    struck: BTreeMap<(Service, Mode), u64>,
}

impl Faults {
    /// Has `faults` happen and no others.
    pub fn set(&self, faults: BTreeMap<Service, Fault>) {
        self.days().on = faults;
    }

    /// Has `fault` happen to `service`, whatever happens to the others, unless something does so already.
    pub fn add(&self, service: Service, fault: Fault) {
        self.days().on.entry(service).or_insert(fault);
    }

    /// What is left.
    pub fn left(&self) -> BTreeMap<Service, Fault> {
        self.days().on.clone()
    }

    /// How many requests each kind has happened to.
    pub fn struck(&self) -> BTreeMap<(Service, Mode), u64> {
        self.days().struck.clone()
    }

    /// What happens to this request, if anything; uses up one of its times.
    pub(crate) fn inject_fault(&self, service: Service, operation: &str) -> Option<Fault> {
        let mut days = self.days();
        let fault = days
            .on
            .get_mut(&service)
            .filter(|fault| fault.happens_to(operation) && fault.times != Some(0))?;
        fault.times = fault.times.map(|times| times - 1);
        let struck = fault.clone();
        if struck.times == Some(0) {
            days.on.remove(&service);
        }
        *days.struck.entry((service, struck.mode)).or_default() += 1;
        Some(struck)
    }

    fn days(&self) -> MutexGuard<'_, ActiveFaults> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
