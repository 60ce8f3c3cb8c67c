//! What `dispatcher` and `worker` share: stream events, due work, and the sending of messages.
//!
//! The table's stream triggers work right after the write. Every minute a sweep picks up work that the stream has
//! missed, or that was postponed. Both may be repeated or run concurrently, so each piece of work begins with a
//! conditional write that succeeds only once.

mod drain;
mod due;
mod event;
mod feedback;
mod outcome;
mod sender;
mod sms_rate;

pub use drain::Messages;
pub use due::DueWork;
pub use event::{Event, Handled, LogData, Record, handle_records};
pub use feedback::MailFeedback;
pub use outcome::SendOutcome;
pub use sender::{Claim, MessageSender, TextMessage};

/// The span of the work on the item with the partition key `pk`: all lines of it name that item.
pub fn work_span(pk: &str) -> tracing::Span {
    tracing::info_span!("work", pk)
}

/// Number of concurrent tasks.
pub const AT_ONCE: usize = 8;
