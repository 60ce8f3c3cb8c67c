//! `POST /sms/bulk`: messages to many numbers, all accepted at once or none.

use axum::extract::State;
use bytes::Bytes;
use common::{
    Failure, Fields, FromFields, Input, Message, Now, Permitted, Refusal, Refused, Reply, flag,
    rights::SendBulkSms, text, told,
};
use domain::{
    BatchId,
    audit::AuditEntry,
    batch::{Batch, Chunk, Entry},
    segments::measure,
    sms::{Sending, Text},
};
use identity::chance;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Manner, Messages,
    accepting::IdempotencyKey,
    recipients::{Addressed, Fate, Sorted, Told, Wanted},
};

/// No call names more recipients.
const MOST: usize = 1000;

pub(crate) struct SendBulkRequest {
    recipients: Vec<Wanted>,
    message: Option<Text>,
    manner: Manner,
    dry_run: bool,
    body: Bytes,
}

impl FromFields<Messages> for SendBulkRequest {
    const MAX_BYTES: usize = 2_000_000;

    fn from_fields(fields: &mut Fields, messages: &Messages) -> Option<Self> {
        let body = fields.body().clone();
        let recipients = fields.objects_or_texts("recipients", MOST, Some("to"), Wanted::of);
        let message = fields.nullable("message", text);
        let manner = Manner::of(fields, messages);
        let dry_run = fields.optional_or("dryRun", flag, false);
        Some(Self {
            recipients: recipients?,
            message: message?,
            manner: manner?,
            dry_run: dry_run?,
            body,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SendBulkResponse {
    batch: Counted,
    results: Vec<Told>,
}

#[derive(Serialize, Deserialize)]
struct Counted {
    #[serde(rename = "batchID")]
    batch_id: Option<BatchId>,
    total: u32,
    accepted: u32,
    rejected: u32,
    duplicates: u32,
    segments: u32,
}

pub(crate) async fn send(
    State(messages): State<Messages>,
    Now(now): Now,
    sender: Permitted<SendBulkSms>,
    key: IdempotencyKey,
    Input(input): Input<SendBulkRequest>,
) -> Reply<SendBulkResponse> {
    let (user, said) = (&sender.person.user, Message::SmsBulkAccepted);
    let SendBulkRequest {
        recipients,
        message,
        manner,
        dry_run,
        body,
    } = input;
    let request = key.request(user.user_id, "POST /sms/bulk", &body)?;
    let addressed = Addressed::new(recipients, message.as_ref(), &messages);
    let numbers = addressed.numbers();
    let (earlier, opted_out) = tokio::join!(
        messages.replay(request.as_ref(), said, now),
        messages.store.opted_out(user.committee_id, &numbers)
    );
    if let Some(reply) = earlier? {
        return reply;
    }
    drop(numbers);
    let batch_id = (!dry_run).then(|| BatchId::of(chance::id(now)));
    let sorted = addressed.sorted(&opted_out?, batch_id);
    if sorted.entries.is_empty() {
        return Err(nobody(&sorted));
    }
    let counted = counted(&sorted, message.as_ref(), batch_id);
    let Sorted { results, entries } = sorted;
    let (sending, answer) = (
        manner.by(user, now),
        SendBulkResponse {
            batch: counted,
            results,
        },
    );
    let Some(batch_id) = batch_id else {
        return told(said, answer);
    };

    let batch = answer.batch.accepted(batch_id, sending);
    let mut accept = messages.store.transaction();
    if let Some(request) = &request {
        accept.answer_once(request, serde_json::to_string(&answer)?, now);
    }
    accept.count_sms(
        user.user_id,
        user.committee_id,
        batch.accepted.into(),
        messages.quota,
        now,
    );
    accept.accept_batch(&batch, message.as_ref(), &chunks(&batch, entries));
    accept.note(&AuditEntry::of_batch(chance::id(now), &batch));
    let is_kept = async { Ok(messages.store.batch(batch_id).await?.is_some()) };
    messages
        .settle(accept, request.as_ref(), said, answer, is_kept, now)
        .await
}

/// There is nobody among them who may be written to.
fn nobody(sorted: &Sorted) -> Failure {
    Refused::from(Refusal::SmsBulkRejected)
        .with(json!({ "results": sorted.results }))
        .into()
}

fn counted(sorted: &Sorted, common: Option<&Text>, batch_id: Option<BatchId>) -> Counted {
    let common = common.map_or(0, |text| measure(text.as_str()).segments);
    let segments = |entry: &Entry| {
        entry
            .text
            .as_ref()
            .map_or(common, |text| measure(text.as_str()).segments)
    };
    let (accepted, rejected, duplicates) = (
        sorted.count(Fate::Queued),
        sorted.count(Fate::Rejected),
        sorted.count(Fate::Duplicate),
    );
    let segments = sorted.entries.iter().map(segments).sum();
    Counted {
        batch_id,
        total: accepted + rejected + duplicates,
        accepted,
        rejected,
        duplicates,
        segments,
    }
}

impl Counted {
    const fn accepted(&self, batch_id: BatchId, sending: Sending) -> Batch {
        let Self {
            total,
            accepted,
            rejected,
            duplicates,
            segments,
            ..
        } = *self;
        Batch {
            batch_id,
            total,
            accepted,
            rejected,
            duplicates,
            segments,
            sending,
        }
    }
}

fn chunks(batch: &Batch, entries: Vec<Entry>) -> Vec<Chunk> {
    let chunks = entries.chunk_by(|one, other| Chunk::with(one.place) == Chunk::with(other.place));
    let chunk = |entries: &[Entry]| Chunk {
        batch_id: batch.batch_id,
        number: entries.first().map_or(0, |entry| Chunk::with(entry.place)),
        sending: batch.sending.clone(),
        entries: entries.to_vec(),
    };
    chunks.map(chunk).collect()
}
