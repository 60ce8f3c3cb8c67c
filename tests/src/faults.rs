//! Faults of the services of a World's cloud, and concurrent requests to it.

use std::{pin::pin, time::Duration};

use cloud::{
    Hold,
    faults::{Fault, Mode, Service},
};

use futures_util::future::{Either, select};

use crate::World;

impl World {
    /// Injects `fault` into DynamoDB, in place of the current faults.
    pub fn inject_fault(&self, fault: Fault) {
        self.inject_fault_in(Service::Dynamodb, fault);
    }

    /// Injects `fault` into `service`, in place of the current faults.
    pub fn inject_fault_in(&self, service: Service, fault: Fault) {
        self.cloud().faults().set([(service, fault)].into());
    }

    /// Injects a fault of kind `mode` into DynamoDB until [`World::clear_faults`].
    pub fn inject(&self, mode: Mode) {
        self.inject_fault(Fault::new(mode));
    }

    /// Holds back the requests of a DynamoDB `operation` until the guard is released or dropped.
    pub fn hold(&self, operation: &str) -> Hold {
        self.cloud().hold(operation)
    }

    /// The result of `requests`, of which `count` transactions stand side by side before the first one is executed: each
    /// request has read and decided before another one writes. Fails if fewer get as far as their transaction.
    pub async fn race<T>(&self, count: usize, requests: impl Future<Output = T>) -> T {
        let hold = self.hold("TransactWriteItems");
        let start = pin!(async {
            hold.reached(count).await.expect("the requests are concurrent");
            hold.release();
        });
        match select(pin!(requests), start).await {
            Either::Left(_) => {
                panic!("fewer than {count} requests got as far as their transaction")
            }
            Either::Right(((), requests)) => requests.await,
        }
    }

    /// The result of `request`, which another change overtakes: `change` is made after the request has read and decided, and
    /// before its first write of DynamoDB's `operation` that contains `text`. Fails if it does not get there.
    pub async fn overtaken<T>(
        &self,
        (operation, text): (&str, &str),
        request: impl Future<Output = T>,
        change: impl Future<Output = ()>,
    ) -> T {
        let hold = self.cloud().hold_next(operation, text);
        let change = pin!(async {
            hold.reached(1).await.expect("the request gets as far as its write");
            change.await;
            hold.release();
        });
        match select(pin!(request), change).await {
            Either::Left(_) => panic!("the request is over without such a write"),
            Either::Right(((), request)) => request.await,
        }
    }

    /// Waits until each fault has occurred as often as it was injected; panics after a minute.
    pub async fn faults_have_occurred(&self) {
        let occurred = async {
            while !self.cloud().faults().left().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        let minute = Duration::from_secs(60);
        tokio::time::timeout(minute, occurred).await.expect("each fault occurs within a minute");
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.cloud().faults().set([].into());
    }
}
