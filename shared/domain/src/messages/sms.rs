//! Text messages that users send, single or in a [`Batch`](crate::batch::Batch).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    BatchId, CommitteeId, E164, Instant, Line, Prose, SmsId, UserId, ValueError,
    choice::choice,
    outbox::State,
    segments::{Encoding, Measured, measure},
    text::as_str,
};

/// How long messages and batches are kept.
pub const RETENTION: Duration = Duration::from_secs(400 * 86_400);

choice! {
    /// The SNS message type.
    Type {
        /// Optimised for reliability.
        Transactional "TRANSACTIONAL"
        /// Optimised for cost.
        Promotional "PROMOTIONAL"
    }
}

choice! {
    /// Which messages or batches a list has.
    Scope {
        /// Those that the caller sent.
        Own "own"
        /// Those that the users of a committee sent.
        Committee "committee"
    }
}

choice! {
    /// Why a message failed.
    Cause {
        /// The recipient has opted out, in this service or with the carrier.
        OptedOut "RECIPIENT_OPTED_OUT"
        /// The carrier rejected the message permanently.
        CarrierRefused "CARRIER_REFUSED"
        /// The carrier did not accept it within [`TEXT_LIFE`](crate::times::TEXT_LIFE) of the first attempt, or its text was
        /// deleted before.
        Expired "EXPIRED"
        /// The sender's account was deactivated or erased before the message was sent.
        SenderClosed "SENDER_CLOSED"
        /// The sender may no longer send it: they have lost the right or the verification, or moved to another committee,
        /// or their committee is closed.
        SenderNotAllowed "SENDER_NOT_ALLOWED"
        /// The sender had sent the number [`TEXTS_TO_RECIPIENT`](crate::limits::TEXTS_TO_RECIPIENT) messages that day.
        RecipientLimit "RECIPIENT_LIMIT"
    }
}

/// The text of a message: 1 to 1,600 UTF-16 units, without control characters except line breaks, which are `\n`, and
/// tabs. SNS takes 1,600 characters (<https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>); counted in
/// UTF-16, because a character beyond the Basic Multilingual Plane takes two in a text message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(String);

/// Longest [`Text`], in UTF-16 units.
pub const MAX_LENGTH: usize = 1600;

impl std::str::FromStr for Text {
    type Err = ValueError;

    /// As [`Prose`], and `Length` beyond 1,600 UTF-16 units.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text: Prose<MAX_LENGTH> = text.parse()?;
        let text = text.as_str();
        if text.encode_utf16().count() > MAX_LENGTH {
            return Err(ValueError::Length);
        }
        Ok(Self(text.to_owned()))
    }
}

as_str!(Text);

/// A sender ID, shown instead of a number: 1 to 11 ASCII letters and digits, with at least one letter
/// (<https://docs.aws.amazon.com/sms-voice/latest/userguide/sender-id.html>).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SenderId(String);

impl std::str::FromStr for SenderId {
    type Err = ValueError;

    /// `Required` for white space alone, `Length` beyond 11 characters, `Format` for other characters or digits alone.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let line: Line<11> = text.parse()?;
        let name = line.as_str();
        let is_valid = name.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && name.bytes().any(|byte| byte.is_ascii_alphabetic());
        if is_valid { Ok(Self(name.to_owned())) } else { Err(ValueError::Format) }
    }
}

as_str!(SenderId);

/// Sender and options of a message, shared by all messages of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sending {
    /// The SNS message type.
    pub r#type: Type,
    /// The sender ID, if any.
    pub sender_id: Option<SenderId>,
    /// The sender.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// The sender's committee at that time.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// When the request was accepted.
    pub created_at: Instant,
}

impl Sending {
    /// Whether the message or batch may still be shown at `now`; its deletion can come some days later.
    pub fn is_kept(&self, now: Instant) -> bool {
        now < self.created_at.after(RETENTION)
    }
}

/// A text message without its text, which is stored separately and for a shorter time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sms {
    /// The message's identifier, a UUID v7.
    #[serde(rename = "smsID")]
    pub sms_id: SmsId,
    /// The batch, if the message is part of one.
    #[serde(rename = "batchID")]
    pub batch_id: Option<BatchId>,
    /// The recipient's number.
    pub to: E164,
    /// State of the message.
    pub status: State,
    /// The sender's reference.
    pub client_ref: Option<Line<64>>,
    /// Encoding of the text.
    pub encoding: Encoding,
    /// Number of segments; each is charged.
    pub segments: u32,
    /// Why it failed, if it did.
    pub failure: Option<Cause>,
    /// What the carrier reported about the delivery, in its own words; `None` before it did.
    pub reason: Option<String>,
    /// Sender and options.
    #[serde(flatten)]
    pub sending: Sending,
    /// Time of the last change of state.
    pub updated_at: Instant,
}

impl Sms {
    /// A queued message with the `text`, of which only encoding and segments are kept.
    pub fn new(
        sms_id: SmsId,
        batch_id: Option<BatchId>,
        recipient: Recipient,
        text: &str,
        sending: Sending,
    ) -> Self {
        let Measured { encoding, segments } = measure(text);
        Self {
            sms_id,
            batch_id,
            to: recipient.to,
            status: State::Queued,
            client_ref: recipient.client_ref,
            encoding,
            segments,
            failure: None,
            reason: None,
            updated_at: sending.created_at,
            sending,
        }
    }
}

/// What a carrier reported about the delivery of a text message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// [`State::Delivered`] or [`State::Undelivered`].
    pub status: State,
    /// The carrier's own words.
    pub reason: String,
}

/// A recipient of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recipient {
    /// The number to send to.
    pub to: E164,
    /// The sender's reference for this message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_ref: Option<Line<64>>,
}

/// A number that must not get messages of one committee, or of any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OptOut {
    /// The recipient who opted out.
    pub number: E164,
    /// The committee that must not send to it; `None` for all.
    #[serde(rename = "committeeID")]
    pub committee_id: Option<CommitteeId>,
    /// The account that recorded it.
    pub created_by: UserId,
    /// When it was recorded.
    pub created_at: Instant,
}

#[cfg(test)]
mod tests;
