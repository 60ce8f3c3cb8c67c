use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};

use super::*;

fn grant(now: Instant) -> NewToken {
    NewToken {
        user_id: UserId::new(Uuid::from_u128(1)),
        session_id: SessionId::new(Uuid::from_u128(2)),
        issued: now,
        expires: now.after(Duration::from_secs(60)),
        auth_time: now,
        amr: vec![Method::Pwd],
        committee_id: CommitteeId::new(Uuid::from_u128(3)),
        epoch: None,
    }
}

#[test]
fn token_is_valid_only_for_its_use_and_period() {
    let key = NamedKey::generate("2026-11");
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let token = Signer::new(&key).sign(TokenUse::Access, &grant(now)).unwrap();
    let verifier = Verifier::new(&[PublicKey::of(&key)]);
    let session = |usage, at| verifier.verify(&token, usage, at).map(|claims| claims.sid);
    assert_eq!(session(TokenUse::Access, now), Some(grant(now).session_id));
    assert_eq!(session(TokenUse::OtpStep, now), None);
    // from five seconds before until a minute after
    for (milliseconds, is_valid) in
        [(-6_000, false), (-5_000, true), (59_999, true), (60_000, false)]
    {
        let at = Instant::from_unix_milliseconds(now.unix_milliseconds() + milliseconds);
        assert_eq!(session(TokenUse::Access, at).is_some(), is_valid, "{milliseconds}");
    }
}

#[test]
fn token_of_retired_key_is_valid_while_key_is_listed() {
    let (old, new, foreign) =
        (NamedKey::generate("old"), NamedKey::generate("new"), NamedKey::generate("old"));
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let token = Signer::new(&old).sign(TokenUse::Access, &grant(now)).unwrap();
    let is_valid = |keys: &[&NamedKey]| {
        let keys: Vec<PublicKey> = keys.iter().map(|key| PublicKey::of(key)).collect();
        Verifier::new(&keys).verify(&token, TokenUse::Access, now).is_some()
    };
    assert!(is_valid(&[&new, &old]) && !is_valid(&[&new]) && !is_valid(&[&foreign]));
    assert_eq!(PublicKey::of(&old).to_string().parse(), Ok(PublicKey::of(&old)));
}

#[test]
fn token_forged_is_rejected() {
    let key = NamedKey::generate("k");
    let public = PublicKey::of(&key);
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let verifier = Verifier::new(std::slice::from_ref(&public));
    let token = Signer::new(&key).sign(TokenUse::Access, &grant(now)).unwrap();
    let [head, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else {
        panic!("not three parts")
    };
    let url = data_encoding::BASE64URL_NOPAD;
    let none = url.encode(br#"{"alg":"none","typ":"at+jwt","kid":"k"}"#);
    // algorithm confusion: HMAC with the public key as the secret
    let hs256 = url.encode(br#"{"alg":"HS256","typ":"at+jwt","kid":"k"}"#);
    let decoded: Claims = serde_json::from_slice(&url.decode(claims.as_bytes()).unwrap()).unwrap();
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&public.bytes).unwrap();
    mac.update(format!("{hs256}.{claims}").as_bytes());
    let confused = format!("{hs256}.{claims}.{}", url.encode(&mac.finalize().into_bytes()));
    let other_key =
        Signer::new(&NamedKey::generate("k")).sign(TokenUse::Access, &grant(now)).unwrap();
    let with_claims = |iss: &str, aud: &str| {
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some("at+jwt".into());
        header.kid = Some("k".into());
        let claims = Claims { iss: iss.into(), aud: aud.into(), ..decoded.clone() };
        jsonwebtoken::encode(&header, &claims, &Signer::new(&key).key).unwrap()
    };
    let verified = |token: &str| verifier.verify(token, TokenUse::Access, now);
    assert!(verified(&with_claims(ISSUER, AUDIENCE)).is_some());
    for forged in [
        String::new(),
        "a.b.c".into(),
        format!("{none}.{claims}."),
        format!("{head}.{claims}."),
        confused,
        other_key,
        format!("{head}.{claims}.{}", url.encode(&[0; 64])),
        format!("{token}{}", "A".repeat(4096)),
        with_claims("other", AUDIENCE),
        with_claims(ISSUER, "other"),
        format!("{head}.{claims}x.{signature}"),
    ] {
        assert_eq!(verified(&forged), None, "{forged}");
    }
}
