//! A crypto provider for `jsonwebtoken` with Ed25519 only. The providers of `jsonwebtoken` add RSA, P-256 and P-384 to
//! every binary; with this one, no code exists that could accept a token of another algorithm.

use ed25519_dalek::{SIGNATURE_LENGTH, Signature, SigningKey, VerifyingKey};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind},
};
use signature::{Error as SignatureError, Signer, Verifier};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes this the provider of `jsonwebtoken`; later calls do nothing.
pub(crate) fn install() {
    let _ = PROVIDER.install_default();
}

struct Ed25519Signer(SigningKey);

impl Signer<Vec<u8>> for Ed25519Signer {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        let signature: Signature = self.0.try_sign(message)?;
        Ok(signature.to_vec())
    }
}

impl JwtSigner for Ed25519Signer {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

struct Ed25519Verifier(VerifyingKey);

impl Verifier<Vec<u8>> for Ed25519Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        let signature: [u8; SIGNATURE_LENGTH] =
            signature.as_slice().try_into().map_err(|_| SignatureError::new())?;
        // Strict verification also rejects small-order points, which RFC 8032 §5.1.7 does not require, so that no
        // signature has a second valid form.
        self.0.verify_strict(message, &Signature::from_bytes(&signature))
    }
}

impl JwtVerifier for Ed25519Verifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

/// `key` is the 32-byte seed.
fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    let seed = key.as_bytes().try_into().map_err(|_| invalid_key())?;
    require_ed25519(*algorithm)?;
    Ok(Box::new(Ed25519Signer(SigningKey::from_bytes(&seed))))
}

/// `key` is the 32-byte public key.
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let public = key.try_get_as_bytes()?.try_into().map_err(|_| invalid_key())?;
    require_ed25519(*algorithm)?;
    Ok(Box::new(Ed25519Verifier(VerifyingKey::from_bytes(&public).map_err(|_| invalid_key())?)))
}

fn require_ed25519(algorithm: Algorithm) -> Result<(), Error> {
    if algorithm == Algorithm::EdDSA { Ok(()) } else { Err(ErrorKind::InvalidAlgorithm.into()) }
}

fn invalid_key() -> Error {
    ErrorKind::InvalidKeyFormat.into()
}
