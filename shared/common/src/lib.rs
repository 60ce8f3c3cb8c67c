//! The HTTP edge of every function: rate limit, authentication, rights, input, response envelope and headers.
//!
//! ```text
//! serve / local ── Edge::answer ── rate limit ∥ session, user, committee ── route
//!                                    └─ caller ── input ── handler ── response ── headers
//! ```
//!
//! Handlers and extractors return [`ApiError`]. Errors of the store or of cryptography become 500 or 503 with their
//! cause in the log, conflicting updates 409; `# Errors` sections list only what comes in addition.

pub mod availability;
mod caller;
mod client;
mod codes;
mod content_network;
pub mod course_rights;
mod cursor;
mod edge;
mod effect;
mod envelope;
mod error;
mod field_error;
mod fields;
mod headers;
mod idempotency;
mod input;
#[cfg(feature = "lambda")]
mod lambda;
mod lifetimes;
mod path;
mod prefixes;
mod query;
mod requested_committee;
mod response;
pub mod rights;
mod routes;
mod throttle;

pub use caller::{ActiveMember, Now, SignedIn, SuperAdmin, Verified, bearer, token_of};
pub use client::Client;
pub use codes::{ErrorCode, Message};
pub use cursor::{Cursors, Filtered, Listed, Paging};
pub use edge::{Edge, UPDATE_DEADLINE, UnreadableRequest};
pub use envelope::Empty;
pub use error::ApiError;
pub use field_error::{FieldError, InvalidValue};
pub use fields::{
    Fields, InvalidField, choice, committee_id, flag, integer, phone, secret, text, text_or_empty,
};
pub use headers::{if_match_holds, if_none_match_holds};
pub use idempotency::{Idempotency, Once};
pub use input::{FromFields, Input, QueryInput};
#[cfg(feature = "lambda")]
pub use lambda::{Event, answer_event, serve};
pub use lifetimes::TokenLifetimes;
pub use path::Path;
pub use query::Query;
pub use requested_committee::RequestedCommittee;
pub use response::{ApiResponse, ApiResult, Image, Redirect, etag_of, ok, success};
pub use rights::{Permitted, Viewer};
pub use routes::{Route, Routes};
pub use throttle::Throttle;
