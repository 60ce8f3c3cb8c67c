//! The keys of outbox messages, which the service sends, and of text messages, which users send.

use domain::{BatchId, CommitteeId, E164, Instant, SmsId, UserId, sms::OptOut};
use uuid::Uuid;

use super::{AUTHORED, IndexKey, Key, LISTING, PUBLISHED, hashed, records, shard, transient};

pub(crate) fn outbox(id: Uuid) -> Key {
    records(format!("{OUTBOX_PREFIX}{id}"), "OUTBOX")
}

pub(crate) const OUTBOX_PREFIX: &str = "OUTBOX#";

pub(crate) fn sms(id: SmsId) -> Key {
    records(format!("{SMS_PREFIX}{id}"), "SMS")
}

pub(crate) const SMS_PREFIX: &str = "SMS#";

pub(crate) fn sms_text(id: SmsId) -> Key {
    records(format!("{SMS_PREFIX}{id}"), "TEXT")
}

pub(crate) fn batch(id: BatchId) -> Key {
    records(format!("BATCH#{id}"), "BATCH")
}

pub(crate) fn batch_text(id: BatchId) -> Key {
    records(format!("BATCH#{id}"), "TEXT")
}

/// Each chunk has its own partition, so that the chunks of a batch do not share its throughput.
pub(crate) fn chunk(batch: BatchId, number: u16) -> Key {
    chunk_of(&format!("{CHUNK_PREFIX}{batch}#{number}"))
}

pub(crate) fn chunk_of(pk: &str) -> Key {
    records(pk.to_owned(), "CHUNK")
}

pub(crate) const CHUNK_PREFIX: &str = "CHUNK#";

/// List partition of the messages that a user sent; their identifiers sort by time.
pub(crate) fn sms_by(user: UserId) -> String {
    format!("USER#{user}#SMS")
}

pub(crate) fn sms_of_user_index_key(user: UserId, id: SmsId) -> IndexKey {
    IndexKey { index: &AUTHORED, pk: sms_by(user), sk: id.to_string() }
}

/// The list of the messages that were sent in a committee, in shards: several of its users may send at the same time.
pub(crate) fn sms_in(committee: CommitteeId) -> String {
    format!("COMMITTEE#{committee}#SMS")
}

pub(crate) fn sms_of_committee_index_key(committee: CommitteeId, id: SmsId) -> IndexKey {
    let id = id.to_string();
    IndexKey { index: &PUBLISHED, pk: shard(&sms_in(committee), &id), sk: id }
}

/// List partition of the messages of a batch; their identifiers sort in the order of the recipients.
pub(crate) fn sms_of_batch(batch: BatchId) -> String {
    format!("BATCH#{batch}#SMS")
}

pub(crate) fn sms_of_batch_index_key(batch: BatchId, id: SmsId) -> IndexKey {
    IndexKey { index: &LISTING, pk: sms_of_batch(batch), sk: id.to_string() }
}

pub(crate) fn batches_by(user: UserId) -> String {
    format!("USER#{user}#BATCHES")
}

pub(crate) fn batch_of_user_index_key(user: UserId, id: BatchId) -> IndexKey {
    IndexKey { index: &AUTHORED, pk: batches_by(user), sk: id.to_string() }
}

/// List partition of the batches that were sent in a committee.
pub(crate) fn batches_in(committee: CommitteeId) -> String {
    format!("COMMITTEE#{committee}#BATCHES")
}

pub(crate) fn batch_of_committee_index_key(committee: CommitteeId, id: BatchId) -> IndexKey {
    IndexKey { index: &PUBLISHED, pk: batches_in(committee), sk: id.to_string() }
}

pub(crate) fn opt_out(committee: Option<CommitteeId>, number: &E164) -> Key {
    records(format!("OPTOUT#{}#{}", scope(committee), hashed(number.as_str())), "OPTOUT")
}

/// List partition of the opt-outs of a committee, or of those for all committees (`None`).
pub(crate) fn opt_outs_of(committee: Option<CommitteeId>) -> String {
    format!("OPTOUTS#{}", scope(committee))
}

pub(crate) fn opt_out_index_key(opt_out: &OptOut) -> IndexKey {
    let sk = format!("{}#{}", opt_out.created_at, hashed(opt_out.number.as_str()));
    IndexKey { index: &LISTING, pk: opt_outs_of(opt_out.committee_id), sk }
}

fn scope(committee: Option<CommitteeId>) -> String {
    committee.map_or_else(|| "ALL".to_owned(), |committee| committee.to_string())
}

pub(crate) fn sms_quota_of_user(user: UserId, now: Instant) -> Key {
    transient(format!("QUOTA#USER#{user}#{}", now.day()), "QUOTA")
}

pub(crate) fn sms_quota_of_committee(committee: CommitteeId, now: Instant) -> Key {
    transient(format!("QUOTA#COMMITTEE#{committee}#{}", now.day()), "QUOTA")
}

/// Bytes of the files that `user` announced on the day of `now`.
pub(crate) fn file_quota(user: UserId, now: Instant) -> Key {
    transient(format!("QUOTA#FILES#{user}#{}", now.day()), "QUOTA")
}

/// What is known under the id that the carrier gave a text message: the message, its receipt, or both.
pub(crate) fn receipt(message_id: &str) -> Key {
    transient(format!("RECEIPT#{message_id}"), "RECEIPT")
}

/// Texts that were about to be sent to `number`, by time.
pub(crate) fn texts_to(number: &E164) -> String {
    format!("TEXTS#{}", hashed(number.as_str()))
}

/// The entry of the message with the partition key `message`, which was about to be sent to `number` at `at`.
pub(crate) fn text_to(number: &E164, at: Instant, message: &str) -> Key {
    transient(texts_to(number), &text_at(at, message))
}

/// The sort key of such an entry.
pub(crate) fn text_at(at: Instant, message: &str) -> String {
    format!("AT#{at}#{message}")
}

pub(crate) fn rate() -> Key {
    transient("RATE".to_owned(), "RATE")
}

/// The next place of `committee` in the order in which messages of batches are sent.
pub(crate) fn next_place(committee: CommitteeId) -> Key {
    transient(format!("PLACE#{committee}"), "PLACE")
}

pub(crate) fn idempotency(request: &str) -> Key {
    transient(format!("IDEMPOTENCY#{}", hashed(request)), "IDEMPOTENCY")
}

/// The list in the index `due` of outbox messages.
pub const OUTBOX_DUE: &str = "OUTBOX";

/// The list in the index `due` of single text messages, which wait for the sending rate.
pub const SINGLE_DUE: &str = "SINGLE";

/// The list in the index `due` of messages of batches that wait for their turn: their due times are places in the order
/// of sending. Only the sweep sends them, not the stream.
pub const BULK_DUE: &str = "BULK";

/// The list in the index `due` of messages of batches whose turn has come: leased, claimed, or to be sent again.
pub const STARTED_DUE: &str = "STARTED";

/// The list in the index `due` of chunks, until they are expanded into messages.
pub const CHUNKS_DUE: &str = "CHUNKS";
