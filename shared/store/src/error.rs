//! What goes wrong between us and the tables.

use std::fmt;

use aws_sdk_dynamodb::{
    error::{DisplayErrorContext, ProvideErrorMetadata, SdkError},
    operation::RequestId,
};

/// The tables did not do what was asked. Nothing in it is for clients.
#[derive(Debug)]
pub enum StoreError {
    /// The tables answered that this item or account is asked too much.
    Throttled,
    /// Another transaction held the item; nothing was done.
    TransactionConflict,
    /// Others changed the item each time that it was to be changed, until the deadline; nothing was done.
    UpdateConflict,
    /// No answer, or none that says what happened: it may have been done.
    Unavailable(String),
    /// We asked for something that makes no sense, or found an item that does not.
    Unexpected(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throttled => out.write_str("the store throttles"),
            Self::TransactionConflict => out.write_str("another transaction holds the item"),
            Self::UpdateConflict => out.write_str("others changed the item until the deadline"),
            Self::Unavailable(cause) => write!(out, "the store is out of reach: {cause}"),
            Self::Unexpected(cause) => write!(out, "the store refused or surprised us: {cause}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl<E, R> From<SdkError<E, R>> for StoreError
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    R: fmt::Debug,
    SdkError<E, R>: RequestId,
{
    fn from(error: SdkError<E, R>) -> Self {
        // The request id is what AWS support asks for; the message never holds an item.
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
                ) => Self::Throttled,
                Some("TransactionConflictException" | "TransactionInProgressException") => {
                    Self::TransactionConflict
                }
                Some("InternalServerError" | "ServiceUnavailable") | None => {
                    Self::Unavailable(cause())
                }
                Some(_) => Self::Unexpected(cause()),
            },
            SdkError::ConstructionFailure(_) => Self::Unexpected(cause()),
            _ => Self::Unavailable(cause()),
        }
    }
}

impl From<serde_dynamo::Error> for StoreError {
    fn from(error: serde_dynamo::Error) -> Self {
        Self::Unexpected(format!("an item has another shape than expected: {error}"))
    }
}

impl From<aws_sdk_dynamodb::error::BuildError> for StoreError {
    fn from(error: aws_sdk_dynamodb::error::BuildError) -> Self {
        Self::Unexpected(error.to_string())
    }
}
