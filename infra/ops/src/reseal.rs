//! Reseals secrets at rest under the sealing key in use.

use common::ApiError;
use domain::UserId;
use identity::{
    sealing::Sealer,
    totp::{Secret, active_context},
};
use runtime::Key;
use store::{Setup, Store};

/// The secrets read per query.
const PAGE: u16 = 100;

/// The result of [`reseal`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resealed {
    /// The number of secrets that were resealed under the first key, or deleted meanwhile.
    pub done: usize,
    /// The number of secrets that none of the keys opens. They are unchanged.
    pub unreadable: usize,
}

/// Reseals every secret that is sealed under a later one of `SEALING_KEYS` under the first. The later keys can be
/// removed as soon as the codes of the last ten minutes have expired. It can be repeated, and run while the service
/// runs: a secret that changes meanwhile is sealed under the first key anyway. Secrets that an earlier algorithm sealed
/// under the first key itself stay as they are until the next rotation: the index lists secrets by key only.
///
/// # Errors
/// When the keys are malformed. Secrets that were resealed before an error stay so.
pub async fn reseal(setup: &Setup) -> Result<Resealed, ApiError> {
    let (store, sealer) = (&setup.store, setup.keys.parse::<Sealer>(Key::Sealing)?);
    let mut resealed = Resealed::default();
    for kid in sealer.former_kids() {
        // By position, because the index is eventually consistent: it may still list secrets that were just resealed.
        let mut position = None;
        loop {
            let page = store.sealed_under(kid, position.as_deref(), PAGE).await?;
            for user in page.items {
                if reseal_one(store, &sealer, user).await? {
                    resealed.done += 1
                } else {
                    resealed.unreadable += 1
                }
            }
            position = page.last;
            if position.is_none() {
                break;
            }
        }
    }
    Ok(resealed)
}

/// Returns `false` when the secret of `user` could not be opened.
async fn reseal_one(store: &Store, sealer: &Sealer, user: UserId) -> Result<bool, ApiError> {
    let Some(otp) = store.otp(user).await? else {
        return Ok(true);
    };
    let place = active_context(user);
    let Ok(secret) = Secret::open(&otp.sealed, sealer, &place) else {
        return Ok(false);
    };
    store.reseal_otp(user, &otp, &secret.seal(sealer, &place)?, sealer.kid()).await?;
    Ok(true)
}
