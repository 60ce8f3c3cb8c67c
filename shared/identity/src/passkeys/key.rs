//! The public keys of credentials: COSE keys (RFC 9052 §7, RFC 9053 §7, RFC 8230 §4) without optional parameters
//! (<https://www.w3.org/TR/webauthn-3/#sctn-encoded-credPubKey-examples>).

use std::collections::BTreeMap;

use minicbor::{Decoder, data::Type};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use signature::Verifier;

/// The algorithms that are offered and accepted, as COSE numbers them: EdDSA, ES256, and RS256, the only one of Windows Hello
/// on many computers.
pub(super) const ALGORITHMS: [i64; 3] = [EDDSA, ES256, RS256];
const EDDSA: i64 = -8;
const ES256: i64 = -7;
const RS256: i64 = -257;

/// A public key, valid for its algorithm.
pub(super) enum PublicKey<'a> {
    EdDsa(ed25519_dalek::VerifyingKey),
    Es256(p256::ecdsa::VerifyingKey),
    Rs256(RsaPublicKeyComponents<&'a [u8]>),
}

/// The value of a parameter of a COSE key.
#[derive(Clone, Copy)]
enum Parameter<'a> {
    Number(i64),
    Bytes(&'a [u8]),
}

impl<'a> PublicKey<'a> {
    /// The key in `bytes`; `None` when it is malformed, of another algorithm, not valid, or so weak that anyone can make
    /// signatures of it.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        use Parameter::{Bytes, Number};
        let parameters = parameters(bytes)?;
        let get = |label: i64| parameters.get(&label).copied();
        match (parameters.len(), get(1)?, get(3)?, get(-1)?) {
            (4, Number(1), Number(EDDSA), Number(6)) => {
                let Bytes(x) = get(-2)? else { return None };
                let key = ed25519_dalek::VerifyingKey::try_from(x).ok();
                key.filter(|key| !key.is_weak()).map(Self::EdDsa)
            }
            (5, Number(2), Number(ES256), Number(1)) => {
                let (Bytes(x), Bytes(y)) = (get(-2)?, get(-3)?) else { return None };
                let (x, y): ([u8; 32], [u8; 32]) = (x.try_into().ok()?, y.try_into().ok()?);
                let point =
                    p256::EncodedPoint::from_affine_coordinates(&x.into(), &y.into(), false);
                p256::ecdsa::VerifyingKey::from_encoded_point(&point).ok().map(Self::Es256)
            }
            (4, Number(3), Number(RS256), Bytes(n)) => {
                let Bytes(e) = get(-2)? else { return None };
                // From 2,048 to 8,192 bits, without leading zeros; an odd exponent of at least 3 and at most 33 bits, as
                // `ring` verifies with.
                let is_valid = (256..=1024).contains(&n.len())
                    && (1..=5).contains(&e.len())
                    && [n, e].iter().all(|number| number.first() != Some(&0))
                    && e != [1]
                    && e.last().is_some_and(|last| last % 2 == 1);
                is_valid.then_some(Self::Rs256(RsaPublicKeyComponents { n, e }))
            }
            _ => None,
        }
    }

    /// Whether `signature` is that of `message`, in the formats of
    /// <https://www.w3.org/TR/webauthn-3/#sctn-signature-attestation-types>.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::EdDsa(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            Self::Es256(key) => p256::ecdsa::Signature::from_der(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
            Self::Rs256(key) => key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok(),
        }
    }
}

/// The parameters in the map `bytes`, in any order.
fn parameters(bytes: &[u8]) -> Option<BTreeMap<i64, Parameter<'_>>> {
    let mut cbor = Decoder::new(bytes);
    let mut parameters = BTreeMap::new();
    for _ in 0..cbor.map().ok()?? {
        let label = cbor.i64().ok()?;
        let value = match cbor.datatype().ok()? {
            Type::Bytes => Parameter::Bytes(cbor.bytes().ok()?),
            _ => Parameter::Number(cbor.i64().ok()?),
        };
        if parameters.insert(label, value).is_some() {
            return None;
        }
    }
    (cbor.position() == bytes.len()).then_some(parameters)
}
