//! Security counters: what is counted, for whom, and how often it may go wrong.
//!
//! A place is taken before the work and given back on success, so many at once cannot slip past.
//! Unknown addresses are counted like known ones. When the counters cannot be asked, nobody may
//! try. An open session keeps working whatever they say.

use std::time::Duration;

use common::{ApiError, Client, ErrorCode};
use domain::{Email, Instant, UserId, user::User};
use identity::password::{Hasher, Match};
use secrecy::SecretString;
use store::{Counter, Reservation, Store};

const QUARTER_HOUR: Duration = Duration::from_secs(15 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Signing in, and proving one's old password: per account and network 10, per account 100, per
/// network 50 failures in 15 minutes.
pub fn of_password(email: &Email, client: &Client) -> [Counter; 3] {
    let counter = |name, key, most| Counter {
        name,
        key,
        most,
        length: QUARTER_HOUR,
    };
    [
        counter(
            "password-account-network",
            format!("{email} {}", client.network),
            10,
        ),
        counter("password-account", email.to_string(), 100),
        counter("password-network", client.network.clone(), 50),
    ]
}

/// Checking a code that was sent: 30 failures per network in an hour. What kills the code itself is
/// counted with it.
pub fn of_code(client: &Client) -> [Counter; 1] {
    [Counter {
        name: "code-network",
        key: client.network.clone(),
        most: 30,
        length: HOUR,
    }]
}

/// The one-time password step `challenge` of `user`: 5 failures each, 10 per account in an hour.
pub fn of_otp(user: UserId, challenge: &str) -> [Counter; 2] {
    [
        Counter {
            name: "otp-challenge",
            key: format!("{user} {challenge}"),
            most: 5,
            length: HOUR,
        },
        Counter {
            name: "otp-account",
            key: user.to_string(),
            most: 10,
            length: HOUR,
        },
    ]
}

/// The same with recovery codes, which have counts of their own, so that whoever exhausts the others
/// does not shut the owner out.
pub fn of_recovery(user: UserId, challenge: &str) -> [Counter; 2] {
    [
        Counter {
            name: "recovery-challenge",
            key: format!("{user} {challenge}"),
            most: 5,
            length: HOUR,
        },
        Counter {
            name: "recovery-account",
            key: user.to_string(),
            most: 10,
            length: HOUR,
        },
    ]
}

/// Registering: `per_hour` calls per network that pass validation, whatever becomes of them; a
/// class signs up from one room.
pub fn of_registering(client: &Client, per_hour: u64) -> [Counter; 1] {
    [Counter {
        name: "register",
        key: client.network.clone(),
        most: per_hour,
        length: HOUR,
    }]
}

/// What came of work that places were taken for: somebody was proved, and the places go on to be
/// given back beside the next step; or nobody was, and they stay taken. A error is not the caller's
/// failure: the places are given back.
///
/// # Errors
/// `BAD_AUTH_COMBINATION_MESSAGE` for nobody, else the error or error_code of `proof`.
pub async fn settle<T>(
    store: &Store,
    reserved: Reservation,
    proof: Result<Option<T>, ApiError>,
) -> Result<(T, Reservation), ApiError> {
    match proof {
        Ok(Some(proved)) => Ok((proved, reserved)),
        Ok(None) => Err(ErrorCode::BadAuthCombination.into()),
        Err(failure) => {
            // What cannot be given back stays taken until its window ends.
            let _ = store.give_back(reserved).await;
            Err(failure)
        }
    }
}

/// Verifies `password` of `user` under the counters of passwords: its hash, and the places to give back.
///
/// # Errors
/// As [`reserve`] and [`settle`].
pub async fn verify_password(
    store: &Store,
    hasher: &Hasher,
    user: &User,
    password: &SecretString,
    client: &Client,
    now: Instant,
) -> Result<(String, Reservation), ApiError> {
    let counters = of_password(&user.email, client);
    let (reserved, credentials) = tokio::join!(
        reserve(store, &counters, now),
        store.credentials(user.user_id)
    );
    let (reserved, proof) = (reserved?, async {
        let hash = credentials?.map(|credentials| credentials.password_hash);
        let matched = hasher.matches(password, hash.as_deref()).await?;
        Ok(hash.filter(|_| matched != Match::No))
    });
    settle(store, reserved, proof.await).await
}

/// Takes a place in each of `counters`.
///
/// # Errors
/// `TOO_MANY_ATTEMPTS_MESSAGE` when one is full, a error when they cannot be asked.
pub async fn reserve(
    store: &Store,
    counters: &[Counter],
    now: Instant,
) -> Result<Reservation, ApiError> {
    let reserved = store.reserve(counters, now).await?;
    reserved.map_err(|ends| ApiError::too_many_attempts(ends.since(now)))
}
