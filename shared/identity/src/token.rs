//! Tokens: JSON Web Tokens (RFC 7519) signed with Ed25519, one `typ` for each use (RFC 8725 §3.11).
//! They carry no rights: whether the session is alive and what its user may is asked of the store.

use std::{collections::HashMap, fmt, str::FromStr};

use data_encoding::BASE64;
use domain::{CommitteeId, Instant, SessionId, UserId, session::Method};
use ed25519_dalek::SigningKey;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{MalformedKey, NamedKey, ed25519, keys_of};

const ISSUER: &str = "halqa";
const AUDIENCE: &str = "halqa-api";
/// No token of ours comes near; nothing longer is even looked at.
const MAX_LENGTH: usize = 4096;

/// What a token may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Everything that a session may do.
    Access,
    /// The one-time password step of a sign-in, alone.
    OtpStep,
    /// The step that follows a password-less request, alone.
    PasswordlessStep,
}

impl Use {
    const fn typ(self) -> &'static str {
        match self {
            Self::Access => "at+jwt",
            Self::OtpStep => "otp+jwt",
            Self::PasswordlessStep => "passwordless+jwt",
        }
    }
}

/// What a token says. Times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    iss: String,
    aud: String,
    /// Whose.
    pub sub: UserId,
    /// In which session.
    pub sid: SessionId,
    /// The token's own name.
    pub jti: Uuid,
    /// Issued at.
    pub iat: i64,
    /// Not good before.
    pub nbf: i64,
    /// Not good from here on.
    pub exp: i64,
    /// When the person last proved who he is.
    pub auth_time: i64,
    /// By what.
    pub amr: Vec<Method>,
    /// The committee to read beside the user: a hint that proves nothing.
    pub cid: CommitteeId,
    /// The user's epoch, in tokens of steps: a step that began before all sessions ended is over too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
}

/// What goes into a new token.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Whose.
    pub user_id: UserId,
    /// In which session.
    pub session_id: SessionId,
    /// From when.
    pub issued: Instant,
    /// Until when.
    pub expires: Instant,
    /// When the person last proved who he is.
    pub auth_time: Instant,
    /// By what.
    pub amr: Vec<Method>,
    /// The user's committee.
    pub committee_id: CommitteeId,
    /// The user's epoch, for a step.
    pub epoch: Option<u64>,
}

/// Signs tokens. Only functions that sign people in hold one.
#[derive(Clone)]
pub struct Signer {
    kid: String,
    key: EncodingKey,
}

/// Reads one key.
impl FromStr for Signer {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        text.parse().map(|key| Self::new(&key))
    }
}

impl Signer {
    /// A signer with the seed `key`.
    pub fn new(key: &NamedKey) -> Self {
        ed25519::install();
        Self {
            kid: key.kid.clone(),
            key: EncodingKey::from_ed_der(&key.bytes()),
        }
    }

    /// A token for `usage`.
    ///
    /// # Errors
    /// When signing failed.
    pub fn sign(&self, usage: Use, grant: &Grant) -> Result<String, jsonwebtoken::errors::Error> {
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(usage.typ().to_owned());
        header.kid = Some(self.kid.clone());
        let claims = Claims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: grant.user_id,
            sid: grant.session_id,
            jti: crate::chance::id(grant.issued),
            iat: grant.issued.unix_seconds(),
            nbf: grant.issued.unix_seconds(),
            exp: grant.expires.unix_seconds(),
            auth_time: grant.auth_time.unix_seconds(),
            amr: grant.amr.clone(),
            cid: grant.committee_id,
            epoch: grant.epoch,
        };
        jsonwebtoken::encode(&header, &claims, &self.key)
    }
}

/// A public key with its name, written `kid:base64 of 32 bytes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    kid: String,
    bytes: [u8; 32],
}

impl PublicKey {
    /// The public half of the seed `key`.
    pub fn of(key: &NamedKey) -> Self {
        Self {
            kid: key.kid.clone(),
            bytes: SigningKey::from_bytes(&key.bytes())
                .verifying_key()
                .to_bytes(),
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
        Ok(Self {
            bytes: key.bytes(),
            kid: key.kid,
        })
    }
}

/// Checks tokens against the public keys that are good now; several, so that keys can rotate.
#[derive(Clone)]
pub struct Verifier {
    keys: HashMap<String, DecodingKey>,
    validation: Validation,
}

/// Reads public keys separated by commas.
impl FromStr for Verifier {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        Ok(Self::new(&keys_of(text)?))
    }
}

impl Verifier {
    /// A verifier that knows `keys`.
    pub fn new(keys: &[PublicKey]) -> Self {
        ed25519::install();
        let keys = keys
            .iter()
            .map(|key| (key.kid.clone(), DecodingKey::from_ed_der(&key.bytes)))
            .collect();
        let mut validation = Validation::new(Algorithm::EdDSA);
        // Times are checked below against our own `now`, without leeway; the library would read
        // the system's clock, allow a minute and forget `nbf`.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.leeway = 0;
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["iss", "aud", "exp", "nbf", "sub"]);
        Self { keys, validation }
    }

    /// The claims of `token`, if it is one of ours for `usage` and `now` lies in its time.
    pub fn verify(&self, token: &str, usage: Use, now: Instant) -> Option<Claims> {
        if token.len() > MAX_LENGTH {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        if header.typ.as_deref() != Some(usage.typ()) || header.crit.is_some() {
            return None;
        }
        let key = self.keys.get(header.kid.as_deref()?)?;
        let claims = jsonwebtoken::decode::<Claims>(token, key, &self.validation)
            .ok()?
            .claims;
        (claims.nbf <= now.unix_seconds() && now.unix_seconds() < claims.exp).then_some(claims)
    }
}

#[cfg(test)]
mod tests;
