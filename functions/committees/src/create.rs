//! `POST /committees`: creates a committee; for super admins.

use axum::extract::State;
use common::{ApiResult, Input, Message, Now, SuperAdmin, input, success};
use domain::{CommitteeId, audit::AuditEntry, committee::Committee};
use identity::random;

use crate::{
    CommitteeResponse, Committees,
    fields::{Presence, read},
};

input! {
    /// The committee with a placeholder identifier.
    pub(crate) struct CreateCommitteeRequest {
        committee: Committee = group(|fields| {
            Committee::new(CommitteeId::NONE, read(fields, Presence::Required)?)
        }),
    }
}

pub(crate) async fn create(
    State(state): State<Committees>,
    Now(now): Now,
    SuperAdmin(admin): SuperAdmin,
    Input(request): Input<CreateCommitteeRequest>,
) -> ApiResult<CommitteeResponse> {
    let committee =
        Committee { committee_id: CommitteeId::new(random::id(now)), ..request.committee };
    let (actor, audit_id) = (admin.user.user_id, random::id(now));
    let mut tx = state.store.transaction();
    tx.create_committee(&committee);
    tx.record_audit(&AuditEntry::of_committee(audit_id, actor, None, &committee, now));
    // Its identifiers are new, so no condition fails.
    let _ = tx.commit().await?;
    success(Message::CommitteeCreated, CommitteeResponse::whole(committee))
}
