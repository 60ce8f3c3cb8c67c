//! `POST /sms/single`: sends one message to one number.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Fields, FromFields, InvalidField, InvalidValue, Message, Now,
    Once, Permitted, phone, rights::SendSms, text,
};
use domain::{
    E164, Instant, Line, SmsId, ValueError,
    sms::{Recipient, Sms, Text},
    user::User,
};
use identity::random;
use serde::{Deserialize, Serialize};

use crate::{Messages, SendOptions, accepting::Submission};

pub(crate) struct SendSmsRequest {
    recipient: Recipient,
    message: Text,
    options: SendOptions,
}

impl FromFields<Messages> for SendSmsRequest {
    fn from_fields(fields: &mut Fields, messages: &Messages) -> Result<Self, InvalidField> {
        let to = number(fields, messages);
        let message = fields.required("message", text);
        let options = SendOptions::of(fields, messages);
        let client_ref = fields.nullable("clientRef", text::<Line<64>>);
        let recipient = Recipient { to: to?, client_ref: client_ref? };
        Ok(Self { recipient, message: message?, options: options? })
    }
}

/// The number: from `to`, or from `phoneCode` and `phone`. If both forms are given, they must be equal.
fn number(fields: &mut Fields, messages: &Messages) -> Result<E164, InvalidField> {
    let parts =
        phone(fields)?.map(|parts| E164::from(&parts)).filter(|number| number.as_str() != "+");
    let whole = fields.has("to").then(|| fields.required("to", text::<E164>));
    let (field, number) = match (whole, parts) {
        (None, None) => {
            return Err(fields.reject("to", InvalidValue::of::<E164>(ValueError::Required)));
        }
        (None, Some(number)) => ("phone", number),
        (Some(number), None) => ("to", number?),
        (Some(number), Some(other)) if number.as_ref() == Ok(&other) => ("to", other),
        (Some(number), Some(_)) => {
            number?;
            return Err(fields.reject("to", ValueError::Value));
        }
    };
    let invalid = |error| match field {
        "to" => InvalidValue::of::<E164>(error),
        _ => error.into(),
    };
    messages
        .country_codes
        .mobile(number.as_str())
        .map(|mobile| mobile.number)
        .map_err(|error| fields.reject(field, invalid(error)))
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SendSmsResponse {
    sms: Sms,
}

pub(crate) async fn send(
    State(messages): State<Messages>,
    Now(now): Now,
    sender: Permitted<SendSms>,
    Once(request, key): Once<SendSmsRequest>,
) -> ApiResult<SendSmsResponse> {
    let (sender, store) = (&sender.person.user, &messages.store);
    let submission = Submission { sender, key: &key, message: Message::SmsAccepted, now };
    let (earlier, opted_out) = tokio::join!(
        submission.earlier(&messages),
        store.has_opted_out(sender.committee_id, &request.recipient.to)
    );
    if let Some(response) = earlier? {
        return Ok(response);
    }
    if opted_out? {
        return Err(ApiError::field("to", ErrorCode::RecipientOptedOut));
    }
    let (sms, text) = request.into_sms(sender, now);
    let mut tx = store.transaction();
    tx.accept_sms(&sms, &text);
    let sms_id = sms.sms_id;
    let was_accepted = async { Ok(store.sms(sms_id).await?.is_some()) };
    let response = SendSmsResponse { sms };
    submission.accept(&messages, tx, 1, response, was_accepted).await
}

impl SendSmsRequest {
    fn into_sms(self, sender: &User, now: Instant) -> (Sms, Text) {
        let id = SmsId::new(random::id(now));
        let sending = self.options.into_sending(sender, now);
        let sms = Sms::new(id, None, self.recipient, self.message.as_str(), sending);
        (sms, self.message)
    }
}
