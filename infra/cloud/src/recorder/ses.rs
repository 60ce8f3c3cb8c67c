//! Amazon SES v2: records mails; requests are in JSON.

use bytes::Bytes;
use data_encoding::BASE64;
use domain::Instant;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::Full;
use identity::random;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Recorder, response, status};
use crate::REFUSED;

impl Recorder {
    /// The response of SES v2 to a request.
    pub(crate) fn ses(
        &self,
        method: &Method,
        path: &str,
        body: &[u8],
        now: Instant,
    ) -> Response<Full<Bytes>> {
        if (method, path) != (&Method::POST, "/v2/email/outbound-emails") {
            return error_response(
                "NotFoundException",
                StatusCode::NOT_FOUND,
                &format!("{method} {path} is not served here."),
            );
        }
        let id = random::id(now);
        match mail(body, id, now).map(|mail| self.mails.keep(mail)) {
            Ok(Ok(())) => response(StatusCode::OK, "application/json", |_| {
                json!({ "MessageId": id }).to_string()
            }),
            Ok(Err(error)) => error_response(
                "InternalFailure",
                StatusCode::INTERNAL_SERVER_ERROR,
                &error.to_string(),
            ),
            Err(message) => {
                error_response("BadRequestException", StatusCode::BAD_REQUEST, &message)
            }
        }
    }
}

/// The mail that the request `body` sends
/// (<https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html>), or why it is
/// rejected. Other fields are ignored.
fn mail(body: &[u8], id: Uuid, now: Instant) -> Result<Value, String> {
    let request: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let from = address(&request["FromEmailAddress"])?;
    let lists = ["ToAddresses", "CcAddresses", "BccAddresses"]
        .map(|list| request["Destination"][list].as_array());
    let to = lists.into_iter().flatten().flatten().map(address).collect::<Result<Vec<_>, _>>()?;
    let simple = &request["Content"]["Simple"];
    let subject = part(&simple["Subject"])?
        .ok_or("Content.Simple.Subject is missing; no other content is served here.")?;
    let (text, html) = (part(&simple["Body"]["Text"])?, part(&simple["Body"]["Html"])?);
    if to.is_empty() || to.len() > 50 || (text.is_none() && html.is_none()) {
        return Err("A mail has 1 to 50 recipients, and a text or an HTML body.".to_owned());
    }
    let attachments =
        simple["Attachments"].as_array().map(|all| all.iter().map(attachment).collect());
    let attachments: Vec<Value> = attachments.unwrap_or_else(|| Ok(Vec::new()))?;
    let (to, headers) = (to.join(", "), &simple["Headers"]);
    let (tags, set) = (&request["EmailTags"], &request["ConfigurationSetName"]);
    Ok(json!({
        "id": id, "to": to, "subject": subject, "text": text, "html": html, "from": from, "headers": headers, "at": now,
        "tags": tags, "configurationSet": set, "attachments": attachments,
    }))
}

/// A text that is attached, with its name and type
/// (<https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_Attachment.html>).
fn attachment(value: &Value) -> Result<Value, String> {
    let name = value["FileName"].as_str().ok_or("An attachment has a FileName.")?;
    let content =
        value["RawContent"].as_str().and_then(|content| BASE64.decode(content.as_bytes()).ok());
    let content = content.ok_or("The RawContent of an attachment is base64.")?;
    let content = String::from_utf8(content).map_err(|_| "Only texts can be attached here.")?;
    Ok(json!({ "fileName": name, "contentType": value["ContentType"], "content": content }))
}

/// An address, possibly with a name; in ASCII, because SES writes it to the mail unchanged.
fn address(value: &Value) -> Result<&str, String> {
    let good = value.as_str().filter(|text| {
        text.contains('@') && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    });
    good.ok_or_else(|| {
        format!(
            "{value} is not an ASCII address; encode names with other characters as encoded words (RFC 2047)."
        )
    })
}

/// A subject or a body, if present.
fn part(value: &Value) -> Result<Option<&str>, String> {
    let data = value["Data"].as_str();
    // Without a charset SES uses 7-bit ASCII, which French and Arabic do not fit.
    let is_safe = data.is_none_or(str::is_ascii) || value["Charset"] == "UTF-8";
    if is_safe { Ok(data) } else { Err("Data beyond ASCII needs the Charset UTF-8.".to_owned()) }
}

/// The error `name` of an injected fault or a check of access.
pub(crate) fn error(name: &str, otherwise: StatusCode) -> Response<Full<Bytes>> {
    error_response(name, status(name, otherwise), REFUSED)
}

fn error_response(name: &str, status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let mut response =
        response(status, "application/json", |_| json!({ "message": message }).to_string());
    // The name comes from a fault and may be no valid header value.
    if let Ok(name) = HeaderValue::from_str(name) {
        response.headers_mut().insert("x-amzn-errortype", name);
    }
    response
}
