//! Versions of the search index, and its rebuild. When the code knows a later version than the one that is complete,
//! the worker writes the entries of the later version for all published courses, then lets searches use them, and then
//! removes those of the former version. Meanwhile a course that changes is written to both.
//!
//! Each step handles one page of the list of published courses and is recorded when it is done. A step that was
//! interrupted is repeated, which changes nothing. A step that fails is repeated by the next sweep, and searches stay
//! with the former version. Counts of former words that no published course has stay too: one small item each.

use std::time::Duration;

use domain::Instant;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::{
    CommitOutcome, Part, Store, StoreError,
    keys::{self, IndexVersion},
};

/// Courses of one step.
const STEP: u16 = 25;
/// Courses that are written at once.
const AT_ONCE: usize = 8;
/// Former versions of the functions, which know the former version of the index alone, end within this time after a
/// deployment: it may shift the traffic for 30 minutes.
const DEPLOYMENT_TIME: Duration = Duration::from_secs(3600);
/// How long former entries are kept, so that searches of a former version of the functions, to which a deployment returned,
/// find the courses that were not changed since.
const ROLLBACK_TIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// Sweeps run every minute. If none has gone on for this long, the functions were former ones again, which left the
/// current version incomplete.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Longer than any search takes: a search that began before the entries were complete does not see the switch.
const SEARCH_TIME: Duration = Duration::from_secs(60);

/// The state of the search index. Without an item, the index is the one that was written before there were versions.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchIndex {
    /// The version that searches use.
    complete: IndexVersion,
    /// The number of the last step: the condition of the next one.
    step_number: u64,
    rebuild: Option<Rebuild>,
}

/// What is done next, and when.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Rebuild {
    phase: Phase,
    at: Instant,
    /// The position in the list of published courses.
    after: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// Writes the entries of the current version.
    Add,
    /// Lets searches use them.
    Switch,
    /// Removes the entries of former versions.
    Remove,
}

impl Rebuild {
    fn new(phase: Phase, at: Instant) -> Self {
        Self { phase, at, after: None }
    }
}

impl SearchIndex {
    /// The versions that have entries of each published course, or will have.
    pub(crate) fn written(&self) -> Vec<IndexVersion> {
        let mut versions = vec![self.complete];
        if self.complete != IndexVersion::CURRENT {
            versions.push(IndexVersion::CURRENT);
        }
        versions
    }
}

#[derive(Deserialize)]
struct Complete {
    complete: IndexVersion,
}

impl Store {
    /// The version of the search index that is complete. Eventually consistent: the former one still has its entries.
    pub(crate) async fn index_version(&self) -> Result<IndexVersion, StoreError> {
        let found: Vec<Complete> = self.get_many(&[keys::search_index()], "complete").await?;
        let version = found.first().map(|index| index.complete);
        Ok(version.unwrap_or_default())
    }

    /// Does one step of the rebuild of the search index, if one is due, or begins it if the complete version is not the
    /// current one, or if a rebuild was left. Returns whether the next step may be due.
    ///
    /// # Errors
    /// The step was not recorded and is repeated by the next call.
    pub async fn rebuild_index(&self, now: Instant) -> Result<bool, StoreError> {
        let index: Option<SearchIndex> = self.get(&keys::search_index()).await?;
        let index = index.unwrap_or_default();
        let next = match index.rebuild.clone() {
            Some(rebuild) if rebuild.at > now => return Ok(false),
            Some(rebuild) if now.since(rebuild.at) > LONGEST_PAUSE => {
                self.rebuild_begin(&index, now).await?
            }
            Some(rebuild) => self.rebuild_step(&index, rebuild, now).await?,
            None if index.complete == IndexVersion::CURRENT => return Ok(false),
            None => self.rebuild_begin(&index, now).await?,
        };
        let next = SearchIndex { step_number: index.step_number + 1, ..next };
        let put = keys::search_index()
            .holding(&next)
            .when("attribute_not_exists(pk) OR stepNumber = :step")
            .number(":step", index.step_number);
        let mut tx = self.transaction();
        tx.put(Part::SearchIndex, put);
        Ok(tx.commit().await? == CommitOutcome::Committed)
    }

    /// Without published courses there is nothing to rebuild.
    async fn rebuild_begin(
        &self,
        index: &SearchIndex,
        now: Instant,
    ) -> Result<SearchIndex, StoreError> {
        if self.published(None, 1).await?.items.is_empty() {
            return Ok(SearchIndex {
                complete: IndexVersion::CURRENT,
                rebuild: None,
                ..index.clone()
            });
        }
        Ok(SearchIndex {
            rebuild: Some(Rebuild::new(Phase::Add, now.after(DEPLOYMENT_TIME))),
            ..index.clone()
        })
    }

    async fn rebuild_step(
        &self,
        index: &SearchIndex,
        rebuild: Rebuild,
        now: Instant,
    ) -> Result<SearchIndex, StoreError> {
        if rebuild.phase == Phase::Switch {
            return Ok(SearchIndex {
                complete: IndexVersion::CURRENT,
                rebuild: Some(Rebuild::new(Phase::Remove, now.after(ROLLBACK_TIME))),
                ..index.clone()
            });
        }
        let page = self.published(rebuild.after.as_deref(), STEP).await?;
        stream::iter(page.items)
            .map(|course| self.reindex_course(course.course_id))
            .buffer_unordered(AT_ONCE)
            .try_collect::<()>()
            .await?;
        let next = match (page.last, rebuild.phase) {
            (Some(after), phase) => Some(Rebuild { phase, at: now, after: Some(after) }),
            (None, Phase::Add) => Some(Rebuild::new(Phase::Switch, now.after(SEARCH_TIME))),
            (None, _) => None,
        };
        Ok(SearchIndex { rebuild: next, ..index.clone() })
    }
}
