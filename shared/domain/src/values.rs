//! Values of fields: texts, numbers, times, identifiers.

pub(crate) mod choice;
pub(crate) mod constraint;
pub(crate) mod crockford;
pub mod dates;
pub mod email;
pub(crate) mod error;
pub mod id;
pub(crate) mod instant;
pub(crate) mod language;
pub mod network;
pub(crate) mod patch;
pub(crate) mod phone;
pub(crate) mod price;
pub(crate) mod recipient;
pub(crate) mod search;
pub mod subdomain;
pub(crate) mod text;
pub(crate) mod zone;
