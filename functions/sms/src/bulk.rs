//! `POST /sms/bulk`: sends messages to many numbers. Those to valid numbers are accepted in one transaction.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Fields, FromFields, InvalidField, Message, Now, Once,
    Permitted, flag, rights::SendBulkSms, success, text,
};
use domain::{
    BatchId, Instant,
    audit::AuditedAction,
    batch::{Batch, Chunk, Entry},
    segments::measure,
    sms::{Sending, Text},
    user::User,
};
use identity::random;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Store, Transaction};

use crate::{
    Messages, SendOptions,
    accepting::Submission,
    recipients::{
        CheckedRecipients, ClientRefs, RecipientInput, RecipientResult, RecipientStatus,
        SortedRecipients, Warning, warnings,
    },
};

const MAX_RECIPIENTS: usize = 1000;

/// Most bytes of all messages of a batch, which one transaction of at most 4 MB stores
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
const MAX_STORED: usize = 3_700_000;

pub(crate) struct SendBulkRequest {
    recipients: Vec<RecipientInput>,
    message: Option<Text>,
    options: SendOptions,
    dry_run: bool,
}

impl FromFields<Messages> for SendBulkRequest {
    const MAX_BYTES: usize = 2_000_000;

    fn from_fields(fields: &mut Fields, messages: &Messages) -> Result<Self, InvalidField> {
        let recipients =
            fields.objects_or_texts("recipients", MAX_RECIPIENTS, Some("to"), RecipientInput::of);
        let message = fields.nullable("message", text);
        let options = SendOptions::of(fields, messages);
        let dry_run = fields.optional_or("dryRun", flag, false);
        Ok(Self {
            recipients: recipients?,
            message: message?,
            options: options?,
            dry_run: dry_run?,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SendBulkResponse {
    batch: BatchSummary,
    results: Vec<RecipientResult>,
    /// Only of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<Warning>>,
}

#[derive(Serialize, Deserialize)]
struct BatchSummary {
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
    Once(request, key): Once<SendBulkRequest>,
) -> ApiResult<SendBulkResponse> {
    let sender = &sender.person.user;
    let submission = Submission { sender, key: &key, message: Message::SmsBulkAccepted, now };
    let client_refs = ClientRefs::of(&request.recipients);
    let response = messages.send_bulk(&submission, request, &client_refs).await?;
    Ok(response.map(|response| SendBulkResponse {
        results: client_refs.added_to(response.results),
        ..response
    }))
}

impl Messages {
    /// Sends the messages of `request`, unless it is a repetition or a dry run.
    ///
    /// # Errors
    /// `SMS_BULK_REJECTED_MESSAGE` when all recipients are rejected; those of [`Submission::earlier`] and
    /// [`Submission::accept`].
    async fn send_bulk(
        &self,
        submission: &Submission<'_>,
        request: SendBulkRequest,
        client_refs: &ClientRefs,
    ) -> ApiResult<SendBulkResponse> {
        let (sender, now) = (submission.sender, submission.now);
        let text = request.message.as_ref();
        let warnings = request.dry_run.then(|| warnings(text, &request.recipients));
        let checked = CheckedRecipients::new(request.recipients, text, self);
        let numbers = checked.numbers();
        let (earlier, opted_out) = tokio::join!(
            submission.earlier(self),
            self.store.opted_out(sender.committee_id, &numbers)
        );
        if let Some(response) = earlier? {
            return Ok(response);
        }
        drop(numbers);
        let batch_id = (!request.dry_run).then(|| BatchId::of(random::id(now)));
        let sorted = checked.sorted(&opted_out?, batch_id);
        if sorted.entries.is_empty() {
            return Err(all_rejected(&client_refs.added_to(sorted.results)));
        }
        if sorted.entries.iter().map(stored_bytes).sum::<usize>() > MAX_STORED {
            return Err(ErrorCode::PayloadTooLarge.into());
        }
        let batch = summary(&sorted, text, batch_id);
        let SortedRecipients { results, entries } = sorted;
        let response = SendBulkResponse { batch, results, warnings };
        let Some(batch_id) = batch_id else {
            return success(Message::SmsBulkAccepted, response);
        };
        let batch = response.batch.to_batch(batch_id, request.options.into_sending(sender, now));
        let tx = accept_transaction(&self.store, sender, &batch, text, entries, now);
        let was_accepted = async { Ok(self.store.batch(batch_id).await?.is_some()) };
        let count = batch.accepted.into();
        submission.accept(self, tx, count, response, was_accepted).await
    }
}

/// The transaction that accepts `batch`: the batch, its text, its chunks and the audit entry.
fn accept_transaction(
    store: &Store,
    sender: &User,
    batch: &Batch,
    text: Option<&Text>,
    entries: Vec<Entry>,
    now: Instant,
) -> Transaction {
    let mut tx = store.transaction();
    tx.accept_batch(batch, text, &chunks(batch, entries));
    tx.record_audit(&AuditedAction::of_batch(batch).by(sender, random::id(now), now));
    tx
}

/// Bytes that `entry` has in its chunk at most.
fn stored_bytes(entry: &Entry) -> usize {
    entry.text.as_ref().map_or(0, |text| text.as_str().len()) + 200
}

fn all_rejected(results: &[RecipientResult]) -> ApiError {
    ApiError::from(ErrorCode::SmsBulkRejected).with_data(json!({ "results": results }))
}

fn summary(
    sorted: &SortedRecipients,
    common: Option<&Text>,
    batch_id: Option<BatchId>,
) -> BatchSummary {
    let common = common.map_or(0, |text| measure(text.as_str()).segments);
    let segments =
        |entry: &Entry| entry.text.as_ref().map_or(common, |text| measure(text.as_str()).segments);
    let (accepted, rejected, duplicates) = (
        sorted.count(RecipientStatus::Queued),
        sorted.count(RecipientStatus::Rejected),
        sorted.count(RecipientStatus::Duplicate),
    );
    let segments = sorted.entries.iter().map(segments).sum();
    BatchSummary {
        batch_id,
        total: accepted + rejected + duplicates,
        accepted,
        rejected,
        duplicates,
        segments,
    }
}

impl BatchSummary {
    const fn to_batch(&self, batch_id: BatchId, sending: Sending) -> Batch {
        let Self { total, accepted, rejected, duplicates, segments, .. } = *self;
        Batch { batch_id, total, accepted, rejected, duplicates, segments, sending }
    }
}

fn chunks(batch: &Batch, entries: Vec<Entry>) -> Vec<Chunk> {
    let groups =
        entries.chunk_by(|one, other| Chunk::number_of(one.place) == Chunk::number_of(other.place));
    let chunk = |entries: &[Entry]| Chunk {
        batch_id: batch.batch_id,
        number: entries.first().map_or(0, |entry| Chunk::number_of(entry.place)),
        sending: batch.sending.clone(),
        entries: entries.to_vec(),
    };
    groups.map(chunk).collect()
}
