//! `GET /audit`: lists audit entries.

use axum::extract::State;
use common::{ApiResult, Now, Paging, Query, Viewer, ok, rights::ReadAudit};
use domain::{UserId, audit::AuditEntry, permissions::Reach};
use serde::Serialize;
use store::AuditList;

use crate::Users;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditResponse {
    audit: Vec<AuditEntry>,
    next_cursor: Option<String>,
}

/// Lists entries, newest first. With `userID`, only entries in which that account is the actor or the target. For
/// committee admins each list is read by committee, not filtered: the size of a page and its cursor would otherwise
/// disclose how many entries an account has in other committees.
pub(crate) async fn list(
    State(users): State<Users>,
    Now(now): Now,
    auditor: Viewer<ReadAudit>,
    query: Query,
    paging: Paging,
) -> ApiResult<AuditResponse> {
    let (reach, caller) = (auditor.reach(), auditor.person);
    let own = caller.user.committee_id;
    let user_id = query.get("userID").map(UserId::or_none);
    let list = format!(
        "GET /audit of={user_id:?} reach={reach:?} committee={own} caller={}",
        caller.user.user_id
    );
    let list = paging.open(&users.cursors, list, now)?;
    let entries = match (user_id, reach) {
        (None, Reach::Everywhere) => AuditList::All,
        (Some(user), Reach::Everywhere) => AuditList::Person(user),
        (None, _) => AuditList::Committee(own),
        (Some(user), _) => AuditList::PersonIn(user, own),
    };
    let page = users.store.audit(entries, list.position(), list.limit, now).await?;
    let next_cursor = list.next_cursor(page.last)?;
    ok(AuditResponse { audit: page.items, next_cursor })
}
