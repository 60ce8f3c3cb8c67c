//! Time-based one-time passwords (TOTP, RFC 6238) with SHA-1, six digits, 30-second steps and a tolerance of one step;
//! the formats of their secrets; recovery codes.

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use domain::{Email, Instant, UserId, user::SecretFields};
use totp_rs::{Algorithm, Builder};

use crate::{
    random,
    sealing::{Sealer, SealingError, hmac_sha256},
};

/// Characters of recovery codes, without look-alikes. There are 32, so `byte % 32` is unbiased.
const RECOVERY_ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Recovery codes per account.
pub const RECOVERY_CODES: usize = 10;

/// A TOTP secret of 20 printable ASCII characters with 131 bits of entropy (RFC 4226 §4 R6 requires 128). The
/// hexadecimal, ASCII and Base32 formats encode the same bytes.
#[derive(Clone)]
pub struct Secret([u8; 20]);

impl Secret {
    /// Generates a random secret.
    pub fn generate() -> Self {
        Self::from_random(&random::bytes())
    }

    /// Takes the last 20 digits of the number `random` in base 94, with the characters `!` to `~` as digits. 256 bits
    /// are 125 more than needed, so the bias is negligible.
    fn from_random(random: &[u8; 32]) -> Self {
        let mut number = *random;
        let digit = |_| {
            let rest = number.iter_mut().fold(0, |rest, byte| {
                let part = rest << 8 | u16::from(*byte);
                // `part` is below 94 × 256.
                *byte = u8::try_from(part / 94).unwrap_or(u8::MAX);
                part % 94
            });
            b'!' + u8::try_from(rest).unwrap_or_default()
        };
        Self(std::array::from_fn(digit))
    }

    /// Encrypts the secret with [`Sealer::seal`].
    pub fn seal(&self, sealer: &Sealer, place: &str) -> Result<String, SealingError> {
        sealer.seal(&self.0, place)
    }

    /// Decrypts a secret.
    ///
    /// # Errors
    /// As [`Sealer::open`], and if the value does not have 20 bytes.
    pub fn open(sealed: &str, sealer: &Sealer, place: &str) -> Result<Self, SealingError> {
        sealer.open(sealed, place)?.try_into().map(Self).map_err(|_| SealingError)
    }

    /// The time step of `code` if it is valid at `now` and its step is after `last_step`, the step of the last accepted
    /// code: a code can be used once, and none older than it afterwards.
    pub fn step_of(&self, code: &str, now: Instant, last_step: u64) -> Option<u64> {
        let totp = Builder::new()
            .with_algorithm(Algorithm::SHA1)
            .with_digits(6)
            .with_skew(1)
            .with_step_duration(30)
            .with_secret(self.0);
        let seconds = u64::try_from(now.unix_seconds()).ok()?;
        totp.build_noncompliant().check(code, seconds).filter(|step| *step > last_step)
    }

    /// The HMAC under which the recovery code `code` is stored; case and separators do not matter. The key is this
    /// secret, so that the codes become invalid together with it.
    pub fn recovery_mac(&self, code: &str) -> String {
        let plain: String = code
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_uppercase())
            .collect();
        HEXLOWER.encode(&hmac_sha256(&self.0, "recovery", plain.as_bytes()))
    }

    /// The secret in all formats; `email` is the account name in the URL.
    pub fn forms(&self, email: &Email) -> Forms {
        Forms {
            hex: HEXLOWER.encode(&self.0),
            ascii: self.0.iter().copied().map(char::from).collect(),
            url: format!("{}&secret={}", url_without_secret(email), BASE32_NOPAD.encode(&self.0)),
            base32: BASE32_NOPAD.encode(&self.0),
        }
    }
}

/// The place for which `user`'s active secret is sealed: table, key and field.
pub fn active_context(user: UserId) -> String {
    format!("records USER#{user} OTP sealed")
}

/// The place for which `user`'s pending secret is sealed.
pub fn pending_context(user: UserId) -> String {
    format!("transient USER#{user} ENROLMENT sealed")
}

/// A secret in the formats that its owner sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forms {
    /// Hexadecimal.
    pub hex: String,
    /// ASCII text.
    pub ascii: String,
    /// The URL that authenticator apps read
    /// (<https://github.com/google/google-authenticator/wiki/Key-Uri-Format>).
    pub url: String,
    /// Base32 without padding.
    pub base32: String,
}

/// Generates ten recovery codes of 125 bits each, five groups of five letters such as `ABCDE`, separated by hyphens.
/// A fast hash is enough for a stored secret of 112 bits or more (ASVS 5.0, V6.5.2).
pub fn recovery_codes() -> [String; RECOVERY_CODES] {
    std::array::from_fn(|_| {
        let letters =
            random::bytes::<25>().map(|byte| char::from(RECOVERY_ALPHABET[usize::from(byte % 32)]));
        letters.chunks(5).map(String::from_iter).collect::<Vec<_>>().join("-")
    })
}

fn url_without_secret(email: &Email) -> String {
    let mut label = String::new();
    for byte in email.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => label.push(char::from(byte)),
            _ => label.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("otpauth://totp/Halqa:{label}?issuer=Halqa&algorithm=SHA1&digits=6&period=30")
}

/// The secrets that account owners see of themselves: `tried_out`, the pending secret, if there is one; otherwise a
/// decoy that is never accepted, derived from the account so that it stays the same; nothing once `is_verified`.
pub fn shown_secrets(
    sealer: &Sealer,
    user_id: UserId,
    email: &Email,
    is_verified: bool,
    tried_out: Option<&Secret>,
) -> SecretFields {
    let derive = |purpose| sealer.derive(purpose, user_id.uuid().as_bytes());
    let passwordless_base32 = BASE32_NOPAD.encode(&derive("passwordless-decoy")[..20]);
    let decoy = || Secret::from_random(&derive("otp-decoy"));
    let forms = if is_verified {
        Forms { url: url_without_secret(email), ..Forms::default() }
    } else {
        tried_out.cloned().unwrap_or_else(decoy).forms(email)
    };
    SecretFields {
        otp_hex: forms.hex,
        otp_ascii: forms.ascii,
        otp_auth_url: forms.url,
        otp_base32: forms.base32,
        passwordless_base32,
    }
}

#[cfg(test)]
mod tests;
