//! A promise, and the state that promises are checked against.

use crate::{
    client::{Call, Client, Response},
    deployment::Deployment,
    fault_injector::FaultCounts,
    tables::Tables,
};

/// A promise, the number of its checks, and the failed ones.
pub(crate) struct PromiseCheck {
    pub(crate) promise: &'static str,
    pub(crate) checked: u64,
    pub(crate) broken: Vec<String>,
}

impl PromiseCheck {
    pub(crate) const fn of(promise: &'static str) -> Self {
        Self { promise, checked: 0, broken: Vec::new() }
    }

    /// Counts one check; `what` describes it if it fails.
    pub(crate) fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            self.broken.push(what());
        }
    }
}

/// The state after the run.
pub(crate) struct Snapshot<'a> {
    pub(crate) deployment: &'a Deployment,
    pub(crate) tables: Tables,
    pub(crate) faults: &'a FaultCounts,
    pub(crate) client: Client,
}

impl Snapshot<'_> {
    /// The response to `call`, sent again if the first try fails.
    pub(crate) async fn call(&mut self, call: &Call) -> Response {
        let response = self.client.send(call).await;
        match response.status {
            0 | 500.. => self.client.send(call).await,
            _ => response,
        }
    }
}
