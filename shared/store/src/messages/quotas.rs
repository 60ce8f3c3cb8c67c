//! Daily quotas: text messages of a user and of a committee, and bytes of a user's files.

use domain::{CommitteeId, Instant, UserId, times::SWEEP_DELAY};

use crate::{
    Store, StoreError,
    keys::{self, Key},
    write::Write,
};

/// Maximum number of text messages per day (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmsQuota {
    /// From one user.
    pub per_user: u64,
    /// From all users of one committee.
    pub per_committee: u64,
}

/// Text messages that are counted in the quotas of their sender and of the sender's committee.
#[derive(Debug)]
#[must_use = "it is to be released when the messages are not accepted"]
pub struct CountedSms {
    of_user: Key,
    of_committee: Key,
    count: u64,
}

impl Store {
    /// Adds `count` messages to the quotas of `user` and `committee` for the day of `now`, before the transaction that
    /// accepts them: transactions with one counter would conflict, and the committee's is common to all its senders.
    /// Returns `None`, and counts nothing, when `quota` would be exceeded. When the process ends before the messages
    /// are accepted or released, they stay counted: a quota may be smaller on that day, never larger.
    ///
    /// The user is counted first. If both were counted at once, concurrent requests could each hold a part of one
    /// quota, lack the other, and all be rejected although there is room.
    pub async fn count_sms(
        &self,
        user: UserId,
        committee: CommitteeId,
        count: u64,
        quota: SmsQuota,
        now: Instant,
    ) -> Result<Option<CountedSms>, StoreError> {
        let counted = CountedSms {
            of_user: keys::sms_quota_of_user(user, now),
            of_committee: keys::sms_quota_of_committee(committee, now),
            count,
        };
        let add = |key, most| self.apply(addition(key, count, most, now));
        if !add(&counted.of_user, quota.per_user).await? {
            return Ok(None);
        }
        let in_committee = add(&counted.of_committee, quota.per_committee).await;
        if !matches!(in_committee, Ok(true)) {
            // If this fails, the messages stay counted for the day.
            let _ = self.apply(subtraction(&counted.of_user, count)).await;
        }
        Ok(in_committee?.then_some(counted))
    }

    /// Subtracts `counted` from both quotas. After an error the messages may stay counted.
    pub async fn release_sms(&self, counted: CountedSms) -> Result<(), StoreError> {
        let subtract = |key| self.apply(subtraction(key, counted.count));
        let (user, committee) =
            tokio::join!(subtract(&counted.of_user), subtract(&counted.of_committee));
        user?;
        committee?;
        Ok(())
    }
}

/// An update that adds `count` to the quota at `key` for the day of `now`. The condition fails when it would exceed
/// `most`.
pub(crate) fn addition(key: &Key, count: u64, most: u64, now: Instant) -> Write {
    // When `count` alone exceeds the quota, the condition must fail for a missing item, too.
    let room = i128::from(most) - i128::from(count);
    let condition = if room < 0 { "n <= :room" } else { "attribute_not_exists(n) OR n <= :room" };
    Write::at(key)
        .when(condition)
        .expression("ADD n :count SET #ttl = :ttl")
        .expiring(now.end_of_day().after(SWEEP_DELAY))
        .number(":room", room)
        .number(":count", count)
}

fn subtraction(key: &Key, count: u64) -> Write {
    Write::at(key).expression("ADD n :less").number(":less", -i128::from(count))
}
