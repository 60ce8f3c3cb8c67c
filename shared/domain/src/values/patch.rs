//! A field of a partial update that distinguishes absent from `null`.

use serde::{Serialize, Serializer};

/// The new value of an optional field in a partial update.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// The field is not in the request and stays unchanged.
    #[default]
    Absent,
    /// The field is set to `None`.
    Null,
    /// The field is set to this value.
    Value(T),
}

impl<T> Patch<T> {
    /// Whether the field stays unchanged.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The new value; `None` for both `Absent` and `Null`.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Applies the update to `field`.
    pub fn apply(self, field: &mut Option<T>) {
        if !self.is_absent() {
            *field = self.value();
        }
    }
}

/// `Absent` serialises as `null`; fields of this type need `skip_serializing_if = "Patch::is_absent"`.
impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent | Self::Null => serializer.serialize_none(),
            Self::Value(value) => serializer.serialize_some(value),
        }
    }
}
