//! Sends mails through Amazon SES and text messages through Amazon SNS. Each message is sent once; the caller decides
//! by the kind of [`SendError`] whether to send it again.

pub mod texts;

use std::{error::Error, fmt};

use aws_sdk_sesv2::primitives::Blob;
use aws_sdk_sesv2::types::{
    Attachment, AttachmentContentTransferEncoding, Body, Content, Destination, EmailContent,
    Message, MessageHeader, MessageTag,
};
use aws_sdk_sns::{
    config::{retry::RetryConfig, timeout::TimeoutConfig},
    error::{BuildError, ProvideErrorMetadata, SdkError},
    types::MessageAttributeValue,
};
use domain::{
    E164, Email, UserId,
    sms::{SenderId, Type},
    times::CARRIER_TIMEOUT,
};
use runtime::{Aws, cause, is_connect_error};

use crate::texts::Mail;

/// Why a message was not sent, or may not have been sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendError {
    /// The request was not sent, or the carrier refused it temporarily: another attempt may succeed.
    NotSent(String),
    /// The carrier refused the message permanently.
    Rejected(String),
    /// The owner of the number has opted out with the carrier.
    OptedOut,
    /// The request was sent, and whether the carrier accepted it is unknown.
    Unknown(String),
}

impl fmt::Display for SendError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(cause) => write!(out, "the message was not sent: {cause}"),
            Self::Rejected(cause) => write!(out, "the carrier rejects the message: {cause}"),
            Self::OptedOut => out.write_str("the recipient has opted out"),
            Self::Unknown(cause) => write!(out, "the message may have been sent: {cause}"),
        }
    }
}

impl Error for SendError {}

impl From<BuildError> for SendError {
    fn from(error: BuildError) -> Self {
        Self::Rejected(error.to_string())
    }
}

impl<E: Error + ProvideErrorMetadata + 'static> From<SdkError<E>> for SendError {
    fn from(error: SdkError<E>) -> Self {
        let cause = cause(&error);
        match &error {
            SdkError::ConstructionFailure(_) => Self::NotSent(cause),
            SdkError::DispatchFailure(_) if is_connect_error(&error) => Self::NotSent(cause),
            SdkError::ServiceError(context) => {
                let code = context.err().code().unwrap_or_default();
                classify(context.raw().status().as_u16(), code, cause)
            }
            _ => Self::Unknown(cause),
        }
    }
}

/// Codes of permanent errors. All others are temporary: throttling, a paused account, keys that are being rotated.
const PERMANENT: [&str; 5] = [
    "InvalidParameter",
    "InvalidParameterValue",
    "ParameterValueInvalid",
    "MessageRejected",
    "BadRequestException",
];
/// Codes of SNS for a number whose owner replied STOP
/// (<https://docs.aws.amazon.com/sns/latest/dg/sms_manage.html>).
const OPTED_OUT: [&str; 2] = ["OptedOut", "OptedOutException"];
/// Codes of throttling: the request was refused before it was processed, whatever the status
/// (<https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>,
/// <https://docs.aws.amazon.com/ses/latest/APIReference-V2/CommonErrors.html>).
const THROTTLED: [&str; 4] =
    ["Throttled", "Throttling", "ThrottlingException", "TooManyRequestsException"];

/// Classifies an error response. After a 5xx the server may have accepted the message, also after 503: only a throttling
/// code says that it did not.
fn classify(status: u16, code: &str, cause: String) -> SendError {
    match status {
        _ if OPTED_OUT.contains(&code) => SendError::OptedOut,
        400..=499 if PERMANENT.contains(&code) => SendError::Rejected(cause),
        400..=499 => SendError::NotSent(cause),
        _ if THROTTLED.contains(&code) => SendError::NotSent(cause),
        _ => SendError::Unknown(cause),
    }
}

/// The client for SES. Clones share the connections.
#[derive(Clone)]
pub struct MailClient {
    ses: aws_sdk_sesv2::Client,
    mail_from: String,
    configuration_set: Option<String>,
}

