//! Counters of failed attempts.
//!
//! An attempt is reserved before it is checked and released on success, so concurrent attempts cannot exceed a limit. A
//! sign-in releases it in its own transaction: one request instead of one for each counter. If the release fails, the
//! attempt stays counted until its window ends. Unknown addresses are counted like known ones. While the counters cannot
//! be read, every attempt fails. Open sessions are not affected.

use common::{ApiError, Client, ErrorCode};
use domain::{Email, Instant, UserId, limits, user::User};
use identity::password::{Hasher, Match};
use secrecy::SecretString;
use store::{Counter, Reservation, Store};

/// Wrong passwords.
pub fn of_password(email: &Email, client: &Client) -> [Counter; 3] {
    [
        Counter::of(limits::PASSWORD_ACCOUNT_NETWORK, format!("{email} {}", client.network)),
        Counter::of(limits::PASSWORD, email),
        Counter::of(limits::PASSWORD_NETWORK, &client.network),
    ]
}

/// Wrong one-time passwords of `user`. `challenge` is the id of a session or pending token.
pub fn of_otp(user: UserId, challenge: &str) -> [Counter; 2] {
    [
        Counter::of(limits::OTP_CHALLENGE, format!("{user} {challenge}")),
        Counter::of(limits::OTP, user),
    ]
}

/// Wrong recovery codes.
pub fn of_recovery(user: UserId, challenge: &str, client: &Client) -> [Counter; 2] {
    [
        Counter::of(limits::RECOVERY_CHALLENGE, format!("{user} {challenge}")),
        Counter::of(limits::RECOVERY_ACCOUNT_NETWORK, format!("{user} {}", client.network)),
    ]
}

/// Counts `work` by `counters`, unless it fails.
///
/// # Errors
/// `TOO_MANY_ATTEMPTS_MESSAGE` when a limit is reached, and those of `work`.
pub async fn counted<T>(
    store: &Store,
    counters: &[Counter],
    now: Instant,
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let reserved = reserve(store, counters, now).await?;
    let done = work.await;
    if done.is_err() {
        let _ = store.release(reserved).await;
    }
    done
}

/// Records the `outcome` of a reserved attempt. A successful one is returned with its reservation, which the caller
/// releases in the next transaction or in parallel with it. A wrong one (`None`) stays counted. On an error the attempt
/// is released.
///
/// # Errors
/// `BAD_AUTH_COMBINATION_MESSAGE` for `None`; the error of `outcome`.
pub async fn record_outcome<T>(
    store: &Store,
    reserved: Reservation,
    outcome: Result<Option<T>, ApiError>,
) -> Result<(T, Reservation), ApiError> {
    match outcome {
        Ok(Some(verified)) => Ok((verified, reserved)),
        Ok(None) => Err(ErrorCode::BadAuthCombination.into()),
        Err(error) => {
            let _ = store.release(reserved).await;
            Err(error)
        }
    }
}

/// Verifies `password` of `user` within the limits of [`of_password`]. Returns the stored hash, and the reservation for
/// the caller to release.
///
/// # Errors
/// As [`reserve`] and [`record_outcome`].
pub async fn verify_password(
    store: &Store,
    hasher: &Hasher,
    user: &User,
    password: &SecretString,
    client: &Client,
    now: Instant,
) -> Result<(String, Reservation), ApiError> {
    let counters = of_password(&user.email, client);
    let (reserved, credentials) =
        tokio::join!(reserve(store, &counters, now), store.credentials(user.user_id));
    let reserved = reserved?;
    let outcome = async {
        let hash = credentials?.map(|credentials| credentials.password_hash);
        let matched = hasher.matches(password, hash.as_deref()).await?;
        Ok(hash.filter(|_| matched != Match::No))
    };
    record_outcome(store, reserved, outcome.await).await
}

/// Reserves an attempt in each of `counters`.
///
/// # Errors
/// `TOO_MANY_ATTEMPTS_MESSAGE` when one of them is full.
pub async fn reserve(
    store: &Store,
    counters: &[Counter],
    now: Instant,
) -> Result<Reservation, ApiError> {
    let reserved = store.reserve(counters, now).await?;
    reserved.map_err(|full| ApiError::too_many_attempts(full.ends.since(now)))
}
