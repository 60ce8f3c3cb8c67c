//! The tables: keys, conditions, transactions, paging. The only room that names DynamoDB.
//!
//! One `impl Store` block per entity. What may happen twice at once is a condition of the write,
//! never a read before it; what belongs together is one transaction; nothing scans. Whether a
//! person *may* do a thing is not asked here.
//!
//! Every method that asks the tables fails with a [`StoreError`] when they cannot be reached; a method's own
//! documentation names only what is special about its errors. The methods of [`Transaction`] only collect
//! writes, so they cannot fail; [`Transaction::commit`] can.

mod audits;
mod breaker;
mod codes;
mod committees;
mod counters;
mod courses;
mod due;
mod erased;
mod error;
mod files;
mod idempotency;
pub mod import;
pub mod keys;
mod limits;
mod meter;
mod opt_outs;
mod otps;
mod outbox;
mod questions;
mod rate;
mod retry;
mod sessions;
mod setup;
mod sms;
mod snapshot;
mod table;
mod transaction;
mod update;
mod users;
mod words;
mod write;

use std::sync::Arc;

use aws_sdk_dynamodb::{
    Client,
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
};
use aws_types::SdkConfig;

pub use breaker::Trial;
use counters::OpenWindows;
pub use counters::{Counter, Reservation};
pub use courses::CourseList;
pub use due::{DeadLetter, Due};
pub use error::StoreError;
pub use files::{DueFile, file_id};
pub use idempotency::{Earlier, Idempotent};
pub use limits::Window;
pub use meter::{Cost, metered};
pub use outbox::{Content, Outbound};
pub use questions::Questionnaire;
pub use setup::Setup;
pub use sms::{SmsQuota, is_chunk};
pub use table::Page;
pub use transaction::{CommitOutcome, Part, Transaction};
pub use update::within;
pub use users::{Credentials, EmailOwner, NewUser, user_id};
pub use words::course_id;

/// The two tables, reached through the SDK. Cloning shares the connections.
#[derive(Clone, Debug)]
pub struct Store {
    /// Retries twice: reading again is always safe.
    reads: Client,
    /// Never retries: a conditional write that is repeated blindly after a silent success tells a
    /// winner that he lost.
    writes: Client,
    names: Arc<Names>,
    open_windows: OpenWindows,
}

#[derive(Debug)]
struct Names {
    records: String,
    transient: String,
}

impl Store {
    /// The tables `records` and `transient` in the place that `sdk` says.
    pub fn new(sdk: &SdkConfig, records: String, transient: String) -> Self {
        let retries = RetryConfig::standard()
            .with_max_attempts(2)
            .with_initial_backoff(std::time::Duration::from_millis(25));
        let reads = Builder::from(sdk).retry_config(retries).build();
        // One try has all the time that two of a read have.
        let patience = sdk
            .timeout_config()
            .and_then(|timeouts| timeouts.operation_timeout());
        let mut timeouts = TimeoutConfig::builder();
        timeouts
            .set_operation_attempt_timeout(patience)
            .set_operation_timeout(patience);
        let writes = Builder::from(sdk)
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts.build())
            .build();
        Self {
            reads: Client::from_conf(reads),
            writes: Client::from_conf(writes),
            names: Arc::new(Names { records, transient }),
            open_windows: OpenWindows::default(),
        }
    }

    /// Opens `connections` connections side by side with a read each of an item that is not there,
    /// so that the first request does not pay for handshakes. A failure is left to that request.
    pub async fn open_connections(&self, connections: usize) {
        let reads = (0..connections).map(|_| self.get_each([keys::nothing()]));
        for failure in futures_util::future::join_all(reads)
            .await
            .into_iter()
            .filter_map(Result::err)
        {
            tracing::warn!(%failure, "a connection to the store could not be opened ahead");
        }
    }
}
