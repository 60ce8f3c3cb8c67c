//! Answers of authenticators: client data, attestation objects and authenticator data. Registering needs no signature, and
//! no sign-in can be forged.

use std::sync::LazyLock;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use domain::{
    CommitteeId, Instant, PasskeyId, UserId,
    passkey::{Credential, Passkey},
    user::User,
};
use ed25519_dalek::SigningKey;
use identity::passkeys::{Assertion, Ceremony, RelyingParty, Verified};
use serde_json::{Value, json};

struct Stage {
    party: RelyingParty,
    user: User,
    passkey: Passkey,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let origins = vec!["https://front.example.org".to_owned()];
    let party = RelyingParty::new("front.example.org", origins).expect("a domain");
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let user = User::new(
        UserId::or_none("0198c0de-0000-7000-8000-000000000003"),
        "Amina".parse().expect("a name"),
        "Ben Salah".parse().expect("a name"),
        "amina@example.org".parse().expect("an address"),
        CommitteeId::or_none("0198c0de-0000-7000-8000-000000000001"),
        now,
    );
    let client_data = br#"{"type":"webauthn.create","challenge":"$CHALLENGE","origin":"https://front.example.org","crossOrigin":false}"#;
    let credential = registered(&party, &user, client_data, &attestation());
    let passkey = Passkey {
        passkey_id: PasskeyId::NONE,
        user_id: user.user_id,
        name: "Clé".parse().expect("a name"),
        created_at: now,
        last_used_at: None,
        series: 0,
        credential: credential.expect("a valid answer"),
    };
    Stage { party, user, passkey }
});

pub(crate) fn run(input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    let (client_data, data) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Stage { party, user, passkey } = &*STAGE;
    if let Some(credential) = registered(party, user, client_data, data) {
        let id = BASE64URL_NOPAD.decode(credential.credential_id.as_bytes());
        let key = BASE64.decode(credential.public_key.as_bytes());
        assert!((16..=1023).contains(&id.expect("base64url").len()));
        // The largest of the two kinds is a compressed point on P-256, with its kind and extensions.
        assert!(key.expect("base64").len() <= 40, "{credential:?}");
        assert!(credential.is_backup_eligible || !credential.is_backed_up);
    }
    let Ceremony { state, options } = party.begin_sign_in().expect("a ceremony");
    let answer = credential(
        &passkey.credential.credential_id,
        json!({
            "clientDataJSON": BASE64URL_NOPAD.encode(&with_challenge(client_data, &options)),
            "authenticatorData": BASE64URL_NOPAD.encode(data),
            "signature": BASE64URL_NOPAD.encode(&[1; 64]),
            "userHandle": BASE64URL_NOPAD.encode(user.user_id.uuid().as_bytes()),
        }),
    );
    if let Some(assertion) = Assertion::parse(&answer) {
        let verified = party.verify(&state, &assertion, passkey);
        assert_eq!(verified.expect("a stored state"), Verified::No);
    }
}

/// The credential that an answer with `client_data` and the attestation object `object` registers.
fn registered(
    party: &RelyingParty,
    user: &User,
    client_data: &[u8],
    object: &[u8],
) -> Option<Credential> {
    let begun = party.begin_registration(user, &[]);
    let Ceremony { state, options } = begun.expect("a ceremony");
    let answer = json!({ "response": {
        "clientDataJSON": BASE64URL_NOPAD.encode(&with_challenge(client_data, &options)),
        "attestationObject": BASE64URL_NOPAD.encode(object),
    } });
    party.finish_registration(&state, &answer).expect("a stored state")
}

fn credential(id: &str, response: Value) -> Value {
    json!({ "id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {} })
}

/// `client_data` with the challenge of `options` in place of `$CHALLENGE`.
fn with_challenge(client_data: &[u8], options: &Value) -> Vec<u8> {
    let challenge = options["challenge"].as_str().expect("a challenge");
    match std::str::from_utf8(client_data) {
        Ok(text) => text.replace("$CHALLENGE", challenge).into_bytes(),
        Err(_) => client_data.to_vec(),
    }
}

/// An attestation object without attestation, of an Ed25519 key.
fn attestation() -> Vec<u8> {
    // SHA-256 of front.example.org
    let hash = "6gWFlls2hHLKTCZfwCB6SXedHNDWtidzDW1CdgmZhJI=";
    let mut data = BASE64.decode(hash.as_bytes()).expect("base64");
    // presence, verification, attested data; counter 1; no model; identifier of 16 bytes
    data.extend([0x45, 0, 0, 0, 1]);
    data.extend([0; 16]);
    data.extend([0, 16]);
    data.extend([7; 16]);
    data.extend([0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32]);
    data.extend(SigningKey::from_bytes(&[b'A'; 32]).verifying_key().as_bytes());
    let length = u8::try_from(data.len()).expect("a short text");
    let start = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58";
    [&start[..], &[length], &data].concat()
}
