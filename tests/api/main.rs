//! What clients see. Folders mirror URLs: `auth/login.rs` is POST /auth/login.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod auth;
mod committees;
mod costs;
mod courses;
mod cpanel;
mod dispatcher;
mod edge;
mod files;
mod matrix;
mod ops;
mod otp;
mod rotation;
mod seed;
mod sms;
mod start;
mod team;
mod users;
