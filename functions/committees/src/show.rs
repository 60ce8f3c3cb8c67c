//! `GET /committees/{committeeId}`: one committee.

use axum::extract::State;
use common::{Path, Refusal, Reply, SignedIn, shown};
use domain::CommitteeId;

use crate::{CommitteeResponse, Committees, view};

pub(crate) async fn show(
    State(state): State<Committees>,
    caller: Option<SignedIn>,
    Path(id): Path<CommitteeId>,
) -> Reply<CommitteeResponse> {
    let committee = state
        .store
        .committee(id)
        .await?
        .and_then(|committee| view(committee, caller.as_ref()));
    shown(CommitteeResponse {
        committee: committee.ok_or(Refusal::CommitteeNotFound)?,
    })
}
