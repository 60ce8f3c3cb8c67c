//! `GET /committees`: lists the committees by Latin name.

use axum::extract::State;
use common::{ApiResult, Listed, Paging, SignedIn, ok};
use store::Page;

use crate::{Committees, View, is_super_admin, view};

/// Closed committees are filtered out for all but super admins, so a page may be shorter than the limit.
pub(crate) async fn list(
    State(state): State<Committees>,
    caller: Option<SignedIn>,
    paging: Paging,
) -> ApiResult<Listed<View>> {
    let caller = caller.as_ref();
    let list = paging.open(&state.cursors, is_super_admin(caller))?;
    let Page { items, last } = state.store.committees(list.position(), list.limit).await?;
    let shown = items.into_iter().filter(|one| one.is_active || is_super_admin(caller));
    let items = shown.filter_map(|committee| view(committee, caller)).collect();
    ok(list.listed("committees", Page { items, last })?)
}
