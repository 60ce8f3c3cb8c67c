//! Text messages that people send: one, or many at once.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    BatchId, CommitteeId, E164, Instant, Line, SmsId, UserId, ValueError,
    choice::choice,
    outbox::State,
    segments::{Encoding, measure},
    text::is_invisible,
};

/// No carrier wants it later than this: then it has failed.
pub const LIFE: Duration = Duration::from_secs(86_400);

choice! {
    /// How a carrier should send it.
    Type {
        /// What must arrive.
        Transactional "TRANSACTIONAL"
        /// What should not cost much.
        Promotional "PROMOTIONAL"
    }
}

choice! {
    /// Why a message was given up.
    Cause {
        /// The number is on a list of those that are not written to, ours or the carrier's.
        OptedOut "RECIPIENT_OPTED_OUT"
        /// The carrier will never take it.
        ApiError "CARRIER_REFUSED"
        /// Nobody took it in time.
        Expired "EXPIRED"
        /// Its sender's account was closed or erased before it left.
        SenderClosed "SENDER_CLOSED"
    }
}

/// What one message says: 1 to 1,600 bytes of UTF-8, kept as it was written; line breaks and tabs may stand
/// in it, no other control characters. SNS takes no more
/// (<https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(String);

/// Bytes of a text, at most.
pub const MAX_BYTES: usize = 1600;

impl std::str::FromStr for Text {
    type Err = ValueError;

    /// `Required` for nothing that can be seen, `Format` for other control characters than `\n \r \t`, `Length`
    /// beyond 1,600 bytes.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let prose: crate::Prose<MAX_BYTES> = text.parse()?;
        if text
            .chars()
            .all(|letter| letter.is_whitespace() || is_invisible(letter))
        {
            return Err(ValueError::Required);
        }
        if text.len() > MAX_BYTES {
            Err(ValueError::Length)
        } else {
            Ok(Self(prose.as_str().to_owned()))
        }
    }
}

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name that a phone shows instead of a number: 1 to 11 ASCII letters and digits, one letter at least
/// (<https://docs.aws.amazon.com/sms-voice/latest/userguide/sender-id.html>).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SenderId(String);

impl std::str::FromStr for SenderId {
    type Err = ValueError;

    /// `Required` for nothing, `Length` beyond 11, `Format` for other signs.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let line: Line<11> = text.parse()?;
        let name = line.as_str();
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && name.bytes().any(|byte| byte.is_ascii_alphabetic());
        if is_word {
            Ok(Self(name.to_owned()))
        } else {
            Err(ValueError::Format)
        }
    }
}

impl SenderId {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who sends, and how: what all messages of a batch have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sending {
    /// How a carrier should send it.
    pub r#type: Type,
    /// The name that a phone shows.
    pub sender_id: Option<SenderId>,
    /// Who sent it.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// The committee that he belonged to.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// When it was accepted.
    pub created_at: Instant,
}

/// A text message; what it says is kept apart, for a shorter time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sms {
    /// Which one; UUID v7.
    #[serde(rename = "smsID")]
    pub sms_id: SmsId,
    /// The batch that it belongs to.
    #[serde(rename = "batchID")]
    pub batch_id: Option<BatchId>,
    /// To whom.
    pub to: E164,
    /// How far it has come.
    pub status: State,
    /// The sender's own name for it.
    pub client_ref: Option<Line<64>>,
    /// In which alphabet it travels.
    pub encoding: Encoding,
    /// In how many parts, each of which is paid for.
    pub segments: u32,
    /// Why it was given up, once it was.
    pub failure: Option<Cause>,
    /// Who sent it, and how.
    #[serde(flatten)]
    pub sending: Sending,
    /// When it came to where it is.
    pub updated_at: Instant,
}

impl Sms {
    /// A message to `recipient` that says `text`, as it is accepted.
    pub fn new(
        sms_id: SmsId,
        batch_id: Option<BatchId>,
        recipient: Recipient,
        text: &str,
        sending: Sending,
    ) -> Self {
        let measured = measure(text);
        Self {
            sms_id,
            batch_id,
            to: recipient.to,
            status: State::Queued,
            client_ref: recipient.client_ref,
            encoding: measured.encoding,
            segments: measured.segments,
            failure: None,
            updated_at: sending.created_at,
            sending,
        }
    }
}

/// To whom a message goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recipient {
    /// The number.
    pub to: E164,
    /// The sender's own name for the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_ref: Option<Line<64>>,
}

/// A number that is not to be written to, in one committee or in all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OptOut {
    /// The number.
    pub number: E164,
    /// The committee that does not write to it; all when there is none.
    #[serde(rename = "committeeID")]
    pub committee_id: Option<CommitteeId>,
    /// Who noted it.
    pub created_by: UserId,
    /// When.
    pub created_at: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_measured_in_bytes() {
        for (text, expected) in [
            ("a\r\n\tb", Ok(())),
            (&"é".repeat(800), Ok(())),
            (&"é".repeat(801), Err(ValueError::Length)),
            (&"a".repeat(1600), Ok(())),
            (&"a".repeat(1601), Err(ValueError::Length)),
            (" \n", Err(ValueError::Required)),
            ("\u{200b}\u{feff} ", Err(ValueError::Required)),
            ("", Err(ValueError::Required)),
            ("a\u{0}", Err(ValueError::Format)),
        ] {
            assert_eq!(
                text.parse::<Text>().map(|_| ()),
                expected,
                "{} bytes",
                text.len()
            );
        }
    }

    #[test]
    fn a_sender_is_a_short_word() {
        for (name, expected) in [
            ("Halqa", Ok(())),
            ("ABCDEFGHIJK", Ok(())),
            ("1A", Ok(())),
            ("ABCDEFGHIJKL", Err(ValueError::Length)),
            ("123", Err(ValueError::Format)),
            ("Hal qa", Err(ValueError::Format)),
            ("Halqé", Err(ValueError::Format)),
            ("", Err(ValueError::Required)),
        ] {
            assert_eq!(name.parse::<SenderId>().map(|_| ()), expected, "{name}");
        }
    }
}
