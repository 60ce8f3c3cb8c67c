//! What clients see. Folders mirror URLs: `auth/login.rs` is POST /auth/login.

mod auth;
mod committees;
mod costs;
mod edge;
mod users;
