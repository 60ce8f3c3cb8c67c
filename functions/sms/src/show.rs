//! `GET /sms/{smsId}`: returns a message with its status and its text.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Now, Path, Verified, ok};
use domain::{
    Instant, SmsId,
    sms::{Sms, Text},
};
use serde::Serialize;
use store::StoreError;

use crate::{Messages, rights::may_see};

#[derive(Serialize)]
pub(crate) struct SmsResponse {
    sms: SmsDetails,
}

#[derive(Serialize)]
struct SmsDetails {
    #[serde(flatten)]
    sms: Sms,
    message: Option<Text>,
}

pub(crate) async fn show(
    State(messages): State<Messages>,
    Now(now): Now,
    caller: Verified,
    Path(id): Path<SmsId>,
) -> ApiResult<SmsResponse> {
    let found = messages
        .sms_with_text(id, now)
        .await?
        .filter(|(sms, _)| may_see(&caller.0, &sms.sending, now));
    let (sms, message) = found.ok_or(ErrorCode::SmsNotFound)?;
    ok(SmsResponse { sms: SmsDetails { sms, message } })
}

impl Messages {
    /// The message and its text. Reads the message, then its chunk, then the message again, because the chunk may be
    /// expanded between the first two reads.
    async fn sms_with_text(
        &self,
        id: SmsId,
        now: Instant,
    ) -> Result<Option<(Sms, Option<Text>)>, StoreError> {
        let store = &self.store;
        let sms = match store.sms(id).await? {
            Some(sms) => sms,
            None => match store.sms_in_chunk(id, now).await? {
                Some(in_chunk) => return Ok(Some(in_chunk)),
                None => match store.sms(id).await? {
                    Some(sms) => sms,
                    None => return Ok(None),
                },
            },
        };
        let message = store.text_of(&sms, now).await?;
        Ok(Some((sms, message)))
    }
}
