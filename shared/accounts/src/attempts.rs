//! Counters of failed attempts.
//!
//! An attempt is counted before it is verified and released on success, so concurrent attempts cannot exceed a limit. A
//! sign-in releases it in its own transaction: one request instead of one for each counter. If the release fails, the
//! attempt stays counted until its window ends. Unknown addresses are counted like known ones. While the counters cannot
//! be read, every attempt fails. Open sessions are not affected.
//!
//! | What is submitted, or changed | Counted in | Stays counted |
//! |---|---|---|
//! | password: `POST /auth/login`, `PUT /users/reset-password`, `PUT` and `DELETE /users/{userId}`, `DELETE /otp` | [`of_password`] | if wrong |
//! | signature of a passkey: `POST /auth/passkey` | [`of_passkey`] | if wrong |
//! | credential of another account: `POST /passkeys` | [`of_passkey`] | always |
//! | one-time password: `POST /otp/verify`, `POST /otp/recovery-codes`, `DELETE /otp` | [`of_otp`] | if wrong |
//! | recovery code: `POST /otp/verify`, `DELETE /otp` | [`of_recovery`] | if wrong |
//! | digits of a code: `GET /auth/passwordless`, `POST /users/reset-password`, `PUT /users/email-verification`, `PUT /users/phone-verification` | the code itself, [`limits::DIGITS`], [`limits::DIGITS_NETWORK`] | if wrong |
//! | a change of which the owner is notified | [`of_change`] | if made |
//! | password or new secret, which ends all sent codes | [`limits::ENDING_CODES`] | if made |

use common::{ApiError, Client, ErrorCode, SignedIn};
use domain::{
    Email, Instant, UserId,
    code::{Code, CodeId},
    limits::{self, Limit},
    user::User,
};
use identity::password::Hasher;
use secrecy::SecretString;
use store::{CommitOutcome, Counter, Part, Reservation, Store, StoreError, Transaction};

/// The code at which an attempt at its digits is counted.
#[derive(Debug)]
pub(crate) struct CodeAttempt {
    pub(crate) id: CodeId,
    pub(crate) code: Code,
}

impl CodeAttempt {
    /// Takes the attempt of `client` back. One that cannot be taken back stays counted.
    pub(crate) async fn take_back(&self, store: &Store, client: &Client) {
        let _ = store.return_attempt(self.id, &self.code, &client.network).await;
    }
}

/// The counters of an attempt at an account.
#[derive(Default)]
pub struct AttemptCounters {
    /// Count always.
    pub common: Vec<Counter>,
    /// Count, too, but do not refuse an account that signed in from the network within 180 days: when one is full, its
    /// attempt counts in `common` alone. So strangers lock out neither its owner at home nor the colleagues behind one
    /// address.
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
    AttemptCounters { unless_known, ..Default::default() }
}

/// Wrong one-time passwords of `user`. `challenge` is the id of a session or pending token.
pub fn of_otp(user: UserId, challenge: &str) -> AttemptCounters {
    let common = vec![
        Counter::of(limits::OTP_CHALLENGE, format!("{user} {challenge}")),
        Counter::of(limits::OTP, user),
        Counter::of(limits::OTP_DAY, user),
    ];
    AttemptCounters { common, ..Default::default() }
}

/// Wrong recovery codes.
pub fn of_recovery(user: UserId, challenge: &str, client: &Client) -> AttemptCounters {
    let pair = |network: &str| format!("{user} {network}");
    let mut common = per_network(limits::RECOVERY_ACCOUNT_NETWORK, client, pair);
    common.push(Counter::of(limits::RECOVERY_CHALLENGE, format!("{user} {challenge}")));
    AttemptCounters { common, ..Default::default() }
}

/// Whether `user` signed in from the network of `client` within 180 days.
pub async fn has_signed_in_from(
    store: &Store,
    user: UserId,
    client: &Client,
    now: Instant,
) -> Result<bool, StoreError> {
    let (_, devices) = store.user_with_devices(user).await?;
    Ok(devices.include_network(client.ip, now))
}

/// Why an attempt has failed. An [`ApiError`], and what converts into one, is [`Failed::Error`].
#[derive(Debug)]
pub enum Failed {
    /// What was submitted is wrong: the error of the response.
    Wrong(ErrorCode),
    /// The condition of this part of the transaction failed: a concurrent request was first.
    Conflict(Part),
    /// Nothing is known about what was submitted.
    Error(ApiError),
}

impl<E: Into<ApiError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// An attempt of `client` at `now`, which is counted before what they submitted is verified.
#[derive(Debug)]
#[must_use = "it stays counted unless it is ended"]
pub struct Attempt<'a> {
    pub(crate) store: &'a Store,
    pub(crate) client: &'a Client,
    /// When it was made.
    pub now: Instant,
    pub(crate) reserved: Reservation,
    /// The code at which it is counted, too.
    pub(crate) code: Option<CodeAttempt>,
}

impl<'a> Attempt<'a> {
    /// An attempt that needs no counter, because what is submitted cannot be guessed.
    pub fn uncounted(store: &'a Store, client: &'a Client, now: Instant) -> Self {
        Self { store, client, now, reserved: Reservation::default(), code: None }
    }

