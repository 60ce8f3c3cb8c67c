//! `PUT /committees/{committeeId}`: changes the given fields of a committee; for super admins.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Input, Message, Path, SuperAdmin, input, success};
use domain::{CommitteeId, committee::CommitteeChange};

use crate::{
    CommitteeResponse, Committees,
    fields::{Presence, read},
};

input! {
    pub(crate) struct UpdateCommitteeRequest {
        change: CommitteeChange = group(|fields| read(fields, Presence::Optional)),
    }
}

/// Writes only the given fields, so that concurrent changes of different fields do not overwrite each other.
pub(crate) async fn change(
    State(state): State<Committees>,
    _: SuperAdmin,
    Path(id): Path<CommitteeId>,
    Input(request): Input<UpdateCommitteeRequest>,
) -> ApiResult<CommitteeResponse> {
    let committee = state
        .store
        .change_committee(id, &request.change)
        .await?
        .ok_or(ErrorCode::CommitteeNotFound)?;
    success(
        Message::CommitteeUpdated,
        CommitteeResponse::whole(committee),
    )
}
