//! The one signature algorithm, as the provider that jsonwebtoken asks for. Its own providers bring
//! RSA, P-256 and P-384 into every binary; with this one, a token of another algorithm has no code
//! that could take it for good.

use ed25519_dalek::{SIGNATURE_LENGTH, Signature, SigningKey, VerifyingKey};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind},
};
use signature::{Error as BadSignature, Signer, Verifier};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Has jsonwebtoken use this provider; a second call does nothing.
pub(crate) fn install() {
    let _ = PROVIDER.install_default();
}

struct Signing(SigningKey);

impl Signer<Vec<u8>> for Signing {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, BadSignature> {
        let signature: Signature = self.0.try_sign(message)?;
        Ok(signature.to_vec())
    }
}

impl JwtSigner for Signing {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

struct Verifying(VerifyingKey);

impl Verifier<Vec<u8>> for Verifying {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), BadSignature> {
        let signature: [u8; SIGNATURE_LENGTH] = signature
            .as_slice()
            .try_into()
            .map_err(|_| BadSignature::new())?;
        // Strict: no signature has a second form (RFC 8032 §5.1.7 leaves it open).
        self.0
            .verify_strict(message, &Signature::from_bytes(&signature))
    }
}

impl JwtVerifier for Verifying {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

/// `key` holds the 32 bytes of the seed.
fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    let seed = key.as_bytes().try_into().map_err(|_| malformed())?;
    only_ed25519(*algorithm)?;
    Ok(Box::new(Signing(SigningKey::from_bytes(&seed))))
}

/// `key` holds the 32 bytes of the public key.
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let public = key
        .try_get_as_bytes()?
        .try_into()
        .map_err(|_| malformed())?;
    only_ed25519(*algorithm)?;
    Ok(Box::new(Verifying(
        VerifyingKey::from_bytes(&public).map_err(|_| malformed())?,
    )))
}

fn only_ed25519(algorithm: Algorithm) -> Result<(), Error> {
    if algorithm == Algorithm::EdDSA {
        Ok(())
    } else {
        Err(ErrorKind::InvalidAlgorithm.into())
    }
}

fn malformed() -> Error {
    ErrorKind::InvalidKeyFormat.into()
}
