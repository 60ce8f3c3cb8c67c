//! Delivery receipts: Amazon SNS writes what became of each text message to CloudWatch Logs, and subscription filters
//! pass its log events to this function.

use std::io::Read;

use background::{AT_ONCE, LogData};
use data_encoding::BASE64;
use domain::{outbox::State, sms::Receipt};
use flate2::read::GzDecoder;
use futures_util::{StreamExt, stream};
use runtime::Error;
use serde::Deserialize;

use crate::Worker;

/// A bound on the memory that one event takes when it is decompressed.
const MAX_BYTES: u64 = 16_000_000;
/// Characters of the carrier's words that are kept.
const MAX_REASON: usize = 200;

/// The decompressed data of an event
/// (<https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html#LambdaFunctionExample>).
/// Messages of other types than `DATA_MESSAGE` only test the destination.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogBatch {
    message_type: String,
    #[serde(default)]
    log_events: Vec<LogEvent>,
}

#[derive(Deserialize)]
struct LogEvent {
    message: String,
}

/// A log event of SNS (<https://docs.aws.amazon.com/sns/latest/dg/sms_stats_cloudwatch.html>).
#[derive(Deserialize)]
struct DeliveryStatus {
    notification: Notification,
    delivery: Delivery,
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Notification {
    message_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delivery {
    #[serde(default)]
    provider_response: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Success,
    Failure,
}

impl Worker {
    /// Records the receipts of `logs`. The call can be repeated.
    ///
    /// # Errors
    /// The data is no log events, or a receipt could not be recorded; then the others are.
    pub(crate) async fn record_receipts(&self, logs: &LogData) -> Result<(), Error> {
        let batch = unpacked(&logs.data)?;
        if !batch.message_type.starts_with("DATA") {
            return Ok(());
        }
        let recorded = stream::iter(batch.log_events)
            .map(|event| async move { self.record_receipt(&event.message).await })
            .buffer_unordered(AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        recorded.into_iter().collect()
    }

    async fn record_receipt(&self, message: &str) -> Result<(), Error> {
        // Repeating the event would not make it readable. It is not logged, because it has a number.
        let Ok(status) = serde_json::from_str::<DeliveryStatus>(message) else {
            tracing::error!("a log event of SNS cannot be read");
            return Ok(());
        };
        let id = &status.notification.message_id;
        let receipt = status.receipt();
        if receipt.status == State::Undelivered {
            tracing::info!(id, reason = receipt.reason, "a text message was not delivered");
        }
        Ok(self.0.store.record_receipt(id, &receipt, self.0.clock.now()).await?)
    }
}

fn unpacked(data: &str) -> Result<LogBatch, Error> {
    let compressed = BASE64.decode(data.as_bytes())?;
    let mut json = Vec::new();
    GzDecoder::new(compressed.as_slice()).take(MAX_BYTES).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

impl DeliveryStatus {
    fn receipt(&self) -> Receipt {
        let words = self.delivery.provider_response.chars();
        Receipt {
            status: match self.status {
                Status::Success => State::Delivered,
                Status::Failure => State::Undelivered,
            },
            reason: words.take(MAX_REASON).collect(),
        }
    }
}
