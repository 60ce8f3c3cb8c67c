//! Secrets: hashing, signing, sealing, one-time secrets. Pure computation, no I/O; what an auditor
//! reads first.

pub mod code;
mod ed25519;
pub mod known_passwords;
pub mod outbox;
pub mod password;
pub mod random;
pub mod sealing;
pub mod token;
pub mod totp;

use std::{fmt, str::FromStr};

use data_encoding::BASE64;
use secrecy::{ExposeSecret, SecretSlice};
use subtle::ConstantTimeEq;

/// A named key of 32 bytes, written `kid:base64`. The name goes with everything that the key
/// makes, so that keys can follow each other.
#[derive(Clone)]
pub struct NamedKey {
    /// The name: letters, digits, `-` and `_`.
    pub kid: String,
    bytes: SecretSlice<u8>,
}

impl NamedKey {
    /// A new key from the system's chance.
    pub fn generate(kid: &str) -> Self {
        Self {
            kid: kid.to_owned(),
            bytes: random::bytes::<32>().to_vec().into(),
        }
    }

    /// The key in the form that [`FromStr`] reads. It is a secret.
    pub fn to_setting(&self) -> String {
        format!("{}:{}", self.kid, BASE64.encode(self.bytes.expose_secret()))
    }

    /// Whether `shown` is this key in that form; how long it takes says nothing of how much is right.
    pub fn is(&self, shown: &[u8]) -> bool {
        self.to_setting().as_bytes().ct_eq(shown).into()
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
        let named = !kid.is_empty()
            && kid
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let bytes = BASE64.decode(key.as_bytes()).map_err(|_| MalformedKey)?;
        if named && bytes.len() == 32 {
            Ok(Self {
                kid: kid.to_owned(),
                bytes: bytes.into(),
            })
        } else {
            Err(MalformedKey)
        }
    }
}

/// The keys in `text`, separated by commas, one at least.
fn keys_of<T: FromStr<Err = MalformedKey>>(text: &str) -> Result<Vec<T>, MalformedKey> {
    text.split(',').map(str::parse).collect()
}

impl fmt::Debug for NamedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "NamedKey({})", self.kid)
    }
}

/// Keys of which any may be shown, such as the secrets of a content network.
#[derive(Debug, Clone, Default)]
pub struct NamedKeys(Vec<NamedKey>);

impl NamedKeys {
    /// Whether `shown` is one of them; how long it takes says nothing of how much is right.
    pub fn contains(&self, shown: &[u8]) -> bool {
        self.0.iter().any(|key| key.is(shown))
    }
}

impl FromStr for NamedKeys {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        keys_of(text).map(Self)
    }
}

/// A key that is not of the form `kid:base64 of 32 bytes`. Says nothing of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedKey;

impl fmt::Display for MalformedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("not of the form `name:base64 of 32 bytes`")
    }
}

impl std::error::Error for MalformedKey {}
