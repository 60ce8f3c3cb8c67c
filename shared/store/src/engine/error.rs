//! The error type of this crate.

use std::{fmt, time::Duration};

use aws_sdk_dynamodb::{
    config::http::HttpResponse,
    error::{DisplayErrorContext, ProvideErrorMetadata, SdkError},
    operation::RequestId,
};

/// A request to the tables failed, or a counter is full. The texts are for logs, not for clients.
#[derive(Debug)]
pub enum StoreError {
    /// DynamoDB throttled the request, because of a limit of a table or of the account; nothing was written.
    Throttled,
    /// DynamoDB throttled the request, because its partition gets more than it serves; nothing was written.
    HotKey,
    /// Another transaction held or changed an item of this request; nothing was written.
    TransactionConflict,
    /// A counter has reached its limit. What was counted is released, unless that fails.
    Full {
        /// What it counts.
        name: &'static str,
        /// The time until its window ends.
        wait: Duration,
    },
    /// No response, or an internal error of DynamoDB: the write may have taken effect.
    Unavailable(String),
    /// An invalid request, or an item of an unexpected shape.
    Unexpected(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throttled => out.write_str("the store throttled the request"),
            Self::HotKey => out.write_str("the store throttled the partition of the request"),
            Self::TransactionConflict => out.write_str("another transaction holds the item"),
            Self::Full { name, .. } => write!(out, "the counter {name} is full"),
            Self::Unavailable(cause) => write!(out, "the store is unavailable: {cause}"),
            Self::Unexpected(cause) => write!(out, "unexpected store error: {cause}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl<E> From<SdkError<E, HttpResponse>> for StoreError
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    SdkError<E, HttpResponse>: RequestId,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        // AWS support needs the request id; the message never contains an item.
        let cause = || {
            format!(
                "{} (request {})",
                DisplayErrorContext(&error),
                error.request_id().unwrap_or("unknown")
            )
        };
        match &error {
            SdkError::ServiceError(service) => match service.err().code() {
                Some(
                    "ProvisionedThroughputExceededException"
                    | "ThrottlingException"
                    | "RequestLimitExceeded",
                ) => {
                    if has_hot_key(service.raw()) {
                        Self::HotKey
                    } else {
                        Self::Throttled
                    }
                }
                Some("TransactionConflictException" | "TransactionInProgressException") => {
                    Self::TransactionConflict
                }
                // Whatever the code: InternalServerError, InternalFailure, ServiceUnavailable
                // (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html>).
                _ if service.raw().status().is_server_error() => Self::Unavailable(cause()),
                Some("RequestTimeout" | "RequestTimeoutException") | None => {
                    Self::Unavailable(cause())
                }
                Some(_) => Self::Unexpected(cause()),
            },
            SdkError::ConstructionFailure(_) => Self::Unexpected(cause()),
            _ => Self::Unavailable(cause()),
        }
    }
}

/// Whether one of the reasons of a throttling error is the limit of a partition
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html>).
fn has_hot_key(response: &HttpResponse) -> bool {
    let body = response.body().bytes().unwrap_or_default();
    String::from_utf8_lossy(body).contains("KeyRangeThroughputExceeded")
}

impl From<serde_dynamo::Error> for StoreError {
    fn from(error: serde_dynamo::Error) -> Self {
        Self::Unexpected(format!("an item has an unexpected shape: {error}"))
    }
}

impl From<aws_sdk_dynamodb::error::BuildError> for StoreError {
    fn from(error: aws_sdk_dynamodb::error::BuildError) -> Self {
        Self::Unexpected(error.to_string())
    }
}
