//! Sealed and signed values: no cursor and no token can be forged. What our keys have sealed or signed is read unchanged
//! for one use, in its time.

use std::sync::LazyLock;

use axum::{
    extract::{FromRequestParts, Request},
    response::IntoResponse,
};
use common::{ApiError, Cursors, Paging};
use data_encoding::BASE64URL_NOPAD;
use domain::Instant;
use ed25519_dalek::{Signer, SigningKey};
use futures_util::FutureExt;
use identity::{
    NamedKey, code,
    sealing::Sealer,
    token::{PublicKey, TokenUse, Verifier},
};
use serde_json::Value;

use crate::text;

const KEY: &str = "k:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
static NOW: LazyLock<Instant> =
    LazyLock::new(|| Instant::from_unix_milliseconds(1_800_000_000_000));
const LIST: &str = "GET /courses/search-all";
const USES: [TokenUse; 4] =
    [TokenUse::Access, TokenUse::OtpStep, TokenUse::PasswordlessStep, TokenUse::PasskeyStep];

static VERIFIER: LazyLock<Verifier> = LazyLock::new(|| {
    let key: NamedKey = KEY.parse().expect("a key");
    Verifier::new(&[PublicKey::of(&key)])
});

/// Target `cursor`: cursors and page queries.
pub(crate) fn cursor(input: &[u8]) {
    let sealer: Sealer = KEY.parse().expect("a key");
    let cursors: Cursors = KEY.parse().expect("a key");

    // A sealed cursor with any content is read unchanged, in its own list only, or is a client error.
    if let Some(plain) = input.strip_prefix(b"!") {
        let cursor = sealer.seal(plain, &format!("cursor {LIST}")).expect("it is short");
        assert!(cursors.read(&cursor, "GET /courses", *NOW).is_err());
        match cursors.read(&cursor, LIST, *NOW) {
            Ok(position) => assert!(
                cursor.len() <= 512 && plain.len() >= 8 && position.as_bytes() == &plain[8..]
            ),
            Err(error) => assert!(is_client_error(error)),
        }
        return;
    }
    let Some(written) = text(input) else { return };
    assert!(
        cursors.read(written, LIST, *NOW).is_err_and(is_client_error),
        "not sealed: {written:?}"
    );
    assert_eq!(sealer.is_mac(written, "code", b"data"), written == sealer.mac("code", b"data"));
    let Ok(request) = Request::get(format!("/?{written}")).body(()) else {
        return;
    };
    match Paging::from_request_parts(&mut request.into_parts().0, &())
        .now_or_never()
        .expect("a query is ready at once")
    {
        Ok(paging) => assert!((1..=100).contains(&paging.limit)),
        Err(error) => assert!(is_client_error(error)),
    }
}

fn is_client_error(error: ApiError) -> bool {
    error.into_response().status().is_client_error()
}

/// Target `token`: tokens and keys.
pub(crate) fn token(input: &[u8]) {
    if let Some(signed) = input.strip_prefix(b"!") {
        return signed_by_us(signed);
    }
    let Some(written) = text(input) else { return };
    for usage in USES {
        assert_eq!(VERIFIER.verify(written, usage, *NOW), None, "{written:?} is not signed");
    }
    if let Ok(key) = written.parse::<NamedKey>() {
        let setting = key.to_setting();
        assert_eq!(setting, written.trim());
        assert!(key.is(setting.as_bytes()) && !key.is(&setting.as_bytes()[1..]));
    }
    if let Ok(key) = written.parse::<PublicKey>() {
        assert_eq!(key.to_string().parse(), Ok(key));
    }
    if code::challenge_of_link(written).is_some() {
        assert!(written.len() == 64 && written.bytes().all(|byte| (b'a'..=b'p').contains(&byte)));
    }
}

/// `signed` is a header, a line break and claims; they get a valid signature.
fn signed_by_us(signed: &[u8]) {
    let mut parts = signed.splitn(2, |byte| *byte == b'\n');
    let (header, claims) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let head = format!("{}.{}", BASE64URL_NOPAD.encode(header), BASE64URL_NOPAD.encode(claims));
    let signature = SigningKey::from_bytes(&[b'A'; 32]).sign(head.as_bytes());
    let token = format!("{head}.{}", BASE64URL_NOPAD.encode(&signature.to_bytes()));
    let valid: Vec<_> =
        USES.into_iter().filter_map(|usage| VERIFIER.verify(&token, usage, *NOW)).collect();
    assert!(valid.len() <= 1, "a token for two uses");
    let Some(claims) = valid.first() else { return };
    assert!(
        claims.nbf <= NOW.unix_seconds() && NOW.unix_seconds() < claims.exp && token.len() <= 4096
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
