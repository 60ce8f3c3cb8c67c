//! Words that leave the house: mails by SES, text messages by SNS. Each is sent once, by one signed
//! request that is never repeated here; what became of it is told in three kinds, and the dispatcher
//! decides.

pub mod texts;

use std::time::Duration;

use aws::{Answer, Aws, NoAnswer};
use bytes::Bytes;
use domain::{Email, Instant, Phone};
use http::{Request, StatusCode, header};
use serde_json::{Value, json};

use crate::texts::Mail;

/// A carrier that takes longer has taken the message or not: nobody knows.
const PATIENCE: Duration = Duration::from_secs(10);

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The carrier took it.
    Sent,
    /// The carrier did not take it now; another time it may.
    NotNow(String),
    /// The carrier will never take it.
    Never(String),
    /// It left, and no answer came: nobody knows.
    Unknown(String),
}

/// The carriers. Cloning shares the connections.
#[derive(Clone)]
pub struct Carriers {
    aws: Aws,
    mail_from: String,
}

impl Carriers {
    /// Carriers that send mails in the name of `mail_from`, such as `Halqa <no-reply@example.org>`.
    pub const fn new(aws: Aws, mail_from: String) -> Self {
        Self { aws, mail_from }
    }

    /// Sends `mail` to `to`
    /// (<https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html>).
    pub async fn mail(&self, to: &Email, mail: &Mail, now: Instant) -> Outcome {
        let part = |text: &str| json!({ "Data": text, "Charset": "UTF-8" });
        let body = json!({
            "FromEmailAddress": self.mail_from,
            "Destination": { "ToAddresses": [to.as_str()] },
            "Content": { "Simple": {
                "Subject": part(&mail.subject),
                "Body": { "Text": part(&mail.text), "Html": part(&mail.html) },
                // RFC 3834 §5: what is away on holiday does not answer a machine
                "Headers": [{ "Name": "Auto-Submitted", "Value": "auto-generated" }],
            } },
        });
        let request = Request::post(format!("{}/v2/email/outbound-emails", self.aws.url("email")))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Bytes::from(body.to_string()));
        let Ok(request) = request else { return Outcome::Never("the request could not be written".to_owned()) };
        outcome(self.aws.send("ses", request, PATIENCE, now).await, ses_error)
    }

    /// Sends `text` to `to` as a message that must not be lost
    /// (<https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>).
    pub async fn sms(&self, to: &Phone, text: &str, now: Instant) -> Outcome {
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("Action", "Publish")
            .append_pair("Version", "2010-03-31")
            .append_pair("PhoneNumber", &format!("+{}{}", to.code, to.number))
            .append_pair("Message", text)
            .append_pair("MessageAttributes.entry.1.Name", "AWS.SNS.SMS.SMSType")
            .append_pair("MessageAttributes.entry.1.Value.DataType", "String")
            .append_pair("MessageAttributes.entry.1.Value.StringValue", "Transactional")
            .finish();
        let request = Request::post(format!("{}/", self.aws.url("sns")))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Bytes::from(body));
        let Ok(request) = request else { return Outcome::Never("the request could not be written".to_owned()) };
        outcome(self.aws.send("sns", request, PATIENCE, now).await, sns_error)
    }
}

/// Errors that another try would meet again, by their codes. All others may pass: too many at once, an
/// account that is paused, keys that are being changed.
const FOR_GOOD: [&str; 6] =
    ["InvalidParameter", "InvalidParameterValue", "ParameterValueInvalid", "OptedOut", "MessageRejected", "BadRequestException"];

fn outcome(answered: Result<Answer, NoAnswer>, code_of: fn(&Answer) -> Option<String>) -> Outcome {
    let answer = match answered {
        Ok(answer) => answer,
        Err(NoAnswer::NeverSent(cause)) => return Outcome::NotNow(cause),
        Err(NoAnswer::Lost(cause)) => return Outcome::Unknown(cause),
    };
    if answer.status == StatusCode::OK {
        return Outcome::Sent;
    }
    let code = code_of(&answer).unwrap_or_default();
    let cause = format!("status {} {code}", answer.status.as_u16());
    if answer.status.is_client_error() && FOR_GOOD.contains(&code.as_str()) { Outcome::Never(cause) } else { Outcome::NotNow(cause) }
}

/// The code in SNS's XML. It stands in one element without attributes; its letters need no parser.
fn sns_error(answer: &Answer) -> Option<String> {
    let text = std::str::from_utf8(&answer.body).ok()?;
    Some(text.split_once("<Code>")?.1.split_once("</Code>")?.0.to_owned())
}

/// The code of SES: in a header, perhaps with a namespace in front and a link behind; else in the body.
fn ses_error(answer: &Answer) -> Option<String> {
    let in_header = answer.headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let in_body = || serde_json::from_slice::<Value>(&answer.body).ok()?["__type"].as_str().map(str::to_owned);
    let code = in_header.or_else(in_body)?;
    Some(code.split(':').next().unwrap_or_default().rsplit('#').next().unwrap_or_default().to_owned())
}
