//! An authenticator in software, with its browser: creates a passkey and answers challenges with it
//! (<https://www.w3.org/TR/webauthn-3/>). Its public fields make it answer wrongly.

use common::Message;
use data_encoding::BASE64URL_NOPAD;
use identity::random;
use rsa::{Pkcs1v15Sign, RsaPrivateKey, rand_core::OsRng, traits::PublicKeyParts};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signature::Signer;

use crate::{Answer, Person};

/// The flag of a person who was present.
pub const UP: u8 = 1;
/// The flag of a person who was verified.
pub const UV: u8 = 1 << 2;
/// The flag of a credential that may be copied to other devices.
pub const BE: u8 = 1 << 3;
/// The flag of a credential that is copied.
pub const BS: u8 = 1 << 4;
const AT: u8 = 1 << 6;
const ED: u8 = 1 << 7;

/// A private key.
#[derive(Debug, Clone)]
enum Key {
    Es256(Box<p256::ecdsa::SigningKey>),
    EdDsa(Box<ed25519_dalek::SigningKey>),
    Rs256(Box<RsaPrivateKey>),
}

/// An authenticator with one credential.
#[derive(Debug, Clone)]
pub struct Authenticator {
    key: Key,
    /// The identifier of the credential.
    pub credential_id: Vec<u8>,
    /// The user handle that it returns; set by the registration.
    pub user_handle: Vec<u8>,
    /// The domain that it signs for.
    pub rp_id: String,
    /// Its flags, without those of attested data and extensions.
    pub flags: u8,
    /// The signature counter, which rises with each sign-in unless it is 0.
    pub sign_count: u32,
    /// The extension outputs, a CBOR map; empty for none.
    pub extensions: Vec<u8>,
    /// Bytes after the authenticator data.
    pub extra: Vec<u8>,
    /// The members `fmt` and `attStmt` of its attestation, without the name of the first; those of none if empty.
    pub statement: Vec<u8>,
    /// Fields of the client data that differ from those of an honest browser.
    pub client_data: Value,
    /// What the client data begins with.
    pub before_client_data: &'static str,
    /// The public key that it registers, in place of its own.
    pub other_key: Option<Vec<u8>>,
}

impl Authenticator {
    /// An authenticator with an ES256 key, which is not copied and counts its signatures.
    pub fn es256() -> Self {
        let key = p256::ecdsa::SigningKey::from_slice(&random::bytes::<32>()).expect("a key");
        Self::with(Key::Es256(Box::new(key)))
    }

    /// An authenticator with an EdDSA key.
    pub fn eddsa() -> Self {
        let key = ed25519_dalek::SigningKey::from_bytes(&random::bytes());
        Self::with(Key::EdDsa(Box::new(key)))
    }

    /// An authenticator with an RS256 key of 2,048 bits, as of Windows Hello.
    pub fn rs256() -> Self {
        let key = RsaPrivateKey::new(&mut OsRng, 2048).expect("a key");
        Self::with(Key::Rs256(Box::new(key)))
    }

    fn with(key: Key) -> Self {
        Self {
            key,
            credential_id: random::bytes::<32>().to_vec(),
            user_handle: Vec::new(),
            rp_id: "front.example.org".to_owned(),
            flags: UP | UV,
            sign_count: 1,
            extensions: Vec::new(),
            extra: Vec::new(),
            statement: Vec::new(),
            client_data: json!({}),
            before_client_data: "",
            other_key: None,
        }
    }

    /// A new ES256 passkey of `person`, registered through the API.
    pub async fn registered_by(person: &Person) -> Self {
        let mut authenticator = Self::es256();
        let registered = authenticator.register(person).await;
        registered.expect_success(Message::PasskeyCreated);
        authenticator
    }

    /// Registers the passkey for `person` through the API.
    pub async fn register(&mut self, person: &Person) -> Answer {
        let path = "/passkeys/registration-options";
        let options = person.post(path, json!({})).await.expect_ok();
        let credential = self.create(&options["options"]);
        let payload = json!({ "credential": credential, "name": "Téléphone" });
        person.post("/passkeys", payload).await
    }

    /// Signs `person` in through the API.
    pub async fn sign_in(&mut self, person: &Person) -> Answer {
        let (options, token) = begin(person).await;
        let payload = json!({ "credential": self.get(&options), "token": token });
        person.post("/auth/passkey", payload).await
    }

    /// The answer to the `options` of a registration, as `PublicKeyCredential.toJSON()`.
    pub fn create(&mut self, options: &Value) -> Value {
        let handle = options["user"]["id"].as_str().expect("a user handle");
        self.user_handle = decoded(handle);
        let client_data = self.client_data("webauthn.create", options);
        let mut attested = vec![0_u8; 16];
        let length = u16::try_from(self.credential_id.len()).expect("a short identifier");
        attested.extend(length.to_be_bytes());
        attested.extend(&self.credential_id);
        attested.extend(self.other_key.clone().unwrap_or_else(|| self.public_key()));
        let data = self.authenticator_data(AT, &attested);
        // A map of three entries: fmt, attStmt and authData.
        let mut object = b"\xa3\x63fmt".to_vec();
        let none = b"\x64none\x67attStmt\xa0".as_slice();
        object.extend(if self.statement.is_empty() { none } else { &self.statement });
        object.extend(b"\x68authData");
        object.extend(cbor_bytes(&data));
        self.credential(json!({
            "clientDataJSON": encoded(client_data.as_bytes()),
            "attestationObject": encoded(&object),
            "transports": ["internal"],
        }))
    }

