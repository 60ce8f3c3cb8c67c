//! Accounts: what stands in them, their sessions and codes, and the limits that are counted for them.

pub(crate) mod codes;
pub(crate) mod counters;
pub(crate) mod erased;
pub(crate) mod limits;
pub(crate) mod mail_stops;
pub(crate) mod otps;
pub(crate) mod passkeys;
pub(crate) mod sessions;
pub(crate) mod users;
