//! `GET /sms/{smsId}`: a message, how far it has come and what it says.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Now, Path, Verified, ok};
use domain::{
    Instant, SmsId,
    sms::{Sms, Text},
};
use serde::Serialize;
use store::StoreError;

use crate::{Messages, rights::sees};

#[derive(Serialize)]
pub(crate) struct SmsResponse {
    sms: Whole,
}

#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    sms: Sms,
    message: Option<Text>,
}

pub(crate) async fn show(
    State(messages): State<Messages>,
    Now(now): Now,
    person: Verified,
    Path(id): Path<SmsId>,
) -> ApiResult<SmsResponse> {
    let found = messages
        .whole(id, now)
        .await?
        .filter(|(sms, _)| sees(&person.0, &sms.sending));
    let (sms, message) = found.ok_or(ErrorCode::SmsNotFound)?;
    ok(SmsResponse {
        sms: Whole { sms, message },
    })
}

impl Messages {
    /// The message, whether its batch has become messages or not, or does so at this moment.
    async fn whole(
        &self,
        id: SmsId,
        now: Instant,
    ) -> Result<Option<(Sms, Option<Text>)>, StoreError> {
        let store = &self.store;
        let sms = match store.sms(id).await? {
            Some(sms) => sms,
            None => match store.sms_in_chunk(id, now).await? {
                Some(waiting) => return Ok(Some(waiting)),
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
