//! Password rules. The list of known passwords is in `identity`.

use unicode_normalization::UnicodeNormalization;

use crate::{Email, ValueError};

/// Longest password, in code points.
pub const MAX_LENGTH: usize = 128;

/// Normalises a password to NFC before it is hashed or compared, because keyboards compose accents differently.
pub fn normalized(password: &str) -> String {
    password.nfc().collect()
}

/// The length of `password` in code points, as it is hashed.
pub fn length(password: &str) -> u64 {
    password.nfc().count() as u64
}

/// The personal data that a password must not contain.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// First name.
    pub name: &'a str,
    /// Last name.
    pub last_name: &'a str,
    /// E-mail address; only its local part is checked.
    pub email: &'a Email,
}

/// Checks a new password: `min_length` to 128 code points other than U+0000, not containing the product's name or its
/// owner's names or local part. There are no composition rules (NIST SP 800-63B-4 §3.1.1.2). Names, single words of
/// names and local parts with fewer than four letters are ignored, because they occur in many texts. `owner` is `None`
/// if the request's names or address are invalid; then personal data is not checked.
///
/// # Errors
/// `PasswordShort`, `Length`, `Format` (U+0000), `PasswordCommon`, in this order.
pub fn check(password: &str, min_length: u64, owner: Option<Owner<'_>>) -> Result<(), ValueError> {
    let (length, password) = (length(password), normalized(password));
    if length < min_length {
        return Err(ValueError::PasswordShort);
    }
    if length > MAX_LENGTH as u64 {
        return Err(ValueError::Length);
    }
    if password.contains('\0') {
        return Err(ValueError::Format);
    }
    let password = password.to_lowercase();
    let contains = |text: &str| {
        let text = normalized(text).to_lowercase();
        std::iter::once(text.as_str())
            .chain(text.split_whitespace())
            .any(|word| word.chars().count() >= 4 && password.contains(word))
    };
    let is_personal = owner.is_some_and(|owner| {
        [owner.name, owner.last_name, owner.email.local_part()].into_iter().any(contains)
    });
    if is_personal || password.contains("halqa") { Err(ValueError::PasswordCommon) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_check_counts_code_points_and_rejects_personal_data() {
        let email = "a.trabelsi@example.org".parse().unwrap();
        let owner = Some(Owner { name: "Amel", last_name: "Ben Salah", email: &email });
        for (password, error) in [
            ("éàüöñçßø", None),
            ("        ", None),
            ("😀😀😀😀😀😀😀😀", None),
            ("éàüöñçß", Some(ValueError::PasswordShort)),
            ("e\u{301}e\u{301}e\u{301}e\u{301}", Some(ValueError::PasswordShort)),
            ("tasse\0bleue", Some(ValueError::Format)),
            ("xxAMELxxxx", Some(ValueError::PasswordCommon)),
            ("xx-salah-xx", Some(ValueError::PasswordCommon)),
            ("xx-ben-xxxxx", None),
            ("A.Trabelsi99", Some(ValueError::PasswordCommon)),
            ("myHalqa2026", Some(ValueError::PasswordCommon)),
        ] {
            assert_eq!(check(password, 8, owner).err(), error, "{password:?}");
        }
        assert_eq!(check(&"x".repeat(129), 8, owner), Err(ValueError::Length));
        assert_eq!(check(&"x".repeat(128), 8, owner), Ok(()));
    }
}
