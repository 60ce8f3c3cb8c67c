//! `/sms/opt-outs/{number}`: whether a number is written to. The number stands there with or without its `+`.

use axum::extract::State;
use common::{ApiError, ApiResult, Empty, ErrorCode, Message, Now, Path, ok, success};
use domain::{E164, ValueError, sms::OptOut};
use serde::Serialize;
use store::{CommitOutcome, Part};

use crate::{
    Messages,
    rights::{ListKeeper, ListReader},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OptOutResponse {
    opt_out: OptOut,
}

fn number(text: &str) -> Result<E164, ValueError> {
    format!("+{}", text.strip_prefix('+').unwrap_or(text)).parse()
}

/// `GET`.
pub(crate) async fn show(
    State(messages): State<Messages>,
    reader: ListReader,
    Path(text): Path<String>,
) -> ApiResult<OptOutResponse> {
    let committee = reader.committee(&messages).await?;
    let number = number(&text).map_err(|_| ErrorCode::OptOutNotFound)?;
    let opt_out = messages
        .store
        .opt_out(committee, &number)
        .await?
        .ok_or(ErrorCode::OptOutNotFound)?;
    ok(OptOutResponse { opt_out })
}

/// `PUT`: whoever is on the list already stays there as he was noted first.
pub(crate) async fn add(
    State(messages): State<Messages>,
    Now(now): Now,
    keeper: ListKeeper,
    Path(text): Path<String>,
) -> ApiResult<OptOutResponse> {
    let number = number(&text).map_err(|_| ApiError::field("number", ValueError::Format))?;
    let committee_id = keeper.committee(&messages).await?;
    let opt_out = OptOut {
        number,
        committee_id,
        created_by: keeper.user(),
        created_at: now,
    };
    let mut add = messages.store.transaction();
    add.opt_out(&opt_out);
    let opt_out = match add.commit().await? {
        CommitOutcome::ConditionFailed(Part::OptOut) => messages
            .store
            .opt_out(committee_id, &opt_out.number)
            .await?
            .unwrap_or(opt_out),
        _ => opt_out,
    };
    success(Message::OptOutAdded, OptOutResponse { opt_out })
}

/// `DELETE`: of a number that is not on the list the same is told.
pub(crate) async fn remove(
    State(messages): State<Messages>,
    keeper: ListKeeper,
    Path(text): Path<String>,
) -> ApiResult<Empty> {
    let number = number(&text).map_err(|_| ApiError::field("number", ValueError::Format))?;
    let committee = keeper.committee(&messages).await?;
    let mut remove = messages.store.transaction();
    remove.opt_in(committee, &number);
    let _ = remove.commit().await?;
    success(Message::OptOutRemoved, Empty {})
}
