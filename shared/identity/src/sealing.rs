//! Sealing: authenticated encryption of what we keep or hand out but nobody may read or change,
//! and the values that are derived from the same keys.

use std::{fmt, iter, str::FromStr};

use aes_gcm::{
    Aes256Gcm, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::{MalformedKey, NamedKey, chance, keys_of};

/// AES-256-GCM under the first of several keys; the others still open what they sealed, so keys
/// can rotate: add a new one in front, seal everything anew, drop the old one.
#[derive(Clone)]
pub struct Sealer {
    current: NamedKey,
    former: Vec<NamedKey>,
}

/// Reads keys separated by commas, of which the first seals.
impl FromStr for Sealer {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        Self::new(keys_of(text)?).ok_or(MalformedKey)
    }
}

impl Sealer {
    /// A sealer under `keys`, of which the first seals. `None` without any.
    pub fn new(keys: Vec<NamedKey>) -> Option<Self> {
        let mut keys = keys.into_iter();
        Some(Self {
            current: keys.next()?,
            former: keys.collect(),
        })
    }

    /// `plain` sealed under a random nonce, as `kid.base64url`. `place` says where it belongs, such
    /// as table, key and field: it is not in the result, and opening it elsewhere fails.
    ///
    /// # Errors
    /// When `plain` is beyond 64 GiB.
    pub fn seal(&self, plain: &[u8], place: &str) -> Result<String, UnsealError> {
        let nonce = chance::bytes::<12>();
        let payload = Payload {
            msg: plain,
            aad: place.as_bytes(),
        };
        let sealed = cipher(&self.current)
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| UnsealError)?;
        Ok(format!(
            "{}.{}",
            self.current.kid,
            BASE64URL_NOPAD.encode(&[&nonce[..], &sealed].concat())
        ))
    }

    /// What [`seal`](Self::seal) sealed for the same `place`.
    ///
    /// # Errors
    /// For anything else: another place, an unknown key, a changed byte.
    pub fn open(&self, sealed: &str, place: &str) -> Result<Vec<u8>, UnsealError> {
        let (kid, sealed) = sealed.split_once('.').ok_or(UnsealError)?;
        let key = iter::once(&self.current)
            .chain(&self.former)
            .find(|key| key.kid == kid)
            .ok_or(UnsealError)?;
        let sealed = BASE64URL_NOPAD
            .decode(sealed.as_bytes())
            .map_err(|_| UnsealError)?;
        let (nonce, sealed) = sealed.split_first_chunk::<12>().ok_or(UnsealError)?;
        cipher(key)
            .decrypt(
                &Nonce::from(*nonce),
                Payload {
                    msg: sealed,
                    aad: place.as_bytes(),
                },
            )
            .map_err(|_| UnsealError)
    }

    /// The name of the key that seals.
    pub fn kid(&self) -> &str {
        &self.current.kid
    }

    /// The names of the keys that only open.
    pub fn former_kids(&self) -> impl Iterator<Item = &str> {
        self.former.iter().map(|key| key.kid.as_str())
    }

    /// HMAC-SHA-256 of `data` under the first key, for `purpose` alone.
    pub fn derive(&self, purpose: &str, data: &[u8]) -> [u8; 32] {
        authenticated(&self.current.bytes(), purpose, data)
    }

    /// The same as `kid.base64url`, to be kept in place of `data` and found again by [`is_mac`](Self::is_mac).
    pub fn mac(&self, purpose: &str, data: &[u8]) -> String {
        format!(
            "{}.{}",
            self.current.kid,
            BASE64URL_NOPAD.encode(&self.derive(purpose, data))
        )
    }

    /// Whether `kept` is the HMAC of `data` for `purpose`, under any key that is known.
    pub fn is_mac(&self, kept: &str, purpose: &str, data: &[u8]) -> bool {
        let Some((kid, mac)) = kept.split_once('.') else {
            return false;
        };
        let key = iter::once(&self.current)
            .chain(&self.former)
            .find(|key| key.kid == kid);
        let expected =
            key.map(|key| BASE64URL_NOPAD.encode(&authenticated(&key.bytes(), purpose, data)));
        expected.is_some_and(|expected| expected.as_bytes().ct_eq(mac.as_bytes()).into())
    }
}

/// HMAC-SHA-256 of `purpose` and `data` under `key`, which is not longer than the hash's block.
pub(crate) fn authenticated(key: &[u8], purpose: &str, data: &[u8]) -> [u8; 32] {
    // a key shorter than the hash's block is filled up with zeros (RFC 2104 §2)
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new(&block.into());
    mac.update(purpose.as_bytes());
    mac.update(&[0]);
    mac.update(data);
    mac.finalize().into_bytes().into()
}

fn cipher(key: &NamedKey) -> Aes256Gcm {
    Aes256Gcm::new(&key.bytes().into())
}

/// Something that was not sealed here, for this place, by a key that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsealError;

impl fmt::Display for UnsealError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a sealed value could not be opened")
    }
}

impl std::error::Error for UnsealError {}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn only_the_same_place_opens_what_was_sealed(plain: Vec<u8>, place in "[a-z#/]{0,12}", flipped in 0usize..1000) {
            let (old, new) = (NamedKey::generate("old"), NamedKey::generate("new"));
            let before = Sealer::new(vec![old.clone()]).unwrap();
            let sealed = before.seal(&plain, &place).unwrap();
            let after = Sealer::new(vec![new.clone(), old]).unwrap();
            proptest::prop_assert_eq!(after.open(&sealed, &place), Ok(plain));
            proptest::prop_assert_eq!(after.open(&sealed, &format!("{place}x")), Err(UnsealError));
            proptest::prop_assert_eq!(Sealer::new(vec![new]).unwrap().open(&sealed, &place), Err(UnsealError));

            let mut bytes = sealed.into_bytes();
            let at = flipped % bytes.len();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            proptest::prop_assert_eq!(after.open(&String::from_utf8(bytes).unwrap(), &place), Err(UnsealError));
        }
    }
}
