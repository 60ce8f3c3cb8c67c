//! The sweep, which runs every minute: performs work that the stream has missed or that was postponed, and sends
//! the messages of batches at the configured rate.

use std::time::Duration;

use domain::Instant;
use futures_util::{StreamExt, future::join_all, stream};
use identity::random;
use store::{
    Due, Outbound, StoreError,
    keys::{
        BULK_DUE, CHUNKS_DUE, DEAD_DUE, ERASE_DUE, FILES_DUE, OUTBOX_DUE, UNVERIFIED_DUE, WORDS_DUE,
    },
};
use tokio::{
    sync::Mutex,
    time::{Instant as Monotonic, sleep},
};

use crate::{AT_ONCE, Dispatcher, MAX_SLOT_WAIT, Services, Task, UNKNOWN};

/// Pieces of work in one page.
const PAGE: u16 = 100;
/// Maximum number of pages per partition and sweep.
const MAX_PAGES: usize = 10;
/// How long one sweep sends messages.
const DRAIN_TIME: Duration = Duration::from_secs(50);
/// Messages that are fetched at once; then codes and single messages are looked for again.
const FETCH_SIZE: usize = 20;
/// How long a message is leased to the worker that is about to send it.
const LEASE: Duration = Duration::from_secs(5);
/// Delay before failed work of a message is retried.
const MESSAGE_RETRY_DELAY: Duration = Duration::from_secs(10);
/// Delay before other failed work is retried.
const RETRY_DELAY: Duration = Duration::from_secs(60);
/// Delay before a slot is requested again when none is free within [`MAX_SLOT_WAIT`].
const SLOT_RETRY_DELAY: Duration = Duration::from_millis(200);

impl Dispatcher {
    /// Performs work that is due, until there is none or the limits of one sweep are reached.
    pub(crate) async fn sweep(&self) {
        tokio::join!(
            self.perform_tasks(),
            self.drain(),
            self.emit_dead_letter_count()
        );
    }

    /// Re-emits the number of dead letters in every sweep, so that the alarm stays on until an operator has handled
    /// them.
    async fn emit_dead_letter_count(&self) {
        let dead = self.waiting(DEAD_DUE, PAGE).await.len();
        if dead > 0 {
            tracing::error!(
                metric = "DeadLetters",
                count = dead,
                "there are dead letters: work that failed for a day"
            );
        }
    }

    /// Performs all work other than sending messages.
    async fn perform_tasks(&self) {
        for _ in 0..MAX_PAGES {
            let found = [CHUNKS_DUE, ERASE_DUE, UNVERIFIED_DUE, WORDS_DUE, FILES_DUE]
                .map(|partition| self.waiting(partition, PAGE));
            let found: Vec<Due> = join_all(found).await.into_iter().flatten().collect();
            let all = found.len();
            let done = stream::iter(found)
                .map(|due| async move { self.perform_due(&due, &mut None).await });
            done.buffer_unordered(AT_ONCE).collect::<()>().await;
            if all < usize::from(PAGE) {
                return;
            }
        }
    }

    /// Sends messages with several workers.
    async fn drain(&self) {
        let (waiting, ends) = (Mutex::new(Some(Vec::new())), Monotonic::now() + DRAIN_TIME);
        join_all((0..AT_ONCE).map(|_| self.send_messages(&waiting, ends))).await;
    }

    /// Sends messages one after the other until `ends`.
    async fn send_messages(&self, waiting: &Mutex<Option<Vec<Due>>>, ends: Monotonic) {
        let mut slot = None;
        while let Some(due) = self.next(waiting, ends).await {
            // A slot that was not used is kept for the next message.
            if slot.is_none() && Task::of(&due.pk).is_some_and(|task| task.takes_slot()) {
                slot = self.wait_for_slot(ends).await;
                if slot.is_none() {
                    return;
                }
            }
            if let Some(due) = self.lease(&due).await {
                self.perform_due(&due, &mut slot).await;
            }
        }
    }