    /// The answer to the `options` of a sign-in, as `PublicKeyCredential.toJSON()`.
    pub fn get(&mut self, options: &Value) -> Value {
        self.get_with(options, |_| {})
    }

    /// As [`get`](Self::get), for authenticator data after `change`, which the signature covers.
    pub fn get_with(&mut self, options: &Value, change: impl Fn(&mut Vec<u8>)) -> Value {
        if self.sign_count > 0 {
            self.sign_count += 1;
        }
        let client_data = self.client_data("webauthn.get", options);
        let mut data = self.authenticator_data(0, &[]);
        change(&mut data);
        let hash = Sha256::digest(client_data.as_bytes());
        let signature = self.sign(&[&data[..], &hash[..]].concat());
        self.credential(json!({
            "clientDataJSON": encoded(client_data.as_bytes()),
            "authenticatorData": encoded(&data),
            "signature": encoded(&signature),
            "userHandle": encoded(&self.user_handle),
        }))
    }

    fn credential(&self, response: Value) -> Value {
        let id = encoded(&self.credential_id);
        json!({
            "id": id, "rawId": id, "type": "public-key", "response": response,
            "authenticatorAttachment": "platform", "clientExtensionResults": {},
        })
    }

    /// The client data in the order of §5.8.1.1.
    fn client_data(&self, kind: &str, options: &Value) -> String {
        let mut fields = vec![
            ("type", json!(kind)),
            ("challenge", options["challenge"].clone()),
            ("origin", json!("https://front.example.org")),
            ("crossOrigin", json!(false)),
        ];
        for (name, value) in self.client_data.as_object().expect("an object") {
            match fields.iter_mut().find(|field| field.0 == name.as_str()) {
                Some(field) => field.1 = value.clone(),
                None => fields.push((name.as_str(), value.clone())),
            }
        }
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
        format!("{}{{{}}}", self.before_client_data, fields.join(","))
    }

    fn authenticator_data(&self, flags: u8, attested: &[u8]) -> Vec<u8> {
        let has_extensions = if self.extensions.is_empty() { 0 } else { ED };
        let mut data = Sha256::digest(self.rp_id.as_bytes()).to_vec();
        data.push(self.flags | flags | has_extensions);
        data.extend(self.sign_count.to_be_bytes());
        data.extend(attested);
        data.extend(&self.extensions);
        data.extend(&self.extra);
        data
    }

    /// The public key as a COSE key (RFC 9053 §7).
    pub fn public_key(&self) -> Vec<u8> {
        match &self.key {
            Key::Es256(key) => {
                let point = key.verifying_key().to_encoded_point(false);
                let (x, y) = point.as_bytes()[1..].split_at(32);
                let start = [0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32];
                [&start[..], x, &[0x22, 0x58, 32][..], y].concat()
            }
            Key::EdDsa(key) => {
                let start = [0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32];
                [&start[..], &key.verifying_key().as_bytes()[..]].concat()
            }
            // RFC 8230 §4
            Key::Rs256(key) => {
                let start = [0xa4, 1, 3, 3, 0x39, 1, 0, 0x20, 0x59, 1, 0];
                [&start[..], &key.n().to_bytes_be(), &[0x21, 0x43, 1, 0, 1]].concat()
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match &self.key {
            Key::Es256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(message);
                signature.to_der().as_bytes().to_vec()
            }
            Key::EdDsa(key) => key.sign(message).to_bytes().to_vec(),
            Key::Rs256(key) => {
                // The DigestInfo of SHA-256 (RFC 8017 §9.2, note 1).
                let prefix =
                    b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
                let scheme = Pkcs1v15Sign { hash_len: Some(32), prefix: prefix.as_slice().into() };
                key.sign(scheme, &Sha256::digest(message)).expect("a signature")
            }
        }
    }
}

/// Begins a sign-in with a passkey; returns the options and the token.
pub async fn begin(person: &Person) -> (Value, Value) {
    let begun = person.post("/auth/passkey/options", json!({})).await.expect_ok();
    (begun["options"].clone(), begun["token"].clone())
}

fn cbor_bytes(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("a short text");
    let start = match u8::try_from(length) {
        Ok(length) => vec![0x58, length],
        Err(_) => [&[0x59][..], &length.to_be_bytes()[..]].concat(),
    };
    [&start[..], bytes].concat()
}

fn encoded(bytes: &[u8]) -> String {
    BASE64URL_NOPAD.encode(bytes)
}

fn decoded(text: &str) -> Vec<u8> {
    BASE64URL_NOPAD.decode(text.as_bytes()).expect("base64url")
}
