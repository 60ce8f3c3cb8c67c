//! Words that leave the house: mails by SES, text messages by SNS. Each is sent once, by one signed
//! request that is never repeated here; what became of it is told in three kinds, and the dispatcher
//! decides.

pub mod texts;

use std::time::Duration;

use bytes::Bytes;
use domain::{
    E164, Email, Instant,
    sms::{SenderId, Type},
};
use http::{Request, StatusCode, header};
use runtime::{Answer, Aws, NoAnswer};
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
    /// The carrier will not take it for this number, whose owner told it so.
    OptedOut,
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
        let request = Request::post(format!(
            "{}/v2/email/outbound-emails",
            self.aws.url("email")
        ))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body.to_string()));
        let Ok(request) = request else {
            return Outcome::Never("the request could not be written".to_owned());
        };
        outcome(
            self.aws.send("ses", request, PATIENCE, now).await,
            ses_error,
        )
    }

    /// Sends `text` to `to`, in the way of `kind`, in the name of `sender`
    /// (<https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>).
    pub async fn sms(
        &self,
        to: &E164,
        text: &str,
        kind: Type,
        sender: Option<&SenderId>,
        now: Instant,
    ) -> Outcome {
        let body = publish(to, text, kind, sender);
        let request = Request::post(format!("{}/", self.aws.url("sns")))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Bytes::from(body));
        let Ok(request) = request else {
            return Outcome::Never("the request could not be written".to_owned());
        };
        outcome(
            self.aws.send("sns", request, PATIENCE, now).await,
            sns_error,
        )
    }
}

/// SNS's form for one text message.
fn publish(to: &E164, text: &str, kind: Type, sender: Option<&SenderId>) -> String {
    let kind = match kind {
        Type::Transactional => "Transactional",
        Type::Promotional => "Promotional",
    };
    let attributes = [
        Some(("AWS.SNS.SMS.SMSType", kind)),
        sender.map(|sender| ("AWS.SNS.SMS.SenderID", sender.as_str())),
    ];
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("Action", "Publish")
        .append_pair("Version", "2010-03-31");
    form.append_pair("PhoneNumber", to.as_str())
        .append_pair("Message", text);
    for (number, (name, value)) in (1..).zip(attributes.into_iter().flatten()) {
        form.append_pair(&format!("MessageAttributes.entry.{number}.Name"), name);
        form.append_pair(
            &format!("MessageAttributes.entry.{number}.Value.DataType"),
            "String",
        );
        form.append_pair(
            &format!("MessageAttributes.entry.{number}.Value.StringValue"),
            value,
        );
    }
    form.finish()
}

/// Errors that another try would meet again, by their codes. All others may pass: too many at once, an
/// account that is paused, keys that are being changed.
const FOR_GOOD: [&str; 5] = [
    "InvalidParameter",
    "InvalidParameterValue",
    "ParameterValueInvalid",
    "MessageRejected",
    "BadRequestException",
];
/// What SNS says of a number whose owner answered STOP
/// (<https://docs.aws.amazon.com/sns/latest/dg/sms_manage.html>).
const OPTED_OUT: [&str; 2] = ["OptedOut", "OptedOutException"];

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
    if OPTED_OUT.contains(&code.as_str()) {
        return Outcome::OptedOut;
    }
    let cause = format!("status {} {code}", answer.status.as_u16());
    if answer.status.is_client_error() && FOR_GOOD.contains(&code.as_str()) {
        Outcome::Never(cause)
    } else {
        Outcome::NotNow(cause)
    }
}

/// The code in SNS's XML. It stands in one element without attributes; its letters need no parser.
fn sns_error(answer: &Answer) -> Option<String> {
    let text = std::str::from_utf8(&answer.body).ok()?;
    Some(
        text.split_once("<Code>")?
            .1
            .split_once("</Code>")?
            .0
            .to_owned(),
    )
}

/// The code of SES: in a header, perhaps with a namespace in front and a link behind; else in the body.
fn ses_error(answer: &Answer) -> Option<String> {
    let in_header = answer
        .headers
        .get("x-amzn-errortype")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let in_body = || {
        serde_json::from_slice::<Value>(&answer.body).ok()?["__type"]
            .as_str()
            .map(str::to_owned)
    };
    let code = in_header.or_else(in_body)?;
    Some(
        code.split(':')
            .next()
            .unwrap_or_default()
            .rsplit('#')
            .next()
            .unwrap_or_default()
            .to_owned(),
    )
}
