//! Counters of failed attempts: their keys, limits and windows.
//!
//! An attempt is reserved before it is checked and released on success, so concurrent attempts cannot exceed a limit. A
//! sign-in releases it in its own transaction: one request instead of one for each counter. If the release fails, the
//! attempt stays counted until its window ends. Unknown addresses are counted like known ones. While the counters cannot
//! be read, every attempt fails. Open sessions are not affected.

use std::time::Duration;

use common::{ApiError, Client, ErrorCode};
use domain::{Email, Instant, UserId, user::User};
use identity::password::{Hasher, Match};
use secrecy::SecretString;
use store::{Counter, Reservation, Store};

const QUARTER_HOUR: Duration = Duration::from_secs(15 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Limits of wrong passwords, at sign-in and wherever the current password is required: in 15 minutes 10 per account
/// and network, 100 per account, 50 per network.
pub fn of_password(email: &Email, client: &Client) -> [Counter; 3] {
    let counter = |name, key, max| Counter { name, key, max, window: QUARTER_HOUR };
    [
        counter("password-account-network", format!("{email} {}", client.network), 10),
        counter("password-account", email.to_string(), 100),
        counter("password-network", client.network.clone(), 50),
    ]
}

/// Limit of wrong one-time codes (by mail or text message): 30 per network in an hour. The limits per code are stored
/// with the code.
pub fn of_code(client: &Client) -> [Counter; 1] {
    [Counter { name: "code-network", key: client.network.clone(), max: 30, window: HOUR }]
}

/// Limit of wrong answers of passkeys: 50 per network in 15 minutes. Nothing is counted per account: a signature cannot
/// be guessed.
pub fn of_passkey(client: &Client) -> [Counter; 1] {
    [Counter {
        name: "passkey-network",
        key: client.network.clone(),
        max: 50,
        window: QUARTER_HOUR,
    }]
}

/// Limits of wrong one-time passwords of `user`: in an hour 5 per `challenge`, the id of a session or pending token,
/// and 10 per account.
pub fn of_otp(user: UserId, challenge: &str) -> [Counter; 2] {
    [
        Counter { name: "otp-challenge", key: format!("{user} {challenge}"), max: 5, window: HOUR },
        Counter { name: "otp-account", key: user.to_string(), max: 10, window: HOUR },
    ]
}

/// The limits of [`of_otp`] for recovery codes, but per account and network. Counted separately: an attacker who exhausts
/// the other attempts does not lock out the owner, who can still use a recovery code. It is too long to be guessed from
/// many networks.
pub fn of_recovery(user: UserId, challenge: &str, client: &Client) -> [Counter; 2] {
    [
        Counter {
            name: "recovery-challenge",
            key: format!("{user} {challenge}"),
            max: 5,
            window: HOUR,
        },
        Counter {
            name: "recovery-account-network",
            key: format!("{user} {}", client.network),
            max: 10,
            window: HOUR,
        },
    ]
}

/// Limit of registrations: `per_hour` valid requests per network, successful or not. A whole class may register from
/// one network.
pub fn of_registration(client: &Client, per_hour: u64) -> [Counter; 1] {
    [Counter { name: "register", key: client.network.clone(), max: per_hour, window: HOUR }]
}

/// Limit of avatars of `user`: 10 uploads in an hour, accepted or not, because each of them is decoded.
pub fn of_avatar(user: UserId) -> [Counter; 1] {
    [Counter { name: "avatar", key: user.to_string(), max: 10, window: HOUR }]
}

/// Limit of changes of `user` that end all sent codes, which are password changes and enrolments of one-time passwords:
/// 10 in an hour. Otherwise an attacker who knows the password could always prevent its reset.
pub fn of_change_ending_codes(user: UserId) -> [Counter; 1] {
    [Counter { name: "password-change", key: user.to_string(), max: 10, window: HOUR }]
}

/// Limit of exports of `user`: 10 in an hour, because each of them may read and store many megabytes.
pub fn of_export(user: UserId) -> [Counter; 1] {
    [Counter { name: "export", key: user.to_string(), max: 10, window: HOUR }]
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
