//! Holding requests back, so that tests of concurrent requests know that these stand side by side.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;

use crate::LocalError;

/// How long [`Hold::reached`] waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// The active hold, if there is one. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Holds(Arc<Mutex<Option<Held>>>);

#[derive(Clone)]
struct Held {
    operation: String,
    /// What the body of a request contains.
    text: String,
    /// How many requests may still be held back.
    left: Arc<AtomicUsize>,
    /// Each waiting request has a receiver.
    is_released: watch::Sender<bool>,
}

/// Holds back requests of one DynamoDB operation until it is released or dropped.
pub struct Hold {
    holds: Holds,
    held: Held,
}

impl Holds {
    /// Holds back the next `most` requests of `operation` whose body contains `text`, in place of an earlier hold.
    pub(crate) fn hold(&self, operation: &str, text: &str, most: usize) -> Hold {
        let held = Held {
            operation: operation.to_owned(),
            text: text.to_owned(),
            left: Arc::new(AtomicUsize::new(most)),
            is_released: watch::Sender::default(),
        };
        *self.lock() = Some(held.clone());
        Hold { holds: self.clone(), held }
    }

    /// Waits while the request is held back.
    pub(crate) async fn pass(&self, operation: &str, body: &[u8]) {
        let is_meant = |held: &Held| {
            held.operation == operation && String::from_utf8_lossy(body).contains(&held.text)
        };
        let held = self.lock().clone().filter(is_meant);
        let one_less = |left: usize| left.checked_sub(1);
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        if let Some(held) = held.filter(|held| held.left.fetch_update(set, get, one_less).is_ok()) {
            let _ = held.is_released.subscribe().wait_for(|is_released| *is_released).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hold {
    /// Waits until `count` requests are held back.
    ///
    /// # Errors
    /// When they do not arrive in time.
    pub async fn reached(&self, count: usize) -> Result<(), LocalError> {
        let arrival = async {
            while self.held.is_released.receiver_count() < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, arrival).await.map_err(|_| {
            let (held, operation) = (self.held.is_released.receiver_count(), &self.held.operation);
            LocalError::new(format!("{held} of {count} requests of {operation} are held back."))
        })
    }

    /// Lets the requests pass, and all later ones.
    pub fn release(self) {}
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut active = self.holds.lock();
        let is_own = |held: &Held| held.is_released.same_channel(&self.held.is_released);
        if active.as_ref().is_some_and(is_own) {
            *active = None;
        }
        drop(active);
        self.held.is_released.send_replace(true);
    }
}
