//! The outcome of one attempt to send a message.

use domain::sms::Cause;
use messaging::SendError;

/// The outcome of one attempt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The carrier accepted it, or there was nothing to send.
    Sent,
    /// It will never be accepted: the cause that its sender sees, of a text message, and the reason in the log.
    Failed(Option<Cause>, String),
    /// It was not accepted; a retry may succeed.
    NotSent(String),
    /// It was sent, but there was no response.
    Unknown(String),
}

impl SendOutcome {
    /// The message has expired.
    pub fn expired() -> Self {
        Self::failed(Cause::Expired, "the message has expired")
    }

    /// A notification is not sent, for `reason`.
    pub fn not_notified(reason: &str) -> Self {
        Self::Failed(None, reason.to_owned())
    }

    pub(crate) fn failed(cause: Cause, reason: &str) -> Self {
        Self::Failed(Some(cause), reason.to_owned())
    }
}

impl From<Result<(), SendError>> for SendOutcome {
    fn from(sent: Result<(), SendError>) -> Self {
        match sent {
            Ok(()) => Self::Sent,
            Err(SendError::Rejected(reason)) => Self::Failed(Some(Cause::CarrierRefused), reason),
            Err(SendError::OptedOut) => Self::failed(Cause::OptedOut, "opted out at the carrier"),
            Err(SendError::NotSent(cause)) => Self::NotSent(cause),
            Err(SendError::Unknown(cause)) => Self::Unknown(cause),
        }
    }
}
