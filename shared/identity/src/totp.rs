//! One-time passwords by time (RFC 6238: SHA-1, six digits, steps of 30 seconds, one step of slack on
//! either side), the forms in which their secrets are shown, and recovery codes.

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use domain::{Email, Instant, UserId, user::ShownSecrets};
use totp_rs::{Algorithm, Builder};

use crate::{
    chance,
    sealing::{Sealer, UnsealError, authenticated},
};

/// Letters that recovery codes are made of: no two look alike. 32 of them, so a byte maps evenly.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// How many recovery codes a person has.
pub const RECOVERY_CODES: usize = 10;

/// A secret of 20 visible ASCII signs, 131 bits of chance (RFC 4226 §4 R6 asks for 128); its hexadecimal,
/// ASCII and Base32 forms are forms of the same bytes.
#[derive(Clone)]
pub struct Secret([u8; 20]);

impl Secret {
    /// A new secret.
    pub fn generate() -> Self {
        Self::from_chance(&chance::bytes())
    }

    /// The secret that `chance` makes: the last 20 digits of that number, written with the 94 signs from `!` to
    /// `~`. Of 256 bits, 125 are left over, so no secret is likelier than another.
    fn from_chance(chance: &[u8; 32]) -> Self {
        let mut number = *chance;
        let digit = |_| {
            let rest = number.iter_mut().fold(0, |rest, byte| {
                let part = rest << 8 | u16::from(*byte);
                // below 94 × 256 by construction
                *byte = u8::try_from(part / 94).unwrap_or(u8::MAX);
                part % 94
            });
            b'!' + u8::try_from(rest).unwrap_or_default()
        };
        Self(std::array::from_fn(digit))
    }

    /// The secret sealed for `place`.
    ///
    /// # Errors
    /// None for a text so short.
    pub fn seal(&self, sealer: &Sealer, place: &str) -> Result<String, UnsealError> {
        sealer.seal(&self.0, place)
    }

    /// The secret that was sealed for `place`.
    ///
    /// # Errors
    /// When it was not.
    pub fn open(sealed: &str, sealer: &Sealer, place: &str) -> Result<Self, UnsealError> {
        sealer
            .open(sealed, place)?
            .try_into()
            .map(Self)
            .map_err(|_| UnsealError)
    }

    /// The step whose code `code` is at `now`, if it is one that comes after `last_step`: a code is
    /// taken once, and none that is older than one that was taken.
    pub fn step_of(&self, code: &str, now: Instant, last_step: u64) -> Option<u64> {
        let totp = Builder::new()
            .with_algorithm(Algorithm::SHA1)
            .with_digits(6)
            .with_skew(1)
            .with_step_duration(30)
            .with_secret(self.0);
        let seconds = u64::try_from(now.unix_seconds()).ok()?;
        totp.build_noncompliant()
            .check(code, seconds)
            .filter(|step| *step > last_step)
    }

    /// The HMAC under which the recovery code `code` is kept, however it was typed: its key is this
    /// secret, so that the codes need no other key and end with it.
    pub fn recovery_mac(&self, code: &str) -> String {
        let plain: String = code
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_uppercase())
            .collect();
        HEXLOWER.encode(&authenticated(&self.0, "recovery", plain.as_bytes()))
    }

    /// The forms in which `email`'s owner is shown the secret.
    pub fn forms(&self, email: &Email) -> Forms {
        Forms {
            hex: HEXLOWER.encode(&self.0),
            ascii: self.0.iter().copied().map(char::from).collect(),
            url: format!(
                "{}&secret={}",
                url_without_secret(email),
                BASE32_NOPAD.encode(&self.0)
            ),
            base32: BASE32_NOPAD.encode(&self.0),
        }
    }
}

/// Where the secret in force of `user` is kept: table, key and field. What is sealed there opens nowhere else.
pub fn place_in_force(user: UserId) -> String {
    format!("records USER#{user} OTP sealed")
}

/// The same of a secret that is being tried out.
pub fn place_tried_out(user: UserId) -> String {
    format!("transient USER#{user} ENROLMENT sealed")
}

/// A secret as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forms {
    /// In hexadecimal.
    pub hex: String,
    /// As text.
    pub ascii: String,
    /// As the URL that authenticator apps read
    /// (<https://github.com/google/google-authenticator/wiki/Key-Uri-Format>).
    pub url: String,
    /// In Base32.
    pub base32: String,
}

/// Ten new recovery codes of 75 bits each, written `ABCDE-FGHJK-MNPQR`.
pub fn recovery_codes() -> [String; RECOVERY_CODES] {
    std::array::from_fn(|_| {
        let letters = chance::bytes::<15>().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        letters
            .chunks(5)
            .map(String::from_iter)
            .collect::<Vec<_>>()
            .join("-")
    })
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

/// What a person is shown of his secrets: a secret that is being tried out; before that a well-formed
/// one that is never accepted, derived from the person so that it stays the same; once the first code
/// was good, nothing.
pub fn shown(
    sealer: &Sealer,
    user_id: UserId,
    email: &Email,
    is_verified: bool,
    tried_out: Option<&Secret>,
) -> ShownSecrets {
    let derive = |purpose| sealer.derive(purpose, user_id.uuid().as_bytes());
    let passwordless_base32 = BASE32_NOPAD.encode(&derive("passwordless-decoy")[..20]);
    let forms = if is_verified {
        Forms {
            hex: String::new(),
            ascii: String::new(),
            url: url_without_secret(email),
            base32: String::new(),
        }
    } else {
        tried_out.map_or_else(
            || Secret::from_chance(&derive("otp-decoy")).forms(email),
            |secret| secret.forms(email),
        )
    };
    ShownSecrets {
        otp_hex: forms.hex,
        otp_ascii: forms.ascii,
        otp_auth_url: forms.url,
        otp_base32: forms.base32,
        passwordless_base32,
    }
}

#[cfg(test)]
mod tests;
