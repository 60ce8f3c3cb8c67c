//! Answers of authenticators: client data, attestation objects and authenticator data. Registering needs no signature, and
//! no sign-in can be forged.

use std::sync::LazyLock;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use domain::{CommitteeId, Instant, PasskeyId, UserId, passkey::Passkey, user::User};
use identity::passkeys::{Assertion, Ceremony, RelyingParty, Verified};
use serde_json::{Value, json};
use tests::Authenticator;

struct Stage {
    party: RelyingParty,
    user: User,
    passkey: Passkey,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let origins = vec!["https://front.example.org".to_owned()];
    let party = RelyingParty::new("front.example.org".to_owned(), origins);
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let user = User::new(
        UserId::or_none("0198c0de-0000-7000-8000-000000000003"),
        "Amina".parse().expect("a name"),
        "Ben Salah".parse().expect("a name"),
        "amina@example.org".parse().expect("an address"),
        CommitteeId::or_none("0198c0de-0000-7000-8000-000000000001"),
        now,
    );
    let Ceremony { challenge, options } = party.begin_registration(&user, &[]);
    let answer = Authenticator::eddsa().create(&options);
    let credential = party.finish_registration(&challenge, &answer);
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
    let Ceremony { challenge, options } = party.begin_registration(user, &[]);
    let new_id = "AAAAAAAAAAAAAAAAAAAAAA";
    let answer = json!({ "id": new_id, "rawId": new_id, "type": "public-key", "response": {
        "clientDataJSON": BASE64URL_NOPAD.encode(&with_challenge(client_data, &options)),
        "attestationObject": BASE64URL_NOPAD.encode(data),
    } });
    if let Some(credential) = party.finish_registration(&challenge, &answer) {
        let id = BASE64URL_NOPAD.decode(credential.credential_id.as_bytes());
        let key = BASE64.decode(credential.public_key.as_bytes());
        assert!((16..=1023).contains(&id.expect("base64url").len()));
        // The largest is an RSA key of 8,192 bits.
        assert!(key.expect("base64").len() <= 1100, "{credential:?}");
    }
    let Ceremony { challenge, options } = party.begin_sign_in();
    let id = &passkey.credential.credential_id;
    let response = json!({
        "clientDataJSON": BASE64URL_NOPAD.encode(&with_challenge(client_data, &options)),
        "authenticatorData": BASE64URL_NOPAD.encode(data),
        "signature": BASE64URL_NOPAD.encode(&[1; 64]),
        "userHandle": BASE64URL_NOPAD.encode(user.user_id.uuid().as_bytes()),
    });
    let answer = json!({ "id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {} });
    if let Some(assertion) = Assertion::parse(&answer) {
        let verified = party.verify(&challenge, &assertion, passkey);
        assert_eq!(verified.expect("a stored key"), Verified::No);
    }
}

/// `client_data` with the challenge of `options` in place of `$CHALLENGE`.
fn with_challenge(client_data: &[u8], options: &Value) -> Vec<u8> {
    let challenge = options["challenge"].as_str().expect("a challenge");
    match std::str::from_utf8(client_data) {
        Ok(text) => text.replace("$CHALLENGE", challenge).into_bytes(),
        Err(_) => client_data.to_vec(),
    }
}
