//! `POST /committees`: creates a committee; for super admins.

use axum::extract::State;
use common::{ApiResult, Input, Message, Now, SuperAdmin, input, success};
use domain::{CommitteeId, committee::Committee};
use identity::random;

use crate::{
    CommitteeResponse, Committees,
    fields::{Presence, read},
};

input! {
    /// The committee with a placeholder identifier.
    pub(crate) struct CreateCommitteeRequest {
        committee: Committee = group(|fields| {
            Committee::new(CommitteeId::in_path(""), read(fields, Presence::Required)?)
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
        committee_id: CommitteeId::new(random::id(now)),
        ..request.committee
    };
    state.store.create_committee(&committee).await?;
    success(
        Message::CommitteeCreated,
        CommitteeResponse::whole(committee),
    )
}
