//! Tests of the HTTP API, in process. Folders mirror the URLs: `auth/login.rs` tests `POST /auth/login`.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

mod auth;
mod aws_services;
mod bad_input;
mod catalogue;
mod certificates;
mod committees;
mod costs;
mod courses;
mod cpanel;
mod dispatcher;
mod edge;
mod events;
mod examples;
mod files;
mod heat;
mod matrix;
mod ops;
mod otp;
mod passkeys;
mod pre_traffic;
mod preflight;
mod races;
mod registrations;
mod rotation;
mod seed;
mod sms;
mod start;
mod stream;
mod team;
mod users;
mod worker;
