//! JSON Web Tokens (RFC 7519), signed with Ed25519, with one `typ` per use (RFC 8725 §3.11). They contain no rights:
//! the session and its user are read from the store on each request.

use std::{collections::HashMap, fmt, str::FromStr};

use data_encoding::BASE64;
use domain::{CommitteeId, Instant, SessionId, UserId, amr::Method};
use ed25519_dalek::SigningKey;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{MalformedKey, NamedKey, ed25519, parse_keys};

const ISSUER: &str = "halqa";
const AUDIENCE: &str = "halqa-api";
/// Longest token that is parsed, in bytes. Tokens of this service are much shorter.
const MAX_LENGTH: usize = 4096;
/// `nbf` is this much earlier than `iat`, because the clocks of two containers differ.
const NOT_BEFORE_SECONDS: i64 = 5;

/// What a token may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenUse {
    /// All requests of a session.
    Access,
    /// Only the one-time password step of a sign-in.
    OtpStep,
    /// Only the second step of a passwordless sign-in.
    PasswordlessStep,
    /// Only the answer to a challenge for a passkey.
    PasskeyStep,
}

impl TokenUse {
    const fn typ(self) -> &'static str {
        match self {
            Self::Access => "at+jwt",
            Self::OtpStep => "otp+jwt",
            Self::PasswordlessStep => "passwordless+jwt",
            Self::PasskeyStep => "passkey+jwt",
        }
    }
}

/// The claims of a token. Times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    iss: String,
    aud: String,
    /// The account.
    pub sub: UserId,
    /// The session.
    pub sid: SessionId,
    /// The token's identifier, a UUID v7.
    pub jti: Uuid,
    /// Time of issue.
    pub iat: i64,
    /// Start of validity.
    pub nbf: i64,
    /// End of validity, exclusive.
    pub exp: i64,
    /// When the user last authenticated.
    pub auth_time: i64,
    /// The authentication methods.
    pub amr: Vec<Method>,
    /// The committee to load with the account: a hint, not an authorisation.
    pub cid: CommitteeId,
    /// The user's epoch, only in tokens for a sign-in step: ending all sessions raises the epoch and so invalidates the
    /// step as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
}

/// The content of a new token.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// The account, `sub`.
    pub user_id: UserId,
    /// The session, `sid`.
    pub session_id: SessionId,
    /// Time of issue, `iat`. The token is valid from five seconds before (`nbf`).
    pub issued: Instant,
    /// End of validity, `exp`.
    pub expires: Instant,
    /// When the user last authenticated.
    pub auth_time: Instant,
    /// The authentication methods.
    pub amr: Vec<Method>,
    /// The account's committee, `cid`.
    pub committee_id: CommitteeId,
    /// The user's epoch; `None` in access tokens.
    pub epoch: Option<u64>,
}

/// Signs tokens. Only functions that sign users in have the private key.
#[derive(Clone)]
pub struct Signer {
    kid: String,
    key: EncodingKey,
}

/// Parses one key, the private seed.
impl FromStr for Signer {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        text.parse().map(|key| Self::new(&key))
    }
}

impl Signer {
    /// A signer whose Ed25519 seed is `key`.
    pub fn new(key: &NamedKey) -> Self {
        ed25519::install();
        Self { kid: key.kid.clone(), key: EncodingKey::from_ed_der(&key.bytes()) }
    }

    /// Signs a token for `usage` with the content `grant`.
    pub fn sign(
        &self,
        usage: TokenUse,
        grant: &NewToken,
    ) -> Result<String, jsonwebtoken::errors::Error> {
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(usage.typ().to_owned());
        header.kid = Some(self.kid.clone());
        let claims = Claims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: grant.user_id,
            sid: grant.session_id,
            jti: crate::random::id(grant.issued),
            iat: grant.issued.unix_seconds(),
            nbf: grant.issued.unix_seconds() - NOT_BEFORE_SECONDS,
            exp: grant.expires.unix_seconds(),
            auth_time: grant.auth_time.unix_seconds(),
            amr: grant.amr.clone(),
            cid: grant.committee_id,
            epoch: grant.epoch,
        };
        jsonwebtoken::encode(&header, &claims, &self.key)
    }
}

/// A named public key, written `kid:base64` with 32 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    kid: String,
    bytes: [u8; 32],
}

impl PublicKey {
    /// Derives the public key of the seed `key`.
    pub fn of(key: &NamedKey) -> Self {
        Self {
            kid: key.kid.clone(),
            bytes: SigningKey::from_bytes(&key.bytes()).verifying_key().to_bytes(),
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.kid, BASE64.encode(&self.bytes))
    }
}

impl FromStr for PublicKey {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let key: NamedKey = text.parse()?;
        Ok(Self { bytes: key.bytes(), kid: key.kid })
    }
}

/// Verifies tokens with one or more public keys; several during key rotation.
#[derive(Clone)]
pub struct Verifier {
    keys: HashMap<String, DecodingKey>,
    validation: Validation,
}

/// Parses public keys separated by commas.
impl FromStr for Verifier {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        Ok(Self::new(&parse_keys(text)?))
    }
}

impl Verifier {
    /// A verifier that accepts tokens signed with any of `keys`.
    pub fn new(keys: &[PublicKey]) -> Self {
        ed25519::install();
        let keys = keys
            .iter()
            .map(|key| (key.kid.clone(), DecodingKey::from_ed_der(&key.bytes)))
            .collect();
        let mut validation = Validation::new(Algorithm::EdDSA);
        // `verify` checks the times against `now`, without leeway. The library would read the system clock, allow a
        // minute and ignore `nbf`.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.leeway = 0;
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["iss", "aud", "exp", "nbf", "sub"]);
        Self { keys, validation }
    }

    /// The claims of `token`; `None` unless its signature, issuer and audience are valid, its `typ` is that of `usage`
    /// and `now` is within its validity.
    pub fn verify(&self, token: &str, usage: TokenUse, now: Instant) -> Option<Claims> {
        if token.len() > MAX_LENGTH {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        if header.typ.as_deref() != Some(usage.typ()) || header.crit.is_some() {
            return None;
        }
        let key = self.keys.get(header.kid.as_deref()?)?;
        let claims = jsonwebtoken::decode::<Claims>(token, key, &self.validation).ok()?.claims;
        (claims.nbf <= now.unix_seconds() && now.unix_seconds() < claims.exp).then_some(claims)
    }
}

#[cfg(test)]
mod tests;
