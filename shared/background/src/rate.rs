//! The rates of text messages and of mails in numbers: slots that all processes reserve in the store.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use domain::{
    Instant,
    times::{FIRST_RATE_PAUSE, LATE_WAIT, LATENESS, RATE_PAUSE, RESERVED, STORE_PAUSE},
};
use identity::random;
use runtime::{Clock, ConfigError};
use store::{Channel, SendingRate, Setup, Slots, Store, StoreError};
use tokio::{
    sync::Mutex,
    time::{Instant as Monotonic, sleep},
};

/// Most slots that a sweep takes at once. At high rates this keeps the item of the rate from being written for every
/// message.
const MAX_BLOCK: u64 = 20;
/// Takes slots, evenly spaced, each for one message.
pub struct Rate {
    store: Store,
    clock: Clock,
    rate: SendingRate,
    /// The slots that this process has taken for its sweeps and not used yet. Locked while some are requested, so that
    /// the tasks of this process do not compete for slots.
    slots: Mutex<VecDeque<Instant>>,
    /// In Unix milliseconds, the next slot when none was free: until then the store is not asked for an earlier one.
    next: AtomicI64,
}

impl Rate {
    /// That of text messages, by the setting `SMS_RATE_PER_SECOND` (default 10).
    ///
    /// # Errors
    /// It is invalid.
    pub fn of_texts(setup: &Setup) -> Result<Self, ConfigError> {
        let per_second = setup.settings.number("SMS_RATE_PER_SECOND", 10)?;
        Ok(Self::new(setup, SendingRate { channel: Channel::Texts, per_second }))
    }

    /// That of mails in numbers, by the setting `MAIL_RATE_PER_SECOND` (default 10).
    ///
    /// # Errors
    /// It is invalid.
    pub fn of_mails(setup: &Setup) -> Result<Self, ConfigError> {
        let per_second = setup.settings.number("MAIL_RATE_PER_SECOND", 10)?;
        Ok(Self::new(setup, SendingRate { channel: Channel::Mails, per_second }))
    }

    fn new(setup: &Setup, rate: SendingRate) -> Self {
        Self {
            store: setup.store.clone(),
            clock: setup.clock.clone(),
            rate,
            slots: Mutex::default(),
            next: AtomicI64::default(),
        }
    }

    /// The next of the slots that this process has taken, or of up to half a second's worth that it takes together, the
    /// first at most `max_wait` ahead. Waits until one is free; `None` when that is after `ends`.
    pub(crate) async fn wait_for_slot(
        &self,
        max_wait: Duration,
        ends: Monotonic,
    ) -> Option<Instant> {
        let mut slots = self.slots.lock().await;
        while let Some(slot) = slots.pop_front() {
            if !self.is_late(slot) {
                return Some(slot);
            }
        }
        let share = self.rate.per_second * u64::from(RESERVED.subsec_millis()) / 1000;
        let block = share.clamp(1, MAX_BLOCK);
        let mut pause = FIRST_RATE_PAUSE;
        while Monotonic::now() < ends {
            let now = self.clock.now();
            let taken = self.store.take_slots(self.rate, block, max_wait, now).await;
            match taken {
                Ok(Slots::Taken(starts)) => {
                    slots.extend(starts);
                    // The last one is used even if it is late, so that a slow store does not stop the sending.
                    while slots.len() > 1 && slots.front().is_some_and(|slot| self.is_late(*slot)) {
                        slots.pop_front();
                    }
                    return slots.pop_front();
                }
                // Other processes have the next slots and use the following ones as well.
                Ok(Slots::NoneBefore(free)) => {
                    let wait = free.since(now) + pause.mul_f64(random_fraction());
                    sleep(wait.min(ends - Monotonic::now())).await;
                    pause = RATE_PAUSE;
                }
                Err(failure) => {
                    tracing::warn!(%failure, "taking slots failed");
                    sleep(STORE_PAUSE).await;
                }
            }
        }
        None
    }

    /// The slot `taken` by a sweep or, if it has become too late, the next one of this process; without one, a new one at
    /// most `max_wait` ahead. `None` if there is none.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn slot_in_time(
        &self,
        taken: Option<Instant>,
        max_wait: Duration,
    ) -> Result<Option<Instant>, StoreError> {
        if let Some(slot) = taken {
            return Ok(if self.is_late(slot) {
                self.wait_for_slot(max_wait, Monotonic::now() + LATE_WAIT).await
            } else {
                Some(slot)
            });
        }
        let now = self.clock.now();
        if now.after(max_wait).unix_milliseconds() < self.next.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match self.store.take_slots(self.rate, 1, max_wait, now).await? {
            Slots::Taken(starts) => Ok(starts.first().copied()),
            Slots::NoneBefore(free) => {
                let next = free.after(max_wait).unix_milliseconds();
                self.next.store(next, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    fn is_late(&self, slot: Instant) -> bool {
        self.clock.now() > slot.after(LATENESS.max(self.interval() / 2))
    }

    /// The time between two slots.
    fn interval(&self) -> Duration {
        Duration::from_secs(1) / u32::try_from(self.rate.per_second).unwrap_or(u32::MAX).max(1)
    }
}

/// Between 0 and 1.
pub(crate) fn random_fraction() -> f64 {
    f64::from(u32::from_be_bytes(random::bytes())) / f64::from(u32::MAX)
}
