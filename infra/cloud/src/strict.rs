//! What DynamoDB may do and the embedded store, which executes one request at a time, does not do by itself: answer from
//! the past, read the items of one request at different moments, and report conflicts between concurrent requests.
//!
//! Everything is off by default. Tests turn it on as a whole by a [`Strictness`], and a [`Fault`] in parts.

mod heat;
mod held;
pub(crate) mod item_key;
mod replica;
mod torn;
mod units;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use dynoxide::Database;
use http::Response;
use http_body_util::{BodyExt, Collected, Full};
use runtime::Clock;
use serde_json::{Map, Value, json};

pub use self::{heat::Heat, units::Units};
use crate::{
    LocalError, conditions,
    faults::{Fault, Mode},
    random::SeededRandom,
    strict::{
        heat::{HeatMeter, RecentUse},
        held::HeldItems,
        replica::Replica,
    },
    tables,
};

/// How long DynamoDB knows a client request token.
const TOKEN_LIFE: Duration = Duration::from_secs(600);

/// Behaviours, most by an upper bound in milliseconds; 0, the default, turns one off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// Meters the write units of each partition.
    pub is_metered: bool,
    /// The seed of the random times.
    pub seed: u64,
}

impl Strictness {
    /// With what `fault` adds.
    fn with(self, fault: &Fault) -> Self {
        let delay = u64::try_from(fault.delay().as_millis()).unwrap_or(0);
        match fault.mode {
            Mode::Stale => Self { stale_ms: delay, ..self },
            Mode::Torn => Self { torn_ms: delay, ..self },
            _ => self,
        }
    }

    /// Whether every behaviour is off.
    fn is_off(&self) -> bool {
        let seed = self.seed;
        *self == Self { seed, ..Self::default() }
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
    /// The time of the functions.
    clock: Clock,
    /// Present while reads may be stale.
    replica: Option<Replica>,
    /// How late every change becomes visible to stale reads; if none, each has a random time.
    lag: Option<Duration>,
    /// The client request tokens of transactions that were written, and when
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
    written: BTreeMap<String, Instant>,
    heat: HeatMeter,
    recent: RecentUse,
    units: Units,
    random: SeededRandom,
}

impl StrictTables {
    pub(crate) fn new(database: Database) -> Self {
        let state = State {
            strictness: Strictness::default(),
            clock: Clock::default(),
            replica: None,
            lag: None,
            written: BTreeMap::new(),
            heat: HeatMeter::default(),
            recent: RecentUse::default(),
            units: Units::default(),
            random: SeededRandom::new(0),
        };
        Self { database, held: HeldItems::default(), state: Arc::new(Mutex::new(state)) }
    }

    /// Sets the behaviours for the following requests.
    pub(crate) fn set(&self, strictness: Strictness) {
        let mut state = self.state();
        state.random = SeededRandom::new(strictness.seed);
        state.heat = HeatMeter::default();
        state.strictness = strictness;
    }

    /// The time of the functions.
    pub(crate) fn now(&self) -> domain::Instant {
        self.state().clock.now()
    }

    /// Sets the clock of the functions.
    pub(crate) fn set_clock(&self, clock: Clock) {
        self.state().clock = clock;
    }

    /// The partitions that were used since the behaviours were set, those with the most units first; empty unless units
    /// are metered.
    pub(crate) fn hottest(&self) -> Vec<Heat> {
        self.state().heat.hottest()
    }

    /// Counts a request, and returns whether DynamoDB would throttle one of its partitions.
    pub(crate) fn is_hot(&self, operation: &str, body: &[u8]) -> bool {
        self.state().recent.is_over(operation, body)
    }

    /// What all requests so far consumed.
    pub(crate) fn units(&self) -> Units {
        self.state().units
    }

    /// Makes all changes so far visible to stale reads, as if enough time had passed.
    pub(crate) fn settle(&self) {
        if let Some(replica) = &mut self.state().replica {
            replica.settle();
        }
    }

    /// Whether a connection that was idle for this time is closed when it is used again.
    pub(crate) fn is_dead_after(&self, idle: Duration) -> bool {
        let limit = self.state().strictness.idle_ms;
        limit > 0 && idle >= Duration::from_millis(limit)
    }

    /// The response to `operation`, with the behaviours of `fault`. Changes become visible to stale reads after `lag`, if
    /// there is one, which is so while a fault of such reads is left.
    pub(crate) async fn answer(
        &self,
        operation: &str,
        body: &Bytes,
        fault: Option<&Fault>,
        lag: Option<Duration>,
    ) -> Response<Full<Bytes>> {
        let body = units::with_reported_capacity(body);
        let response = self.execute(operation, &body, fault, lag).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        let mut state = self.state();
        state.units += units::consumed(operation, parts.status, &body);
        conditions::count_read(operation, &body, state.clock.now());
        drop(state);
        Response::from_parts(parts, Full::new(body))
    }

