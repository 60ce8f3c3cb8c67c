//! Secrets at rest move to the newest key.

use common::ApiError;
use domain::UserId;
use identity::{
    sealing::Sealer,
    totp::{Secret, place_in_force},
};
use runtime::Key;
use store::{Setup, Store};

/// How many secrets are looked up at once.
const PAGE: u16 = 100;

/// What re-sealing did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resealed {
    /// Secrets that are under the first key now.
    pub done: usize,
    /// Secrets that no key of ours opens: they stay as they are.
    pub unreadable: usize,
}

/// Seals every secret at rest under the first of `SEALING_KEYS` that a later one of them sealed. After
/// that the later ones may be dropped, once the codes of the last ten minutes are dead. May be run again
/// and beside the running service: a secret that changes meanwhile is under the first key anyway.
///
/// # Errors
/// When the keys are malformed or the store is out of reach; then what was done is done.
pub async fn reseal(setup: &Setup) -> Result<Resealed, ApiError> {
    let (store, sealer) = (&setup.store, setup.keys.parse::<Sealer>(Key::Sealing)?);
    let mut resealed = Resealed::default();
    for kid in sealer.former_kids() {
        loop {
            let users = store.sealed_under(kid, PAGE).await?;
            let before = resealed.done;
            let mut unreadable = 0;
            for user in &users {
                match reseal_one(store, &sealer, *user).await? {
                    true => resealed.done += 1,
                    false => unreadable += 1,
                }
            }
            // The list follows the table a moment later: what was just done may be listed once more.
            if users.is_empty() || resealed.done == before {
                resealed.unreadable += unreadable;
                break;
            }
        }
    }
    Ok(resealed)
}

/// Whether the secret of `user` could be opened, or is gone.
async fn reseal_one(store: &Store, sealer: &Sealer, user: UserId) -> Result<bool, ApiError> {
    let Some(otp) = store.otp(user).await? else {
        return Ok(true);
    };
    let place = place_in_force(user);
    let Ok(secret) = Secret::open(&otp.sealed, sealer, &place) else {
        return Ok(false);
    };
    store
        .reseal_otp(user, &otp, &secret.seal(sealer, &place)?, sealer.kid())
        .await?;
    Ok(true)
}
