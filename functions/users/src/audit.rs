//! `GET /audit`: lists audit entries.

use axum::extract::State;
use common::{ApiResult, Listed, Now, Paging, Query, Viewer, ok, rights::ReadAudit};
use domain::{UserId, audit::AuditEntry, permissions::Reach};
use store::AuditList;

use crate::Users;

/// Lists entries, newest first. With `userID`, only entries in which that account is the actor or the target. For
/// committee admins each list is read by committee, not filtered: the size of a page and its cursor would otherwise
/// disclose how many entries an account has in other committees.
pub(crate) async fn list(
    State(users): State<Users>,
    Now(now): Now,
    auditor: Viewer<ReadAudit>,
    query: Query,
    paging: Paging,
) -> ApiResult<Listed<AuditEntry>> {
    let (reach, caller) = (auditor.reach(), auditor.person);
    let own = caller.user.committee_id;
    let user_id = query.get("userID").map(UserId::or_none);
    let list = paging.open(&users.cursors, (user_id, reach, own))?;
    let entries = match (user_id, reach) {
        (None, Reach::Everywhere) => AuditList::All,
        (Some(user), Reach::Everywhere) => AuditList::Person(user),
        (None, _) => AuditList::Committee(own),
        (Some(user), _) => AuditList::PersonIn(user, own),
    };
    let page = users.store.audit(entries, list.position(), list.limit, now).await?;
    ok(list.listed("audit", page)?)
}
