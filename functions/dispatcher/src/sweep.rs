//! What the sweeper does every minute: it looks for what the stream missed or what was put off, and has the
//! messages of batches leave at the rate that the carrier is asked at.

use std::time::Duration;

use domain::Instant;
use futures_util::{StreamExt, future::join_all, stream};
use identity::chance;
use store::{
    Due, Outbound, StoreError,
    keys::{BULK_DUE, CHUNKS_DUE, DEAD_DUE, ERASE_DUE, FILES_DUE, OUTBOX_DUE, WORDS_DUE},
};
use tokio::{
    sync::Mutex,
    time::{Instant as Monotonic, sleep},
};

use crate::{AT_ONCE, Dispatcher, PATIENCE, Powers, Task, UNKNOWN};

/// How many pieces of work are looked at in one go.
const PAGE: u16 = 100;
/// How often it looks again in one minute when there was more.
const GOES: usize = 10;
/// How long messages leave in one minute; then the next sweep goes on.
const DRAINS: Duration = Duration::from_secs(50);
/// So many messages are taken before it looks again whether a code or a single one waits.
const HANDFUL: usize = 20;
/// How long others do not look at a message that somebody is about to send.
const LEASE: Duration = Duration::from_secs(5);
/// A message that failed is looked at again after this long.
const SHORT_PAUSE: Duration = Duration::from_secs(10);
/// The same of all other work.
const LONG_PAUSE: Duration = Duration::from_secs(60);
/// How long it waits before it asks again for a place in a row that is too long.
const ASKS_AGAIN: Duration = Duration::from_millis(200);

impl Dispatcher {
    /// Looks for what is due, until there is nothing or it has looked long enough for one minute.
    pub(crate) async fn sweep(&self) {
        tokio::join!(self.tidy(), self.drain(), self.tell_of_the_dead());
    }

    /// How much nobody tries any more is told for as long as there is something, so that an alarm lasts until
    /// somebody has looked.
    async fn tell_of_the_dead(&self) {
        let dead = self.waiting(DEAD_DUE, PAGE).await.len();
        if dead > 0 {
            tracing::error!(
                metric = "DeadLetters",
                count = dead,
                "work waits that failed for a day"
            );
        }
    }

    /// All that is not sent: chunks that become messages, courses, files and people.
    async fn tidy(&self) {
        for _ in 0..GOES {
            let found = [CHUNKS_DUE, ERASE_DUE, WORDS_DUE, FILES_DUE]
                .map(|partition| self.waiting(partition, PAGE));
            let found: Vec<Due> = join_all(found).await.into_iter().flatten().collect();
            let all = found.len();
            let done =
                stream::iter(found).map(|due| async move { self.look_at(&due, &mut None).await });
            done.buffer_unordered(AT_ONCE).collect::<()>().await;
            if all < usize::from(PAGE) {
                return;
            }
        }
    }

    /// Messages, each in its slot.
    async fn drain(&self) {
        let (waiting, ends) = (Mutex::default(), Monotonic::now() + DRAINS);
        join_all((0..AT_ONCE).map(|_| self.have_leave(&waiting, ends))).await;
    }

    /// Has messages leave, one after the other.
    async fn have_leave(&self, waiting: &Mutex<Vec<Due>>, ends: Monotonic) {
        let mut slot = None;
        while let Some(due) = self.next(waiting, ends).await {
            // One that somebody else had sent leaves the slot to the next.
            if slot.is_none() && Task::of(&due.pk).is_some_and(|task| task.takes_slot()) {
                slot = self.wait_for_slot(ends).await;
                if slot.is_none() {
                    return;
                }
            }
            if let Some(due) = self.lease(&due).await {
                self.look_at(&due, &mut slot).await;
            }
        }
    }

    async fn next(&self, waiting: &Mutex<Vec<Due>>, ends: Monotonic) -> Option<Due> {
        let mut waiting = waiting.lock().await;
        if waiting.is_empty() && Monotonic::now() < ends {
            *waiting = self.handful().await;
        }
        waiting.pop()
    }

    /// The message, if it is this worker's to look at for a moment. One whose claim has run out ends here.
    async fn lease(&self, due: &Due) -> Option<Due> {
        let Powers { store, clock, .. } = &*self.0;
        let (now, what) = (clock.now(), Outbound::of(&due.pk)?);
        let leased = async {
            let leased = store.lease(due, now.after(LEASE)).await?;
            if leased.is_none() && store.give_up_claim(what, now).await? {
                tracing::warn!(%what, metric = UNKNOWN, "a message was claimed and never settled: nobody knows whether it was sent");
            }
            Ok::<_, StoreError>(leased)
        };
        leased.await.unwrap_or_else(|failure| {
            tracing::warn!(%failure, %what, "a message could not be leased");
            None
        })
    }

    /// The next messages: letters and single ones before those of batches. Of these the oldest are taken in
    /// any order, for other sweepers may be at them.
    async fn handful(&self) -> Vec<Due> {
        let mut first = self.waiting(OUTBOX_DUE, HANDFUL as u16).await;
        if first.is_empty() {
            first = self.waiting(BULK_DUE, PAGE).await;
            let start = usize::from(u16::from_be_bytes(chance::bytes())) % first.len().max(1);
            first.rotate_left(start);
            first.truncate(HANDFUL);
        }
        first.reverse();
        first
    }

    async fn waiting(&self, partition: &str, limit: u16) -> Vec<Due> {
        let Powers { store, clock, .. } = &*self.0;
        store
            .due(partition, clock.now(), limit)
            .await
            .unwrap_or_else(|failure| {
                tracing::error!(%failure, partition, "the sweeper could not look");
                Vec::new()
            })
    }

    /// A slot; `None` when there is none before this sweep ends.
    async fn wait_for_slot(&self, ends: Monotonic) -> Option<Instant> {
        let Powers {
            store,
            clock,
            sms_rate,
            row,
            ..
        } = &*self.0;
        // One of this process asks, the others wait for it.
        let _row = row.lock().await;
        while Monotonic::now() < ends {
            match store.take_slot(*sms_rate, PATIENCE, clock.now()).await {
                Ok(Some(slot)) => return Some(slot),
                Ok(None) => {}
                Err(failure) => tracing::warn!(%failure, "no slot could be taken"),
            }
            sleep(ASKS_AGAIN).await;
        }
        None
    }

    /// Does what is due; what fails is looked at again later, so that it stands in nobody's way.
    async fn look_at(&self, due: &Due, slot: &mut Option<Instant>) {
        let Some(task) = Task::of(&due.pk) else {
            return;
        };
        let pause = if matches!(task, Task::Deliver(_)) {
            SHORT_PAUSE
        } else {
            LONG_PAUSE
        };
        let Err(failure) = self.perform(task, slot).await else {
            return;
        };
        tracing::error!(?failure, pk = due.pk, "what is due was not dealt with");
        let Powers { store, clock, .. } = &*self.0;
        if let Err(failure) = store
            .postpone(due, &failure.to_string(), pause, clock.now())
            .await
        {
            tracing::error!(%failure, pk = due.pk, "what failed could not be put off");
        }
    }
}
