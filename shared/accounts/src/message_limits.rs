//! Limits on mails and text messages with codes: their counters, and the metrics of what was not sent.

use std::time::Duration;

use common::Client;
use domain::{
    Email, Instant, Recipient, UserId,
    code::{Challenge, CodeKind},
    limits,
    user::User,
};
use store::{Counter, Reservation, Store, StoreError};

use crate::attempts::per_network;

/// Codes of `kind` for the address `email` that are requested without a session, one per `interval`. Those that come from
/// a `network` of the owner are counted apart from those that strangers request, and all of them together. The others
/// make the same write.
pub fn of_request(
    kind: CodeKind,
    email: &Email,
    network: Option<&str>,
    interval: Duration,
) -> Vec<Counter> {
    let (account, of_known) = match network {
        Some(network) => (format!("{email} {network}"), Counter::of(limits::CODES_KNOWN, email)),
        None => {
            let of_strangers = Counter::of(limits::CODES_KNOWN, format!("{email} strangers"));
            (email.to_string(), Counter { max: u64::MAX, ..of_strangers })
        }
    };
    of_code(kind, &account, interval).into_iter().chain([of_known]).collect()
}

/// Codes of `kind` for `account`, one per `interval`.
pub fn of_code(kind: CodeKind, account: &str, interval: Duration) -> [Counter; 3] {
    let key = format!("{} {account}", kind.code());
    let per_interval = Counter::of(limits::CODES_INTERVAL, &key);
    [
        Counter { window: interval, ..per_interval },
        Counter::of(limits::CODES_QUARTER_HOUR, &key),
        Counter::of(limits::CODES, key),
    ]
}

/// Requests of `user` for a new address, one per `interval`.
pub fn of_email_change(user: UserId, client: &Client, interval: Duration) -> Vec<Counter> {
    let per_interval = Counter::of(limits::EMAIL_CHANGE_INTERVAL, user);
    let mut counters = per_network(limits::EMAIL_CHANGE_NETWORK, client, str::to_owned);
    counters.extend([
        Counter { window: interval, ..per_interval },
        Counter::of(limits::EMAIL_CHANGE_QUARTER_HOUR, user),
        Counter::of(limits::EMAIL_CHANGE, user),
    ]);
    counters
}

/// Text messages with codes. Mails are not limited here, but make the same write.
pub fn of_texts(user: Option<&User>, to: &Recipient, challenge: Challenge) -> Counter {
    match (user, to) {
        (Some(user), Recipient::Sms(_)) => Counter::of(limits::TEXTS, account_and_number(user)),
        _ => Counter { max: u64::MAX, ..Counter::of(limits::TEXTS, challenge) },
    }
}

/// Text messages to the number of `user`, which they have not verified, `per_day` in all.
pub fn of_unverified_number(user: &User, client: &Client, per_day: u64) -> Vec<Counter> {
    let mut counters = per_network(limits::TEXTS_NETWORK, client, str::to_owned);
    counters.extend([
        Counter::of(limits::TEXTS, account_and_number(user)),
        Counter::of(limits::TEXTS_TO_NUMBER, number(user)),
        Counter { max: per_day, ..Counter::of(limits::TEXTS_IN_ALL, "all") },
    ]);
    counters
}

fn account_and_number(user: &User) -> String {
    format!("{} {}", user.user_id, number(user))
}

fn number(user: &User) -> String {
    format!("+{}{}", user.phone.code, user.phone.number)
}

/// Reserves a message in each of `counters`. `None`, which the metric of the full counter counts, when it must not be
/// sent.
pub async fn reserve(
    store: &Store,
    counters: &[Counter],
    now: Instant,
) -> Result<Option<Reservation>, StoreError> {
    Reservation::unless_full(require(store, counters, now).await)
}

/// As [`reserve`], for a message that the account requests in its own session.
///
/// # Errors
/// As [`Store::reserve`].
pub async fn require(
    store: &Store,
    counters: &[Counter],
    now: Instant,
) -> Result<Reservation, StoreError> {
    let reserved = store.reserve(counters, now).await;
    if let Err(StoreError::Full { name, .. }) = reserved {
        report(name);
    }
    reserved
}

/// Counts a message that was not sent, or not by text message, because the counter `name` is full.
pub fn report(name: &'static str) {
    tracing::warn!(metric = name, "a limit of messages is reached");
}
