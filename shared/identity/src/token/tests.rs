use super::*;
use std::time::Duration;

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
    assert_eq!(
        verifier.verify(&token, TokenUse::Access, now).unwrap().sid,
        SessionId::new(Uuid::from_u128(2))
    );
    assert_eq!(verifier.verify(&token, TokenUse::OtpStep, now), None);
    assert!(
        verifier
            .verify(&token, TokenUse::Access, now.after(Duration::from_millis(59_999)))
            .is_some()
    );
    assert_eq!(verifier.verify(&token, TokenUse::Access, now.after(Duration::from_secs(60))), None);
    let earlier = |seconds| {
        let at = now.before(Duration::from_secs(seconds));
        verifier.verify(&token, TokenUse::Access, at)
    };
    assert!(earlier(5).is_some());
    assert_eq!(earlier(6), None, "before nbf");
}

#[test]
fn token_of_retired_key_is_valid_while_key_is_listed() {
    let (old, new, foreign) =
        (NamedKey::generate("old"), NamedKey::generate("new"), NamedKey::generate("old"));
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let token = Signer::new(&old).sign(TokenUse::Access, &grant(now)).unwrap();
    assert!(
        Verifier::new(&[PublicKey::of(&new), PublicKey::of(&old)])
            .verify(&token, TokenUse::Access, now)
            .is_some()
    );
    assert_eq!(Verifier::new(&[PublicKey::of(&new)]).verify(&token, TokenUse::Access, now), None);
    assert_eq!(
        Verifier::new(&[PublicKey::of(&foreign)]).verify(&token, TokenUse::Access, now),
        None
    );
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
    let mut mac =
        <hmac::Hmac<sha2::Sha256> as hmac::KeyInit>::new_from_slice(&public.bytes).unwrap();
    hmac::Mac::update(&mut mac, format!("{hs256}.{claims}").as_bytes());
    let confused =
        format!("{hs256}.{claims}.{}", url.encode(&hmac::Mac::finalize(mac).into_bytes()));
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
