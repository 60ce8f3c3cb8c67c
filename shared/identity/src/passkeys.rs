//! The ceremonies of passkeys (<https://www.w3.org/TR/webauthn-3/>), which the crate `webauthn_rp` verifies: discoverable
//! credentials with EdDSA, ES256 or RS256 keys, user verification, no attestation. Of the crates for relying parties it is
//! the one in Rust alone: `webauthn-rs` needs OpenSSL, and `passkey` has the sides of authenticator and client only.
//!
//! `webauthn_rp` reads the system's clock, to which it compares the end of a ceremony. The caller has already compared
//! the end of the challenge with the time of the request.

use std::{error::Error, fmt, sync::Arc};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use domain::{
    UserId,
    passkey::{Credential, Passkey},
    user::User,
};
use serde_json::{Value, json};
use webauthn_rp::{
    AuthenticatedCredential, DiscoverableAuthentication16, DiscoverableAuthenticationServerState,
    DiscoverableCredentialRequestOptions, PublicKeyCredentialCreationOptions, Registration,
    RegistrationServerState,
    bin::{Decode, Encode},
    request::{
        AsciiDomain, RpId,
        auth::AuthenticationVerificationOptions,
        register::{
            CoseAlgorithmIdentifier, CoseAlgorithmIdentifiers, Extension,
            RegistrationVerificationOptions, UserHandle16,
        },
    },
    response::{
        AuthenticatorAttachment, Backup,
        auth::error::AuthCeremonyErr,
        register::{CompressedPubKey, DynamicState, StaticState},
    },
};

/// The name that authenticators show.
const NAME: &str = "Halqa";

/// The algorithms that are offered and accepted: -8, -7 and -257, the only one of Windows Hello on many computers.
const ALGORITHMS: CoseAlgorithmIdentifiers =
    CoseAlgorithmIdentifiers::ALL.remove(CoseAlgorithmIdentifier::Es384);

/// The key of a credential as it is stored.
type StoredKey = StaticState<CompressedPubKey<[u8; 32], [u8; 32], [u8; 48], Vec<u8>>>;

/// This service as authenticators and browsers know it.
#[derive(Debug, Clone)]
pub struct RelyingParty {
    id: RpId,
    origins: Arc<[String]>,
}

/// A ceremony that began.
#[derive(Debug)]
pub struct Ceremony {
    /// The state to keep until the answer.
    pub state: String,
    /// The options for the browser, `PublicKeyCredentialCreationOptionsJSON` or `PublicKeyCredentialRequestOptionsJSON`.
    pub options: Value,
}

/// The answer of an authenticator to a sign-in, well-formed but not verified.
pub struct Assertion(DiscoverableAuthentication16);

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

/// A ceremony could not begin, or a stored value is malformed.
#[derive(Debug)]
pub struct CeremonyError(String);

impl fmt::Display for CeremonyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "passkeys: {}", self.0)
    }
}

impl Error for CeremonyError {}

fn failed(cause: impl fmt::Display) -> CeremonyError {
    CeremonyError(cause.to_string())
}

impl RelyingParty {
    /// The relying party with the domain `id`, for pages of `origins`.
    ///
    /// # Errors
    /// When `id` is not an ASCII domain.
    pub fn new(id: &str, origins: Vec<String>) -> Result<Self, CeremonyError> {
        let id = AsciiDomain::try_from(id.to_owned()).map_err(failed)?;
        Ok(Self { id: RpId::Domain(id), origins: origins.into() })
    }

    /// Begins the registration of a passkey of `user` on an authenticator that has none of `existing`.
    ///
    /// # Errors
    /// When the system has no time or the options cannot be serialised.
    pub fn begin_registration(
        &self,
        user: &User,
        existing: &[Passkey],
    ) -> Result<Ceremony, CeremonyError> {
        let handle = handle(user.user_id);
        let mut options = PublicKeyCredentialCreationOptions::first_passkey_with_blank_user_info(
            &self.id, &handle,
        );
        options.pub_key_cred_params = ALGORITHMS;
        options.extensions = Extension::default();
        let (state, client) = options.start_ceremony().map_err(failed)?;
        let mut options = serde_json::to_value(&client).map_err(failed)?;
        // The crate allows fewer characters in names than accounts have.
        let id: &str = self.id.as_ref();
        options["rp"] = json!({ "id": id, "name": NAME });
        options["user"] = json!({
            "id": BASE64URL_NOPAD.encode(user.user_id.uuid().as_bytes()),
            "name": user.email,
            "displayName": format!("{} {}", user.name, user.last_name),
        });
        options["excludeCredentials"] = existing.iter().map(descriptor).collect();
        let state = state.encode().map_err(failed)?;
        Ok(Ceremony { state: BASE64.encode(&state), options })
    }

    /// The credential that `answer`, `PublicKeyCredential.toJSON()` of the browser, registers in the ceremony with
    /// `state`. `None` when it is not valid.
    ///
    /// # Errors
    /// When `state` is malformed.
    pub fn finish_registration(
        &self,
        state: &str,
        answer: &Value,
    ) -> Result<Option<Credential>, CeremonyError> {
        let state = BASE64.decode(state.as_bytes()).map_err(failed)?;
        let state = RegistrationServerState::<16>::decode(state.as_slice()).map_err(failed)?;
        let answer = understood(answer).to_string();
        let Ok(registration) = Registration::from_json_relaxed(answer.as_bytes()) else {
            return Ok(None);
        };
        let options = RegistrationVerificationOptions::<String, String> {
            allowed_origins: &self.origins,
            error_on_unsolicited_extensions: false,
            ..RegistrationVerificationOptions::default()
        };
        let Ok(registered) = state.verify(&self.id, &registration, &options) else {
            return Ok(None);
        };
        let Ok(key) = registered.static_state().encode();
        let state = registered.dynamic_state();
        let transports = serde_json::to_value(registered.transports()).map_err(failed)?;
        Ok(Some(Credential {
            credential_id: BASE64URL_NOPAD.encode(registered.id().as_ref()),
            public_key: BASE64.encode(&key),
            sign_count: state.sign_count,
            is_backup_eligible: state.backup != Backup::NotEligible,
            is_backed_up: state.backup == Backup::Exists,
            transports: serde_json::from_value(transports).map_err(failed)?,
        }))
    }

