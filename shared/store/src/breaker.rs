//! The breaker in front of the hosting account's panel: one item for each secret, which all processes share.

use std::time::Duration;

use domain::{
    Instant,
    breaker::{Breaker, FAILED_FOR, MOST_FAILURES, REFUSED_FOR, TRIAL_LIFE},
};

use crate::{
    Store, StoreError,
    keys::{self, Key},
    write::Write,
};

/// How long it is kept after the last change. A secret that has worked for a year is tried anew by one caller.
const KEPT: Duration = Duration::from_secs(365 * 86_400);

/// The leave to try what nobody else may try meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// When it ends: what tells it from all others.
    shut: i64,
    /// Failures in a row before it.
    failures: u32,
}

impl Store {
    /// What is known of the secret whose fingerprint is `secret`.
    ///
    /// # Errors
    /// When the store is out of reach, as with all of these: then nobody may ask.
    pub async fn breaker(&self, secret: &str) -> Result<Breaker, StoreError> {
        Ok(self.get(&keys::breaker(secret)).await?.unwrap_or_default())
    }

    /// The leave to try `secret`, unless somebody has it, or it needs none.
    pub async fn begin_trial(
        &self,
        secret: &str,
        now: Instant,
    ) -> Result<Option<Trial>, StoreError> {
        let shut = now.after(TRIAL_LIFE).unix_milliseconds();
        let update = self
            .change(&keys::breaker(secret), now)
            .when("attribute_not_exists(pk) OR (shut <= :now AND (proven = :no OR failures >= :most))")
            .expression("SET shut = :until, trial = :yes, proven = if_not_exists(proven, :no), failures = if_not_exists(failures, :zero), #ttl = :ttl")
            .number(":now", now.unix_milliseconds())
            .number(":until", shut)
            .number(":most", MOST_FAILURES)
            .number(":zero", 0)
            .value(":yes", &true)
            .value(":no", &false);
        let begun: Option<Breaker> = self.update_item(update).await?;
        Ok(begun.map(|breaker| Trial {
            shut,
            failures: breaker.failures,
        }))
    }

    /// `secret` has worked, in `trial` or after failures.
    pub async fn note_success(
        &self,
        secret: &str,
        trial: Option<Trial>,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = self
            .change(&keys::breaker(secret), now)
            .when("shut = :held")
            .expression(
                "SET proven = :yes, failures = :zero, shut = :zero, trial = :no, #ttl = :ttl",
            )
            .number(":held", trial.map_or(0, |trial| trial.shut))
            .number(":zero", 0)
            .value(":yes", &true)
            .value(":no", &false);
        self.changed(update).await
    }

    /// `trial` has shown nothing: the next may try.
    pub async fn end_trial(
        &self,
        secret: &str,
        trial: Trial,
        now: Instant,
    ) -> Result<(), StoreError> {
        self.end(secret, trial, trial.failures, 0, now).await
    }

    /// The panel did not answer `secret`. The third time in a row nobody asks for [`FAILED_FOR`].
    pub async fn note_failure(
        &self,
        secret: &str,
        trial: Option<Trial>,
        now: Instant,
    ) -> Result<(), StoreError> {
        let until = now.after(FAILED_FOR).unix_milliseconds();
        if let Some(trial) = trial {
            let failures = trial.failures.saturating_add(1);
            return self
                .end(
                    secret,
                    trial,
                    failures,
                    if failures >= MOST_FAILURES { until } else { 0 },
                    now,
                )
                .await;
        }
        let key = keys::breaker(secret);
        let count = self
            .change(&key, now)
            .when("proven = :yes AND shut = :zero")
            .expression("SET failures = failures + :one, #ttl = :ttl")
            .value(":yes", &true)
            .number(":zero", 0)
            .number(":one", 1);
        let counted: Option<Breaker> = self.update_item(count).await?;
        if counted.is_none_or(|breaker| breaker.failures < MOST_FAILURES) {
            return Ok(());
        }
        let shut = self
            .change(&key, now)
            .when("shut = :zero AND failures >= :most")
            .expression("SET shut = :until, #ttl = :ttl")
            .number(":zero", 0)
            .number(":most", MOST_FAILURES)
            .number(":until", until);
        self.changed(shut).await
    }

    /// The panel refused `secret`: nobody asks for [`REFUSED_FOR`], and then one caller.
    pub async fn note_refusal(&self, secret: &str, now: Instant) -> Result<(), StoreError> {
        let update = self
            .change(&keys::breaker(secret), now)
            .expression(
                "SET proven = :no, failures = :most, shut = :until, trial = :no, #ttl = :ttl",
            )
            .value(":no", &false)
            .number(":most", MOST_FAILURES)
            .number(":until", now.after(REFUSED_FOR).unix_milliseconds());
        self.changed(update).await
    }

    async fn end(
        &self,
        secret: &str,
        trial: Trial,
        failures: u32,
        shut: i64,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = self
            .change(&keys::breaker(secret), now)
            .when("shut = :held")
            .expression("SET failures = :failures, shut = :shut, trial = :no, #ttl = :ttl")
            .number(":held", trial.shut)
            .number(":failures", failures)
            .number(":shut", shut)
            .value(":no", &false);
        self.changed(update).await
    }

    fn change(&self, key: &Key, now: Instant) -> Write {
        Write::at(key)
            .name("#ttl", "ttl")
            .number(":ttl", now.after(KEPT).unix_seconds())
    }

    /// Whoever finds that somebody else has changed it meanwhile leaves it to him.
    async fn changed(&self, update: Write) -> Result<(), StoreError> {
        self.apply(update).await?;
        Ok(())
    }
}