impl MailClient {
    /// A client that sends mails from `mail_from`, such as `Halqa <no-reply@example.org>`. `configuration_set` is the set
    /// of SES that reports bounces and complaints, if any. The SDK's retries are disabled: SES would send a mail twice.
    pub fn new(aws: &Aws, mail_from: String, configuration_set: Option<String>) -> Self {
        let config = aws_sdk_sesv2::config::Builder::from(aws.sdk())
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts());
        Self { ses: aws_sdk_sesv2::Client::from_conf(config.build()), mail_from, configuration_set }
    }

    /// Sends `mail` to `to`. Reports of bounces and complaints name the account `about` in the tag `account`
    /// (<https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html>).
    pub async fn send(&self, to: &Email, mail: &Mail, about: UserId) -> Result<(), SendError> {
        let part = |text: &str| Content::builder().data(text).charset("UTF-8").build();
        let body = Body::builder().text(part(&mail.text)?);
        // RFC 3834, section 5: prevents automatic replies.
        let header = MessageHeader::builder().name("Auto-Submitted").value("auto-generated");
        let calendar = mail.calendar.as_ref().map(|calendar| {
            Attachment::builder()
                .file_name("halqa.ics")
                .content_type("text/calendar; charset=utf-8")
                .content_transfer_encoding(AttachmentContentTransferEncoding::Base64)
                .raw_content(Blob::new(calendar.as_bytes()))
                .build()
        });
        let message = Message::builder()
            .subject(part(&mail.subject)?)
            .body(body.html(part(&mail.html)?).build())
            .headers(header.build()?)
            .set_attachments(calendar.transpose()?.map(|calendar| vec![calendar]));
        let content = EmailContent::builder().simple(message.build());
        let destination = Destination::builder().to_addresses(to.as_str());
        let request = self.ses.send_email().from_email_address(&self.mail_from);
        let tag = MessageTag::builder().name("account").value(about.to_string());
        let request = request
            .set_configuration_set_name(self.configuration_set.clone())
            .email_tags(tag.build()?)
            .destination(destination.build())
            .content(content.build());
        request.send().await?;
        Ok(())
    }
}

/// The client for text messages of SNS. Clones share the connections.
#[derive(Clone)]
pub struct SmsClient {
    sns: aws_sdk_sns::Client,
}

impl SmsClient {
    /// A client without the SDK's retries: SNS would send a text message twice.
    pub fn new(aws: &Aws) -> Self {
        let config = aws_sdk_sns::config::Builder::from(aws.sdk())
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts());
        Self { sns: aws_sdk_sns::Client::from_conf(config.build()) }
    }

    /// Sends `text` to `to` as a message of type `kind`, with the sender ID `sender` if given. Returns the id under which
    /// SNS reports the delivery
    /// (<https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>).
    pub async fn send(
        &self,
        to: &E164,
        text: &str,
        kind: Type,
        sender: Option<&SenderId>,
    ) -> Result<Option<String>, SendError> {
        let kind = match kind {
            Type::Transactional => "Transactional",
            Type::Promotional => "Promotional",
        };
        let mut request = self
            .sns
            .publish()
            .phone_number(to.as_str())
            .message(text)
            .message_attributes("AWS.SNS.SMS.SMSType", attribute(kind)?);
        if let Some(sender) = sender {
            let sender = attribute(sender.as_str())?;
            request = request.message_attributes("AWS.SNS.SMS.SenderID", sender);
        }
        Ok(request.send().await?.message_id)
    }
}

/// What is not set here comes from [`Aws::sdk`]: attempts of less than a second. An answer that comes later would leave a
/// message `UNKNOWN` that was sent, or refused.
fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .operation_attempt_timeout(CARRIER_TIMEOUT)
        .operation_timeout(CARRIER_TIMEOUT)
        .build()
}

fn attribute(value: &str) -> Result<MessageAttributeValue, BuildError> {
    MessageAttributeValue::builder().data_type("String").string_value(value).build()
}

#[cfg(test)]
mod tests;