    /// The next message. Once none was found, `waiting` is `None` and all senders stop: each search reads all shards.
    async fn next(&self, waiting: &Mutex<Option<Vec<Due>>>, ends: Monotonic) -> Option<Due> {
        let mut waiting = waiting.lock().await;
        if waiting.as_ref().is_some_and(Vec::is_empty) && Monotonic::now() < ends {
            *waiting = Some(self.fetch().await).filter(|found| !found.is_empty());
        }
        waiting.as_mut()?.pop()
    }

    /// Leases the message of `due` to this worker; `None` when that is not possible. A message whose claim has
    /// expired ends as `UNKNOWN`.
    async fn lease(&self, due: &Due) -> Option<Due> {
        let Services { store, clock, .. } = &*self.0;
        let (now, what) = (clock.now(), Outbound::of(&due.pk)?);
        let leased = async {
            let leased = store.lease(due, now.after(LEASE)).await?;
            if leased.is_none() && store.expire_claim(what, now).await? {
                tracing::warn!(%what, metric = UNKNOWN, "the claim of a message expired: its delivery is unknown");
            }
            Ok::<_, StoreError>(leased)
        };
        leased.await.unwrap_or_else(|failure| {
            tracing::warn!(%failure, %what, "leasing a message failed");
            None
        })
    }

    /// The next messages: outbox and single messages before those of batches. Of the oldest messages of batches it
    /// takes 20 from a random start, because concurrent sweeps read the same list.
    async fn fetch(&self) -> Vec<Due> {
        let mut messages = self.waiting(OUTBOX_DUE, FETCH_SIZE as u16).await;
        if messages.is_empty() {
            messages = self.waiting(BULK_DUE, PAGE).await;
            let start = usize::from(u16::from_be_bytes(random::bytes())) % messages.len().max(1);
            messages.rotate_left(start);
            messages.truncate(FETCH_SIZE);
        }
        messages.reverse();
        messages
    }

    async fn waiting(&self, partition: &str, limit: u16) -> Vec<Due> {
        let Services { store, clock, .. } = &*self.0;
        store
            .due(partition, clock.now(), limit)
            .await
            .unwrap_or_else(|failure| {
                tracing::error!(%failure, partition, "reading due work failed");
                Vec::new()
            })
    }

    /// Takes a slot; `None` when none is free before the sweep ends.
    async fn wait_for_slot(&self, ends: Monotonic) -> Option<Instant> {
        let Services {
            store,
            clock,
            sms_rate,
            slot_lock,
            ..
        } = &*self.0;
        let _guard = slot_lock.lock().await;
        while Monotonic::now() < ends {
            match store.take_slot(*sms_rate, MAX_SLOT_WAIT, clock.now()).await {
                Ok(Some(slot)) => return Some(slot),
                Ok(None) => {}
                Err(failure) => tracing::warn!(%failure, "taking a slot failed"),
            }
            sleep(SLOT_RETRY_DELAY).await;
        }
        None
    }

    /// Performs the task of `due`. A failed task is postponed, so that it does not block other work.
    async fn perform_due(&self, due: &Due, slot: &mut Option<Instant>) {
        let Some(task) = Task::of(&due.pk) else {
            return;
        };
        let pause = if matches!(task, Task::Deliver(_)) {
            MESSAGE_RETRY_DELAY
        } else {
            RETRY_DELAY
        };
        let Err(failure) = self.perform(task, slot).await else {
            return;
        };
        tracing::error!(?failure, pk = due.pk, "performing a due task failed");
        let Services { store, clock, .. } = &*self.0;
        if let Err(failure) = store
            .postpone(due, &failure.to_string(), pause, clock.now())
            .await
        {
            tracing::error!(%failure, pk = due.pk, "postponing a failed task failed");
        }
    }
}
