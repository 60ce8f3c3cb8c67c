//! What `dispatcher` and `worker` share: stream events, due work, and the sending of messages.
//!
//! The table's stream triggers work right after the write. Every minute a sweep picks up work that the stream has
//! missed, or that was postponed. Both may be repeated or run concurrently, so each piece of work begins with a
//! conditional write that succeeds only once.

mod claim;
mod due;
mod event;
mod feedback;
mod outcome;
mod rate;
mod sender;
mod sweep;
mod text;

pub use claim::Claim;
pub use due::DueWork;
pub use event::{BatchResponse, Event, LogData, Record, handle_records};
pub use feedback::MailFeedback;
pub use outcome::SendOutcome;
pub use rate::Rate;
use runtime::Error;
pub use sender::MessageSender;
pub use sweep::Deliver;
pub use text::TextMessage;
use tokio::time::Instant;
use tracing::Instrument;

/// Performs `work` on the item with the partition key `pk`: all its lines name that item and the request of a client that
/// queued it, `request_id`, as do those of the work that it queues. The last line says how many milliseconds it took, or
/// why it failed.
///
/// # Errors
/// Those of `work`.
pub async fn perform(
    pk: &str,
    request_id: &str,
    work: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    let work = async {
        let start = Instant::now();
        let done = work.await;
        let took = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &done {
            Ok(()) => tracing::info!(took, "work"),
            Err(failure) => tracing::error!(took, ?failure, "work failed"),
        }
        done
    };
    let span = tracing::info_span!("work", pk, request_id);
    store::for_request(request_id.to_owned(), work).instrument(span).await
}

/// Number of concurrent tasks.
pub const AT_ONCE: usize = 8;
