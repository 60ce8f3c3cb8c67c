//! The domain model: types that can only hold valid values, and decisions as pure functions of state and `now`. Nothing
//! here is async, reads a clock, uses randomness or knows HTTP or AWS.
//!
//! Values from outside are parsed and validated by `FromStr`, with a [`ValueError`] if invalid. Values from the tables
//! are trusted and read by `serde`.

pub mod agent;
pub mod amr;
pub mod audit;
pub mod batch;
mod choice;
pub mod code;
pub mod committee;
mod constraint;
mod constraints;
pub mod course;
pub mod device;
pub mod email;
mod error;
pub mod file;
pub mod id;
mod instant;
mod language;
pub mod limits;
pub mod login_activity;
pub mod mail_stop;
pub mod network;
pub mod otp;
pub mod outbox;
pub mod passkey;
pub mod password;
mod patch;
pub mod permissions;
mod phone;
mod price;
mod profile;
pub mod question;
pub mod registration;
mod search;
pub mod segments;
pub mod session;
pub mod sms;
pub mod subdomain;
pub mod template;
mod text;
pub mod user;
mod zone;

pub use constraint::{Constrained, Constraint, Hint, Unit};
pub use email::Email;
pub use error::ValueError;
pub use id::{
    BatchId, CommitteeId, CourseId, FileId, PasskeyId, QuestionId, SessionId, SmsId, UserId,
};
pub use instant::Instant;
pub use language::Language;
pub use patch::Patch;
pub use permissions::{Grant, Permissions};
pub use phone::{CountryCodes, E164, Mobile, Phone};
pub use price::Price;
pub use profile::Profile;
pub use search::{Word, words};
pub use text::{Line, Name, Prose, ShortCode, comparable, folded, is_blank};
pub use zone::Zone;
