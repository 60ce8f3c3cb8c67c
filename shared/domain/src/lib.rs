//! The domain model: types that can only hold valid values, and decisions as pure functions of state and `now`. Nothing
//! here is async, reads a clock, uses randomness or knows HTTP or AWS.
//!
//! Values from outside are parsed and validated by `FromStr`, with a [`ValueError`] if invalid. Values from the tables
//! are trusted and read by `serde`.

mod accounts;
pub mod attendance;
pub mod certificate;
mod constraints;
mod courses;
pub mod file;
mod messages;
pub mod registration;
mod values;

pub use accounts::{
    agent, amr, audit, code, committee, device, limits, login_activity, otp, passkey, password,
    permissions::{self, Grant, Permissions},
    profile::Profile,
    session, user,
};
pub use courses::{catalogue, course, placed_question, question};
pub use messages::{batch, mail_stop, outbox, segments, sms, template, times};
use values::{choice, constraint, instant, price, text};
pub use values::{
    constraint::{Constrained, Constraint, Hint, Unit},
    dates,
    email::{self, Email},
    error::ValueError,
    id::{
        self, BatchId, CommitteeId, CourseId, CourseSessionId, FileId, PasskeyId, QuestionId,
        SessionId, SmsId, UserId,
    },
    instant::Instant,
    language::Language,
    network,
    patch::Patch,
    phone::{CountryCodes, E164, Mobile, Phone},
    price::Price,
    recipient::Recipient,
    search::{Word, words},
    subdomain,
    text::{Line, Name, Prose, ShortCode, comparable, folded, is_blank},
    zone::Zone,
};
