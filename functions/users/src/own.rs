//! What people do with their own account.

pub(super) mod avatar;
pub(super) mod change;
pub(super) mod change_password;
pub(super) mod email_verification;
pub(super) mod erase;
pub(super) mod export;
pub(super) mod not_me;
pub(super) mod phone_verification;
pub(super) mod register;
pub(super) mod reset_password;
