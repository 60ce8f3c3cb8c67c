//! The test kit: a [`World`] with its own cloud, people who send requests, and responses that are checked against the
//! OpenAPI document.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption of the kit fails the test"
)]

mod answer;
pub mod authenticator;
pub mod conditions;
mod document;
mod faults;
mod inbox;
mod lambda;
mod people;
mod person;
pub mod policies;
mod totp_app;
mod world;

pub use answer::{Answer, Cost, expect_fields, texts_of};
pub use authenticator::Authenticator;
pub use document::Document;
pub use inbox::{digits, link};
pub use lambda::LambdaAnswer;
pub use people::NewPerson;
pub use person::{Person, until_answered};
pub use totp_app::TotpApp;
pub use world::World;

/// The password of every account in a [`World`].
pub const PASSWORD: &str = "sept grenadiers en fleur";
