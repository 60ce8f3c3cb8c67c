//! Tokens and keys: no token can be forged, and a token signed by our key is valid for one use, in its time, for this
//! service.

use std::sync::LazyLock;

use data_encoding::BASE64URL_NOPAD;
use domain::Instant;
use ed25519_dalek::{Signer, SigningKey};
use identity::{
    NamedKey, code,
    token::{PublicKey, TokenUse, Verifier},
};
use serde_json::Value;

use crate::text;

const USES: [TokenUse; 4] =
    [TokenUse::Access, TokenUse::OtpStep, TokenUse::PasswordlessStep, TokenUse::PasskeyStep];

static VERIFIER: LazyLock<Verifier> = LazyLock::new(|| {
    let key: NamedKey = "k:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=".parse().expect("a key");
    Verifier::new(&[PublicKey::of(&key)])
});

pub(crate) fn run(input: &[u8]) {
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    if let Some(signed) = input.strip_prefix(b"!") {
        return signed_by_us(signed, now);
    }
    let Some(written) = text(input) else { return };
    for usage in USES {
        assert_eq!(VERIFIER.verify(written, usage, now), None, "{written:?} is not signed");
    }
    if let Ok(key) = written.parse::<NamedKey>() {
        let setting = key.to_setting();
        assert_eq!(setting, written.trim());
        assert!(key.is(setting.as_bytes()) && !key.is(&setting.as_bytes()[1..]));
    }
    if let Ok(key) = written.parse::<PublicKey>() {
        assert_eq!(key.to_string().parse(), Ok(key));
    }
    if code::id_of_link(written).is_some() {
        assert!(written.len() == 64 && written.bytes().all(|byte| (b'a'..=b'p').contains(&byte)));
    }
}

/// `signed` is a header, a line break and claims; they get a valid signature.
fn signed_by_us(signed: &[u8], now: Instant) {
    let mut parts = signed.splitn(2, |byte| *byte == b'\n');
    let (header, claims) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let head = format!("{}.{}", BASE64URL_NOPAD.encode(header), BASE64URL_NOPAD.encode(claims));
    let signature = SigningKey::from_bytes(&[b'A'; 32]).sign(head.as_bytes());
    let token = format!("{head}.{}", BASE64URL_NOPAD.encode(&signature.to_bytes()));
    let valid: Vec<_> =
        USES.into_iter().filter_map(|usage| VERIFIER.verify(&token, usage, now)).collect();
    assert!(valid.len() <= 1, "a token for two uses");
    let Some(claims) = valid.first() else { return };
    assert!(
        claims.nbf <= now.unix_seconds() && now.unix_seconds() < claims.exp && token.len() <= 4096
    );
    let (header, payload): (Value, _) = (
        serde_json::from_slice(header).expect("JSON"),
        serde_json::to_value(claims).expect("JSON"),
    );
    assert_eq!((&header["alg"], &header["kid"]), (&Value::from("EdDSA"), &Value::from("k")));
    assert_eq!(
        (&payload["iss"], &payload["aud"]),
        (&Value::from("halqa"), &Value::from("halqa-api"))
    );
}
