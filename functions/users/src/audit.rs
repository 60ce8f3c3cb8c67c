//! `GET /audit`: what administrators did to other people.

use axum::extract::{FromRequestParts, State};
use common::{Failure, Now, Paging, Query, Reply, SignedIn, able_to_see, shown};
use domain::{
    UserId,
    audit::AuditEntry,
    permissions::{Reach, Right},
};
use http::request::Parts;
use serde::Serialize;

use crate::Users;

/// A verified person who may read the audit, and how far.
pub(crate) struct Auditor(SignedIn, Reach);

impl<S: Send + Sync> FromRequestParts<S> for Auditor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let person = able_to_see(parts, state, Right::ReadAudit).await?;
        let reach = person.user.standing().reach(Right::ReadAudit);
        Ok(Self(person, reach))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    audit: Vec<AuditEntry>,
    next_cursor: Option<String>,
}

/// Newest first; of one person, what he did and what was done to him. A committee's administrator sees
/// what concerns his committee, so a page may be short.
pub(crate) async fn list(
    State(users): State<Users>,
    Now(now): Now,
    auditor: Auditor,
    query: Query,
    paging: Paging,
) -> Reply<Shown> {
    let Auditor(person, reach) = auditor;
    let (store, own) = (&users.store, person.user.committee_id);
    let whose = query.get("userID").map(UserId::in_path);
    let list = format!(
        "GET /audit of={whose:?} committee={own} caller={}",
        person.user.user_id
    );
    let position = paging
        .cursor
        .map(|cursor| users.cursors.read(&cursor, &list, now))
        .transpose()?;
    let (position, limit) = (position.as_deref(), paging.limit);
    let mut page = match (whose, reach) {
        (Some(whose), _) => store.audit_of_person(whose, position, limit).await?,
        (None, Reach::Everywhere) => store.audit(position, limit).await?,
        (None, _) => store.audit_of_committee(own, position, limit).await?,
    };
    page.items
        .retain(|entry| reach == Reach::Everywhere || entry.committee_id == own);
    let next_cursor = page
        .last
        .map(|position| users.cursors.write(&position, &list, now))
        .transpose()?;
    shown(Shown {
        audit: page.items,
        next_cursor,
    })
}
