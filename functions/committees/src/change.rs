//! `PUT /committees/{committeeId}`: a super admin changes a committee, field by field.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Input, Message, Path, SuperAdmin, input, success};
use domain::{CommitteeId, committee::CommitteeChange};

use crate::{
    CommitteeResponse, Committees,
    fields::{Needed, read},
};

input! {
    pub(crate) struct UpdateCommitteeRequest {
        change: CommitteeChange = group(|fields| read(fields, Needed::No)),
    }
}

/// Only the given fields are written, so that two changes of different fields both stay.
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
