//! Events that the worker did not get, kept in the queue of its failures
//! (<https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html>).

use bytes::Bytes;
use canary::AwsApi;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

/// Seconds in which nobody else receives a message that is replayed: ten invocations take at most as long.
const HIDDEN: u32 = 600;

/// The result of [`replay_events`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The events that the function has handled now. They are deleted.
    pub done: usize,
    /// Sweeps, and names of stream batches: the sweeps do their work. They are deleted.
    pub dropped: usize,
    /// Those that failed again. They stay in the queue.
    pub failed: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Received {
    #[serde(default)]
    messages: Vec<Message>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Message {
    body: String,
    receipt_handle: String,
}

/// The record of an event, or of a stream batch, which has no payload.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    request_context: Context,
    #[serde(default)]
    request_payload: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    function_arn: String,
}

/// Invokes the function with each delivery receipt, bounce and complaint in the queue at the URL `queue`, and deletes those
/// that it has handled. An event whose deletion fails is handled twice, which changes nothing.
///
/// # Errors
/// When SQS does not respond, or a message is no record of an invocation. Events that were handled before stay so.
pub async fn replay_events(api: &AwsApi, queue: &str) -> Result<Replayed, String> {
    let mut replayed = Replayed::default();
    loop {
        let wanted = json!({
            "QueueUrl": queue, "MaxNumberOfMessages": 10, "VisibilityTimeout": HIDDEN, "WaitTimeSeconds": 2,
        });
        let received = sqs(api, "ReceiveMessage", &wanted).await?;
        let received: Received = serde_json::from_slice(&received)
            .map_err(|error| format!("SQS answered what cannot be read: {error}."))?;
        if received.messages.is_empty() {
            return Ok(replayed);
        }
        for Message { body, receipt_handle } in received.messages {
            let record: Invocation = serde_json::from_str(&body)
                .map_err(|error| format!("A message is no record of an invocation: {error}."))?;
            let event = &record.request_payload;
            if !event["awslogs"].is_object() && event["source"] != "aws.ses" {
                replayed.dropped += 1;
            } else if is_handled(api, &record).await? {
                replayed.done += 1;
            } else {
                replayed.failed += 1;
                continue;
            }
            let message = json!({ "QueueUrl": queue, "ReceiptHandle": receipt_handle });
            sqs(api, "DeleteMessage", &message).await?;
        }
    }
}

/// Invokes what the alias `live` of the function is now, whichever version had the event, and waits for its end.
async fn is_handled(api: &AwsApi, record: &Invocation) -> Result<bool, String> {
    let arn: Vec<&str> = record.request_context.function_arn.split(':').take(7).collect();
    let path = format!("/2015-03-31/functions/{}%3Alive/invocations", arn.join("%3A"));
    let body = Bytes::from(record.request_payload.to_string());
    let response = api.send("lambda", Method::POST, &path, &[], body).await?;
    let has_failed = response.headers().contains_key("x-amz-function-error");
    Ok(response.status().is_success() && !has_failed)
}

/// The response to a request in SQS's JSON protocol
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html>).
async fn sqs(api: &AwsApi, operation: &str, request: &Value) -> Result<Bytes, String> {
    let target = format!("AmazonSQS.{operation}");
    let headers =
        [("x-amz-target", target.as_str()), ("content-type", "application/x-amz-json-1.0")];
    let body = Bytes::from(request.to_string());
    let response = api.send("sqs", Method::POST, "/", &headers, body).await?;
    if !response.status().is_success() {
        return Err(format!("SQS answered {} to {operation}.", response.status().as_u16()));
    }
    Ok(response.into_body())
}
