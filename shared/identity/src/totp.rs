//! Secrets of time-based one-time passwords (RFC 6238) in the forms in which they are shown.

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use domain::{Email, UserId, user::ShownSecrets};

use crate::sealing::Sealer;

/// Letters that a secret is made of: no two look alike. 32 of them, so a byte maps evenly.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// A secret of 20 ASCII letters, 100 bits of chance; its hexadecimal, ASCII and Base32 forms are
/// forms of the same bytes.
pub struct Secret([u8; 20]);

impl Secret {
    /// The secret that `chance` makes.
    fn from_chance(chance: &[u8; 32]) -> Self {
        let mut letters = [0; 20];
        for (letter, byte) in letters.iter_mut().zip(chance) {
            *letter = LETTERS[usize::from(byte % 32)];
        }
        Self(letters)
    }

    fn base32(&self) -> String {
        BASE32_NOPAD.encode(&self.0)
    }

    /// The URL that authenticator apps read
    /// (<https://github.com/google/google-authenticator/wiki/Key-Uri-Format>).
    fn url(&self, email: &Email) -> String {
        format!("{}&secret={}", url_without_secret(email), self.base32())
    }
}

fn url_without_secret(email: &Email) -> String {
    // An address has few letters that a URL's path may not have.
    let mut label = String::new();
    for byte in email.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => label.push(char::from(byte)),
            _ => label.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("otpauth://totp/Halqa:{label}?issuer=Halqa&algorithm=SHA1&digits=6&period=30")
}

/// What a person is shown of his secrets. Before the first good code it is a well-formed secret
/// that is never accepted, derived from the person so that it stays the same; afterwards, nothing.
pub fn shown(sealer: &Sealer, user_id: UserId, email: &Email, is_verified: bool) -> ShownSecrets {
    let derive = |purpose| sealer.derive(purpose, user_id.uuid().as_bytes());
    let passwordless_base32 = BASE32_NOPAD.encode(&derive("passwordless-decoy")[..20]);
    if is_verified {
        return ShownSecrets {
            otp_hex: String::new(),
            otp_ascii: String::new(),
            otp_auth_url: url_without_secret(email),
            otp_base32: String::new(),
            passwordless_base32,
        };
    }
    let secret = Secret::from_chance(&derive("otp-decoy"));
    ShownSecrets {
        otp_hex: HEXLOWER.encode(&secret.0),
        otp_ascii: secret.0.iter().copied().map(char::from).collect(),
        otp_auth_url: secret.url(email),
        otp_base32: secret.base32(),
        passwordless_base32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamedKey;

    #[test]
    fn the_forms_of_a_shown_secret_agree_and_stay() {
        let sealer = Sealer::new(vec![NamedKey::generate("k")]).unwrap();
        let user = UserId::new(uuid::Uuid::from_u128(7));
        let email: Email = "amel+a@example.org".parse().unwrap();
        let secrets = shown(&sealer, user, &email, false);
        assert_eq!(HEXLOWER.decode(secrets.otp_hex.as_bytes()).unwrap(), secrets.otp_ascii.as_bytes());
        assert_eq!(BASE32_NOPAD.decode(secrets.otp_base32.as_bytes()).unwrap(), secrets.otp_ascii.as_bytes());
        assert!(secrets.otp_auth_url.starts_with("otpauth://totp/Halqa:amel%2Ba%40example.org?"), "{}", secrets.otp_auth_url);
        assert!(secrets.otp_auth_url.ends_with(&format!("&secret={}", secrets.otp_base32)));
        assert_eq!(shown(&sealer, user, &email, false), secrets);
        let verified = shown(&sealer, user, &email, true);
        assert_eq!((verified.otp_hex.as_str(), verified.otp_ascii.as_str(), verified.otp_base32.as_str()), ("", "", ""));
        assert!(!verified.otp_auth_url.contains("secret="));
    }
}
