//! Accounts: sessions, one-time codes and the counters of failed attempts, which the functions share that
//! sign people in or change accounts.

mod administrator;
pub mod attempts;
mod codes;
mod registration;
mod sessions;

pub use administrator::Administrator;
pub use codes::{Codes, VerifiedCode, email_challenge, pending_email_challenge, phone_challenge};
pub use registration::Registration;
pub use sessions::{AccountContext, Sessions};