    /// Counts an attempt at the account `user` in `counters`.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when one of those that count is full.
    pub async fn begin(
        store: &'a Store,
        counters: &AttemptCounters,
        user: UserId,
        client: &'a Client,
        now: Instant,
    ) -> Result<Self, ApiError> {
        let all = [counters.common.as_slice(), &counters.unless_known].concat();
        let reserved = match store.reserve(&all, now).await {
            Err(StoreError::Full { .. })
                if !counters.unless_known.is_empty()
                    && has_signed_in_from(store, user, client, now).await? =>
            {
                store.reserve(&counters.common, now).await?
            }
            reserved => reserved?,
        };
        Ok(Self { reserved, ..Self::uncounted(store, client, now) })
    }

    /// Ends the attempt: a wrong one stays counted, any other is released, unless a transaction has done so.
    ///
    /// # Errors
    /// That of `outcome`; 503 for a conflict.
    pub async fn end<T>(self, outcome: Result<T, Failed>) -> Result<T, ApiError> {
        let (done, attempt) = self.verified(outcome).await?;
        attempt.release().await;
        Ok(done)
    }

    /// As [`end`](Self::end), but a successful attempt is returned and still counted.
    ///
    /// # Errors
    /// As [`end`](Self::end).
    pub async fn verified<T>(self, outcome: Result<T, Failed>) -> Result<(T, Self), ApiError> {
        let error = match outcome {
            Ok(verified) => return Ok((verified, self)),
            Err(Failed::Wrong(code)) => return Err(code.into()),
            Err(Failed::Conflict(_)) => StoreError::TransactionConflict.into(),
            Err(Failed::Error(error)) => error,
        };
        if let Some(code) = &self.code {
            code.take_back(self.store, self.client).await;
        }
        self.release().await;
        Err(error)
    }

    /// Does `work` after a successful attempt, and releases the attempt at the same time. If `work` fails, a code that it would
    /// have used up gets its attempt back.
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn end_with<T>(
        mut self,
        work: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let (store, client, code) = (self.store, self.client, self.code.take());
        let (done, ()) = tokio::join!(work, self.release());
        if let (Err(_), Some(code)) = (&done, code) {
            code.take_back(store, client).await;
        }
        done
    }

    /// Commits `tx`, which also releases the attempt. The caller ends it nevertheless.
    ///
    /// # Errors
    /// [`Failed::Conflict`] with the part whose condition failed.
    pub async fn commit(&mut self, tx: Transaction) -> Result<(), Failed> {
        match tx.commit_and_release(&mut self.reserved).await? {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::ConditionFailed(part) => Err(Failed::Conflict(part)),
        }
    }

    /// What cannot be released stays counted until its window ends.
    async fn release(self) {
        let _ = self.store.release(self.reserved).await;
    }
}

/// Changes of the account `user` of which its owner is notified as `kind`: see [`limits::CHANGES`].
pub fn of_change(kind: &str, user: UserId) -> [Counter; 1] {
    [Counter::of(limits::CHANGES, format!("{kind} {user}"))]
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
    let reserved = store.reserve(counters, now).await?;
    let done = work.await;
    if done.is_err() {
        let _ = store.release(reserved).await;
    }
    done
}

/// Verifies `password` of `user` within the limits of [`of_password`]. Returns the stored hash, and the attempt, which the
/// caller ends.
///
/// # Errors
/// `BAD_AUTH_COMBINATION_MESSAGE` when it is wrong, and as [`Attempt::begin`].
pub async fn verify_password<'a>(
    store: &'a Store,
    hasher: &Hasher,
    user: &User,
    password: &SecretString,
    client: &'a Client,
    now: Instant,
) -> Result<(String, Attempt<'a>), ApiError> {
    let counters = of_password(&user.email, client);
    let (attempt, credentials) = tokio::join!(
        Attempt::begin(store, &counters, user.user_id, client, now),
        store.credentials(user.user_id)
    );
    let outcome = async {
        let hash = credentials?.map(|credentials| credentials.password_hash);
        let matched = hasher.matches(password, hash.as_deref()).await?;
        let hash = hash.filter(|_| matched);
        hash.ok_or(Failed::Wrong(ErrorCode::BadAuthCombination))
    };
    let attempt = attempt?;
    attempt.verified(outcome.await).await
}

/// Verifies that the owner of the account acts: by `password`, or in an account without one by a sign-in of the last ten
/// minutes. The caller ends the attempt.
///
/// # Errors
/// `FIELD_REQUIRED_MESSAGE` on `password`, `REAUTHENTICATION_REQUIRED_MESSAGE`, and as [`verify_password`].
pub async fn verify_owner<'a>(
    store: &'a Store,
    hasher: &Hasher,
    person: &SignedIn,
    password: Option<&SecretString>,
    client: &'a Client,
    now: Instant,
) -> Result<Attempt<'a>, ApiError> {
    if let Some(password) = password {
        let verified = verify_password(store, hasher, &person.user, password, client, now);
        return verified.await.map(|(_, attempt)| attempt);
    }
    if store.credentials(person.user.user_id).await?.is_some() {
        return Err(ApiError::field("password", ErrorCode::FieldRequired));
    }
    person.require_recent(now)?;
    Ok(Attempt::uncounted(store, client, now))
}
