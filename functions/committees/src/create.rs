//! `POST /committees`: a super admin creates a committee.

use axum::extract::State;
use common::{ApiResult, Input, Message, Now, SuperAdmin, input, success};
use domain::{CommitteeId, committee::Committee};
use identity::chance;

use crate::{
    CommitteeResponse, Committees,
    fields::{Needed, read},
};

input! {
    /// The committee has no identifier of its own yet.
    pub(crate) struct CreateCommitteeRequest {
        committee: Committee = group(|fields| {
            Committee::new(CommitteeId::in_path(""), read(fields, Needed::Yes)?)
        }),
    }
}

pub(crate) async fn create(
    State(state): State<Committees>,
    Now(now): Now,
    _: SuperAdmin,
    Input(request): Input<CreateCommitteeRequest>,
) -> ApiResult<CommitteeResponse> {
    let committee = Committee {
        committee_id: CommitteeId::new(chance::id(now)),
        ..request.committee
    };
    state.store.create_committee(&committee).await?;
    success(
        Message::CommitteeCreated,
        CommitteeResponse::whole(committee),
    )
}
