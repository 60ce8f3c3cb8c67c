//! The ceremonies of passkeys (<https://www.w3.org/TR/webauthn-3/>): discoverable credentials with EdDSA, ES256 or RS256
//! keys, user verification, no attestation.
//!
//! The steps of §7.1 and §7.2 are taken here. Of the crates for relying parties, `webauthn-rs` needs OpenSSL, and
//! `webauthn_rp` refuses outputs of extensions that the relying party has not requested, which it may ignore by §7.1 and
//! §7.2. `minicbor` reads CBOR; `ed25519-dalek`, `p256` and `ring` verify signatures.

mod answer;
mod key;

use std::{error::Error, fmt, sync::Arc};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use domain::{
    UserId,
    passkey::{CHALLENGE_LIFE, Credential, Passkey},
    user::User,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::{
    answer::{
        AssertionResponse, AttestationResponse, AuthenticatorData, BS, ClientData,
        PublicKeyCredential, UP, UV, attested_data,
    },
    key::{ALGORITHMS, PublicKey},
};
use crate::random;

/// The name that authenticators show.
const NAME: &str = "Halqa";
/// How a browser can reach an authenticator (<https://www.w3.org/TR/webauthn-3/#enum-transport>).
const TRANSPORTS: [&str; 6] = ["ble", "hybrid", "internal", "nfc", "smart-card", "usb"];

/// This service as authenticators and browsers know it.
#[derive(Debug, Clone)]
pub struct RelyingParty {
    id: String,
    origins: Arc<[String]>,
}

/// A ceremony that began.
#[derive(Debug)]
pub struct Ceremony {
    /// The challenge in base64url, to keep until the answer.
    pub challenge: String,
    /// The options for the browser, `PublicKeyCredentialCreationOptionsJSON` or `PublicKeyCredentialRequestOptionsJSON`.
    pub options: Value,
}

/// The answer of an authenticator to a sign-in, well-formed but not verified.
pub struct Assertion {
    /// In base64url.
    credential_id: String,
    response: PublicKeyCredential<AssertionResponse>,
}

/// What the verification of an [`Assertion`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// It is valid. The credential as it is from now on: its counter and backup state may have changed.
    Yes(Credential),
    /// Its signature is valid, but the signature counter did not rise.
    CounterNotRisen,
    /// It is not valid.
    No,
}

/// The stored key of a passkey cannot be read.
#[derive(Debug)]
pub struct MalformedKey;

impl fmt::Display for MalformedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the stored key of a passkey is malformed")
    }
}

impl Error for MalformedKey {}

impl RelyingParty {
    /// The relying party with the domain `id`, in ASCII and lower case, for pages of `origins`.
    pub fn new(id: String, origins: Vec<String>) -> Self {
        Self { id, origins: origins.into() }
    }

    /// Begins the registration of a passkey of `user` on an authenticator that has none of `existing`.
    pub fn begin_registration(&self, user: &User, existing: &[Passkey]) -> Ceremony {
        let algorithms = ALGORITHMS.map(|alg| json!({ "type": "public-key", "alg": alg }));
        let existing: Vec<Value> = existing.iter().map(descriptor).collect();
        Ceremony::with(json!({
            "rp": { "id": self.id, "name": NAME },
            "user": {
                "id": handle(user.user_id),
                "name": user.email,
                "displayName": format!("{} {}", user.name, user.last_name),
            },
            "pubKeyCredParams": algorithms,
            "excludeCredentials": existing,
            "authenticatorSelection": {
                "residentKey": "required",
                "requireResidentKey": true,
                "userVerification": "required",
            },
            "attestation": "none",
            "attestationFormats": ["none"],
        }))
    }

    /// The credential that `answer`, `PublicKeyCredential.toJSON()` of the browser, registers in the ceremony with
    /// `challenge`. `None` when it is not valid.
    pub fn finish_registration(&self, challenge: &str, answer: &Value) -> Option<Credential> {
        let answer = PublicKeyCredential::<AttestationResponse>::read(answer)?;
        let response = &answer.response;
        self.client_data_hash(&response.client_data_json, "webauthn.create", challenge)?;
        let data = attested_data(&response.attestation_object)?;
        let authenticator = AuthenticatorData::read(data).filter(|data| self.is_accepted(data))?;
        let attested = authenticator.attested?;
        if attested.credential_id != answer.id {
            return None;
        }
        PublicKey::read(attested.public_key)?;
        let transports = response.transports.iter().flatten().filter_map(Value::as_str);
        let transports = transports.filter(|transport| TRANSPORTS.contains(transport));
        let mut transports: Vec<String> = transports.map(str::to_owned).collect();
        transports.sort_unstable();
        transports.dedup();
        Some(Credential {
            credential_id: BASE64URL_NOPAD.encode(&answer.id),
            public_key: BASE64.encode(attested.public_key),
            sign_count: authenticator.sign_count,
            is_backed_up: authenticator.flags & BS != 0,
            transports,
        })
    }

