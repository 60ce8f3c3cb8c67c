//! Text messages that are sent to many at once.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    BatchId, SmsId,
    outbox::State,
    sms::{Recipient, Sending, Sms, Text},
};

/// Recipients of a batch whose messages become messages of their own together.
pub const CHUNK: u16 = 25;

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
        u16::try_from(self.total)
            .unwrap_or(u16::MAX)
            .div_ceil(CHUNK)
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

impl Chunk {
    /// Which chunk has the recipient at `place`.
    pub const fn with(place: u16) -> u16 {
        place / CHUNK
    }

    /// The messages of the chunk, with what they say of their own; what they say otherwise is `common`.
    pub fn messages(self, common: Option<&Text>) -> impl Iterator<Item = (Sms, Option<Text>)> {
        let Self {
            batch_id,
            sending,
            entries,
            ..
        } = self;
        entries.into_iter().map(
            move |Entry {
                      place,
                      recipient,
                      text,
                  }| {
                let says = text.as_ref().or(common).map_or("", Text::as_str);
                (
                    Sms::new(
                        batch_id.message(place),
                        Some(batch_id),
                        recipient,
                        says,
                        sending.clone(),
                    ),
                    text,
                )
            },
        )
    }
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
        progress.queued = accepted
            .saturating_sub(progress.sending + progress.sent + progress.failed + progress.unknown);
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
