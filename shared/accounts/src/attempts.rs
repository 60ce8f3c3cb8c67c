//! Counters of failed attempts.
//!
//! An attempt is reserved before it is checked and released on success, so concurrent attempts cannot exceed a limit. A
//! sign-in releases it in its own transaction: one request instead of one for each counter. If the release fails, the
//! attempt stays counted until its window ends. Unknown addresses are counted like known ones. While the counters cannot
//! be read, every attempt fails. Open sessions are not affected.

use common::{ApiError, Client, ErrorCode, SignedIn};
use domain::{
    Email, Instant, UserId,
    limits::{self, Limit},
    user::User,
};
use identity::password::{Hasher, Match};
use secrecy::SecretString;
use store::{Counter, Reservation, Store};

/// The counters of an attempt at an account.
pub struct AttemptCounters {
    /// Count always.
    pub common: Vec<Counter>,
    /// Do not count where account and network know each other: the account signed in from the network within 180 days.
    /// So strangers lock out neither its owner at home nor the colleagues behind one address.
    pub unless_known: Vec<Counter>,
}

/// The counters of `limit` per network, whose keys `key` makes of the network of `client`. An IPv6 network counts a second
/// time for its /48, all of which one attacker may have: ten times as many.
pub fn per_network(limit: Limit, client: &Client, key: impl Fn(&str) -> String) -> Vec<Counter> {
    let site = client.site.as_deref().map(|site| (site, 10));
    let of = |(network, times): (&str, u64)| {
        let counter = Counter::of(limit, key(network));
        Counter { max: counter.max * times, ..counter }
    };
    [(client.network.as_str(), 1)].into_iter().chain(site).map(of).collect()
}

/// Wrong passwords.
pub fn of_password(email: &Email, client: &Client) -> AttemptCounters {
    let pair = |network: &str| format!("{email} {network}");
    let mut unless_known = per_network(limits::PASSWORD_NETWORK, client, str::to_owned);
    unless_known.push(Counter::of(limits::PASSWORD, email));
    let common = [limits::PASSWORD_ACCOUNT_NETWORK, limits::PASSWORD_ACCOUNT_NETWORK_DAY];
    let common = common.into_iter().flat_map(|limit| per_network(limit, client, pair)).collect();
    AttemptCounters { common, unless_known }
}

/// Wrong answers of passkeys. Nothing is counted per account: a signature cannot be guessed.
pub fn of_passkey(client: &Client) -> AttemptCounters {
    let unless_known = per_network(limits::PASSKEY_NETWORK, client, str::to_owned);
    AttemptCounters { common: Vec::new(), unless_known }
}

/// Wrong one-time passwords of `user`. `challenge` is the id of a session or pending token.
pub fn of_otp(user: UserId, challenge: &str) -> Vec<Counter> {
    vec![
        Counter::of(limits::OTP_CHALLENGE, format!("{user} {challenge}")),
        Counter::of(limits::OTP, user),
        Counter::of(limits::OTP_DAY, user),
    ]
}

/// Wrong recovery codes.
pub fn of_recovery(user: UserId, challenge: &str, client: &Client) -> Vec<Counter> {
    let pair = |network: &str| format!("{user} {network}");
    let mut counters = per_network(limits::RECOVERY_ACCOUNT_NETWORK, client, pair);
    counters.push(Counter::of(limits::RECOVERY_CHALLENGE, format!("{user} {challenge}")));
    counters
}

/// Whether `user` signed in from the network of `client` within 180 days; `false` if that cannot be read.
pub async fn has_signed_in_from(
    store: &Store,
    user: UserId,
    client: &Client,
    now: Instant,
) -> bool {
    let read = store.user_with_devices(user).await;
    read.is_ok_and(|(_, devices)| devices.include_network(client.ip, now))
}

/// Reserves an attempt at the account `user` in `counters`.
///
/// # Errors
/// `TOO_MANY_ATTEMPTS_MESSAGE` when one of those that count is full.
pub async fn reserve_at(
    store: &Store,
    counters: &AttemptCounters,
    user: UserId,
    client: &Client,
    now: Instant,
) -> Result<Reservation, ApiError> {
    let (common, unless_known) = tokio::join!(
        store.reserve(&counters.common, now),
        store.reserve(&counters.unless_known, now)
    );
    let full = match (common, unless_known) {
        (Ok(Ok(common)), Ok(Ok(unless_known))) => return Ok(common.and(unless_known)),
        (Ok(Ok(common)), Ok(Err(full))) => {
            if has_signed_in_from(store, user, client, now).await {
                return Ok(common);
            }
            let _ = store.release(common).await;
            full
        }
        (Ok(Err(full)), Ok(unless_known)) => {
            if let Ok(reserved) = unless_known {
                let _ = store.release(reserved).await;
            }
            full
        }
        (Err(error), Ok(Ok(reserved))) | (Ok(Ok(reserved)), Err(error)) => {
            let _ = store.release(reserved).await;
            return Err(error.into());
        }
        (Err(error), _) | (_, Err(error)) => return Err(error.into()),
    };
    Err(ApiError::too_many_attempts(full.ends.since(now)))
}

/// Changes of the account `user` of which its owner is notified as `kind`: see [`limits::CHANGES`].
pub fn of_change(kind: &str, user: UserId) -> [Counter; 1] {
    [Counter::of(limits::CHANGES, format!("{kind} {user}"))]
}

/// Counts `change` as [`of_change`], unless it fails.
///
/// # Errors
/// As [`counted`].
pub async fn counted_change<T>(
    store: &Store,
    kind: &str,
    user: UserId,
    now: Instant,
    change: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    counted(store, &of_change(kind, user), now, change).await
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
    let (reserved, credentials) = tokio::join!(
        reserve_at(store, &counters, user.user_id, client, now),
        store.credentials(user.user_id)
    );
    let reserved = reserved?;
    let outcome = async {
        let hash = credentials?.map(|credentials| credentials.password_hash);
        let matched = hasher.matches(password, hash.as_deref()).await?;
        Ok(hash.filter(|_| matched != Match::No))
    };
    record_outcome(store, reserved, outcome.await).await
}

/// Verifies that the owner of the account acts: by `password`, or in an account without one by a sign-in of the last ten
/// minutes. The caller releases the reservation.
///
/// # Errors
/// `FIELD_REQUIRED_MESSAGE` on `password`, `REAUTHENTICATION_REQUIRED_MESSAGE`, and as [`verify_password`].
pub async fn verify_owner(
    store: &Store,
    hasher: &Hasher,
    person: &SignedIn,
    password: Option<&SecretString>,
    client: &Client,
    now: Instant,
) -> Result<Reservation, ApiError> {
    if let Some(password) = password {
        let verified = verify_password(store, hasher, &person.user, password, client, now);
        return verified.await.map(|(_, reserved)| reserved);
    }
    if store.credentials(person.user.user_id).await?.is_some() {
        return Err(ApiError::field("password", ErrorCode::FieldRequired));
    }
    person.require_recent(now)?;
    Ok(Reservation::default())
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
