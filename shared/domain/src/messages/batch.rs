//! Batches: text messages to many recipients in one request.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    BatchId, SmsId,
    outbox::State,
    sms::{Recipient, Sending, Sms, Text},
};

/// Recipients per [`Chunk`].
pub const CHUNK: u16 = 25;

/// A batch of text messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    /// UUID v7 whose counter bits are 0; see [`BatchId::of`].
    #[serde(rename = "batchID")]
    pub batch_id: BatchId,
    /// Recipients in the request.
    pub total: u32,
    /// Recipients who get a message.
    pub accepted: u32,
    /// Recipients who must not get one.
    pub rejected: u32,
    /// Recipients that repeat an earlier one with the same text.
    pub duplicates: u32,
    /// SMS segments of all accepted messages.
    pub segments: u32,
    /// Sender and options of all messages.
    #[serde(flatten)]
    pub sending: Sending,
}

impl Batch {
    /// Upper bound of the number of stored chunks: a chunk without accepted recipients is not stored.
    pub fn chunks(&self) -> u16 {
        u16::try_from(self.total).unwrap_or(u16::MAX).div_ceil(CHUNK)
    }
}

impl BatchId {
    /// Makes a batch identifier of a UUID v7: the 12 bits that can hold a counter (RFC 9562 §6.2) become 0.
    pub fn of(id: Uuid) -> Self {
        Self::new(with_counter(id, 0))
    }

    /// The identifier of the message to the recipient at index `place`, 0 to 4,094: the batch's identifier with the
    /// counter `place + 1`. Expanding a batch again gives the same identifiers. They sort in the order of the
    /// recipients.
    pub fn message(self, place: u16) -> SmsId {
        SmsId::new(with_counter(self.uuid(), place + 1))
    }

    /// The batch of the message `id` and the recipient's index; `None` for a single message.
    pub fn of_message(id: SmsId) -> Option<(Self, u16)> {
        let bytes = id.uuid().into_bytes();
        let count = u16::from_be_bytes([bytes[6] & 0x0f, bytes[7]]);
        Some((Self::of(id.uuid()), count.checked_sub(1)?))
    }
}

fn with_counter(id: Uuid, count: u16) -> Uuid {
    let mut bytes = id.into_bytes();
    let [high, low] = (count & 0x0fff).to_be_bytes();
    bytes[6] = (bytes[6] & 0xf0) | high;
    bytes[7] = low;
    Uuid::from_bytes(bytes)
}

/// Up to [`CHUNK`] messages of a batch, before they are expanded into [`Sms`] items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk {
    /// The batch that the chunk belongs to.
    #[serde(rename = "batchID")]
    pub batch_id: BatchId,
    /// The chunk's index in the batch, from 0.
    pub number: u16,
    /// Sender and options, the same as the batch's.
    pub sending: Sending,
    /// The accepted recipients.
    pub entries: Vec<Entry>,
}

/// What distinguishes one message from the others in its batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The recipient's index in the batch, from 0.
    pub place: u16,
    /// The recipient.
    #[serde(flatten)]
    pub recipient: Recipient,
    /// The message's own text; `None` if it has the text of the batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
}

impl Chunk {
    /// The index of the chunk that contains the recipient at index `place`.
    pub const fn number_of(place: u16) -> u16 {
        place / CHUNK
    }

    /// The messages of the chunk, each with its own text if it has one. `common` is the text of the others.
    pub fn messages(self, common: Option<&Text>) -> impl Iterator<Item = (Sms, Option<Text>)> {
        let Self { batch_id, sending, entries, .. } = self;
        entries.into_iter().map(move |Entry { place, recipient, text }| {
            let content = text.as_ref().or(common).map_or("", Text::as_str);
            let (id, sending) = (batch_id.message(place), sending.clone());
            (Sms::new(id, Some(batch_id), recipient, content, sending), text)
        })
    }
}

/// Number of messages of a batch in each state. The sum is the number of accepted messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Not sent yet.
    pub queued: u32,
    /// Claimed by the process that sends it.
    pub sending: u32,
    /// Accepted by the carrier.
    pub sent: u32,
    /// Failed permanently.
    pub failed: u32,
    /// Sent with an unknown outcome.
    pub unknown: u32,
    /// Reported by the carrier as delivered.
    pub delivered: u32,
    /// Reported by the carrier as not delivered.
    pub undelivered: u32,
}

impl Progress {
    /// Counts the states in `found`. Those of the `accepted` messages that are not in `found` are not expanded yet and
    /// count as queued.
    pub fn of(accepted: u32, found: impl IntoIterator<Item = State>) -> Self {
        let mut progress = Self { queued: accepted, ..Self::default() };
        for state in found {
            let count = match state {
                State::Queued => continue,
                State::Sending => &mut progress.sending,
                State::Sent => &mut progress.sent,
                State::Failed => &mut progress.failed,
                State::Unknown => &mut progress.unknown,
                State::Delivered => &mut progress.delivered,
                State::Undelivered => &mut progress.undelivered,
            };
            *count += 1;
            progress.queued = progress.queued.saturating_sub(1);
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn batch_message_ids_are_distinct_sorted_uuid_v7(random in proptest::array::uniform10(0u8..), one in 0u16..1000, other in 0u16..1000) {
            let batch = BatchId::of(uuid::Builder::from_unix_timestamp_millis(1_795_000_000_000, &random).into_uuid());
            let (first, second) = (batch.message(one), batch.message(other));
            proptest::prop_assert_eq!(first.cmp(&second), one.cmp(&other));
            proptest::prop_assert_eq!(first.uuid().get_version_num(), 7);
            proptest::prop_assert_eq!(BatchId::of_message(first), Some((batch, one)));
            proptest::prop_assert_eq!(BatchId::of_message(SmsId::new(batch.uuid())), None);
        }

        #[test]
        fn progress_counts_sum_to_accepted(accepted in 0u32..1000, found in proptest::collection::vec(0u8..7, 0..50)) {
            let states = [
                State::Queued, State::Sending, State::Sent, State::Failed, State::Unknown, State::Delivered, State::Undelivered,
            ];
            let accepted = accepted.max(found.len() as u32);
            let Progress { queued, sending, sent, failed, unknown, delivered, undelivered } = Progress::of(accepted, found.iter().map(|number| states[usize::from(*number)]));
            proptest::prop_assert_eq!(queued + sending + sent + failed + unknown + delivered + undelivered, accepted);
        }
    }
}
