//! Accounts: people, their committees, what they may do, and what they sign in with.

pub mod agent;
pub mod amr;
pub mod audit;
pub mod code;
pub mod committee;
pub mod device;
pub mod limits;
pub mod login_activity;
pub mod otp;
pub mod passkey;
pub mod password;
pub mod permissions;
pub(crate) mod profile;
pub mod session;
pub mod user;
