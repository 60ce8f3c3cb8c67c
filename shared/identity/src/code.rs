//! Codes that are sent: six digits, and a long one for links.

use domain::{Email, Phone, UserId};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::random;

/// A code that is about to be sent, in both its forms.
#[derive(Clone)]
pub struct NewCode {
    /// Six digits.
    pub digits: String,
    /// The link's: the challenge of the challenge and 128 bits of chance, in letters alone, so that the
    /// six digits are the only digits of a message.
    pub link: String,
}

/// A new code for the challenge at `challenge`.
pub fn issue(challenge: Uuid) -> NewCode {
    // of 2^64 values a million is a part so small that no code is likelier than another
    let digits = u64::from_be_bytes(random::bytes()) % 1_000_000;
    let link = letters(challenge.as_bytes()) + &letters(&random::bytes::<16>());
    NewCode {
        digits: format!("{digits:06}"),
        link,
    }
}

/// Where codes for `email` are kept, whether anybody has the address or not: what is told of the
/// challenge tells nothing of people.
pub fn email_challenge(email: &Email) -> Uuid {
    hashed(email.as_str())
}

/// Where codes for an address are kept that somebody has asked for and does not have: whoever asks for
/// an address cannot reach the codes of its owner.
pub fn pending_email_challenge(email: &Email) -> Uuid {
    hashed(&format!("wish {email}"))
}

/// Where codes for the number of a person are kept: another number has another challenge.
pub fn phone_challenge(user: UserId, phone: &Phone) -> Uuid {
    hashed(&format!("{user} +{}{}", phone.code, phone.number))
}

fn hashed(text: &str) -> Uuid {
    let hash: [u8; 32] = Sha256::digest(text).into();
    let first = hash.first_chunk().copied().unwrap_or_default();
    uuid::Builder::from_custom_bytes(first).into_uuid()
}

/// The challenge that the link's code `link` belongs to; `None` for what is no such code.
pub fn challenge_of_link(link: &str) -> Option<Uuid> {
    let nibbles = link
        .bytes()
        .map(|letter| letter.checked_sub(b'a').filter(|nibble| *nibble < 16));
    let nibbles: Vec<u8> = nibbles.collect::<Option<_>>()?;
    if nibbles.len() != 64 {
        return None;
    }
    let bytes: Vec<u8> = nibbles[..32]
        .chunks_exact(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect();
    Uuid::from_slice(&bytes).ok()
}

/// Whether `text` is written as the digits of a code are.
pub fn is_digits(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Four bits a letter, from `a` to `p`.
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
        fn a_link_leads_to_its_place_and_holds_no_digit(local in "[a-z]{1,20}") {
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
