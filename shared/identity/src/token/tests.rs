use super::*;
use std::time::Duration;

fn grant(now: Instant) -> Grant {
    Grant {
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
fn a_token_is_good_for_its_use_in_its_time_alone() {
    let key = NamedKey::generate("2026-11");
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let token = Signer::new(&key).sign(Use::Access, &grant(now)).unwrap();
    let verifier = Verifier::new(&[PublicKey::of(&key)]);
    assert_eq!(
        verifier.verify(&token, Use::Access, now).unwrap().sid,
        SessionId::new(Uuid::from_u128(2))
    );
    assert_eq!(verifier.verify(&token, Use::OtpStep, now), None);
    assert!(
        verifier
            .verify(
                &token,
                Use::Access,
                now.after(Duration::from_millis(59_999))
            )
            .is_some()
    );
    assert_eq!(
        verifier.verify(&token, Use::Access, now.after(Duration::from_secs(60))),
        None
    );
    assert_eq!(
        verifier.verify(&token, Use::Access, now.before(Duration::from_secs(1))),
        None,
        "a clock that stepped back"
    );
}

#[test]
fn keys_follow_each_other() {
    let (old, new, foreign) = (
        NamedKey::generate("old"),
        NamedKey::generate("new"),
        NamedKey::generate("old"),
    );
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let token = Signer::new(&old).sign(Use::Access, &grant(now)).unwrap();
    assert!(
        Verifier::new(&[PublicKey::of(&new), PublicKey::of(&old)])
            .verify(&token, Use::Access, now)
            .is_some()
    );
    assert_eq!(
        Verifier::new(&[PublicKey::of(&new)]).verify(&token, Use::Access, now),
        None
    );
    assert_eq!(
        Verifier::new(&[PublicKey::of(&foreign)]).verify(&token, Use::Access, now),
        None
    );
    assert_eq!(
        PublicKey::of(&old).to_string().parse(),
        Ok(PublicKey::of(&old))
    );
}

#[test]
fn forgeries_are_refused() {
    let key = NamedKey::generate("k");
    let public = PublicKey::of(&key);
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let verifier = Verifier::new(std::slice::from_ref(&public));
    let token = Signer::new(&key).sign(Use::Access, &grant(now)).unwrap();
    let [head, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else {
        panic!("three parts")
    };
    let url = data_encoding::BASE64URL_NOPAD;
    let none = url.encode(br#"{"alg":"none","typ":"at+jwt","kid":"k"}"#);
    // an HMAC with the public key for its secret
    let hs256 = url.encode(br#"{"alg":"HS256","typ":"at+jwt","kid":"k"}"#);
    let decoded: Claims = serde_json::from_slice(&url.decode(claims.as_bytes()).unwrap()).unwrap();
    let mut mac =
        <hmac::Hmac<sha2::Sha256> as hmac::KeyInit>::new_from_slice(&public.bytes).unwrap();
    hmac::Mac::update(&mut mac, format!("{hs256}.{claims}").as_bytes());
    let confused = format!(
        "{hs256}.{claims}.{}",
        url.encode(&hmac::Mac::finalize(mac).into_bytes())
    );
    let stranger = Signer::new(&NamedKey::generate("k"))
        .sign(Use::Access, &grant(now))
        .unwrap();
    let foreign = |iss: &str, aud: &str| {
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some("at+jwt".into());
        header.kid = Some("k".into());
        let claims = Claims {
            iss: iss.into(),
            aud: aud.into(),
            ..decoded.clone()
        };
        jsonwebtoken::encode(&header, &claims, &Signer::new(&key).key).unwrap()
    };
    assert!(
        verifier
            .verify(&foreign(ISSUER, AUDIENCE), Use::Access, now)
            .is_some()
    );
    for forged in [
        String::new(),
        "a.b.c".into(),
        format!("{none}.{claims}."),
        format!("{head}.{claims}."),
        confused,
        stranger,
        format!("{head}.{claims}.{}", url.encode(&[0; 64])),
        format!("{token}{}", "A".repeat(4096)),
        foreign("somebody", AUDIENCE),
        foreign(ISSUER, "something"),
        format!("{head}.{claims}x.{signature}"),
    ] {
        assert_eq!(verifier.verify(&forged, Use::Access, now), None, "{forged}");
    }
}
