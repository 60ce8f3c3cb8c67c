//! Identifiers: UUIDs with one type per kind of object, so that the compiler keeps them apart.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ValueError;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID.
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// The identifier of no object: the nil UUID.
            pub const NONE: Self = Self(Uuid::nil());

            /// Parses an identifier from outside. A malformed one becomes [`NONE`](Self::NONE), so that it gets the
            /// same 404 as an unknown object, at the same point.
            pub fn or_none(text: &str) -> Self {
                text.parse().unwrap_or(Self::NONE)
            }

            /// The UUID.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = ValueError;

            /// Accepts a hyphenated UUID in either case. `Required` for an empty text, `Format` for anything else.
            fn from_str(text: &str) -> Result<Self, ValueError> {
                match text.len() {
                    0 => Err(ValueError::Required),
                    36 => Uuid::try_parse(text).map(Self).map_err(|_| ValueError::Format),
                    _ => Err(ValueError::Format),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    )*};
}

ids! {
    /// Identifier of an account.
    UserId
    /// Identifier of a committee.
    CommitteeId
    /// Identifier of a course.
    CourseId
    /// Identifier of a session of a course.
    CourseSessionId
    /// Identifier of a course's question.
    QuestionId
    /// Identifier of a file.
    FileId
    /// Identifier of a passkey.
    PasskeyId
    /// Identifier of a text message.
    SmsId
    /// Identifier of a batch of text messages.
    BatchId
    /// Identifier of a session of an account.
    SessionId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_accepts_hyphenated_uuids_only() {
        let id = "0198c0de-0000-7000-8000-00000000000a";
        assert_eq!(id.to_uppercase().parse::<UserId>().map(|id| id.to_string()), Ok(id.to_owned()));
        for text in [
            "0198c0de000070008000000000000001",
            "{0198c0de-0000-7000-8000-000000000001}",
            "x",
            "urn:uuid:0198c0de-0000-7000-8000-000000000001",
        ] {
            assert_eq!(text.parse::<UserId>(), Err(ValueError::Format), "{text}");
            assert_eq!(UserId::or_none(text).uuid(), Uuid::nil());
        }
    }
}
