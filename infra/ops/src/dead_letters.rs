//! Dead letters: work that failed for a day and is not retried automatically.

use store::Setup;
use store::{DeadLetter, StoreError};

/// More than there ever are: a query of the index, which has keys only, returns thousands per shard.
const ALL: u16 = u16::MAX;

/// The dead letters, the oldest first.
pub async fn dead_letters(setup: &Setup) -> Result<Vec<DeadLetter>, StoreError> {
    setup.store.dead_letters(setup.clock.now(), ALL).await
}

/// Makes the dispatcher retry all dead letters, or only those with the partition key `pk`. Returns their number.
/// Work that fails for another day becomes a dead letter again. On an error some may have been revived.
pub async fn replay(setup: &Setup, pk: Option<&str>) -> Result<usize, StoreError> {
    let (store, now) = (&setup.store, setup.clock.now());
    let mut revived = 0;
    loop {
        let before = revived;
        for letter in store
            .dead_letters(now, ALL)
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
