//! Why a value from outside is refused.

/// What is wrong with one value. The HTTP edge turns each into its code and French text; which
/// field it was is the caller's knowledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueError {
    /// Absent, null or empty where something must stand.
    Required,
    /// Not of the JSON type that the field has.
    Type,
    /// Too short or too long.
    Length,
    /// Not of the form that the field has.
    Format,
    /// Well formed, but not one of the values that the field may have.
    Value,
    /// Not an e-mail address that we can write to.
    Email,
    /// A password shorter than its profile asks for.
    PasswordShort,
    /// A password that everybody knows, or that its owner's name gives away.
    PasswordCommon,
    /// Two passwords that should be equal and are not.
    PasswordMismatch,
    /// A new password equal to the old one.
    PasswordUnchanged,
    /// Not a way of sending that there is.
    SendMethod,
    /// A template asks for a name that has no value.
    Variable,
}
