//! The circuit breaker for requests to cPanel: one item per secret, shared by all processes.

use std::time::Duration;

use domain::{
    Instant,
    breaker::{Breaker, MOST_FAILURES, OPEN_AFTER_FAILURES, OPEN_AFTER_REJECTION, PROBE_LIFE},
};

use crate::{
    Store, StoreError,
    keys::{self, Key},
    write::Write,
};

/// Time from the last change to expiry. After it, one probe has to succeed again.
const RETENTION: Duration = Duration::from_secs(365 * 86_400);

/// A probe: the exclusive right to send a request while the breaker is half open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// When it ends, in Unix milliseconds; also identifies it.
    shut: i64,
    /// Consecutive failures before it.
    failures: u32,
}

impl Store {
    /// The state of the breaker of the secret with the fingerprint `secret`. If it cannot be read, the secret
    /// must not be used.
    pub async fn breaker(&self, secret: &str) -> Result<Breaker, StoreError> {
        Ok(self.get(&keys::breaker(secret)).await?.unwrap_or_default())
    }

    /// Begins a probe of `secret`; `None` when the breaker is not half open or another caller was faster.
    pub async fn begin_probe(
        &self,
        secret: &str,
        now: Instant,
    ) -> Result<Option<Probe>, StoreError> {
        let shut = now.after(PROBE_LIFE).unix_milliseconds();
        let update = self
            .breaker_update(&keys::breaker(secret), now)
            .when("attribute_not_exists(pk) OR (shut <= :now AND (proven = :no OR failures >= :most))")
            .expression("SET shut = :until, trial = :yes, proven = if_not_exists(proven, :no), failures = if_not_exists(failures, :zero), #ttl = :ttl")
            .number(":now", now.unix_milliseconds())
            .number(":until", shut)
            .number(":most", MOST_FAILURES)
            .number(":zero", 0)
            .value(":yes", &true)
            .value(":no", &false);
        let begun: Option<Breaker> = self.update_item(update).await?;
        Ok(begun.map(|breaker| Probe { shut, failures: breaker.failures }))
    }

    /// Records that a request with `secret` succeeded, in `probe` or while the breaker was closed.
    pub async fn record_success(
        &self,
        secret: &str,
        probe: Option<Probe>,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = self
            .breaker_update(&keys::breaker(secret), now)
            .when("shut = :held")
            .expression(
                "SET proven = :yes, failures = :zero, shut = :zero, trial = :no, #ttl = :ttl",
            )
            .number(":held", probe.map_or(0, |probe| probe.shut))
            .number(":zero", 0)
            .value(":yes", &true)
            .value(":no", &false);
        self.apply_to_breaker(update).await
    }

    /// Ends `probe` without a result; the next caller may begin one.
    pub async fn end_probe(
        &self,
        secret: &str,
        probe: Probe,
        now: Instant,
    ) -> Result<(), StoreError> {
        self.end(secret, probe, probe.failures, 0, now).await
    }

    /// Records that a request with `secret` got no response. The third consecutive failure opens the breaker for
    /// [`OPEN_AFTER_FAILURES`].
    pub async fn record_failure(
        &self,
        secret: &str,
        probe: Option<Probe>,
        now: Instant,
    ) -> Result<(), StoreError> {
        let until = now.after(OPEN_AFTER_FAILURES).unix_milliseconds();
        if let Some(probe) = probe {
            let failures = probe.failures.saturating_add(1);
            return self
                .end(
                    secret,
                    probe,
                    failures,
                    if failures >= MOST_FAILURES { until } else { 0 },
                    now,
                )
                .await;
        }
        let key = keys::breaker(secret);
        let count = self
            .breaker_update(&key, now)
            .when("proven = :yes AND shut = :zero")
            .expression("SET failures = failures + :one, #ttl = :ttl")
            .value(":yes", &true)
            .number(":zero", 0)
            .number(":one", 1);
        let counted: Option<Breaker> = self.update_item(count).await?;
        if counted.is_none_or(|breaker| breaker.failures < MOST_FAILURES) {
            return Ok(());
        }
        let open = self
            .breaker_update(&key, now)
            .when("shut = :zero AND failures >= :most")
            .expression("SET shut = :until, #ttl = :ttl")
            .number(":zero", 0)
            .number(":most", MOST_FAILURES)
            .number(":until", until);
        self.apply_to_breaker(open).await
    }

    /// Records that cPanel rejected `secret`: opens the breaker for [`OPEN_AFTER_REJECTION`], then half opens it.
    pub async fn record_rejection(&self, secret: &str, now: Instant) -> Result<(), StoreError> {
        let update = self
            .breaker_update(&keys::breaker(secret), now)
            .expression(
                "SET proven = :no, failures = :most, shut = :until, trial = :no, #ttl = :ttl",
            )
            .value(":no", &false)
            .number(":most", MOST_FAILURES)
            .number(":until", now.after(OPEN_AFTER_REJECTION).unix_milliseconds());
        self.apply_to_breaker(update).await
    }

    async fn end(
        &self,
        secret: &str,
        probe: Probe,
        failures: u32,
        shut: i64,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = self
            .breaker_update(&keys::breaker(secret), now)
            .when("shut = :held")
            .expression("SET failures = :failures, shut = :shut, trial = :no, #ttl = :ttl")
            .number(":held", probe.shut)
            .number(":failures", failures)
            .number(":shut", shut)
            .value(":no", &false);
        self.apply_to_breaker(update).await
    }

    fn breaker_update(&self, key: &Key, now: Instant) -> Write {
        Write::at(key).name("#ttl", "ttl").number(":ttl", now.after(RETENTION).unix_seconds())
    }

    /// When the condition fails, another caller has changed the breaker in the meantime, and that change stands.
    async fn apply_to_breaker(&self, update: Write) -> Result<(), StoreError> {
        self.apply(update).await?;
        Ok(())
    }
}
