//! What a password must be. Whether everybody knows it is asked of `identity`, which has the list.

use unicode_normalization::UnicodeNormalization;

use crate::{Email, ValueError};

/// No password is longer than this, in code points.
pub const MAX_LENGTH: usize = 128;

/// The form in which a password is hashed and compared: NFC, so that two keyboards that compose
/// an accent differently write the same password.
pub fn normalized(password: &str) -> String {
    password.nfc().collect()
}

/// What a password must not give away.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// The first name.
    pub name: &'a str,
    /// The last name.
    pub last_name: &'a str,
    /// The address.
    pub email: &'a Email,
}

/// Checks a new password: `min_length` to 128 code points of anything but U+0000, without the
/// owner's names, the address's local part or the product's name in it. There are no rules of
/// composition (NIST SP 800-63B-4 §3.1.1.2). Names, words of names and local parts under four
/// letters are let pass: they turn up in any text. Without `owner`, who is not known yet when his
/// other fields are wrong too, only the rest is checked.
///
/// # Errors
/// `PasswordShort`, `Length`, `Format` (U+0000), `PasswordCommon`, in this order.
pub fn check(password: &str, min_length: u64, owner: Option<Owner<'_>>) -> Result<(), ValueError> {
    let password = normalized(password);
    let length = password.chars().count();
    if (length as u64) < min_length {
        return Err(ValueError::PasswordShort);
    }
    if length > MAX_LENGTH {
        return Err(ValueError::Length);
    }
    if password.contains('\0') {
        return Err(ValueError::Format);
    }
    let password = password.to_lowercase();
    let gives_away = |text: &str| {
        let text = normalized(text).to_lowercase();
        std::iter::once(text.as_str())
            .chain(text.split_whitespace())
            .any(|word| word.chars().count() >= 4 && password.contains(word))
    };
    let is_personal = owner.is_some_and(|owner| {
        [owner.name, owner.last_name, owner.email.local_part()]
            .into_iter()
            .any(gives_away)
    });
    if is_personal || password.contains("halqa") {
        Err(ValueError::PasswordCommon)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_measured_in_code_points_and_must_not_give_their_owner_away() {
        let email = "a.trabelsi@example.org".parse::<Email>();
        let owner = Some(Owner {
            name: "Amel",
            last_name: "Ben Salah",
            email: email.as_ref().unwrap_or_else(|_| unreachable!()),
        });
        for (password, error) in [
            ("éàüöñçßø", None),
            ("        ", None),
            ("😀😀😀😀😀😀😀😀", None),
            ("éàüöñçß", Some(ValueError::PasswordShort)),
            (
                "e\u{301}e\u{301}e\u{301}e\u{301}",
                Some(ValueError::PasswordShort),
            ),
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
