//! One field of a partial update.

use serde::{Serialize, Serializer};

/// What an update says of a field that may be empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// Nothing: the field stays as it is.
    #[default]
    Absent,
    /// The field becomes empty.
    Null,
    /// The field gets this value.
    Value(T),
}

impl<T> Patch<T> {
    /// Whether the field stays as it is.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Changes `field` accordingly.
    pub fn apply(self, field: &mut Option<T>) {
        if !self.is_absent() {
            *field = self.value();
        }
    }
}

/// A field that is absent has to be skipped: `skip_serializing_if = "Patch::is_absent"`.
impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent | Self::Null => serializer.serialize_none(),
            Self::Value(value) => serializer.serialize_some(value),
        }
    }
}
