//! `GET /users/activity`: sign-ins, one's own or, for administrators, somebody's.

use axum::extract::{FromRequestParts, State};
use common::{ApiError, ApiResult, ErrorCode, Now, Paging, Query, SignedIn, ok};
use domain::{
    UserId,
    login_activity::LoginActivity,
    permissions::{Reach, Right},
};
use http::request::Parts;
use serde::Serialize;

use crate::Users;

/// Somebody who asks about himself, or an administrator who asks about somebody.
pub(crate) struct Asking {
    person: SignedIn,
    about: UserId,
}

impl<S: Send + Sync> FromRequestParts<S> for Asking {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        let Ok(query) = Query::from_request_parts(parts, state).await;
        let own = person.user.user_id;
        let about = query.get("userID").map_or(own, UserId::in_path);
        if about != own {
            if person.user.standing().reach(Right::ManageUsers) == Reach::Nowhere {
                return Err(ErrorCode::Forbidden.into());
            }
            person.must_be_verified()?;
        }
        Ok(Self { person, about })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityResponse {
    activity: Vec<LoginActivity>,
    next_cursor: Option<String>,
}

/// Newest first.
pub(crate) async fn activity(
    State(users): State<Users>,
    Now(now): Now,
    asking: Asking,
    paging: Paging,
) -> ApiResult<ActivityResponse> {
    let Asking { person, about } = asking;
    let list = format!(
        "GET /users/activity of={about} caller={}",
        person.user.user_id
    );
    let list = paging.open(&users.cursors, list, now)?;
    if about != person.user.user_id {
        let caller = person.user.standing();
        let other = users
            .store
            .user(about)
            .await?
            .filter(|user| caller.may(Right::ManageUsers, user.user_id, user.committee_id));
        other.ok_or(ErrorCode::UserNotFound)?;
    }
    let page = users
        .store
        .login_activity_page(about, list.position(), list.limit, now)
        .await?;
    let next_cursor = list.next_cursor(page.last)?;
    ok(ActivityResponse {
        activity: page.items,
        next_cursor,
    })
}
