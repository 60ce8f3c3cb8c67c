//! The passwords that everybody knows: 36,617 of them, as five bytes of SHA-256 each, sorted. How
//! the file was made, and from what, stands in `known-passwords/`. A password that is not in the
//! list is taken for one that is about once in 30 million.
//!
//! Only functions that set passwords call this, so the linker leaves the list out of all others.

use sha2::{Digest, Sha256};

static HASHES: &[u8] = include_bytes!("../known-passwords/known-passwords.bin");

/// Whether `password` is in the list, in NFC and lower case.
pub fn contains(password: &str) -> bool {
    let hash = Sha256::digest(domain::password::normalized(password).to_lowercase());
    HASHES
        .as_chunks::<5>()
        .0
        .binary_search_by(|entry| entry[..].cmp(&hash[..5]))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_whole_and_large() {
        let (entries, rest) = HASHES.as_chunks::<5>();
        assert!(rest.is_empty() && entries.len() >= 10_000);
        assert!(entries.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn known_passwords_are_known_in_any_case() {
        for password in [
            "password",
            "Password123",
            "AZERTY123",
            "motdepasse",
            "qwertyuiop",
        ] {
            assert!(contains(password), "{password}");
        }
        assert!(!contains("correct horse battery staple 42"));
    }
}
