//! Sealing: authenticated encryption of stored or issued values, and HMACs under the same keys.

use std::{fmt, iter, str::FromStr};

use aes_gcm::{
    Aes256Gcm, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::{MalformedKey, NamedKey, parse_keys, random};

/// AES-256-GCM. The first key encrypts, all keys decrypt. To rotate: add a new key in front, encrypt all values again,
/// remove the old key.
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
        Some(Self {
            current: keys.next()?,
            former: keys.collect(),
        })
    }

    /// Encrypts `plaintext` under a random 96-bit nonce and returns `kid.base64url`. `place` is the associated data:
    /// where the value belongs, such as table, key and field. It is not part of the result, and decrypting it with
    /// another place fails.
    ///
    /// # Errors
    /// If `plaintext` exceeds 64 GiB.
    pub fn seal(&self, plaintext: &[u8], place: &str) -> Result<String, UnsealError> {
        let nonce = random::bytes::<12>();
        let payload = Payload {
            msg: plaintext,
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

    /// Decrypts the result of [`seal`](Self::seal).
    ///
    /// # Errors
    /// If it was sealed for another `place` or with an unknown key, or was modified.
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
        format!(
            "{}.{}",
            self.current.kid,
            BASE64URL_NOPAD.encode(&self.derive(purpose, data))
        )
    }

    /// Whether `stored` is the [`mac`](Self::mac) of `data` for `purpose` under any of the keys.
    pub fn is_mac(&self, stored: &str, purpose: &str, data: &[u8]) -> bool {
        let Some((kid, mac)) = stored.split_once('.') else {
            return false;
        };
        let key = iter::once(&self.current)
            .chain(&self.former)
            .find(|key| key.kid == kid);
        let expected =
            key.map(|key| BASE64URL_NOPAD.encode(&hmac_sha256(&key.bytes(), purpose, data)));
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

fn cipher(key: &NamedKey) -> Aes256Gcm {
    Aes256Gcm::new(&key.bytes().into())
}

/// A value could not be sealed or opened. The error contains no part of it.
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
        fn sealed_value_opens_only_with_same_place_and_known_key(plaintext: Vec<u8>, place in "[a-z#/]{0,12}", flipped in 0usize..1000) {
            let (old, new) = (NamedKey::generate("old"), NamedKey::generate("new"));
            let before = Sealer::new(vec![old.clone()]).unwrap();
            let sealed = before.seal(&plaintext, &place).unwrap();
            let after = Sealer::new(vec![new.clone(), old]).unwrap();
            proptest::prop_assert_eq!(after.open(&sealed, &place), Ok(plaintext));
            proptest::prop_assert_eq!(after.open(&sealed, &format!("{place}x")), Err(UnsealError));
            proptest::prop_assert_eq!(Sealer::new(vec![new]).unwrap().open(&sealed, &place), Err(UnsealError));

            let mut bytes = sealed.into_bytes();
            let at = flipped % bytes.len();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            proptest::prop_assert_eq!(after.open(&String::from_utf8(bytes).unwrap(), &place), Err(UnsealError));
        }
    }
}
