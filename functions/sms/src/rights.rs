//! Who may send, and who may see what was sent.

use axum::extract::FromRequestParts;
use common::{ApiError, ErrorCode, Query, SignedIn, Viewer, rights::ManageSms};
use domain::{
    CommitteeId, UserId,
    permissions::{Reach, Right},
    sms::Sending,
};
use http::request::Parts;

use crate::Messages;

/// Whether `person` may see what was sent: what he sent himself, and what his right to see others' covers.
pub(crate) fn sees(person: &SignedIn, sending: &Sending) -> bool {
    let Sending {
        user_id,
        committee_id,
        ..
    } = sending;
    *user_id == person.user.user_id
        || person
            .user
            .standing()
            .may(Right::ManageSms, *user_id, *committee_id)
}

/// A verified administrator, who may look at a list of numbers that are not written to.
#[derive(Debug, Clone)]
pub(crate) struct ListReader(ListKeeper);

/// The same of an open committee, who may change it.
#[derive(Debug, Clone)]
pub(crate) struct ListKeeper {
    person: SignedIn,
    /// The `committeeID` of the query, a parameter of those alone who run all committees.
    asked: Option<CommitteeId>,
}

impl<S: Send + Sync> FromRequestParts<S> for ListReader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let viewer = Viewer::<ManageSms>::from_request_parts(parts, state).await?;
        let (reach, person) = (viewer.reach(), viewer.person);
        let Ok(query) = Query::from_request_parts(parts, state).await;
        let asked = query
            .get("committeeID")
            .filter(|_| reach == Reach::Everywhere)
            .map(CommitteeId::in_path);
        Ok(Self(ListKeeper { person, asked }))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ListKeeper {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let ListReader(keeper) = ListReader::from_request_parts(parts, state).await?;
        keeper.person.must_be_of_open_committee()?;
        Ok(keeper)
    }
}

impl ListReader {
    /// As [`ListKeeper::committee`].
    pub(crate) async fn committee(
        &self,
        messages: &Messages,
    ) -> Result<Option<CommitteeId>, ApiError> {
        self.0.committee(messages).await
    }

    /// Who looks.
    pub(crate) const fn user(&self) -> UserId {
        self.0.user()
    }
}

impl ListKeeper {
    /// Whose list it is: that of the own committee, or for who runs all of them that of the one that is asked
    /// for, or the list that holds for all.
    ///
    /// # Errors
    /// `COMMITTEE_NOT_FOUND_MESSAGE`.
    pub(crate) async fn committee(
        &self,
        messages: &Messages,
    ) -> Result<Option<CommitteeId>, ApiError> {
        let user = &self.person.user;
        if user.standing().reach(Right::ManageSms) != Reach::Everywhere {
            return Ok(Some(user.committee_id));
        }
        if let Some(asked) = self.asked {
            messages
                .store
                .committee(asked)
                .await?
                .ok_or(ErrorCode::CommitteeNotFound)?;
        }
        Ok(self.asked)
    }

    /// Who changes it.
    pub(crate) const fn user(&self) -> UserId {
        self.person.user.user_id
    }
}
