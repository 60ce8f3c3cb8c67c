//! `GET /audit`: lists audit entries.

use axum::extract::State;
use common::{ApiResult, Now, Paging, Query, Viewer, ok, rights::ReadAudit};
use domain::{UserId, audit::AuditEntry, permissions::Reach};
use serde::Serialize;

use crate::Users;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditResponse {
    audit: Vec<AuditEntry>,
    next_cursor: Option<String>,
}

/// Lists entries, newest first. With `userID`, only entries in which that account is the actor or the target. Committee
/// admins only see entries of their committee, so pages can have fewer entries than the limit.
pub(crate) async fn list(
    State(users): State<Users>,
    Now(now): Now,
    auditor: Viewer<ReadAudit>,
    query: Query,
    paging: Paging,
) -> ApiResult<AuditResponse> {
    let (reach, caller) = (auditor.reach(), auditor.person);
    let (store, own) = (&users.store, caller.user.committee_id);
    let user_id = query.get("userID").map(UserId::in_path);
    let list = format!(
        "GET /audit of={user_id:?} committee={own} caller={}",
        caller.user.user_id
    );
    let list = paging.open(&users.cursors, list, now)?;
    let (position, limit) = (list.position(), list.limit);
    let mut page = match (user_id, reach) {
        (Some(user_id), _) => store.audit_of_person(user_id, position, limit).await?,
        (None, Reach::Everywhere) => store.audit(position, limit).await?,
        (None, _) => store.audit_of_committee(own, position, limit).await?,
    };
    page.items
        .retain(|entry| reach == Reach::Everywhere || entry.committee_id == own);
    let next_cursor = list.next_cursor(page.last)?;
    ok(AuditResponse {
        audit: page.items,
        next_cursor,
    })
}
