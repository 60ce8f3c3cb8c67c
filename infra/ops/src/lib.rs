//! The operators' commands for an environment on AWS or the local cloud; `main.rs` is their command line.
//!
//! Errors are a sentence for the operator. Functions that use SSM or the tables also fail when these do not respond.

mod bootstrap;
mod dead_letters;
mod end_sessions;
mod erase_again;
mod events;
mod keys;
mod parameters;
mod policies;
mod preflight;
mod reseal;
mod since;
mod smoke;
mod sms_attributes;
mod stack_parameters;
mod stage;

pub use bootstrap::{First, bootstrap, make_canary};
pub use dead_letters::{dead_letters, replay};
pub use end_sessions::end_sessions;
pub use erase_again::{ErasedAgain, erase_again};
pub use events::{Replayed, replay_events};
pub use keys::{
    Kind, NewKeys, Reason, announce, copy, make, missing, not_copied, problems, replace, retire,
    take_into_use,
};
pub use parameters::Parameters;
pub use policies::{LeadingKeys, Policies, policies};
pub use preflight::preflight;
pub use reseal::{Resealed, reseal};
pub use since::{Since, since};
pub use smoke::{Check, Expectations, smoke};
pub use sms_attributes::set_sms_attributes;
pub use stack_parameters::StackParameters;
pub use stage::Stage;
