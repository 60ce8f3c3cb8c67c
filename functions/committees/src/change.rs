//! `PUT /committees/{committeeId}`: changes the given fields of a committee; for super admins.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, SuperAdmin, input, success,
};
use domain::{CommitteeId, audit::AuditedAction};
use identity::random;

use crate::{
    CommitteeResponse, Committees,
    fields::{CommitteeFields, read_changes},
};

input! {
    pub(crate) struct UpdateCommitteeRequest {
        given: CommitteeFields = group(read_changes),
    }
}

/// Writes only the given fields, so that concurrent changes of different fields do not overwrite each other.
pub(crate) async fn change(
    State(state): State<Committees>,
    Now(now): Now,
    SuperAdmin(admin): SuperAdmin,
    Path(id): Path<CommitteeId>,
    Input(request): Input<UpdateCommitteeRequest>,
) -> ApiResult<CommitteeResponse> {
    let (store, actor) = (&state.store, &admin.user);
    let attempt = || async {
        let before = store.committee(id).await?.ok_or(ErrorCode::CommitteeNotFound)?;
        let after = request.given.changing(&before)?;
        let mut tx = store.transaction();
        if after != before {
            let audited = AuditedAction::of_committee(Some(&before), &after);
            tx.change_committee(&before, &after, now);
            tx.record_audit(&audited.by(actor, random::id(now), now));
        }
        Ok::<_, ApiError>((tx, after))
    };
    let committee = store.update(attempt, |_| None).await?;
    success(Message::CommitteeUpdated, CommitteeResponse::whole(committee))
}
