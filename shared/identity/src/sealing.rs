//! Sealing: authenticated encryption of stored or issued values, and HMACs under the same keys.

use std::{fmt, iter, str::FromStr};

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::{MalformedKey, NamedKey, parse_keys, random};

/// XChaCha20-Poly1305 (<https://datatracker.ietf.org/doc/html/draft-irtf-cfrg-xchacha>). The first key encrypts, all
/// keys decrypt. To rotate: add a new key in front, encrypt all values again, remove the old key.
/// Its random 192-bit nonces need no count.
#[derive(Clone)]
pub struct Sealer {
    current: NamedKey,
    former: Vec<NamedKey>,
}

/// Parses one or more keys separated by commas; the first encrypts.
impl FromStr for Sealer {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        Self::new(parse_keys(text)?).ok_or(MalformedKey)
    }
}

impl Sealer {
    /// A sealer whose first key encrypts; `None` if `keys` is empty.
    pub fn new(keys: Vec<NamedKey>) -> Option<Self> {
        let mut keys = keys.into_iter();
        Some(Self { current: keys.next()?, former: keys.collect() })
    }

    /// Encrypts `plaintext` under a random 192-bit nonce and returns `kid.base64url`. The associated data are the
    /// key's name and `place`: where the value belongs, such as table, key and field. `place` is not part of the
    /// result, and decrypting it with another place fails.
    ///
    /// # Errors
    /// If `plaintext` exceeds 256 GiB.
    pub fn seal(&self, plaintext: &[u8], place: &str) -> Result<String, SealingError> {
        self.seal_under(random::bytes(), plaintext, place)
    }

    /// As [`seal`](Self::seal), but equal values of a place have equal results: the nonce is an HMAC of both, as in
    /// <https://datatracker.ietf.org/doc/html/rfc5297>. For values that do not have to hide whether they are equal.
    ///
    /// # Errors
    /// As [`seal`](Self::seal).
    pub fn seal_repeatably(&self, plaintext: &[u8], place: &str) -> Result<String, SealingError> {
        let data = [place.as_bytes(), &[0], plaintext].concat();
        let mac = self.derive("nonce", &data);
        let nonce = mac.first_chunk().ok_or(SealingError)?;
        self.seal_under(*nonce, plaintext, place)
    }

    fn seal_under(
        &self,
        nonce: [u8; 24],
        plaintext: &[u8],
        place: &str,
    ) -> Result<String, SealingError> {
        let bound_to = bound_to(&self.current, place);
        let payload = Payload { msg: plaintext, aad: bound_to.as_bytes() };
        let sealed = xchacha(&self.current)
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| SealingError)?;
        let sealed = BASE64URL_NOPAD.encode(&[&nonce[..], &sealed].concat());
        Ok(format!("{}.{sealed}", self.current.kid))
    }

    /// Decrypts the result of [`seal`](Self::seal).
    ///
    /// # Errors
    /// If it was sealed for another `place` or with an unknown key, or was modified.
    pub fn open(&self, sealed: &str, place: &str) -> Result<Vec<u8>, SealingError> {
        let (kid, sealed) = sealed.split_once('.').ok_or(SealingError)?;
        let key = self.key(kid).ok_or(SealingError)?;
        let sealed = BASE64URL_NOPAD.decode(sealed.as_bytes()).map_err(|_| SealingError)?;
        let (nonce, msg) = sealed.split_first_chunk().ok_or(SealingError)?;
        let bound_to = bound_to(key, place);
        let payload = Payload { msg, aad: bound_to.as_bytes() };
        xchacha(key).decrypt(&XNonce::from(*nonce), payload).map_err(|_| SealingError)
    }

    fn key(&self, kid: &str) -> Option<&NamedKey> {
        iter::once(&self.current).chain(&self.former).find(|key| key.kid == kid)
    }

    /// The name of the key that encrypts.
    pub fn kid(&self) -> &str {
        &self.current.kid
    }

    /// The names of the keys that only decrypt.
    pub fn former_kids(&self) -> impl Iterator<Item = &str> {
        self.former.iter().map(|key| key.kid.as_str())
    }

    /// HMAC-SHA-256 of `purpose` and `data` under the first key. Different purposes give unrelated values.
    pub fn derive(&self, purpose: &str, data: &[u8]) -> [u8; 32] {
        hmac_sha256(&self.current.bytes(), purpose, data)
    }

    /// [`derive`](Self::derive) as `kid.base64url`: can be stored instead of `data` and checked with
    /// [`is_mac`](Self::is_mac).
    pub fn mac(&self, purpose: &str, data: &[u8]) -> String {
        format!("{}.{}", self.current.kid, BASE64URL_NOPAD.encode(&self.derive(purpose, data)))
    }

    /// Whether `stored` is the [`mac`](Self::mac) of `data` for `purpose` under any of the keys.
    pub fn is_mac(&self, stored: &str, purpose: &str, data: &[u8]) -> bool {
        let Some((kid, mac)) = stored.split_once('.') else {
            return false;
        };
        let expected = self
            .key(kid)
            .map(|key| BASE64URL_NOPAD.encode(&hmac_sha256(&key.bytes(), purpose, data)));
        expected.is_some_and(|expected| expected.as_bytes().ct_eq(mac.as_bytes()).into())
    }
}

/// HMAC-SHA-256 of `purpose` and `data`, separated by a zero byte. `key` has at most 64 bytes.
pub(crate) fn hmac_sha256(key: &[u8], purpose: &str, data: &[u8]) -> [u8; 32] {
    // HMAC pads a shorter key with zeros (RFC 2104 §2).
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new(&block.into());
    mac.update(purpose.as_bytes());
    mac.update(&[0]);
    mac.update(data);
    mac.finalize().into_bytes().into()
}

/// Under a key of its own, because `key` itself is that of the HMACs: HKDF-Expand (RFC 5869 §2.3),
/// whose first block is this HMAC of its `info` and the byte 1.
fn xchacha(key: &NamedKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&hmac_sha256(&key.bytes(), "XChaCha20-Poly1305", &[1]).into())
}

/// The associated data. No key's name contains a space.
fn bound_to(key: &NamedKey, place: &str) -> String {
    format!("{} {place}", key.kid)
}

/// A value could not be sealed or opened. The error contains no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealingError;

impl fmt::Display for SealingError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a sealed value could not be opened")
    }
}

impl std::error::Error for SealingError {}

#[cfg(test)]
mod tests;
