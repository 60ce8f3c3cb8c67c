//! Limits on mails and text messages with codes: their counters, and the metrics of what was not sent.

use std::time::Duration;

use common::{ApiError, Client};
use domain::{
    Email, Instant, UserId,
    code::{Challenge, CodeKind},
    outbox::Recipient,
    user::User,
};
use store::{Counter, Reservation, Store};

const QUARTER_HOUR: Duration = Duration::from_secs(15 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(86_400);

/// Codes of `kind` for `account`: 1 per `interval`, 3 in 15 minutes, 10 a day.
pub fn of_code(kind: CodeKind, account: &str, interval: Duration) -> [Counter; 3] {
    let counter = |name, max, window| Counter {
        name,
        key: format!("{} {account}", kind.as_str()),
        max,
        window,
    };
    [
        counter("MessagesPerInterval", 1, interval),
        counter("MessagesPerQuarterHour", 3, QUARTER_HOUR),
        counter("MessagesPerDay", 10, DAY),
    ]
}

/// Requests of `user` for a new address: 1 per `interval`, 3 in 15 minutes, 10 a day, and 20 per network in an hour.
pub fn of_email_change(user: UserId, client: &Client, interval: Duration) -> [Counter; 4] {
    let counter = |name, max, window| Counter { name, key: user.to_string(), max, window };
    [
        counter("email-change-interval", 1, interval),
        counter("email-change-quarter", 3, QUARTER_HOUR),
        counter("email-change-day", 10, DAY),
        Counter {
            name: "email-change-network",
            key: client.network.clone(),
            max: 20,
            window: HOUR,
        },
    ]
}

/// Mails with codes to an address that accounts want but do not have: 20 a day, of all accounts together.
pub fn of_pending_address(email: &Email) -> Counter {
    Counter { name: "MessagesPerAddress", key: email.to_string(), max: 20, window: DAY }
}

/// Text messages with codes: 5 a day per account and number. Mails are not limited here, but make the same write.
pub fn of_texts(user: Option<&User>, to: &Recipient, challenge: Challenge) -> Counter {
    let (key, max) = match (user, to) {
        (Some(user), Recipient::Sms(_)) => (account_and_number(user), 5),
        _ => (challenge.to_string(), u64::MAX),
    };
    Counter { name: TEXTS, key, max, window: DAY }
}

/// Text messages to the number of `user`, which they have not verified: 5 a day per account and number, 10 a day per
/// number, 20 per network in an hour, and `per_day` in all. They limit what it costs to have strangers texted.
pub fn of_unverified_number(user: &User, client: &Client, per_day: u64) -> [Counter; 4] {
    let counter = |name, key, max, window| Counter { name, key, max, window };
    [
        counter(TEXTS, account_and_number(user), 5, DAY),
        counter("TextsPerNumber", number(user), 10, DAY),
        counter("TextsPerNetwork", client.network.clone(), 20, HOUR),
        counter("TextsInAll", "all".to_owned(), per_day, DAY),
    ]
}

const TEXTS: &str = "TextsPerAccount";

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
) -> Result<Option<Reservation>, ApiError> {
    match store.reserve(counters, now).await? {
        Ok(reservation) => Ok(Some(reservation)),
        Err(full) => {
            report(full.name);
            Ok(None)
        }
    }
}

/// Counts a message that was not sent, or not by text message, because the counter `name` is full.
pub fn report(name: &'static str) {
    tracing::warn!(metric = name, "a limit of messages is reached");
}
