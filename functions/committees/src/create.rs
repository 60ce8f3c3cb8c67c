//! `POST /committees`: creates a committee; for super admins.

use axum::extract::State;
use common::{ApiResult, Input, Message, Now, SuperAdmin, input, success};
use domain::{CommitteeId, audit::AuditEntry};
use identity::random;
use serde_json::json;

use crate::{
    CommitteeResponse, Committees,
    fields::{Given, read},
};

input! {
    pub(crate) struct CreateCommitteeRequest {
        given: Given = group(|fields| read(fields, true)),
    }
}

pub(crate) async fn create(
    State(state): State<Committees>,
    Now(now): Now,
    SuperAdmin(admin): SuperAdmin,
    Input(request): Input<CreateCommitteeRequest>,
) -> ApiResult<CommitteeResponse> {
    let committee = request.given.changing(json!({
        "committeeID": CommitteeId::new(random::id(now)), "VAT": "", "address": "", "isActive": true,
        "secondaryEmail": null, "secondaryPhone": "",
    }))?;
    let (actor, audit_id) = (admin.user.user_id, random::id(now));
    let mut tx = state.store.transaction();
    tx.create_committee(&committee);
    tx.record_audit(&AuditEntry::of_committee(audit_id, actor, None, &committee, now));
    // Its identifiers are new, so no condition fails.
    let _ = tx.commit().await?;
    success(Message::CommitteeCreated, CommitteeResponse::whole(committee))
}