    /// Begins a sign-in with any discoverable credential.
    pub fn begin_sign_in(&self) -> Ceremony {
        Ceremony::with(json!({
            "rpId": self.id,
            "allowCredentials": [],
            "userVerification": "required",
        }))
    }

    /// Verifies `assertion` with the key of `passkey`, in the ceremony with `challenge`.
    ///
    /// # Errors
    /// When the stored key is malformed.
    pub fn verify(
        &self,
        challenge: &str,
        assertion: &Assertion,
        passkey: &Passkey,
    ) -> Result<Verified, MalformedKey> {
        let stored = &passkey.credential;
        let key = BASE64.decode(stored.public_key.as_bytes()).ok();
        let key = key.as_deref().and_then(PublicKey::read).ok_or(MalformedKey)?;
        let found = self.verified(challenge, assertion, passkey, &key);
        Ok(found.map_or(Verified::No, |data| {
            // Authenticators without a counter always send 0.
            let has_risen = data.sign_count > stored.sign_count;
            if !has_risen && (data.sign_count, stored.sign_count) != (0, 0) {
                return Verified::CounterNotRisen;
            }
            Verified::Yes(Credential {
                sign_count: data.sign_count,
                is_backed_up: data.flags & BS != 0,
                ..stored.clone()
            })
        }))
    }

    /// What the authenticator signed in `assertion` with the `key` of `passkey`.
    fn verified<'a>(
        &self,
        challenge: &str,
        assertion: &'a Assertion,
        passkey: &Passkey,
        key: &PublicKey,
    ) -> Option<AuthenticatorData<'a>> {
        let response = &assertion.response.response;
        let is_of_passkey = assertion.credential_id == passkey.credential.credential_id
            && response.user_handle == passkey.user_id.uuid().as_bytes();
        if !is_of_passkey {
            return None;
        }
        let client_data =
            self.client_data_hash(&response.client_data_json, "webauthn.get", challenge)?;
        let data = AuthenticatorData::read(&response.authenticator_data)?;
        if !self.is_accepted(&data) {
            return None;
        }
        let signed = [&response.authenticator_data[..], &client_data].concat();
        key.verify(&signed, &response.signature).then_some(data)
    }

    /// The SHA-256 of the client data `json`; `None` when it is not the answer to `challenge` in a ceremony of `kind` on a
    /// page of ours (<https://www.w3.org/TR/webauthn-3/#dictionary-client-data>).
    fn client_data_hash(&self, json: &[u8], kind: &str, challenge: &str) -> Option<[u8; 32]> {
        // An object: serde would read an array for a struct.
        let data: ClientData =
            json.starts_with(b"{").then(|| serde_json::from_slice(json).ok())??;
        let is_ours = self.origins.contains(&data.origin)
            && data.cross_origin != Some(true)
            && data.top_origin.is_none();
        let is_answer = data.kind == kind && data.challenge == challenge;
        (is_ours && is_answer).then(|| Sha256::digest(json).into())
    }

    /// Whether `data` is for this relying party, of a person who was present and verified. Whether the credential is copied
    /// to other devices is shown, not judged: it changes.
    fn is_accepted(&self, data: &AuthenticatorData<'_>) -> bool {
        data.rp_id_hash == Sha256::digest(self.id.as_bytes()).as_slice()
            && data.flags & (UP | UV) == UP | UV
    }
}

impl Ceremony {
    /// The ceremony with `options` and a new challenge.
    fn with(mut options: Value) -> Self {
        let challenge = BASE64URL_NOPAD.encode(&random::bytes::<16>());
        options["challenge"] = json!(challenge);
        options["timeout"] = json!(CHALLENGE_LIFE.as_secs() * 1000);
        options["hints"] = json!([]);
        options["extensions"] = json!({});
        Self { challenge, options }
    }
}

impl Assertion {
    /// The assertion in `answer`, `PublicKeyCredential.toJSON()` of the browser; `None` when it is malformed.
    pub fn parse(answer: &Value) -> Option<Self> {
        let response = PublicKeyCredential::<AssertionResponse>::read(answer)?;
        Some(Self { credential_id: BASE64URL_NOPAD.encode(&response.id), response })
    }

    /// The identifier of its credential, in base64url.
    pub fn credential_id(&self) -> &str {
        &self.credential_id
    }
}

/// The user handle of an account: the bytes of its identifier, which says nothing about the person, in base64url.
fn handle(user: UserId) -> String {
    BASE64URL_NOPAD.encode(user.uuid().as_bytes())
}

fn descriptor(passkey: &Passkey) -> Value {
    let Credential { credential_id, transports, .. } = &passkey.credential;
    json!({ "type": "public-key", "id": credential_id, "transports": transports })
}
