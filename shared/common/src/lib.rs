//! The HTTP edge: everything between a client and the sentence of a use case. One place decides
//! what a client sees: the envelope, the headers, the order of the checks, the limit, who calls.
//!
//! ```text
//! serve / local ── Edge::answer ── limit ∥ session ∥ user ∥ committee ── route
//!                                    └─ caller ── input ── handler ── reply ── headers
//! ```

pub mod attempts;
mod aws;
mod caller;
mod clock;
mod cursor;
mod edge;
mod effect;
mod headers;
mod input;
mod keys;
mod logs;
mod path;
mod query;
mod refusal;
mod reply;
mod serve;
mod sessions;
mod settings;
mod setup;
mod throttle;

pub use caller::{Client, Now, SignedIn, SuperAdmin, Verified};
pub use clock::Clock;
pub use cursor::{Cursors, Paging};
pub use edge::{Edge, Spent};
pub use effect::effect;
pub use input::{Fields, FromFields, Input, flag, integer, secret, text, text_or_empty};
pub use keys::{Key, Keys};
pub use lambda_runtime::Error as LambdaError;
pub use logs::{log_as_json, log_for_people};
pub use path::Path;
pub use query::Query;
pub use refusal::{FieldError, Message, Refusal, Refused};
pub use reply::{Failure, Image, Reply, Told, shown, told};
pub use serve::{Answer, Event, answer_event, serve};
pub use sessions::Sessions;
pub use settings::{BadSetting, Registration, Settings};
pub use setup::Setup;
pub use throttle::Throttle;
