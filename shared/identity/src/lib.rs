//! Cryptography of the service: password hashing, tokens, encryption, TOTP and one-time codes. Pure computation without
//! I/O except for the system's random number generator; the crate to audit first.

pub mod code;
mod ed25519;
pub mod known_passwords;
pub mod outbox;
pub mod passkeys;
pub mod password;
pub mod random;
pub mod sealing;
pub mod token;
pub mod totp;

use std::{fmt, str::FromStr};

use data_encoding::BASE64;
use secrecy::{ExposeSecret, SecretSlice};
use subtle::ConstantTimeEq;

/// A 32-byte key with a name, written `kid:base64`. All that is made with the key carries the name, so that keys can be
/// rotated.
#[derive(Clone)]
pub struct NamedKey {
    /// The key's name: ASCII letters, digits, `-` and `_`.
    pub kid: String,
    bytes: SecretSlice<u8>,
}

impl NamedKey {
    /// Generates a random key.
    pub fn generate(kid: &str) -> Self {
        Self { kid: kid.to_owned(), bytes: random::bytes::<32>().to_vec().into() }
    }

    /// The key in the form that [`FromStr`] parses. The result is secret.
    pub fn to_setting(&self) -> String {
        format!("{}:{}", self.kid, BASE64.encode(self.bytes.expose_secret()))
    }

    /// Whether `candidate` is this key in the form of [`to_setting`](Self::to_setting), compared in constant time.
    pub fn is(&self, candidate: &[u8]) -> bool {
        self.to_setting().as_bytes().ct_eq(candidate).into()
    }

    fn bytes(&self) -> [u8; 32] {
        // 32 bytes by construction
        self.bytes.expose_secret().try_into().unwrap_or([0; 32])
    }
}

impl FromStr for NamedKey {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let (kid, key) = text.trim().split_once(':').ok_or(MalformedKey)?;
        let has_valid_name = !kid.is_empty()
            && kid.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let bytes = BASE64.decode(key.as_bytes()).map_err(|_| MalformedKey)?;
        if has_valid_name && bytes.len() == 32 {
            Ok(Self { kid: kid.to_owned(), bytes: bytes.into() })
        } else {
            Err(MalformedKey)
        }
    }
}

/// Parses one or more keys separated by commas.
fn parse_keys<T: FromStr<Err = MalformedKey>>(text: &str) -> Result<Vec<T>, MalformedKey> {
    text.split(',').map(str::parse).collect()
}

impl fmt::Debug for NamedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "NamedKey({})", self.kid)
    }
}

/// A set of accepted keys, such as the secrets that CloudFront sends.
#[derive(Debug, Clone, Default)]
pub struct NamedKeys(Vec<NamedKey>);

impl NamedKeys {
    /// Whether `candidate` is one of the keys; see [`NamedKey::is`].
    pub fn contains(&self, candidate: &[u8]) -> bool {
        self.0.iter().any(|key| key.is(candidate))
    }
}

impl FromStr for NamedKeys {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        parse_keys(text).map(Self)
    }
}

/// A key is not of the form `kid:base64`, with 32 bytes. The error contains no part of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedKey;

impl fmt::Display for MalformedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("not of the form `name:base64 of 32 bytes`")
    }
}

impl std::error::Error for MalformedKey {}
