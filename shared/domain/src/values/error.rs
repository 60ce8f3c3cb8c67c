//! The validation error of one value.

/// Why a value from outside is invalid. The `common` crate maps each variant to an error code and a French text; the
/// caller adds the field's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueError {
    /// Absent, null or empty although required.
    Required,
    /// Not of the field's JSON type.
    Type,
    /// Too short or too long.
    Length,
    /// Too long in its ASCII form, although not as it is written.
    AsciiLength,
    /// Not of the field's format.
    Format,
    /// Well formed, but outside the allowed values.
    Value,
    /// An option that is chosen twice.
    Repeated,
    /// Not a valid e-mail address; see [`Email`](crate::Email).
    Email,
    /// A password below the minimum length of the profile.
    PasswordShort,
    /// A well-known password, or one that contains its owner's name or address.
    PasswordCommon,
    /// The password and its confirmation differ.
    PasswordMismatch,
    /// A new password equal to the old one.
    PasswordUnchanged,
    /// An unknown [`SendMethod`](crate::code::SendMethod).
    SendMethod,
    /// A template contains a name without a value.
    Variable,
}
