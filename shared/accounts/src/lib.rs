//! Sessions, one-time codes, counters of failed attempts and administration of accounts, for the functions that sign
//! people in or change accounts.
//!
//! Every method that uses the store or a key can fail with 500 or 503, as [`common`] describes; `# Errors` sections
//! list only what comes in addition.

mod administrator;
pub mod attempts;
mod codes;
mod contact;
pub mod message_limits;
mod passkeys;
mod registration;
mod sessions;
mod verify;

pub use administrator::Administrator;
pub use codes::{Codes, email_challenge, may_use, pending_email_challenge, phone_challenge};
pub use registration::Registration;
pub use sessions::{AccountContext, Sessions};
