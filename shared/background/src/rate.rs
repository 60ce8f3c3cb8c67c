//! The rates of text messages and of mails in numbers: send times that all processes reserve in the store.

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
use store::{Channel, SendTimes, SendingRate, Setup, Store, StoreError};
use tokio::{
    sync::Mutex,
    time::{Instant as Monotonic, sleep},
};

/// Most send times that a sweep reserves at once. At high rates this keeps the item of the rate from being written for every
/// message.
const MAX_RESERVED: u64 = 20;

/// Reserves send times, evenly spaced, each for one message.
pub struct Rate {
    store: Store,
    clock: Clock,
    rate: SendingRate,
    /// The send times that this process has reserved for its sweeps and not used yet. Locked while some are reserved, so that
    /// the tasks of this process do not compete for them.
    reserved: Mutex<VecDeque<Instant>>,
    /// In Unix milliseconds, the next send time when none was free: until then the store is not asked for an earlier one.
    next: AtomicI64,
}

impl Rate {
    /// The rate of `channel`, by the setting `SMS_RATE_PER_SECOND` or `MAIL_RATE_PER_SECOND` (default 10).
    ///
    /// # Errors
    /// The setting is invalid.
    pub fn new(setup: &Setup, channel: Channel) -> Result<Self, ConfigError> {
        let per_second = match channel {
            Channel::Texts => setup.settings.number("SMS_RATE_PER_SECOND", 10)?,
            Channel::Mails => setup.settings.number("MAIL_RATE_PER_SECOND", 10)?,
        };
        Ok(Self {
            store: setup.store.clone(),
            clock: setup.clock.clone(),
            rate: SendingRate { channel, per_second },
            reserved: Mutex::default(),
            next: AtomicI64::default(),
        })
    }

    /// The next send time that this process has reserved, or of up to half a second's worth that it reserves together, the
    /// first at most `max_wait` ahead. Waits until one is free; `None` when that is after `ends`.
    pub(crate) async fn reserve(&self, max_wait: Duration, ends: Monotonic) -> Option<Instant> {
        let mut reserved = self.reserved.lock().await;
        while let Some(time) = reserved.pop_front() {
            if !self.is_late(time) {
                return Some(time);
            }
        }
        let share = self.rate.per_second * u64::from(RESERVED.subsec_millis()) / 1000;
        let count = share.clamp(1, MAX_RESERVED);
        let mut pause = FIRST_RATE_PAUSE;
        while Monotonic::now() < ends {
            let now = self.clock.now();
            match self.store.reserve_send_times(self.rate, count, max_wait, now).await {
                Ok(SendTimes::Reserved(times)) => {
                    reserved.extend(times);
                    // The last one is used even if it is late, so that a slow store does not stop the sending.
                    while reserved.len() > 1
                        && reserved.front().is_some_and(|time| self.is_late(*time))
                    {
                        reserved.pop_front();
                    }
                    return reserved.pop_front();
                }
                // Other processes have reserved the next ones and will reserve the following ones as well.
                Ok(SendTimes::AskAgainAt(at)) => {
                    let wait = at.since(now) + pause.mul_f64(random_fraction());
                    sleep(wait.min(ends - Monotonic::now())).await;
                    pause = RATE_PAUSE;
                }
                Err(failure) => {
                    tracing::warn!(%failure, "reserving send times failed");
                    sleep(STORE_PAUSE).await;
                }
            }
        }
        None
    }

    /// Waits until a message may be sent: until `reserved`, the send time that a sweep has reserved for it or, if that is too
    /// late, the next one of this process; without one, until a new one at most `max_wait` ahead. Returns whether there was
    /// one.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn wait(
        &self,
        reserved: Option<Instant>,
        max_wait: Duration,
    ) -> Result<bool, StoreError> {
        let time = match reserved {
            Some(time) if self.is_late(time) => {
                self.reserve(max_wait, Monotonic::now() + LATE_WAIT).await
            }
            Some(time) => Some(time),
            None => self.reserve_one(max_wait).await?,
        };
        let Some(time) = time else { return Ok(false) };
        sleep(time.since(self.clock.now())).await;
        Ok(true)
    }

    async fn reserve_one(&self, max_wait: Duration) -> Result<Option<Instant>, StoreError> {
        let now = self.clock.now();
        if now.after(max_wait).unix_milliseconds() < self.next.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match self.store.reserve_send_times(self.rate, 1, max_wait, now).await? {
            SendTimes::Reserved(times) => Ok(times.first().copied()),
            SendTimes::AskAgainAt(at) => {
                let next = at.after(max_wait).unix_milliseconds();
                self.next.store(next, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    fn is_late(&self, time: Instant) -> bool {
        let per_second = u32::try_from(self.rate.per_second).unwrap_or(u32::MAX).max(1);
        let interval = Duration::from_secs(1) / per_second;
        self.clock.now() > time.after(LATENESS.max(interval / 2))
    }
}

/// Between 0 and 1.
pub(crate) fn random_fraction() -> f64 {
    f64::from(u32::from_be_bytes(random::bytes())) / f64::from(u32::MAX)
}
