//! The check of a release, which the hooks of all its deployments share: one item for each release.

use std::time::Duration;

use domain::Instant;
use serde::Deserialize;
use serde_dynamo::from_item;

use crate::{
    Store, StoreError, keys,
    write::{UpdateOutcome, Write},
};

/// How long an item is kept. CodeDeploy waits an hour for a hook
/// (<https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html>). A longer time
/// does no harm, because Lambda gives no number of a version twice, so that the same versions are the same code.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The state of the check of a release.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseCheck {
    /// The hooks that wait for the result, in the order in which they came.
    pub hooks: Vec<String>,
    /// When the first hook came.
    pub started_at: Instant,
    /// Whether the release passed; `None` while the check runs.
    pub passed: Option<bool>,
    /// The hook that recorded the result, and reports it for all `hooks`.
    pub reporter: Option<String>,
}

impl Store {
    /// Adds `hook` at `now` to those that wait for the result of `release`, unless it is among them or the check is over,
    /// and returns the state. Repeating it after a lost answer, or when the event comes twice, changes nothing.
    ///
    /// One update, because of many hooks at once each must learn its own position.
    pub async fn join_release_check(
        &self,
        release: &str,
        hook: &str,
        now: Instant,
    ) -> Result<ReleaseCheck, StoreError> {
        let update = Write::at(&keys::release_check(release))
            .when("attribute_not_exists(passed) AND NOT contains(hooks, :hook)")
            .expression(
                "SET hooks = list_append(if_not_exists(hooks, :none), :hooks), \
                 startedAt = if_not_exists(startedAt, :now), #ttl = :ttl",
            )
            .text(":hook", hook)
            .value(":hooks", &[hook])
            .value(":none", &[""; 0])
            .value(":now", &now)
            .expiring(now.after(KEPT));
        match self.update_or_current(update).await? {
            UpdateOutcome::Updated(check) => Ok(check),
            UpdateOutcome::ConditionFailed(current) => Ok(from_item(current)?),
        }
    }

    /// Records the result of the check of `release`, which `reporter` found, unless another hook has recorded one. Returns
    /// the state; who is its `reporter` reports to all. Can be repeated.
    pub async fn finish_release_check(
        &self,
        release: &str,
        reporter: &str,
        passed: bool,
    ) -> Result<ReleaseCheck, StoreError> {
        let update = Write::at(&keys::release_check(release))
            .when("attribute_not_exists(passed)")
            .expression("SET passed = :passed, reporter = :reporter")
            .value(":passed", &passed)
            .text(":reporter", reporter);
        match self.update_or_current(update).await? {
            UpdateOutcome::Updated(check) => Ok(check),
            UpdateOutcome::ConditionFailed(current) => Ok(from_item(current)?),
        }
    }
}
