//! Identifiers: UUIDs, one type per noun so that none is taken for another.

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
            /// The identifier `id`.
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// The identifier in a path. A text that is no UUID becomes the nil UUID, which no
            /// item has, so that its 404 is told exactly where the object's own 404 is.
            pub fn in_path(text: &str) -> Self {
                text.parse().unwrap_or(Self(Uuid::nil()))
            }

            /// The UUID itself.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = ValueError;

            /// Any hyphenated UUID in either case; `Required` for nothing, else `Format`.
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
    /// A person's account.
    UserId
    /// A committee.
    CommitteeId
    /// A course.
    CourseId
    /// A question of a course.
    QuestionId
    /// A file.
    FileId
    /// A text message.
    SmsId
    /// Text messages that were sent to many at once.
    BatchId
    /// One sign-in and everything that is done with it, until it ends.
    SessionId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphenated_uuids_in_either_case_are_taken_and_nothing_else() {
        let id = "0198c0de-0000-7000-8000-00000000000a";
        assert_eq!(
            id.to_uppercase().parse::<UserId>().map(|id| id.to_string()),
            Ok(id.to_owned())
        );
        for text in [
            "0198c0de000070008000000000000001",
            "{0198c0de-0000-7000-8000-000000000001}",
            "x",
            "urn:uuid:0198c0de-0000-7000-8000-000000000001",
        ] {
            assert_eq!(text.parse::<UserId>(), Err(ValueError::Format), "{text}");
            assert_eq!(UserId::in_path(text).uuid(), Uuid::nil());
        }
    }
}
