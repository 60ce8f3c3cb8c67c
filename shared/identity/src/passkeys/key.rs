//! The public keys of credentials: COSE keys (RFC 9052 §7, RFC 9053 §7, RFC 8230 §4) in CTAP2's canonical CBOR, which fixes
//! the order of the parameters; WebAuthn allows no others (<https://www.w3.org/TR/webauthn-3/#sctn-encoded-credPubKey-examples>).

use minicbor::Decoder;
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

impl<'a> PublicKey<'a> {
    /// The key in `bytes`; `None` when it is malformed, of another algorithm, or not valid.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut cbor = Decoder::new(bytes);
        let parameters = cbor.map().ok()??;
        let kind = parameter(&mut cbor, 1)?.i64().ok()?;
        let algorithm = parameter(&mut cbor, 3)?.i64().ok()?;
        let key = match (parameters, kind, algorithm) {
            (4, 1, EDDSA) if parameter(&mut cbor, -1)?.i64().ok()? == 6 => {
                let x = parameter(&mut cbor, -2)?.bytes().ok()?;
                Self::EdDsa(ed25519_dalek::VerifyingKey::try_from(x).ok()?)
            }
            (5, 2, ES256) if parameter(&mut cbor, -1)?.i64().ok()? == 1 => {
                let x: [u8; 32] = parameter(&mut cbor, -2)?.bytes().ok()?.try_into().ok()?;
                let y: [u8; 32] = parameter(&mut cbor, -3)?.bytes().ok()?.try_into().ok()?;
                let point =
                    p256::EncodedPoint::from_affine_coordinates(&x.into(), &y.into(), false);
                Self::Es256(p256::ecdsa::VerifyingKey::from_encoded_point(&point).ok()?)
            }
            (4, 3, RS256) => {
                let n = parameter(&mut cbor, -1)?.bytes().ok()?;
                let e = parameter(&mut cbor, -2)?.bytes().ok()?;
                // From 2,048 to 8,192 bits, without leading zeros; an exponent of at most 33 bits, as `ring` verifies with.
                let is_valid = (256..=1024).contains(&n.len())
                    && (1..=5).contains(&e.len())
                    && [n, e].iter().all(|number| number.first() != Some(&0));
                is_valid.then_some(Self::Rs256(RsaPublicKeyComponents { n, e }))?
            }
            _ => return None,
        };
        (cbor.position() == bytes.len()).then_some(key)
    }

    pub(super) fn algorithm(&self) -> i64 {
        match self {
            Self::EdDsa(_) => EDDSA,
            Self::Es256(_) => ES256,
            Self::Rs256(_) => RS256,
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

/// `cbor` after the label `label`.
fn parameter<'a, 'b>(cbor: &'a mut Decoder<'b>, label: i64) -> Option<&'a mut Decoder<'b>> {
    (cbor.i64().ok()? == label).then_some(cbor)
}
