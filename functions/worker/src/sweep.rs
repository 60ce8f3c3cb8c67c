//! The sweep, which runs every minute: performs work that the stream has missed or that was postponed, and sends the
//! messages of batches at the configured rate.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

use background::{AT_ONCE, Deliver};
use domain::{
    Instant,
    times::{BATCH_WAIT, SWEEP_TIME, WORK_RETRY},
};
use futures_util::{StreamExt, future::join_all, stream};
use identity::random;
use runtime::Error;
use store::{Due, Outbound, OutboundMessage, keys::DueList};
use tokio::time::Instant as Monotonic;

use crate::{SWEEP_LISTS, Services, Worker};

/// Pieces of work in one page.
const PAGE: u16 = 100;
/// Maximum number of pages per kind and sweep.
const MAX_PAGES: usize = 10;
/// Messages that are fetched at once: one for each sender, because others may be sent by concurrent sweeps while these
/// wait for their send times.
const FETCH_SIZE: u16 = 8;

impl Worker {
    /// Performs work that is due, until there is none or the limits of one sweep are reached.
    pub(crate) async fn sweep(&self) {
        let Services { sender, due, .. } = &*self.0;
        let [fetches] = random::bytes();
        let (rate, fetches) = (Some(&sender.rate), AtomicU8::new(fetches));
        tokio::join!(
            self.perform_tasks(),
            // Whose sending was interrupted, or was refused and is tried again.
            sender.sweep(self, rate, || due.waiting(DueList::Started, FETCH_SIZE)),
            sender.sweep(self, rate, || self.fetch_waiting(&fetches)),
            self.emit_dead_letter_count()
        );
    }

    /// Messages of batches that wait for their turn: the first 8 and the 8 after them alternately, beginning with either and
    /// with any message of the half, because concurrent sweeps read the same list. The order of the list is that of the
    /// turns: a message is skipped at most twice, so it is sent at most about 16 turns, and what other sweeps
    /// hold, out of that order. The lowest bit of `fetches` selects the half.
    async fn fetch_waiting(&self, fetches: &AtomicU8) -> Vec<Due> {
        let size = usize::from(FETCH_SIZE);
        let mut messages = self.0.due.first(DueList::Bulk, 2 * FETCH_SIZE).await;
        let is_second_half = fetches.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        if is_second_half && messages.len() > size {
            messages.drain(..size);
        }
        messages.truncate(size);
        let [start] = random::bytes();
        let start = usize::from(start) % messages.len().max(1);
        messages.rotate_left(start);
        messages
    }

    /// Emits the number of dead letters, so that the alarm stays on until an operator has handled them.
    async fn emit_dead_letter_count(&self) {
        let dead = self.0.due.waiting(DueList::Dead, PAGE).await.len();
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
        let ends = Monotonic::now() + SWEEP_TIME;
        for _ in 0..MAX_PAGES {
            let found = SWEEP_LISTS.map(|list| self.0.due.waiting(list, PAGE));
            let found: Vec<Due> = join_all(found).await.into_iter().flatten().collect();
            let all = found.len();
            let done = stream::iter(found).map(|due| async move {
                if Monotonic::now() < ends {
                    self.perform_due(&due).await
                }
            });
            done.buffer_unordered(AT_ONCE).collect::<()>().await;
            if all < usize::from(PAGE) || Monotonic::now() >= ends {
                return;
            }
        }
    }

    /// Does the work `due`. If it fails, it is postponed, so that it does not block other work.
    async fn perform_due(&self, due: &Due) {
        let Some(list) = due.list() else {
            return;
        };
        let work = background::perform(&due.pk, &due.request_id, self.perform(list, &due.pk));
        if let Err(failure) = work.await {
            self.0.due.postpone(due, &failure, WORK_RETRY).await;
        }
    }
}

impl Deliver for Worker {
    const MAX_WAIT: Duration = BATCH_WAIT;

    async fn deliver(&self, what: Outbound, reserved: &mut Option<Instant>) -> Result<(), Error> {
        let sender = &self.0.sender;
        match sender.queued(what).await? {
            Some(OutboundMessage::Sms(sms)) => sender.send_sms(sms, reserved).await,
            // The dispatcher sends messages of the service.
            Some(OutboundMessage::OutboxMessage(_)) | None => Ok(()),
        }
    }
}
