//! Text messages that people send: one, or many at once.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    BatchId, CommitteeId, E164, Flaw, Instant, Line, SmsId, UserId,
    choice::choice,
    outbox::State,
    segments::{Encoding, measure},
    text::is_invisible,
};

/// No carrier wants it later than this: then it has failed.
pub const LIFE: Duration = Duration::from_secs(86_400);
/// Recipients of a batch whose messages become messages of their own together.
pub const CHUNK: u16 = 25;

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
        Refused "CARRIER_REFUSED"
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

/// Bytes of a text.
const MAX_BYTES: usize = 1600;

impl std::str::FromStr for Text {
    type Err = Flaw;

    /// `Required` for nothing that can be seen, `Format` for other control characters than `\n \r \t`, `Length`
    /// beyond 1,600 bytes.
    fn from_str(text: &str) -> Result<Self, Flaw> {
        let prose: crate::Prose<MAX_BYTES> = text.parse()?;
        if text.chars().all(|letter| letter.is_whitespace() || is_invisible(letter)) {
            return Err(Flaw::Required);
        }
        if text.len() > MAX_BYTES { Err(Flaw::Length) } else { Ok(Self(prose.as_str().to_owned())) }
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
    type Err = Flaw;

    /// `Required` for nothing, `Length` beyond 11, `Format` for other signs.
    fn from_str(text: &str) -> Result<Self, Flaw> {
        let line: Line<11> = text.parse()?;
        let name = line.as_str();
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && name.bytes().any(|byte| byte.is_ascii_alphabetic());
        if is_word { Ok(Self(name.to_owned())) } else { Err(Flaw::Format) }
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

impl Chunk {
    /// Which chunk has the recipient at `place`.
    pub const fn with(place: u16) -> u16 {
        place / CHUNK
    }

    /// The messages of the chunk, with what they say of their own; what they say otherwise is `common`.
    pub fn messages(self, common: Option<&Text>) -> impl Iterator<Item = (Sms, Option<Text>)> {
        let Self { batch_id, sending, entries, .. } = self;
        entries.into_iter().map(move |Entry { place, recipient, text }| {
            let says = text.as_ref().or(common).map_or("", Text::as_str);
            (Sms::new(batch_id.message(place), Some(batch_id), recipient, says, sending.clone()), text)
        })
    }
}

impl Sms {
    /// A message to `recipient` that says `text`, as it is accepted.
    pub fn new(sms_id: SmsId, batch_id: Option<BatchId>, recipient: Recipient, text: &str, sending: Sending) -> Self {
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

/// Messages that were sent to many at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    /// Which one; UUID v7.
    #[serde(rename = "batchID")]
    pub batch_id: BatchId,
    /// How many recipients were named.
    pub total: u32,
    /// How many of them are written to.
    pub accepted: u32,
    /// How many of them may not be.
    pub rejected: u32,
    /// How many were named before with the same text.
    pub duplicates: u32,
    /// In how many parts all of it travels.
    pub segments: u32,
    /// Who sent it, and how.
    #[serde(flatten)]
    pub sending: Sending,
}

impl Batch {
    /// How many chunks it may be written in: none is written for recipients who all may not be written to.
    pub fn chunks(&self) -> u16 {
        u16::try_from(self.total).unwrap_or(u16::MAX).div_ceil(CHUNK)
    }
}

impl BatchId {
    /// The batch `id`, whose twelve bits of chance or counting (RFC 9562 §6.2) become 0.
    pub fn of(id: Uuid) -> Self {
        Self::new(counted(id, 0))
    }

    /// The message to the recipient at `place` in the batch, from 0. It is the batch's identifier, counted
    /// on: whoever expands the batch again comes to the same identifiers, which sort as the recipients do and
    /// lead back to the batch.
    pub fn message(self, place: u16) -> SmsId {
        SmsId::new(counted(self.uuid(), place + 1))
    }

    /// The batch that the message `id` is one of, and its place there, if it is one of a batch.
    pub fn of_message(id: SmsId) -> Option<(Self, u16)> {
        let bytes = id.uuid().into_bytes();
        let count = u16::from_be_bytes([bytes[6] & 0x0f, bytes[7]]);
        Some((Self::of(id.uuid()), count.checked_sub(1)?))
    }
}

fn counted(id: Uuid, count: u16) -> Uuid {
    let mut bytes = id.into_bytes();
    let [high, low] = (count & 0x0fff).to_be_bytes();
    bytes[6] = (bytes[6] & 0xf0) | high;
    bytes[7] = low;
    Uuid::from_bytes(bytes)
}

/// Some messages of a batch, before they are messages of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk {
    /// The batch.
    #[serde(rename = "batchID")]
    pub batch_id: BatchId,
    /// Which part of it, from 0.
    pub number: u16,
    /// Who sent it, and how.
    pub sending: Sending,
    /// Those of [`CHUNK`] recipients that are written to.
    pub entries: Vec<Entry>,
}

/// A message of a batch: what is its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its place among the recipients, from 0.
    pub place: u16,
    /// To whom.
    #[serde(flatten)]
    pub recipient: Recipient,
    /// What it says, where that is not what the batch says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
}

/// How far the messages of a batch have come; together they are those that were accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Still to be sent.
    pub queued: u32,
    /// On their way.
    pub sending: u32,
    /// Taken by the carrier.
    pub sent: u32,
    /// Given up.
    pub failed: u32,
    /// Nobody knows.
    pub unknown: u32,
}

impl Progress {
    /// Of `accepted` messages those in `found` have come so far; those that are not there yet are queued.
    pub fn of(accepted: u32, found: impl IntoIterator<Item = State>) -> Self {
        let mut progress = Self::default();
        for state in found {
            match state {
                State::Queued => {}
                State::Sending => progress.sending += 1,
                State::Sent => progress.sent += 1,
                State::Failed => progress.failed += 1,
                State::Unknown => progress.unknown += 1,
            }
        }
        progress.queued = accepted.saturating_sub(progress.sending + progress.sent + progress.failed + progress.unknown);
        progress
    }
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
            (&"é".repeat(801), Err(Flaw::Length)),
            (&"a".repeat(1600), Ok(())),
            (&"a".repeat(1601), Err(Flaw::Length)),
            (" \n", Err(Flaw::Required)),
            ("\u{200b}\u{feff} ", Err(Flaw::Required)),
            ("", Err(Flaw::Required)),
            ("a\u{0}", Err(Flaw::Format)),
        ] {
            assert_eq!(text.parse::<Text>().map(|_| ()), expected, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_sender_is_a_short_word() {
        for (name, expected) in [
            ("Halqa", Ok(())),
            ("ABCDEFGHIJK", Ok(())),
            ("1A", Ok(())),
            ("ABCDEFGHIJKL", Err(Flaw::Length)),
            ("123", Err(Flaw::Format)),
            ("Hal qa", Err(Flaw::Format)),
            ("Halqé", Err(Flaw::Format)),
            ("", Err(Flaw::Required)),
        ] {
            assert_eq!(name.parse::<SenderId>().map(|_| ()), expected, "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn identifiers_of_a_batch_differ_sort_and_are_version_7(chance in proptest::array::uniform10(0u8..), one in 0u16..1000, other in 0u16..1000) {
            let batch = BatchId::of(uuid::Builder::from_unix_timestamp_millis(1_795_000_000_000, &chance).into_uuid());
            let (first, second) = (batch.message(one), batch.message(other));
            proptest::prop_assert_eq!(first.cmp(&second), one.cmp(&other));
            proptest::prop_assert_eq!(first.uuid().get_version_num(), 7);
            proptest::prop_assert_eq!(BatchId::of_message(first), Some((batch, one)));
            proptest::prop_assert_eq!(BatchId::of_message(SmsId::new(batch.uuid())), None);
        }

        #[test]
        fn progress_adds_up(accepted in 0u32..1000, found in proptest::collection::vec(0u8..5, 0..50)) {
            let states = [State::Queued, State::Sending, State::Sent, State::Failed, State::Unknown];
            let accepted = accepted.max(found.len() as u32);
            let Progress { queued, sending, sent, failed, unknown } = Progress::of(accepted, found.iter().map(|number| states[usize::from(*number)]));
            proptest::prop_assert_eq!(queued + sending + sent + failed + unknown, accepted);
        }
    }
}
