//! Nouns and rules: types that prove a rule was checked, and decisions as pure functions of state
//! and `now`. Nothing here waits, reads a clock, draws chance or knows of HTTP or AWS.
//!
//! A value that comes from outside enters through `FromStr`, which says in a [`ValueError`] why it may
//! not; a value that comes from our own tables is trusted and enters through `serde`.

pub mod agent;
pub mod audit;
pub mod batch;
pub mod breaker;
mod choice;
pub mod code;
pub mod committee;
mod constraint;
pub mod course;
pub mod email;
mod error;
pub mod file;
pub mod id;
mod instant;
pub mod login_activity;
pub mod otp;
pub mod outbox;
pub mod password;
mod patch;
pub mod permissions;
mod phone;
mod price;
mod profile;
pub mod question;
pub mod segments;
pub mod session;
pub mod sms;
pub mod subdomain;
pub mod template;
mod text;
pub mod user;

pub use constraint::{Constrained, Constraint, Unit};
pub use email::Email;
pub use error::ValueError;
pub use id::{BatchId, CommitteeId, CourseId, FileId, QuestionId, SessionId, SmsId, UserId};
pub use instant::Instant;
pub use patch::Patch;
pub use permissions::{Grant, Permissions};
pub use phone::{E164, Mobile, Phone};
pub use price::Price;
pub use profile::Profile;
pub use text::{Line, Name, Prose, ShortCode, folded, words};
