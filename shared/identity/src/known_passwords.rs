//! The list of known passwords: 36,617 entries of five bytes of SHA-256 each, sorted. `known-passwords/` contains the
//! sources and the script that builds it. A false positive occurs for about one password in 30 million.
//!
//! Only functions that set passwords call this module; the linker drops the list from all others.

use sha2::{Digest, Sha256};

static HASHES: &[u8] = include_bytes!("../known-passwords/known-passwords.bin");

/// Whether the list contains `password` after normalisation to NFC and lower case.
pub fn contains(password: &str) -> bool {
    let hash = Sha256::digest(domain::password::normalized(password).to_lowercase());
    HASHES.as_chunks::<5>().0.binary_search_by(|entry| entry[..].cmp(&hash[..5])).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_passwords_list_is_sorted_complete_and_large() {
        let (entries, rest) = HASHES.as_chunks::<5>();
        assert!(rest.is_empty() && entries.len() >= 10_000);
        assert!(entries.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn known_password_is_found_in_any_case() {
        for password in ["password", "Password123", "AZERTY123", "motdepasse", "qwertyuiop"] {
            assert!(contains(password), "{password}");
        }
        assert!(!contains("correct horse battery staple 42"));
    }
}
