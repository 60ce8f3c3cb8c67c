//! `POST /committees`: creates a committee; for super admins.

use axum::extract::State;
use common::{ApiResult, Message, Now, Once, SuperAdmin, input};
use domain::{CommitteeId, audit::AuditedAction};
use identity::random;
use serde_json::json;

use crate::{
    CommitteeResponse, Committees,
    fields::{CommitteeFields, read_new},
};

input! {
    pub(crate) struct CreateCommitteeRequest {
        given: CommitteeFields = group(read_new),
    }
}

pub(crate) async fn create(
    State(state): State<Committees>,
    Now(now): Now,
    SuperAdmin(admin): SuperAdmin,
    Once(request, key): Once<CreateCommitteeRequest>,
) -> ApiResult<CommitteeResponse> {
    let committee = request.given.changing(json!({
        "committeeID": CommitteeId::new(random::id(now)), "VAT": "", "address": "", "isActive": true,
        "secondaryEmail": null, "secondaryPhone": "",
    }))?;
    let audited = AuditedAction::of_committee(None, &committee);
    let mut tx = state.store.transaction();
    tx.create_committee(&committee);
    tx.record_audit(&audited.by(&admin.user, random::id(now), now));
    let (store, message) = (&state.store, Message::CommitteeCreated);
    let created = key.commit(store, tx, message, committee, now, |part| part.unexpected().into());
    Ok(created.await?.map(CommitteeResponse::whole))
}
