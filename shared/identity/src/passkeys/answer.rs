//! The answers of authenticators as browsers send them (<https://www.w3.org/TR/webauthn-3/#sctn-public-key-credential-json>).
//! Members that are not read here are ignored: unknown ones, and the results of extensions, of which none is asked for.

use data_encoding::BASE64URL_NOPAD;
use minicbor::{Decoder, data::Type};
use serde::{Deserialize, Deserializer, de::Error, de::IgnoredAny};
use serde_json::Value;

/// The flags of authenticator data: person present, person verified, eligible for backup, backed up, attested credential
/// data and extension data included.
pub(super) const UP: u8 = 1;
pub(super) const UV: u8 = 1 << 2;
pub(super) const BE: u8 = 1 << 3;
pub(super) const BS: u8 = 1 << 4;
const AT: u8 = 1 << 6;
const ED: u8 = 1 << 7;

/// `PublicKeyCredential.toJSON()` with the response `R`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PublicKeyCredential<R> {
    #[serde(deserialize_with = "base64url")]
    pub(super) id: Vec<u8>,
    #[serde(deserialize_with = "base64url")]
    raw_id: Vec<u8>,
    #[serde(rename = "type")]
    kind: String,
    pub(super) response: R,
}

impl<'de, R: Deserialize<'de>> PublicKeyCredential<R> {
    /// The credential in `answer`; `None` when it is malformed or contradicts itself.
    pub(super) fn read(answer: &'de Value) -> Option<Self> {
        let read = Self::deserialize(answer).ok();
        read.filter(|it| it.id == it.raw_id && it.kind == "public-key")
    }
}

/// The response to the creation of a credential.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttestationResponse {
    #[serde(rename = "clientDataJSON", deserialize_with = "base64url")]
    pub(super) client_data_json: Vec<u8>,
    #[serde(deserialize_with = "base64url")]
    pub(super) attestation_object: Vec<u8>,
    pub(super) transports: Option<Vec<Value>>,
}

/// The response to a request for an assertion.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AssertionResponse {
    #[serde(rename = "clientDataJSON", deserialize_with = "base64url")]
    pub(super) client_data_json: Vec<u8>,
    #[serde(deserialize_with = "base64url")]
    pub(super) authenticator_data: Vec<u8>,
    #[serde(deserialize_with = "base64url")]
    pub(super) signature: Vec<u8>,
    /// Discoverable credentials have one.
    #[serde(deserialize_with = "base64url")]
    pub(super) user_handle: Vec<u8>,
}

/// With or without padding.
fn base64url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let text = text.trim_end_matches('=');
    BASE64URL_NOPAD.decode(text.as_bytes()).map_err(D::Error::custom)
}

/// What the browser adds to the challenge (<https://www.w3.org/TR/webauthn-3/#dictionary-client-data>).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientData {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) challenge: String,
    pub(super) origin: String,
    pub(super) cross_origin: Option<bool>,
    pub(super) top_origin: Option<IgnoredAny>,
}

/// What an authenticator states and signs (<https://www.w3.org/TR/webauthn-3/#authenticator-data>).
pub(super) struct AuthenticatorData<'a> {
    pub(super) rp_id_hash: &'a [u8; 32],
    pub(super) flags: u8,
    pub(super) sign_count: u32,
    /// Present in registrations.
    pub(super) attested: Option<Attested<'a>>,
}

/// A new credential (<https://www.w3.org/TR/webauthn-3/#sctn-attested-credential-data>).
pub(super) struct Attested<'a> {
    pub(super) credential_id: &'a [u8],
    /// A COSE key.
    pub(super) public_key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    /// The data in `bytes`; `None` when they are malformed, or have flags that WebAuthn does not know. Extension data may be
    /// any map.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (rp_id_hash, rest) = bytes.split_first_chunk()?;
        let (&flags, rest) = rest.split_first()?;
        let (sign_count, mut rest) = rest.split_first_chunk()?;
        let mut attested = None;
        if flags & AT != 0 {
            let (_aaguid, after) = rest.split_first_chunk::<16>()?;
            let (length, after) = after.split_first_chunk()?;
            let length = usize::from(u16::from_be_bytes(*length));
            let (credential_id, after) = after.split_at_checked(length)?;
            // §6.1 and §7.1, step 25
            if !(16..=1023).contains(&length) {
                return None;
            }
            let (public_key, after) = split_item(after, Type::Map)?;
            attested = Some(Attested { credential_id, public_key });
            rest = after;
        }
        if flags & ED != 0 {
            (_, rest) = split_item(rest, Type::Map)?;
        }
        let is_known = flags & !(UP | UV | BE | BS | AT | ED) == 0;
        let sign_count = u32::from_be_bytes(*sign_count);
        (is_known && rest.is_empty()).then_some(Self { rp_id_hash, flags, sign_count, attested })
    }
}

/// The CBOR item of type `kind` at the start of `bytes`, and what follows it.
fn split_item(bytes: &[u8], kind: Type) -> Option<(&[u8], &[u8])> {
    let mut cbor = Decoder::new(bytes);
    let is_kind = cbor.datatype().ok()? == kind;
    cbor.skip().ok().filter(|()| is_kind)?;
    bytes.split_at_checked(cbor.position())
}

/// The authenticator data in an attestation object (<https://www.w3.org/TR/webauthn-3/#sctn-generating-an-attestation-object>).
/// The attestation statement is not looked at: none is requested, and nothing is concluded from one.
pub(super) fn attested_data(object: &[u8]) -> Option<&[u8]> {
    let mut cbor = Decoder::new(object);
    let mut data = None;
    for _ in 0..cbor.map().ok()?? {
        match cbor.str().ok()? {
            "authData" => data = Some(cbor.bytes().ok()?),
            _ => cbor.skip().ok()?,
        }
    }
    data.filter(|_| cbor.position() == object.len())
}
