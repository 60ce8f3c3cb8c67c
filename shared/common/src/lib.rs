//! The HTTP edge: everything between a client and the sentence of a use case. One place decides
//! what a client sees: the envelope, the headers, the order of the checks, the limit, who calls.
//!
//! ```text
//! serve / local ── Edge::answer ── limit ∥ session ∥ user ∥ committee ── route
//!                                    └─ caller ── input ── handler ── reply ── headers
//! ```

pub mod attempts;
mod caller;
mod clock;
pub mod codes;
mod cursor;
mod edge;
mod effect;
mod fields;
mod front;
mod headers;
mod input;
mod keys;
mod logs;
mod path;
mod query;
mod refusal;
mod reply;
pub mod rights;
mod serve;
mod sessions;
mod settings;
mod setup;
mod throttle;

pub use caller::{Administrator, Client, Now, SignedIn, SuperAdmin, Verified};
pub use clock::Clock;
pub use codes::{Codes, Post};
pub use cursor::{Cursors, Paging};
pub use edge::{Edge, Spent};
pub use effect::effect;
pub use fields::{Fields, choice, flag, integer, phone, secret, text, text_or_empty};
pub use headers::{if_match_holds, if_none_match_holds};
pub use input::{Asked, FromFields, Input};
pub use keys::{Key, Keys, parameters};
pub use lambda_runtime::Error as LambdaError;
pub use logs::{log_as_json, log_for_people};
pub use path::Path;
pub use query::Query;
pub use refusal::{FieldError, Message, Refusal, Refused};
pub use reply::{Elsewhere, Failure, Image, Nothing, Reply, Told, etag_of, shown, told};
pub use rights::{Permitted, Viewer};
pub use runtime::{Aws, BadSetting};
pub use serve::{Answer, CONNECTIONS, Event, answer_event, serve, serve_events};
pub use sessions::{Arrival, Sessions};
pub use settings::{Registration, Settings};
pub use setup::Setup;
pub use throttle::Throttle;
