//! The sending rates of text messages and of mails, each shared by all processes: each message reserves a send time, and
//! send times are evenly spaced.

use std::time::Duration;

use domain::{Instant, times::CLOCK_SKEW};
use serde::Deserialize;
use serde_dynamo::from_item;

use crate::{
    Store, StoreError, keys,
    write::{UpdateOutcome, Write},
};

/// What has a sending rate of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Text messages.
    Texts,
    /// Mails that are sent in numbers.
    Mails,
}

/// So many messages a second, of all processes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingRate {
    /// What is sent.
    pub channel: Channel,
    /// Send times in a second.
    pub per_second: u64,
}

impl Channel {
    /// As the key of the rate names it.
    const fn name(self) -> &'static str {
        match self {
            Self::Texts => "TEXTS",
            Self::Mails => "MAILS",
        }
    }
}

/// What [`Store::reserve_send_times`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendTimes {
    /// These are reserved.
    Reserved(Vec<Instant>),
    /// All within the longest wait are reserved. A call at this time or later may find one.
    AskAgainAt(Instant),
}

#[derive(Deserialize, Default)]
struct Next {
    #[serde(rename = "nextAt", default)]
    next_at: i64,
}

impl Store {
    /// Reserves the next `count` send times of `rate`. The first of them is at most `max_wait` after `now`, the others
    /// follow. None is given twice, and unused ones are not saved up. After an error they may be lost.
    pub async fn reserve_send_times(
        &self,
        rate: SendingRate,
        count: u64,
        max_wait: Duration,
        now: Instant,
    ) -> Result<SendTimes, StoreError> {
        // In microseconds, because the interval is seldom a whole number of milliseconds.
        let (per_second, count) = (
            i64::try_from(rate.per_second).unwrap_or(i64::MAX).max(1),
            i64::try_from(count).unwrap_or(1),
        );
        let interval = (1_000_000 / per_second).max(1);
        let microseconds = |at: Instant| at.unix_milliseconds() * 1000;
        let (present, latest, too_far) = (
            microseconds(now),
            microseconds(now.after(max_wait)),
            microseconds(now.after(max_wait + CLOCK_SKEW)),
        );
        let key = keys::rate(rate.channel.name());
        let next = Write::at(&key)
            .when("nextAt > :now AND nextAt <= :latest")
            .expression("SET nextAt = nextAt + :share")
            .number(":now", present)
            .number(":latest", latest)
            .number(":share", interval * count);
        let restart = Write::at(&key)
            .when("attribute_not_exists(nextAt) OR nextAt <= :now OR nextAt > :tooFar")
            .expression("SET nextAt = :next")
            .number(":now", present)
            .number(":tooFar", too_far)
            .number(":next", present + interval * count);
        // Another process may start the sequence between the first two attempts.
        for update in [next.clone(), restart, next] {
            match self.update_or_current(update).await? {
                UpdateOutcome::Updated(Next { next_at }) => {
                    let times = (1..=count).rev().map(|before| next_at - interval * before);
                    return Ok(SendTimes::Reserved(times.map(rounded_up).collect()));
                }
                UpdateOutcome::ConditionFailed(current) => {
                    let Next { next_at } = from_item(current)?;
                    if next_at > latest && next_at <= too_far {
                        return Ok(SendTimes::AskAgainAt(rounded_up(next_at).before(max_wait)));
                    }
                }
            }
        }
        Ok(SendTimes::AskAgainAt(now))
    }
}

/// The time `microseconds` after 1970, rounded up, so that no message is sent too early.
fn rounded_up(microseconds: i64) -> Instant {
    Instant::from_unix_milliseconds((microseconds + 999).div_euclid(1000))
}
