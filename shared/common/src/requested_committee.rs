//! The query parameter `committeeID`.

use domain::{
    CommitteeId,
    permissions::{Reach, Right},
    user::User,
};
use store::{Store, StoreError};

use crate::{ApiError, ErrorCode, Query};

/// The committee whose objects a caller requests: the one in the query parameter `committeeID`, by default their own.
#[derive(Debug, Clone, Copy)]
pub struct RequestedCommittee {
    /// Its identifier. That of another committee than the caller's may be unknown.
    pub id: CommitteeId,
    is_own: bool,
}

impl RequestedCommittee {
    /// The committee that `caller` requests with `query`.
    ///
    /// # Errors
    /// `FORBIDDEN_MESSAGE` when it is another one than their own, and their `right` does not cover all committees.
    pub fn of(query: &Query, caller: &User, right: Right) -> Result<Self, ErrorCode> {
        let own = caller.committee_id;
        let id = query.get("committeeID").map_or(own, CommitteeId::or_none);
        let is_own = id == own;
        if is_own || caller.rights().reach(right) == Reach::Everywhere {
            Ok(Self { id, is_own })
        } else {
            Err(ErrorCode::Forbidden)
        }
    }

    /// The result of `read`, which reads objects of the committee. Whether the committee exists is read at the same time,
    /// unless it is the caller's own.
    ///
    /// # Errors
    /// `COMMITTEE_NOT_FOUND_MESSAGE` when it does not exist.
    pub async fn if_exists<T>(
        &self,
        store: &Store,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, ApiError> {
        let (exists, found) = tokio::try_join!(self.exists(store), read)?;
        if exists { Ok(found) } else { Err(ErrorCode::CommitteeNotFound.into()) }
    }

    async fn exists(&self, store: &Store) -> Result<bool, StoreError> {
        Ok(self.is_own || store.committee(self.id).await?.is_some())
    }
}
