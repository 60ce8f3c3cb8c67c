//! Generates one-time codes (six digits, and a long form for links) and the identifiers under which they are stored.

use data_encoding::HEXLOWER;
use domain::{Email, Phone, UserId, code::Challenge};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{random, sealing::Sealer};

/// A new one-time code in both forms.
#[derive(Clone)]
pub struct NewCode {
    /// Six digits.
    pub digits: String,
    /// The link's form: the identifier of the challenge, and 128 random bits, in letters only, so that a message contains
    /// no other digits than the six.
    pub link: String,
}

/// Generates a code for the challenge `challenge`.
pub fn issue(challenge: Challenge) -> NewCode {
    // 2^64 values modulo a million: the bias is negligible.
    let digits = u64::from_be_bytes(random::bytes()) % 1_000_000;
    let link = letters(challenge.0.as_bytes()) + &letters(&random::bytes::<16>());
    NewCode { digits: format!("{digits:06}"), link }
}

/// The code that removes the account `user`, in letters only. It follows from a key of `sealer`, so that each mail can
/// contain the same code.
pub fn removal_code(sealer: &Sealer, user: UserId) -> String {
    letters(&sealer.derive("removal code", user.uuid().as_bytes())[..16])
}

/// The hash of the code `text` that removes an account, for the account. The code has 128 bits that nobody can guess, so
/// that a hash without a key suffices: the code outlives the keys.
pub fn removal_hash(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}

/// The challenge of codes for `email`. It depends on the address alone, so it does not reveal whether an account has it.
pub fn email_challenge(email: &Email) -> Challenge {
    hashed(email.as_str())
}

/// The challenge of codes for `email` while it is a pending address of `user`. It differs from [`email_challenge`] and
/// between accounts, so that requesting an address does not affect the codes of others.
pub fn pending_email_challenge(email: &Email, user: UserId) -> Challenge {
    hashed(&format!("wish {user} {email}"))
}

/// The challenge of codes for `user`'s number `phone`; another number has another one.
pub fn phone_challenge(user: UserId, phone: &Phone) -> Challenge {
    hashed(&format!("{user} +{}{}", phone.code, phone.number))
}

fn hashed(text: &str) -> Challenge {
    let hash: [u8; 32] = Sha256::digest(text).into();
    let first = hash.first_chunk().copied().unwrap_or_default();
    Challenge(uuid::Builder::from_custom_bytes(first).into_uuid())
}

/// The challenge of the long code `link`; `None` if it is malformed.
pub fn challenge_of_link(link: &str) -> Option<Challenge> {
    let nibbles = link.bytes().map(|letter| letter.checked_sub(b'a').filter(|nibble| *nibble < 16));
    let nibbles: Vec<u8> = nibbles.collect::<Option<_>>()?;
    if nibbles.len() != 64 {
        return None;
    }
    let bytes: Vec<u8> = nibbles[..32].chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    Uuid::from_slice(&bytes).ok().map(Challenge)
}

/// Whether `text` is six ASCII digits.
pub fn is_digits(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Encodes four bits per letter, from `a` to `p`.
fn letters(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| char::from(b'a' + nibble))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn link_code_contains_its_challenge_and_no_digit(local in "[a-z]{1,20}") {
            let challenge = email_challenge(&format!("{local}@example.org").parse().unwrap());
            let issued = issue(challenge);
            proptest::prop_assert!(is_digits(&issued.digits) && issued.link.len() == 64);
            proptest::prop_assert!(issued.link.bytes().all(|byte| byte.is_ascii_lowercase()));
            proptest::prop_assert_eq!(challenge_of_link(&issued.link), Some(challenge));
            proptest::prop_assert_eq!(challenge_of_link(&issued.link[1..]), None);
            proptest::prop_assert_eq!(challenge_of_link(&format!("{}z", &issued.link[1..])), None);
        }
    }
}
