//! Amazon SNS: records text messages; requests use the Query protocol
//! (<https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>).

use std::{collections::BTreeMap, sync::PoisonError};

use bytes::Bytes;
use domain::Instant;
use http::{Response, StatusCode};
use http_body_util::Full;
use identity::random;
use quick_xml::escape::escape;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Recorder, response, status};
use crate::REFUSED;

impl Recorder {
    /// The response of SNS to the form `body`.
    pub(crate) fn sns(&self, body: &[u8], now: Instant) -> Response<Full<Bytes>> {
        if operation(body) == "SetSMSAttributes" {
            return self.set_sms_attributes(body);
        }
        let id = random::id(now);
        match text(body, id, now).map(|text| self.texts.keep(text)) {
            Ok(Ok(())) => xml(StatusCode::OK, "PublishResponse", |request| {
                let metadata = format!(
                    "<ResponseMetadata><RequestId>{request}</RequestId></ResponseMetadata>"
                );
                format!("<PublishResult><MessageId>{id}</MessageId></PublishResult>{metadata}")
            }),
            Ok(Err(error)) => error_response(
                "InternalError",
                StatusCode::INTERNAL_SERVER_ERROR,
                &error.to_string(),
            ),
            Err((code, message)) => error_response(code, StatusCode::BAD_REQUEST, &message),
        }
    }

    /// An attribute is written as attributes.entry.1.key and ….1.value
    /// (<https://docs.aws.amazon.com/sns/latest/api/API_SetSMSAttributes.html>).
    fn set_sms_attributes(&self, body: &[u8]) -> Response<Full<Bytes>> {
        let form: BTreeMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
        let pairs = form.iter().filter_map(|(name, key)| {
            let value = form.get(&format!("{}.value", name.strip_suffix(".key")?))?;
            Some((key.clone(), value.clone()))
        });
        self.sms_attributes.lock().unwrap_or_else(PoisonError::into_inner).extend(pairs);
        xml(StatusCode::OK, "SetSMSAttributesResponse", |request| {
            let metadata =
                format!("<ResponseMetadata><RequestId>{request}</RequestId></ResponseMetadata>");
            format!("<SetSMSAttributesResult/>{metadata}")
        })
    }
}

/// The message that the form `body` sends
/// (<https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>), or the code and text of an error.
fn text(body: &[u8], id: Uuid, now: Instant) -> Result<Value, (&'static str, String)> {
    let form: BTreeMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let (action, version) = (field("Action"), field("Version"));
    if (action, version) != ("Publish", "2010-03-31") {
        return Err((
            "InvalidAction",
            format!("Could not find operation {action} for version {version}"),
        ));
    }
    let invalid = |name: &str, reason: &str| {
        Err(("InvalidParameter", format!("Invalid parameter: {name} Reason: {reason}")))
    };
    let (to, text) = (field("PhoneNumber"), field("Message"));
    let digits =
        to.strip_prefix('+').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !digits.is_some_and(|digits| (2..=15).contains(&digits.len()) && !digits.starts_with('0')) {
        return invalid("PhoneNumber", &format!("{to} is not valid to publish to"));
    }
    if text.is_empty() || text.len() > 1600 {
        return invalid("Message", &format!("{} bytes instead of 1 to 1600", text.len()));
    }
    // An attribute is written as MessageAttributes.entry.1.Name, ….1.Value.DataType and ….1.Value.StringValue.
    let mut attributes = BTreeMap::new();
    for (entry, name) in
        form.iter().filter_map(|(key, name)| Some((key.strip_suffix(".Name")?, name.as_str())))
    {
        if !form.contains_key(&format!("{entry}.Value.DataType")) {
            return Err((
                "ParameterValueInvalid",
                format!("The message attribute '{name}' has no type."),
            ));
        }
        attributes.insert(name, field(&format!("{entry}.Value.StringValue")));
    }
    // `Promotional` is the default of an AWS account.
    let kind = attributes.get("AWS.SNS.SMS.SMSType").copied().unwrap_or("Promotional");
    if !["Promotional", "Transactional"].contains(&kind) {
        return invalid("SMSType", &format!("{kind} is neither Promotional nor Transactional"));
    }
    let mut message = json!({ "id": id, "to": to, "text": text, "at": now, "type": kind });
    if let Some(&name) = attributes.get("AWS.SNS.SMS.SenderID") {
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && name.bytes().any(|byte| byte.is_ascii_alphabetic());
        if !is_word || name.len() > 11 {
            return invalid("SenderID", "1 to 11 letters and digits, one letter at least");
        }
        message["senderId"] = name.into();
    }
    Ok(message)
}

/// The operation that the form `body` names.
pub(crate) fn operation(body: &[u8]) -> String {
    form_urlencoded::parse(body)
        .find(|(name, _)| name == "Action")
        .map(|(_, action)| action.into_owned())
        .unwrap_or_default()
}

/// The error `code` of an injected fault or a check of access.
pub(crate) fn error(code: &str, otherwise: StatusCode) -> Response<Full<Bytes>> {
    error_response(code, status(code, otherwise), REFUSED)
}

fn error_response(code: &str, status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let side = if status.is_server_error() { "Receiver" } else { "Sender" };
    let error = format!(
        "<Type>{side}</Type><Code>{}</Code><Message>{}</Message>",
        escaped(code),
        escaped(message)
    );
    xml(status, "ErrorResponse", |request| {
        format!("<Error>{error}</Error><RequestId>{request}</RequestId>")
    })
}

fn xml(
    status: StatusCode,
    root: &str,
    content: impl FnOnce(&str) -> String,
) -> Response<Full<Bytes>> {
    response(status, "text/xml", |request| {
        format!(
            "<{root} xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\">{}</{root}>",
            content(request)
        )
    })
}

/// `text` escaped for XML, without control characters, which XML does not allow.
fn escaped(text: &str) -> String {
    escape(text.replace(char::is_control, "")).into_owned()
}
