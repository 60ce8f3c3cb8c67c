//! `GET /audit`: what administrators did to other people.

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

/// Newest first; of one person, what he did and what was done to him. A committee's administrator sees
/// what concerns his committee, so a page may be short.
pub(crate) async fn list(
    State(users): State<Users>,
    Now(now): Now,
    auditor: Viewer<ReadAudit>,
    query: Query,
    paging: Paging,
) -> ApiResult<AuditResponse> {
    let (reach, person) = (auditor.reach(), auditor.person);
    let (store, own) = (&users.store, person.user.committee_id);
    let whose = query.get("userID").map(UserId::in_path);
    let list = format!(
        "GET /audit of={whose:?} committee={own} caller={}",
        person.user.user_id
    );
    let list = paging.open(&users.cursors, list, now)?;
    let (position, limit) = (list.position(), list.limit);
    let mut page = match (whose, reach) {
        (Some(whose), _) => store.audit_of_person(whose, position, limit).await?,
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
