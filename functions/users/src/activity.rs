//! `GET /users/activity`: lists the sign-ins of the caller or, for administrators, of another account.

use axum::extract::{FromRequestParts, State};
use common::{ApiError, ApiResult, ErrorCode, Listed, Now, Paging, Query, SignedIn, ok};
use domain::{
    UserId,
    login_activity::LoginActivity,
    permissions::{Reach, Right},
};
use http::request::Parts;

use crate::Users;

/// The caller and the account whose sign-ins they request. Rejects callers without [`Right::ManageUsers`] who request
/// those of another account.
pub(crate) struct ActivityRequest {
    caller: SignedIn,
    about: UserId,
}

impl<S: Send + Sync> FromRequestParts<S> for ActivityRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        let Ok(query) = Query::from_request_parts(parts, state).await;
        let own = caller.user.user_id;
        let about = query.get("userID").map_or(own, UserId::or_none);
        if about != own {
            if caller.user.rights().reach(Right::ManageUsers) == Reach::Nowhere {
                return Err(ErrorCode::Forbidden.into());
            }
            caller.require_verified()?;
        }
        Ok(Self { caller, about })
    }
}

/// Lists sign-ins, newest first.
pub(crate) async fn activity(
    State(users): State<Users>,
    Now(now): Now,
    request: ActivityRequest,
    paging: Paging,
) -> ApiResult<Listed<LoginActivity>> {
    let ActivityRequest { caller, about } = request;
    let list = paging.open(&users.cursors, about)?;
    if about != caller.user.user_id {
        let other = users.permitted(about, &caller.user, Right::ManageUsers).await?;
        // The list has the addresses from which a person signs in.
        if !caller.user.rights().may_edit(&other.rights()) {
            return Err(ErrorCode::Forbidden.into());
        }
    }
    let page = users.store.login_activity_page(about, list.position(), list.limit, now).await?;
    ok(list.listed("activity", page)?)
}
