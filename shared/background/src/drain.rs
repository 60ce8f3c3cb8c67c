//! The sweep of one list of messages: sends what is due at the configured rate.

use std::time::Duration;

use domain::Instant;
use futures_util::future::join_all;
use runtime::Error;
use store::{Due, Outbound};
use tokio::{sync::Mutex, time::Instant as Monotonic};

use crate::{AT_ONCE, MessageSender, perform};

/// How long one sweep sends messages.
const DRAIN_TIME: Duration = Duration::from_secs(50);

/// The messages that a function sends.
pub trait Messages: Sync {
    /// How far ahead one of its text messages may take a slot.
    const MAX_SLOT_WAIT: Duration;

    /// The next messages that are due, the one to send first at the end.
    fn fetch(&self) -> impl Future<Output = Vec<Due>> + Send;

    /// Sends the message `what` unless another process sends or has sent it. A text message is sent at `slot`, which it
    /// takes out of the option, or at the next free slot.
    fn deliver(
        &self,
        what: Outbound,
        slot: &mut Option<Instant>,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

impl MessageSender {
    /// Sends `messages`, several at once, until none is due or 50 seconds have passed.
    pub async fn drain(&self, messages: &impl Messages) {
        let (waiting, ends) = (Mutex::new(Some(Vec::new())), Monotonic::now() + DRAIN_TIME);
        join_all((0..AT_ONCE).map(|_| self.send_due(messages, &waiting, ends))).await;
    }

    /// Sends messages one after the other until `ends`.
    async fn send_due<M: Messages>(
        &self,
        messages: &M,
        waiting: &Mutex<Option<Vec<Due>>>,
        ends: Monotonic,
    ) {
        let mut slot = None;
        while let Some(due) = next(messages, waiting, ends).await {
            let Some(what) = Outbound::of(&due.pk) else {
                continue;
            };
            // A slot that was not used is kept for the next message.
            if slot.is_none() && matches!(what, Outbound::Sms(_)) {
                slot = self.rate.wait_for_slot(M::MAX_SLOT_WAIT, ends).await;
                if slot.is_none() {
                    return;
                }
            }
            if let Some(due) = self.lease(&due).await
                && let Err(failure) = {
                    let work = messages.deliver(what, &mut slot);
                    perform(&due.pk, &due.request_id, work).await
                }
            {
                self.postpone(&due, &failure).await;
            }
        }
    }
}

/// The next message. Once none was found, `waiting` is `None` and all senders stop: each search reads all shards.
async fn next(
    messages: &impl Messages,
    waiting: &Mutex<Option<Vec<Due>>>,
    ends: Monotonic,
) -> Option<Due> {
    let mut waiting = waiting.lock().await;
    if waiting.as_ref().is_some_and(Vec::is_empty) && Monotonic::now() < ends {
        *waiting = Some(messages.fetch().await).filter(|found| !found.is_empty());
    }
    waiting.as_mut()?.pop()
}