    /// As [`answer`](Self::answer) to a read, and whether `fault` has changed what is found: it was there neither when the
    /// request came nor when it is answered.
    pub(crate) async fn read_with(
        &self,
        operation: &str,
        body: &Bytes,
        fault: &Fault,
        lag: Option<Duration>,
    ) -> (Response<Full<Bytes>>, bool) {
        let current = async || found(conditions::answer(&self.database, operation, body)).await.0;
        let before = current().await;
        let (items, response) = found(self.answer(operation, body, Some(fault), lag).await).await;
        (response, items != before && items != current().await)
    }

    async fn execute(
        &self,
        operation: &str,
        body: &Bytes,
        fault: Option<&Fault>,
        lag: Option<Duration>,
    ) -> Response<Full<Bytes>> {
        let standing = match self.prepare(lag) {
            Ok(standing) => standing,
            Err(_) => return tables::dynamodb_error("InternalServerError", json!({})),
        };
        let strictness = fault.map_or(standing, |fault| standing.with(fault));
        if strictness.is_off() && lag.is_none() {
            return conditions::answer(&self.database, operation, body);
        }
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        if !strictness.is_metered || operation == "TransactGetItems" {
            return self.respond(strictness, operation, body, &request).await;
        }
        let keys = item_key::of(operation, &request);
        let old: Vec<Value> = keys.iter().map(|key| key.item(&self.database)).collect();
        let response = self.respond(strictness, operation, body, &request).await;
        let factor = if operation == "TransactWriteItems" { 2.0 } else { 1.0 };
        for (key, old) in keys.iter().zip(old) {
            // A write whose condition fails costs what the item has.
            self.state().heat.wrote(key, &old, &key.item(&self.database), factor);
        }
        response
    }

    /// Makes the copy that stale reads need, or drops it, and returns the behaviours that are set.
    fn prepare(&self, lag: Option<Duration>) -> Result<Strictness, LocalError> {
        let mut state = self.state();
        let is_over = state.lag.is_some() && lag.is_none();
        state.lag = lag;
        if let Some(replica) = state.replica.as_mut().filter(|_| is_over) {
            replica.settle();
        }
        if state.strictness.stale_ms == 0 && lag.is_none() {
            state.replica = None;
        } else if state.replica.is_none() {
            state.replica = Some(Replica::of(&self.database)?);
        }
        Ok(state.strictness)
    }

    async fn respond(
        &self,
        strictness: Strictness,
        operation: &str,
        body: &Bytes,
        request: &Value,
    ) -> Response<Full<Bytes>> {
        let items = item_key::of(operation, request);
        match operation {
            "Query" | "BatchGetItem" if strictness.torn_ms > 0 => {
                self.torn(strictness, operation, request).await
            }
            "Query" | "BatchGetItem" | "GetItem" => self.read(strictness, operation, request),
            "TransactGetItems" => match self.held.conflicts(&items) {
                Some(conflicts) => held::cancelled(&conflicts, &self.database, request),
                None => conditions::answer(&self.database, operation, body),
            },
            "TransactWriteItems" if self.is_written(request) => {
                conditions::answer(&self.database, operation, body)
            }
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
                if response.status().is_success() {
                    self.note_written(request);
                }
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
        let State { strictness, replica, lag, random, .. } = &mut *state;
        let response = conditions::answer(&self.database, operation, body);
        if let Some(replica) = replica {
            for key in items {
                let random = Duration::from_millis(random.below(strictness.stale_ms + 1));
                replica.note(&self.database, key, lag.unwrap_or(random));
            }
        }
        response
    }

    /// Executes a read, from the replica if it may be stale and is not consistent.
    fn read(
        &self,
        strictness: Strictness,
        operation: &str,
        request: &Value,
    ) -> Response<Full<Bytes>> {
        let body = Bytes::from(request.to_string());
        if strictness.stale_ms > 0
            && !is_consistent(operation, request)
            && let Some(replica) = &mut self.state().replica
        {
            return conditions::answer(replica.current(), operation, &body);
        }
        conditions::answer(&self.database, operation, &body)
    }

    /// Whether a transaction with the token of this one was written: then it succeeds once more, whatever other requests
    /// do.
    fn is_written(&self, request: &Value) -> bool {
        let token = request["ClientRequestToken"].as_str();
        token.is_some_and(|token| self.state().written.contains_key(token))
    }

    fn note_written(&self, request: &Value) {
        let mut state = self.state();
        let is_recent = |_: &String, at: &mut Instant| at.elapsed() < TOKEN_LIFE;
        state.written.retain(is_recent);
        if let Some(token) = request["ClientRequestToken"].as_str() {
            state.written.insert(token.to_owned(), Instant::now());
        }
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

/// The items in the response to a read, those of a batch in an order of their own, and the response.
async fn found(response: Response<Full<Bytes>>) -> (Value, Response<Full<Bytes>>) {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    let mut answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    for list in answer["Responses"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(items) = list.as_array_mut() {
            items.sort_by_key(Value::to_string);
        }
    }
    let items = json!([answer["Item"], answer["Items"], answer["Responses"]]);
    (items, Response::from_parts(parts, Full::new(body)))
}
