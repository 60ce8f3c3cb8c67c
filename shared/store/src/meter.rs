//! What a request costs: round trips and units, as the tables report them.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use aws_sdk_dynamodb::types::ConsumedCapacity;

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Requests that had to wait for one another: the longest chain of request after answer.
    pub round_trips: u32,
    /// All requests.
    pub requests: u32,
    /// Read units.
    pub reads: f64,
    /// Write units, with one for each refused condition: AWS bills it and does not report it.
    pub writes: f64,
}

#[derive(Debug, Clone, Default)]
struct Meter(Arc<Mutex<Cost>>);

tokio::task_local! {
    static METER: Meter;
}

/// Runs `work` and gives what it spent beside what it returned.
pub async fn metered<T>(work: impl Future<Output = T>) -> (T, Cost) {
    let meter = Meter::default();
    let result = METER.scope(meter.clone(), work).await;
    let cost = *meter.0.lock().unwrap_or_else(PoisonError::into_inner);
    (result, cost)
}

/// A request that is on its way.
pub(crate) struct RequestTimer {
    meter: Option<Meter>,
    depth: u32,
}

impl RequestTimer {
    /// Counts a request that is about to leave.
    pub(crate) fn start() -> Self {
        let meter = METER.try_with(Clone::clone).ok();
        let mut trip = Self { meter, depth: 0 };
        let mut finished = 0;
        trip.with(|cost| {
            cost.requests += 1;
            finished = cost.round_trips;
        });
        trip.depth = finished + 1;
        trip
    }

    /// Counts the answer to a read.
    pub(crate) fn read<'a, A, E, C: IntoIterator<Item = &'a ConsumedCapacity>>(
        self,
        answer: &'a Result<A, E>,
        consumed: impl FnOnce(&'a A) -> C,
    ) {
        let consumed = answer.as_ref().ok().map(consumed);
        let units: f64 = consumed.into_iter().flatten().map(units).sum();
        self.finish(|cost| cost.reads += units);
    }

    /// Counts the answer to a write.
    pub(crate) fn wrote<'a>(self, consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) {
        let units: f64 = consumed.into_iter().map(units).sum();
        self.finish(|cost| cost.writes += units);
    }

    /// Counts a write whose condition did not hold, or that failed.
    pub(crate) fn refused(self) {
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