    /// Begins a sign-in with any discoverable credential.
    ///
    /// # Errors
    /// As [`begin_registration`](Self::begin_registration).
    pub fn begin_sign_in(&self) -> Result<Ceremony, CeremonyError> {
        let options = DiscoverableCredentialRequestOptions::passkey(&self.id);
        let (state, client) = options.start_ceremony().map_err(failed)?;
        let state = state.encode().map_err(failed)?;
        Ok(Ceremony {
            state: BASE64.encode(&state),
            options: serde_json::to_value(&client).map_err(failed)?,
        })
    }

    /// Verifies `assertion` with the key of `passkey`, in the ceremony with `state`.
    ///
    /// # Errors
    /// When `state` or the stored key is malformed.
    pub fn verify(
        &self,
        state: &str,
        assertion: &Assertion,
        passkey: &Passkey,
    ) -> Result<Verified, CeremonyError> {
        let state = BASE64.decode(state.as_bytes()).map_err(failed)?;
        let state =
            DiscoverableAuthenticationServerState::decode(state.as_slice()).map_err(failed)?;
        let stored = &passkey.credential;
        // The signature is verified with the key of the credential that was looked up.
        if assertion.credential_id() != stored.credential_id {
            return Ok(Verified::No);
        }
        let key = BASE64.decode(stored.public_key.as_bytes()).map_err(failed)?;
        let key = StoredKey::decode(key.as_slice()).map_err(failed)?;
        let before = DynamicState {
            user_verified: true,
            backup: match (stored.is_backup_eligible, stored.is_backed_up) {
                (false, _) => Backup::NotEligible,
                (true, false) => Backup::Eligible,
                (true, true) => Backup::Exists,
            },
            sign_count: stored.sign_count,
            authenticator_attachment: AuthenticatorAttachment::None,
        };
        let handle = handle(passkey.user_id);
        let mut credential =
            AuthenticatedCredential::new(assertion.0.raw_id(), &handle, key, before)
                .map_err(failed)?;
        let options = AuthenticationVerificationOptions::<String, String> {
            allowed_origins: &self.origins,
            error_on_unsolicited_extensions: false,
            ..AuthenticationVerificationOptions::default()
        };
        Ok(match state.verify(&self.id, &assertion.0, &mut credential, &options) {
            Ok(_) => {
                let after = credential.dynamic_state();
                Verified::Yes(Credential {
                    sign_count: after.sign_count,
                    is_backed_up: after.backup == Backup::Exists,
                    ..stored.clone()
                })
            }
            Err(AuthCeremonyErr::SignatureCounter) => Verified::CounterNotRisen,
            Err(_) => Verified::No,
        })
    }
}

impl Assertion {
    /// The assertion in `answer`, `PublicKeyCredential.toJSON()` of the browser; `None` when it is malformed.
    pub fn parse(answer: &Value) -> Option<Self> {
        // `webauthn_rp` 0.3.0 panics in `verify` when `userHandle` is null.
        if !answer["response"]["userHandle"].is_string() {
            return None;
        }
        let answer = understood(answer).to_string();
        DiscoverableAuthentication16::from_json_relaxed(answer.as_bytes()).ok().map(Self)
    }

    /// The identifier of its credential, in base64url.
    pub fn credential_id(&self) -> String {
        BASE64URL_NOPAD.encode(self.0.raw_id().as_ref())
    }
}

/// `answer` without values that a relying party ignores and `webauthn_rp` refuses: unknown transports and attachments, and
/// the results of extensions, of which none was asked for
/// (<https://www.w3.org/TR/webauthn-3/#dom-authenticatorattestationresponse-gettransports>, §5.2.1.1).
fn understood(answer: &Value) -> Value {
    const TRANSPORTS: [&str; 6] = ["ble", "hybrid", "internal", "nfc", "smart-card", "usb"];
    const ATTACHMENTS: [&str; 2] = ["cross-platform", "platform"];
    let mut answer = answer.clone();
    let is_one_of =
        |known: &[&str], value: &Value| value.as_str().is_some_and(|text| known.contains(&text));
    if let Some(Value::Array(transports)) = answer.pointer_mut("/response/transports") {
        transports.retain(|transport| is_one_of(&TRANSPORTS, transport));
    }
    if let Some(object) = answer.as_object_mut() {
        if !object.get("authenticatorAttachment").is_some_and(|one| is_one_of(&ATTACHMENTS, one)) {
            object.remove("authenticatorAttachment");
        }
        object.insert("clientExtensionResults".to_owned(), json!({}));
    }
    answer
}

/// The user handle of an account: the bytes of its identifier, which says nothing about the person.
fn handle(user: UserId) -> UserHandle16 {
    let Ok(handle) = UserHandle16::decode(user.uuid().into_bytes());
    handle
}

fn descriptor(passkey: &Passkey) -> Value {
    let Credential { credential_id, transports, .. } = &passkey.credential;
    json!({ "type": "public-key", "id": credential_id, "transports": transports })
}
