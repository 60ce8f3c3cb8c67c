//! `GET /committees/{committeeId}`: returns a committee.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Path, SignedIn, ok};
use domain::CommitteeId;

use crate::{CommitteeResponse, Committees, view};

pub(crate) async fn show(
    State(state): State<Committees>,
    caller: Option<SignedIn>,
    Path(id): Path<CommitteeId>,
) -> ApiResult<CommitteeResponse> {
    let committee =
        state.store.committee(id).await?.and_then(|committee| view(committee, caller.as_ref()));
    ok(CommitteeResponse { committee: committee.ok_or(ErrorCode::CommitteeNotFound)? })
}
