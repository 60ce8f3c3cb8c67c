//! `GET /committees`: lists the committees by Latin name.

use axum::extract::State;
use common::{ApiResult, Now, Paging, SignedIn, ok};
use serde::Serialize;

use crate::{Committees, View, is_super_admin, view};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommitteesResponse {
    committees: Vec<View>,
    next_cursor: Option<String>,
}

/// Closed committees are filtered out for all but super admins, so a page may be shorter than the limit.
pub(crate) async fn list(
    State(state): State<Committees>,
    Now(now): Now,
    caller: Option<SignedIn>,
    paging: Paging,
) -> ApiResult<CommitteesResponse> {
    let caller = caller.as_ref();
    let id = caller.map(|person| person.user.user_id.to_string()).unwrap_or_default();
    let name = format!("GET /committees closed={} caller={id}", is_super_admin(caller));
    let list = paging.open(&state.cursors, name, now)?;
    let page = state.store.committees(list.position(), list.limit).await?;
    let next_cursor = list.next_cursor(page.last)?;
    ok(CommitteesResponse {
        committees: page
            .items
            .into_iter()
            .filter(|committee| committee.is_active || is_super_admin(caller))
            .filter_map(|committee| view(committee, caller))
            .collect(),
        next_cursor,
    })
}
