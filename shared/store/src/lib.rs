//! Access to the DynamoDB tables: keys, conditions, transactions, paging. No other crate uses `aws-sdk-dynamodb`.
//!
//! Each entity has one `impl Store` block. Concurrent changes are excluded by conditions on the write, not by an
//! earlier read; related items are written in one transaction; no method scans a table. Permissions are checked
//! by the callers.
//!
//! Every method that sends a request fails with a [`StoreError`]; its documentation names only errors that are
//! special to it. The methods of [`Transaction`] collect writes and cannot fail; [`Transaction::commit`] can. A
//! transaction whose condition fails is not an error but [`CommitOutcome::ConditionFailed`] with the [`Part`].

mod accounts;
mod audits;
mod breaker;
mod certificates;
mod committees;
mod courses;
mod engine;
mod files;
mod idempotency;
pub mod keys;
mod messages;
mod registrations;
mod releases;
mod setup;

use std::sync::Arc;

use aws_sdk_dynamodb::{
    Client,
    config::{Builder, StalledStreamProtectionConfig, retry::RetryConfig, timeout::TimeoutConfig},
};
use aws_types::SdkConfig;

use accounts::{counters::OpenWindows, users};
pub use accounts::{
    counters::{Counter, Reservation},
    erased::{CoursesLeft, Erasure},
    limits::Window,
    passkeys::PasskeyOwner,
    sessions::StoredAccount,
    users::{Credentials, EmailOwner, NewUser},
};
pub use audits::AuditList;
pub use committees::Reopening;
pub use courses::{
    CourseList,
    catalogue::{CatalogueEntry, CatalogueRange, catalogue_position},
    questions::{CourseTerms, FullCourse, questions_fit},
    search::FoundCourse,
    sessions::StoredSessions,
};
pub use engine::{
    due::{DeadLetter, Due},
    error::StoreError,
    meter::{Requests, for_request, metered},
    retry::{with_deadline, with_time_limit},
    table::{Page, all_pages},
    transaction::{CommitOutcome, Part, Transaction},
};
use engine::{meter, retry, table, write};
pub use idempotency::{Earlier, Idempotent};
use messages::{outbox, quotas};
pub use messages::{
    outbox::{Claimed, Outbound, OutboundMessage},
    quotas::{CountedSms, SmsQuota},
    rate::{Channel, SendTimes, SendingRate},
    sms::chunk_pk,
    sms_lists::Senders,
};
pub use registrations::{
    Attendee, FullRegistration, Reactivation, RegistrationTerms, SeatRule, Standing, StoredMarks,
    answers_fit,
    lists::{RegistrationOrder, WaitingPerson},
};
pub use releases::ReleaseCheck;
pub use setup::Setup;

/// Client of the two tables. Clones share the connections.
#[derive(Clone, Debug)]
pub struct Store {
    /// Makes up to two attempts: repeating a read is safe.
    reads: Client,
    /// Never retries: a repeated conditional write may report failure for a write that succeeded.
    writes: Client,
    /// Makes single attempts, which `transact` repeats under one token.
    transactions: Client,
    names: Arc<Names>,
    open_windows: OpenWindows,
}

#[derive(Debug)]
struct Names {
    records: String,
    transient: String,
}

impl Store {
    /// A client with the endpoint, region, credentials and timeouts of `sdk`, for the tables with these names.
    pub fn new(sdk: &SdkConfig, records: String, transient: String) -> Self {
        let retries = RetryConfig::standard()
            .with_max_attempts(2)
            .with_initial_backoff(std::time::Duration::from_millis(25));
        // The time-outs end earlier than this protection of long bodies would, which measures every body.
        let single = Builder::from(sdk)
            .retry_config(RetryConfig::disabled())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
        let reads = single.clone().retry_config(retries).build();
        // Transactions are repeated under one token, so an attempt leaves time for a second one.
        let transactions = single.clone().build();
        // The single attempt of another write has as much time as both attempts of a read.
        let timeout = sdk.timeout_config().and_then(|timeouts| timeouts.operation_timeout());
        let mut timeouts = TimeoutConfig::builder();
        timeouts.set_operation_attempt_timeout(timeout).set_operation_timeout(timeout);
        let writes = single.timeout_config(timeouts.build()).build();
        Self {
            reads: Client::from_conf(reads),
            transactions: Client::from_conf(transactions),
            writes: Client::from_conf(writes),
            names: Arc::new(Names { records, transient }),
            open_windows: OpenWindows::default(),
        }
    }

    /// Opens `connections` connections concurrently, each with a read of a missing item, so that the first
    /// request needs no TLS handshake. Failures are logged and otherwise ignored.
    pub async fn open_connections(&self, connections: usize) {
        let reads = (0..connections).map(|_| self.get_each([keys::missing_item()]));
        for failure in
            futures_util::future::join_all(reads).await.into_iter().filter_map(Result::err)
        {
            tracing::warn!(%failure, "opening a connection to the store in advance failed");
        }
    }
}
