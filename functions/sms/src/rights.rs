//! Permissions: who may see and list messages, and who may see and change opt-outs.

use axum::extract::FromRequestParts;
use common::{
    ApiError, ErrorCode, Fields, Filtered, FromFields, InvalidField, Query, RequestedCommittee,
    SignedIn, Verified, Viewer, choice, rights::ManageSms,
};
use domain::{
    CommitteeId, Instant,
    permissions::{Reach, Right},
    sms::{Scope, Sending},
    user::User,
};
use http::request::Parts;
use store::{Senders, StoreError};

use crate::Messages;

/// Whether `caller` may see a message or batch at `now`: while it is kept, the sender may, and holders of
/// [`Right::ManageSms`] for the sender.
pub(crate) fn may_see(caller: &SignedIn, sending: &Sending, now: Instant) -> bool {
    let Sending { user_id, committee_id, .. } = sending;
    let is_theirs = *user_id == caller.user.user_id
        || caller.user.rights().may(Right::ManageSms, *user_id, *committee_id);
    is_theirs && sending.is_kept(now)
}

/// That the query parameter `scope` is valid, if it is there.
struct ValidScope;

impl<S> FromFields<S> for ValidScope {
    fn from_fields(fields: &mut Fields, _: &S) -> Result<Self, InvalidField> {
        fields.optional_or("scope", choice, Scope::Own).map(|_| Self)
    }
}

/// Extractor: a verified person and whose messages or batches they list, by the query parameters `scope` and
/// `committeeID`. Rejects those who list a committee's without [`Right::ManageSms`] for it.
pub(crate) struct ListRequest {
    pub(crate) caller: SignedIn,
    /// `None` for the caller's own messages.
    committee: Option<RequestedCommittee>,
}

impl<S: Send + Sync> FromRequestParts<S> for ListRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Verified(caller) = Verified::from_request_parts(parts, state).await?;
        let Ok(query) = Query::from_request_parts(parts, state).await;
        let reach = caller.user.rights().reach(Right::ManageSms);
        let committee = match query.get("scope").map(str::parse) {
            Some(Ok(Scope::Committee)) if reach < Reach::Committee => {
                return Err(ErrorCode::Forbidden.into());
            }
            Some(Ok(Scope::Committee)) => {
                Some(RequestedCommittee::of(&query, &caller.user, Right::ManageSms)?)
            }
            _ => None,
        };
        // After the rights.
        Filtered::<ValidScope>::from_request_parts(parts, state).await?;
        Ok(Self { caller, committee })
    }
}

impl ListRequest {
    pub(crate) fn senders(&self) -> Senders {
        match self.committee {
            None => Senders::User(self.caller.user.user_id),
            Some(committee) => Senders::Committee(committee.id),
        }
    }

    /// The result of `read`, which reads a list of these senders.
    ///
    /// # Errors
    /// `COMMITTEE_NOT_FOUND_MESSAGE` when the requested committee does not exist.
    pub(crate) async fn page<T>(
        &self,
        messages: &Messages,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, ApiError> {
        match self.committee {
            None => Ok(read.await?),
            Some(committee) => committee.if_exists(&messages.store, read).await,
        }
    }
}

/// Extractor: an [`OptOutViewer`] whose own committee is active, who may also change opt-outs.
#[derive(Debug, Clone)]
pub(crate) struct OptOutEditor(pub(crate) OptOutViewer);

/// Extractor: a verified administrator, who may see the opt-outs of a committee.
#[derive(Debug, Clone)]
pub(crate) struct OptOutViewer {
    person: SignedIn,
    /// The committee whose opt-outs are meant, which may be unknown: the person's own one or, if they administer all
    /// committees, that of the query parameter `committeeID`; `None` is the list for all committees.
    pub(crate) requested: Option<CommitteeId>,
}

impl<S: Send + Sync> FromRequestParts<S> for OptOutViewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let viewer = Viewer::<ManageSms>::from_request_parts(parts, state).await?;
        let (reach, person) = (viewer.reach(), viewer.person);
        let Ok(query) = Query::from_request_parts(parts, state).await;
        let requested = match reach {
            Reach::Everywhere => query.get("committeeID").map(CommitteeId::or_none),
            _ => Some(person.user.committee_id),
        };
        Ok(Self { person, requested })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for OptOutEditor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let viewer = OptOutViewer::from_request_parts(parts, state).await?;
        viewer.person.require_active_committee()?;
        Ok(Self(viewer))
    }
}

impl OptOutViewer {
    /// The requested committee.
    ///
    /// # Errors
    /// `COMMITTEE_NOT_FOUND_MESSAGE` when the requested committee does not exist.
    pub(crate) async fn committee(
        &self,
        messages: &Messages,
    ) -> Result<Option<CommitteeId>, ApiError> {
        if let Some(requested) = self.requested.filter(|id| *id != self.user().committee_id) {
            messages.store.committee(requested).await?.ok_or(ErrorCode::CommitteeNotFound)?;
        }
        Ok(self.requested)
    }

    /// The account of the person.
    pub(crate) const fn user(&self) -> &User {
        &self.person.user
    }
}
