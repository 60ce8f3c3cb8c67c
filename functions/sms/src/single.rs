//! `POST /sms/single`: one message to one number.

use axum::extract::State;
use bytes::Bytes;
use common::{
    Fields, FromFields, Input, Message, Now, Permitted, Refusal, Refused, Reply, phone,
    rights::SendSms, text,
};
use domain::{
    E164, Flaw, Line, SmsId,
    sms::{Recipient, Sms, Text},
};
use identity::chance;
use serde::{Deserialize, Serialize};

use crate::{Manner, Messages, accepting::IdempotencyKey};

pub(crate) struct SendSmsRequest {
    recipient: Recipient,
    message: Text,
    manner: Manner,
    body: Bytes,
}

impl FromFields<Messages> for SendSmsRequest {
    fn from_fields(fields: &mut Fields, messages: &Messages) -> Option<Self> {
        let body = fields.body().clone();
        let to = number(fields, messages);
        let message = fields.required("message", text);
        let manner = Manner::of(fields, messages);
        let client_ref = fields.nullable("clientRef", text::<Line<64>>);
        let recipient = Recipient {
            to: to?,
            client_ref: client_ref?,
        };
        Some(Self {
            recipient,
            message: message?,
            manner: manner?,
            body,
        })
    }
}

/// The number, in one piece or in two; when it is there in both, they are the same.
fn number(fields: &mut Fields, messages: &Messages) -> Option<E164> {
    let parts = phone(fields)?
        .map(|parts| E164::from(&parts))
        .filter(|number| number.as_str() != "+");
    let whole = fields
        .has("to")
        .then(|| fields.required("to", text::<E164>));
    let (field, number) = match (whole, parts) {
        (None, None) => {
            fields.refuse("to", Flaw::Required);
            return None;
        }
        (None, Some(number)) => ("phone", number),
        (Some(number), None) => ("to", number?),
        (Some(number), Some(other)) if number.as_ref() == Some(&other) => ("to", other),
        (Some(number), Some(_)) => {
            number?;
            fields.refuse("to", Flaw::Value);
            return None;
        }
    };
    messages
        .reachable(number.as_str())
        .map_err(|flaw| fields.refuse(field, flaw))
        .ok()
        .map(|mobile| mobile.number)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SendSmsResponse {
    sms: Sms,
}

pub(crate) async fn send(
    State(messages): State<Messages>,
    Now(now): Now,
    sender: Permitted<SendSms>,
    key: IdempotencyKey,
    Input(input): Input<SendSmsRequest>,
) -> Reply<SendSmsResponse> {
    let (user, said) = (&sender.person.user, Message::SmsAccepted);
    let SendSmsRequest {
        recipient,
        message,
        manner,
        body,
    } = input;
    let request = key.request(user.user_id, "POST /sms/single", &body)?;
    let store = &messages.store;
    let (earlier, opted_out) = tokio::join!(
        messages.replay(request.as_ref(), said, now),
        store.has_opted_out(user.committee_id, &recipient.to)
    );
    if let Some(reply) = earlier? {
        return reply;
    }
    if opted_out? {
        return Err(Refused::field("to", Refusal::RecipientOptedOut).into());
    }
    let sms = Sms::new(
        SmsId::new(chance::id(now)),
        None,
        recipient,
        message.as_str(),
        manner.by(user, now),
    );
    let sms_id = sms.sms_id;
    let accepted = SendSmsResponse { sms };
    let mut accept = store.transaction();
    if let Some(request) = &request {
        accept.answer_once(request, serde_json::to_string(&accepted)?, now);
    }
    accept.count_sms(user.user_id, user.committee_id, 1, messages.quota, now);
    accept.accept_sms(&accepted.sms, &message);
    let is_kept = async { Ok(store.sms(sms_id).await?.is_some()) };
    messages
        .settle(accept, request.as_ref(), said, accepted, is_kept, now)
        .await
}
