//! The test kit: a World with a cloud of its own, people in it who can act, and answers that are
//! held against the OpenAPI document whoever looks at them.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a kit that cannot go on ends the test"
)]

mod answer;
mod document;
mod lambda;
mod person;
pub mod policies;
mod totp_app;
mod world;

pub use answer::Answer;
pub use document::Document;
pub use lambda::LambdaAnswer;
pub use person::Person;
pub use totp_app::TotpApp;
pub use world::{NewPerson, World, digits};

/// The password of everybody in a World.
pub const PASSWORD: &str = "sept grenadiers en fleur";
