//! Work that failed for a day.

use store::Setup;
use store::{DeadLetter, StoreError};

/// How many are looked up at once.
const PAGE: u16 = 100;

/// Work that the dispatcher has tried for a day without success, and tries no more; the longest dead first, a
/// hundred at most.
///
/// # Errors
/// When the store is out of reach.
pub async fn dead_letters(setup: &Setup) -> Result<Vec<DeadLetter>, StoreError> {
    setup.store.dead_letters(setup.clock.now(), PAGE).await
}

/// Has the dispatcher try all dead letters again, or those alone whose key is `pk`: how many there were. What
/// fails again for a day is dead again.
///
/// # Errors
/// When the store is out of reach; then what was revived is.
pub async fn replay(setup: &Setup, pk: Option<&str>) -> Result<usize, StoreError> {
    let (store, now) = (&setup.store, setup.clock.now());
    let mut revived = 0;
    loop {
        let before = revived;
        for letter in store
            .dead_letters(now, PAGE)
            .await?
            .iter()
            .filter(|letter| pk.is_none_or(|pk| pk == letter.pk))
        {
            revived += usize::from(store.revive(letter, now).await?);
        }
        if revived == before {
            return Ok(revived);
        }
    }
}
