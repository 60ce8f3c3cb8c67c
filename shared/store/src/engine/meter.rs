//! Measures the cost of a request: round trips and the consumed capacity that DynamoDB reports.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use aws_sdk_dynamodb::types::ConsumedCapacity;

/// The requests to the tables and their consumed capacity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// The longest chain of sequential requests.
    pub round_trips: u32,
    /// All requests, sequential or concurrent.
    pub requests: u32,
    /// Consumed read units.
    pub reads: f64,
    /// Consumed write units, plus one for each failed condition, which AWS bills and does not report.
    pub writes: f64,
}

#[derive(Debug, Clone, Default)]
struct Meter(Arc<Mutex<Cost>>);

tokio::task_local! {
    static METER: Meter;
}

/// Runs `work` and returns its output and its cost.
pub async fn metered<T>(work: impl Future<Output = T>) -> (T, Cost) {
    let meter = Meter::default();
    let result = METER.scope(meter.clone(), work).await;
    let cost = *meter.0.lock().unwrap_or_else(PoisonError::into_inner);
    (result, cost)
}

/// A request in flight.
pub(crate) struct RequestTimer {
    meter: Option<Meter>,
    depth: u32,
}

impl RequestTimer {
    /// Counts a request that is about to be sent.
    pub(crate) fn start() -> Self {
        let meter = METER.try_with(Clone::clone).ok();
        let mut timer = Self { meter, depth: 0 };
        let mut finished = 0;
        timer.with(|cost| {
            cost.requests += 1;
            finished = cost.round_trips;
        });
        timer.depth = finished + 1;
        timer
    }

    /// Counts the response to a read.
    pub(crate) fn read<'a, A, E, C: IntoIterator<Item = &'a ConsumedCapacity>>(
        self,
        response: &'a Result<A, E>,
        consumed: impl FnOnce(&'a A) -> C,
    ) {
        let consumed = response.as_ref().ok().map(consumed);
        let units: f64 = consumed.into_iter().flatten().map(units).sum();
        self.finish(|cost| cost.reads += units);
    }

    /// Counts the response to a successful write.
    pub(crate) fn wrote<'a>(self, consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) {
        let units: f64 = consumed.into_iter().map(units).sum();
        self.finish(|cost| cost.writes += units);
    }

    /// Counts a write that failed, or whose condition failed.
    pub(crate) fn failed(self) {
        self.finish(|cost| cost.writes += 1.0);
    }

    fn finish(mut self, spend: impl FnOnce(&mut Cost)) {
        let depth = self.depth;
        self.with(|cost| {
            cost.round_trips = cost.round_trips.max(depth);
            spend(cost);
        });
    }

    fn with(&mut self, change: impl FnOnce(&mut Cost)) {
        if let Some(Meter(cost)) = &self.meter {
            change(&mut cost.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

fn units(consumed: &ConsumedCapacity) -> f64 {
    consumed.capacity_units().unwrap_or(0.0)
}
