//! The sweep of one list of messages: sends what is due, at a rate if it has one.

use std::{collections::VecDeque, time::Duration};

use domain::{Instant, times::SWEEP_TIME};
use futures_util::future::join_all;
use runtime::Error;
use store::{Due, Outbound};
use tokio::{sync::Mutex, time::Instant as Monotonic};

use crate::{AT_ONCE, MessageSender, Rate, perform};

/// A function that sends messages.
pub trait Deliver: Sync {
    /// How far ahead a message of its sweeps may reserve a send time.
    const MAX_WAIT: Duration;

    /// Sends the message `what` unless another process sends or has sent it. One that has a rate is sent at `reserved`, which
    /// it takes out of the option, or at the next free send time.
    fn deliver(
        &self,
        what: Outbound,
        reserved: &mut Option<Instant>,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

impl MessageSender {
    /// Sends messages by `function`, several at once, until none is due or 50 seconds have passed. `fetch` reads the next
    /// ones, the one to send first at the beginning. All reserve send times of `rate`, if there is one.
    pub async fn sweep<F: Future<Output = Vec<Due>>>(
        &self,
        function: &impl Deliver,
        rate: Option<&Rate>,
        fetch: impl Fn() -> F,
    ) {
        let queue = Queue {
            waiting: Mutex::new(Some(VecDeque::new())),
            ends: Monotonic::now() + SWEEP_TIME,
            fetch,
        };
        join_all((0..AT_ONCE).map(|_| self.send_due(function, rate, &queue))).await;
    }

    /// Sends messages of `queue` one after the other.
    async fn send_due<D: Deliver, F: Future<Output = Vec<Due>>>(
        &self,
        function: &D,
        rate: Option<&Rate>,
        queue: &Queue<impl Fn() -> F>,
    ) {
        let mut reserved = None;
        while let Some(due) = queue.next().await {
            let Some(what) = Outbound::of(&due.pk) else {
                continue;
            };
            // A send time that was not used is kept for the next message.
            if let Some(rate) = rate.filter(|_| reserved.is_none()) {
                reserved = rate.reserve(D::MAX_WAIT, queue.ends).await;
                if reserved.is_none() {
                    return;
                }
            }
            let Some(due) = self.keep_from_sweeps(&due).await else {
                continue;
            };
            let work = function.deliver(what, &mut reserved);
            if let Err(failure) = perform(&due.pk, &due.request_id, work).await {
                self.postpone(&due, &failure).await;
            }
        }
    }
}

/// The messages that the concurrent senders of one sweep take.
struct Queue<T> {
    /// `None` once nothing was found, so that all senders stop: each search reads all shards.
    waiting: Mutex<Option<VecDeque<Due>>>,
    ends: Monotonic,
    fetch: T,
}

impl<F: Future<Output = Vec<Due>>, T: Fn() -> F> Queue<T> {
    /// The next message; `None` when there is none, or the time is over and all that were fetched are taken.
    async fn next(&self) -> Option<Due> {
        let mut waiting = self.waiting.lock().await;
        if waiting.as_ref().is_some_and(VecDeque::is_empty) && Monotonic::now() < self.ends {
            let found = VecDeque::from((self.fetch)().await);
            *waiting = Some(found).filter(|found| !found.is_empty());
        }
        waiting.as_mut()?.pop_front()
    }
}
