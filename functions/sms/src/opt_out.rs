//! `/sms/opt-outs/{number}`: reads, adds or removes the opt-out of a number, given in E.164 with or without `+`.

use axum::extract::State;
use common::{
    ApiError, ApiResult, Empty, ErrorCode, InvalidValue, Message, Now, Path, ok, success,
};
use domain::{E164, ValueError, audit::AuditedAction, sms::OptOut};
use identity::random;
use serde::Serialize;
use store::{CommitOutcome, Part};

use crate::{
    Messages,
    rights::{OptOutEditor, OptOutViewer},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OptOutResponse {
    opt_out: OptOut,
}

/// `FIELD_FORMAT_MESSAGE` for whatever is no valid number.
fn number(text: &str) -> Result<E164, ApiError> {
    let number = format!("+{}", text.strip_prefix('+').unwrap_or(text)).parse();
    let invalid = InvalidValue::of::<E164>(ValueError::Format);
    number.map_err(|_: ValueError| ApiError::field("number", invalid))
}

/// `GET`: returns the opt-out of the number.
pub(crate) async fn show(
    State(messages): State<Messages>,
    viewer: OptOutViewer,
    Path(text): Path<String>,
) -> ApiResult<OptOutResponse> {
    let committee = viewer.committee(&messages).await?;
    let number = number(&text).map_err(|_| ErrorCode::OptOutNotFound)?;
    let opt_out =
        messages.store.opt_out(committee, &number).await?.ok_or(ErrorCode::OptOutNotFound)?;
    ok(OptOutResponse { opt_out })
}

/// `PUT`: adds an opt-out. An existing one is kept and returned unchanged.
pub(crate) async fn add(
    State(messages): State<Messages>,
    Now(now): Now,
    OptOutEditor(editor): OptOutEditor,
    Path(text): Path<String>,
) -> ApiResult<OptOutResponse> {
    let number = number(&text)?;
    let committee_id = editor.committee(&messages).await?;
    let opt_out =
        OptOut { number, committee_id, created_by: editor.user().user_id, created_at: now };
    let mut tx = messages.store.transaction();
    let (actor, number) = (editor.user(), &opt_out.number);
    tx.opt_out(&opt_out);
    let added = AuditedAction::of_opt_out(actor, committee_id, number);
    tx.record_audit(&added.by(actor, random::id(now), now));
    let opt_out = match tx.commit().await? {
        CommitOutcome::ConditionFailed(Part::OptOut) => {
            messages.store.opt_out(committee_id, &opt_out.number).await?.unwrap_or(opt_out)
        }
        _ => opt_out,
    };
    success(Message::OptOutAdded, OptOutResponse { opt_out })
}

/// `DELETE`: removes an opt-out. The response is the same when there is none.
pub(crate) async fn remove(
    State(messages): State<Messages>,
    Now(now): Now,
    OptOutEditor(editor): OptOutEditor,
    Path(text): Path<String>,
) -> ApiResult<Empty> {
    let number = number(&text)?;
    let committee = editor.committee(&messages).await?;
    let mut tx = messages.store.transaction();
    tx.opt_in(committee, &number);
    let removed = AuditedAction::of_opt_in(editor.user(), committee, &number);
    tx.record_audit(&removed.by(editor.user(), random::id(now), now));
    // Without an opt-out nothing is removed or recorded.
    let _ = tx.commit().await?;
    success(Message::OptOutRemoved, Empty {})
}
