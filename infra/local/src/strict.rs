//! What DynamoDB may do and the embedded store, which executes one request at a time, does not do by itself: answer from
//! the past, read the items of one request at different moments, and report conflicts between concurrent requests.
//!
//! Everything is off by default. `PUT /_local/faults` turns it on under `strict`, beside the faults of the services.

mod heat;
mod held;
mod hot;
mod item_key;
mod replica;
mod torn;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use dynoxide::Database;
use http::Response;
use http_body_util::Full;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::heat::Heat;
use crate::{
    LocalError,
    random::SeededRandom,
    strict::{heat::HeatMeter, held::HeldItems, replica::Replica},
    tables,
};

/// Upper bounds in milliseconds; 0, the default, turns a behaviour off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Strictness {
    /// Each change becomes visible to queries of indexes and to eventually consistent reads up to this long after it
    /// was made, changes of different items in any order
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html>).
    pub stale_ms: u64,
    /// The items of one BatchGetItem, and those of one Query, are read up to this long apart: such a read is not
    /// isolated from transactions
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>).
    pub torn_ms: u64,
    /// A TransactWriteItems takes up to this long, and other transactions and writes of its items conflict with it
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling>).
    pub transaction_ms: u64,
    /// A connection that was idle for this long is closed when it is used again, as after a freeze of the function
    /// (<https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html>).
    pub idle_ms: u64,
    /// Once a partition of a table or an index has used this many write units within a second, it is throttled until the
    /// second ends; on AWS 1,000
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>). With this or the
    /// next bound the units of each partition are metered.
    pub hot_writes: u64,
    /// The same for read units; on AWS 3,000.
    pub hot_reads: u64,
    /// The seed of the random times.
    pub seed: u64,
}

impl Strictness {
    /// Whether every behaviour is off.
    pub fn is_off(&self) -> bool {
        let seed = self.seed;
        *self
            == Self {
                seed,
                ..Self::default()
            }
    }
}

/// The embedded store with the behaviours of a [`Strictness`]. Clones share it.
#[derive(Clone)]
pub(crate) struct StrictTables {
    database: Database,
    held: HeldItems,
    state: Arc<Mutex<State>>,
}

struct State {
    strictness: Strictness,
    /// Present while reads may be stale.
    replica: Option<Replica>,
    heat: HeatMeter,
    random: SeededRandom,
}

impl StrictTables {
    pub(crate) fn new(database: Database) -> Self {
        let state = State {
            strictness: Strictness::default(),
            replica: None,
            heat: HeatMeter::default(),
            random: SeededRandom::new(0),
        };
        Self {
            database,
            held: HeldItems::default(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    pub(crate) fn strictness(&self) -> Strictness {
        self.state().strictness
    }

    /// Sets the behaviours for the following requests.
    ///
    /// # Errors
    /// When the copy of the tables that stale reads need cannot be made.
    pub(crate) fn set(&self, strictness: Strictness) -> Result<(), LocalError> {
        let mut state = self.state();
        if strictness.stale_ms == 0 {
            state.replica = None;
        } else if state.replica.is_none() {
            state.replica = Some(Replica::of(&self.database)?);
        }
        state.random = SeededRandom::new(strictness.seed);
        state.heat = HeatMeter::default();
        state.strictness = strictness;
        Ok(())
    }

    /// The partitions that were used since the behaviours were set, those with the most units first; empty unless units
    /// are metered.
    pub(crate) fn hottest(&self) -> Vec<Heat> {
        self.state().heat.hottest()
    }

    /// Makes all changes so far visible to stale reads, as if enough time had passed.
    pub(crate) fn settle(&self) {
        if let Some(replica) = &mut self.state().replica {
            replica.settle();
        }
    }

    /// Whether a connection that was idle for this time is closed when it is used again.
    pub(crate) fn is_dead_after(&self, idle: Duration) -> bool {
        let limit = self.strictness().idle_ms;
        limit > 0 && idle >= Duration::from_millis(limit)
    }

    /// The response to `operation`.
    pub(crate) async fn answer(&self, operation: &str, body: &Bytes) -> Response<Full<Bytes>> {
        let strictness = self.strictness();
        if strictness.is_off() {
            return tables::answer(&self.database, operation, body);
        }
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        if strictness.hot_writes > 0 || strictness.hot_reads > 0 {
            return self.metered(operation, body, request).await;
        }
        self.respond(operation, body, &request).await
    }

    async fn respond(
        &self,
        operation: &str,
        body: &Bytes,
        request: &Value,
    ) -> Response<Full<Bytes>> {
        let strictness = self.strictness();
        let items = item_key::of(operation, request);
        match operation {
            "Query" | "BatchGetItem" if strictness.torn_ms > 0 => {
                self.torn(operation, request).await
            }
            "Query" | "BatchGetItem" | "GetItem" => self.read(operation, request),
            "TransactGetItems" => match self.held.conflicts(&items) {
                Some(conflicts) => held::cancelled(&conflicts, &self.database, request),
                None => tables::answer(&self.database, operation, body),
            },
            "TransactWriteItems" if strictness.transaction_ms > 0 => {
                let hold = match self.held.hold(items.clone()) {
                    Ok(hold) => hold,
                    Err(conflicts) => {
                        return held::cancelled(&conflicts, &self.database, request);
                    }
                };
                self.pause(strictness.transaction_ms).await;
                let response = self.write(operation, body, &items);
                drop(hold);
                response
            }
            "PutItem" | "UpdateItem" | "DeleteItem" if self.held.conflicts(&items).is_some() => {
                held::conflict()
            }
            _ => self.write(operation, body, &items),
        }
    }

    /// Executes a write, and plans when stale reads see it.
    fn write(
        &self,
        operation: &str,
        body: &Bytes,
        items: &[item_key::ItemKey],
    ) -> Response<Full<Bytes>> {
        // Locked during the write, so that the replica gets the changes of an item in their order.
        let mut state = self.state();
        let State {
            strictness,
            replica,
            random,
            ..
        } = &mut *state;
        let response = tables::answer(&self.database, operation, body);
        if let Some(replica) = replica {
            for key in items {
                let lag = random.below(strictness.stale_ms + 1);
                replica.note(&self.database, key, Duration::from_millis(lag));
            }
        }
        response
    }

    /// Executes a read, from the replica unless it is consistent.
    fn read(&self, operation: &str, request: &Value) -> Response<Full<Bytes>> {
        let body = Bytes::from(request.to_string());
        if !is_consistent(operation, request)
            && let Some(replica) = &mut self.state().replica
        {
            return tables::answer(replica.current(), operation, &body);
        }
        tables::answer(&self.database, operation, &body)
    }

    /// Waits for a random time of at most `milliseconds`.
    async fn pause(&self, milliseconds: u64) {
        let pause = self.state().random.below(milliseconds * 1000 + 1);
        tokio::time::sleep(Duration::from_micros(pause)).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a read is strongly consistent; queries of an index never are. The tables of one BatchGetItem are alike.
fn is_consistent(operation: &str, request: &Value) -> bool {
    let is_set = |read: &Value| read["ConsistentRead"] == true;
    match operation {
        "BatchGetItem" => {
            let tables = request["RequestItems"].as_object();
            tables.is_some_and(|tables| tables.values().all(is_set))
        }
        _ => request["IndexName"].is_null() && is_set(request),
    }
}
