//! What WebAuthn requires of a relying party (<https://www.w3.org/TR/webauthn-3/#sctn-rp-operations>): each case changes
//! one part of a correct answer.

use common::{ErrorCode, Message};
use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use tests::{
    Authenticator, Person, World,
    authenticator::{UP, UV, begin},
};

const OPTIONS: &str = "/passkeys/registration-options";

type Change = fn(&mut Authenticator);

/// Changes that make a registration and a sign-in invalid alike.
const INVALID: &[(&str, Change)] = &[
    ("origin", |it| it.client_data = json!({ "origin": "https://evil.example" })),
    ("origin with a port", |it| {
        it.client_data = json!({ "origin": "https://front.example.org:8443" })
    }),
    ("origin over http", |it| it.client_data = json!({ "origin": "http://front.example.org" })),
    ("cross origin", |it| it.client_data = json!({ "crossOrigin": true })),
    ("top origin", |it| it.client_data = json!({ "topOrigin": "https://evil.example" })),
    ("type", |it| it.client_data = json!({ "type": "payment.get" })),
    ("challenge", |it| it.client_data = json!({ "challenge": "AAAAAAAAAAAAAAAAAAAAAA" })),
    ("short challenge", |it| it.client_data = json!({ "challenge": "AAAA" })),
    ("byte order mark", |it| it.before_client_data = "\u{feff}"),
    ("relying party", |it| it.rp_id = "evil.example".to_owned()),
    ("no presence", |it| it.flags = UV),
    ("no verification", |it| it.flags = UP),
    ("reserved flag 1", |it| it.flags |= 1 << 1),
    ("reserved flag 5", |it| it.flags |= 1 << 5),
    ("extra bytes", |it| it.extra = vec![0]),
    ("extensions that are no map", |it| it.extensions = b"\x67example".to_vec()),
    ("truncated extensions", |it| it.extensions = b"\xa1\x67exam".to_vec()),
];

async fn register(person: &Person, change: impl Fn(&mut Value)) -> tests::Answer {
    let options = person.post(OPTIONS, json!({})).await.expect_ok();
    let mut credential = Authenticator::es256().create(&options["options"]);
    change(&mut credential);
    person.post("/passkeys", json!({ "credential": credential })).await
}

#[tokio::test]
async fn registration_with_one_wrong_part_is_invalid() {
    let (_, member) = World::with_member().await;
    let with_type: (&str, Change) =
        ("type of a sign-in", |it| it.client_data = json!({ "type": "webauthn.get" }));
    for (name, change) in INVALID.iter().chain([&with_type]) {
        let mut authenticator = Authenticator::es256();
        change(&mut authenticator);
        let answer = authenticator.register(&member).await;
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
        answer.expect_error(ErrorCode::PasskeyInvalid);
    }
    assert_eq!(member.get("/passkeys").await.expect_ok()["passkeys"], json!([]));
}

#[tokio::test]
async fn sign_in_with_one_wrong_part_is_refused() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let registered = Authenticator::registered_by(&member).await;
    let more: &[(&str, Change)] = &[
        ("type of a registration", |it| it.client_data = json!({ "type": "webauthn.create" })),
        ("user handle", |it| it.user_handle = vec![1; 16]),
        ("empty user handle", |it| it.user_handle = Vec::new()),
        ("credential", |it| it.credential_id = vec![1; 32]),
    ];
    for (name, change) in INVALID.iter().chain(more) {
        let mut authenticator = registered.clone();
        change(&mut authenticator);
        let answer = authenticator.sign_in(&world.anonymous()).await;
        assert_eq!(answer.status, 401, "{name}: {answer:?}");
        answer.expect_unauthorized();
    }
    // What remains is the signature.
    let mut authenticator = registered.clone();
    let anonymous = world.anonymous();
    for part in ["signature", "authenticatorData", "clientDataJSON"] {
        let (options, token) = begin(&anonymous).await;
        let mut credential = authenticator.get(&options);
        flip_last_bit(&mut credential["response"][part]);
        let body = json!({ "credential": credential, "token": token });
        anonymous.post("/auth/passkey", body).await.expect_unauthorized();
    }
    authenticator.sign_in(&anonymous).await.expect_success(Message::LoginSuccess);
}

fn flip_last_bit(text: &mut Value) {
    let mut bytes = BASE64URL_NOPAD.decode(text.as_str().unwrap().as_bytes()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    *text = BASE64URL_NOPAD.encode(&bytes).into();
}

#[tokio::test]
async fn values_that_nobody_asked_for_are_ignored() {
    let (_, member) = World::with_member().await;
    for mut authenticator in [Authenticator::rs256(), Authenticator::es256()] {
        let path = "/passkeys/registration-options";
        let options = member.post(path, json!({})).await.expect_ok();
        let mut credential = authenticator.create(&options["options"]);
        credential["response"]["transports"] = json!(["cable", "", "usb", 7]);
        let unknown = |credential: &mut Value| {
            credential["authenticatorAttachment"] = json!("implant");
            credential["clientExtensionResults"] = json!({
                "hmacCreateSecret": true, "prf": { "enabled": true }, "uvm": [[2, 4, 2]],
                "credProps": { "rk": "yes" },
            });
        };
        unknown(&mut credential);
        let created = member.post("/passkeys", json!({ "credential": credential })).await;
        let created = created.expect_success(Message::PasskeyCreated);
        assert_eq!(created["passkey"]["transports"], json!(["usb"]));
        let (options, token) = begin(&member).await;
        let mut credential = authenticator.get(&options);
        unknown(&mut credential);
        let payload = json!({ "credential": credential, "token": token });
        member.post("/auth/passkey", payload).await.expect_success(Message::LoginSuccess);
    }
}

#[tokio::test]
async fn malformed_public_key_is_invalid() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    // RFC 9053 §7.1. Without a change it is the key of the authenticator.
    let x = |it: &[u8]| it[10..42].to_vec();
    let y = |it: &[u8]| it[45..].to_vec();
    let key = |alg: u8, crv: u8, x: &[u8], y: &[u8]| {
        let length = |it: &[u8]| u8::try_from(it.len()).unwrap();
        let start = [0xa5, 1, 2, 3, alg, 0x20, crv, 0x21, 0x58, length(x)];
        [&start[..], x, &[0x22, 0x58, length(y)][..], y].concat()
    };
    let own = Authenticator::es256().public_key();
    let (x, y) = (x(&own), y(&own));
    assert_eq!(key(0x26, 1, &x, &y), own);
    let (on_p384, mut entry) = ([1; 48], own.clone());
    entry[0] = 0xa6;
    entry.extend([0x23, 0]);
    for (name, key) in [
        ("another curve", key(0x26, 2, &x, &y)),
        ("another algorithm", key(0x27, 1, &x, &y)),
        ("short x", key(0x26, 1, &x[1..], &y)),
        ("short y", key(0x26, 1, &x, &y[1..])),
        ("not on the curve", key(0x26, 1, &[1; 32], &[1; 32])),
        ("the point at infinity", key(0x26, 1, &[0; 32], &[0; 32])),
        ("not a map", vec![0x80]),
        ("an empty map", vec![0xa0]),
        ("truncated", own[..own.len() - 1].to_vec()),
        ("one more entry", entry),
        // ES384, -35: not offered.
        (
            "ES384",
            [
                &[0xa5, 1, 2, 3, 0x38, 34, 0x20, 2, 0x21, 0x58, 48][..],
                &on_p384,
                &[0x22, 0x58, 48],
                &on_p384,
            ]
            .concat(),
        ),
    ] {
        let mut authenticator = Authenticator::es256();
        authenticator.other_key = Some(key);
        let answer = authenticator.register(&member).await;
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
        answer.expect_error(ErrorCode::PasskeyInvalid);
    }
}

#[tokio::test]
async fn truncated_authenticator_data_is_refused() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    for kept in [0, 1, 31, 32, 33, 36] {
        let anonymous = world.anonymous();
        let (options, token) = begin(&anonymous).await;
        let answer = authenticator.get_with(&options, |data| data.truncate(kept));
        let body = json!({ "credential": answer, "token": token });
        anonymous.post("/auth/passkey", body).await.expect_unauthorized();
    }
}

#[tokio::test]
async fn sign_in_without_user_handle_is_refused() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    for handle in [None, Some(Value::Null)] {
        let anonymous = world.anonymous();
        let (options, token) = begin(&anonymous).await;
        let mut answer = authenticator.get(&options);
        let response = answer["response"].as_object_mut().unwrap();
        response.remove("userHandle");
        if let Some(handle) = handle {
            response.insert("userHandle".to_owned(), handle);
        }
        let body = json!({ "credential": answer, "token": token });
        anonymous.post("/auth/passkey", body).await.expect_unauthorized();
    }
}

#[tokio::test]
async fn counter_that_falls_to_zero_is_refused() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    authenticator.sign_count = 0;
    authenticator.sign_in(&world.anonymous()).await.expect_unauthorized();
}

/// A relying party may ignore outputs that it has not requested (WebAuthn §7.1, §7.2). Security keys may send `credProtect`
/// unrequested (CTAP 2.1 §12.1).
#[tokio::test]
async fn unsolicited_extension_outputs_are_ignored() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    for extensions in [
        &b"\xa1\x6bcredProtect\x03"[..],
        b"\xa1\x6bhmac-secret\xf5",
        // user verification method: [[2, 4, 2]]
        b"\xa1\x63uvm\x81\x83\x02\x04\x02",
        b"\xa2\x67example\xf5\x68example2\xbf\x61a\x9f\x01\xff\xff",
    ] {
        let mut authenticator = Authenticator::es256();
        authenticator.extensions = extensions.to_vec();
        authenticator.register(&member).await.expect_success(Message::PasskeyCreated);
        authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
    }
}

/// Some browsers send a statement although none is requested (WebAuthn §5.1.3); nothing is concluded from it.
#[tokio::test]
async fn attestation_statement_and_order_of_members_are_ignored() {
    let (world, member) = World::with_member().await;
    for statement in
        [&b"\x66packed\x67attStmt\xa2\x63alg\x26\x63sig\x41\0"[..], b"\x63tpm\x67attStmt\xa0"]
    {
        let options = member.post(OPTIONS, json!({})).await.expect_ok();
        let mut authenticator = Authenticator::es256();
        authenticator.statement = statement.to_vec();
        let credential = authenticator.create(&options["options"]);
        let answer = member.post("/passkeys", json!({ "credential": credential })).await;
        answer.expect_success(Message::PasskeyCreated);
        authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
    }
    register(&member, |credential| {
        let object = &mut credential["response"]["attestationObject"];
        let bytes = BASE64URL_NOPAD.decode(object.as_str().unwrap().as_bytes()).unwrap();
        // `fmt` and `attStmt`, then `authData`: the other way round.
        let data = bytes.windows(9).position(|nine| nine == b"\x68authData").unwrap();
        let (first, last) = (&bytes[1..data], &bytes[data..]);
        *object = BASE64URL_NOPAD.encode(&[&bytes[..1], last, first].concat()).into();
    })
    .await
    .expect_success(Message::PasskeyCreated);
}

#[tokio::test]
async fn padding_of_base64url_and_order_of_a_key_are_ignored() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::es256();
    let own = authenticator.public_key();
    // kty, alg, crv, x, y: the coordinates first.
    authenticator.other_key = Some([&own[..1], &own[7..], &own[1..7]].concat());
    let options = member.post(OPTIONS, json!({})).await.expect_ok();
    let mut credential = authenticator.create(&options["options"]);
    for name in ["id", "rawId"] {
        credential[name] = format!("{}=", credential[name].as_str().unwrap()).into();
    }
    let answer = member.post("/passkeys", json!({ "credential": credential })).await;
    answer.expect_success(Message::PasskeyCreated);
    authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn key_that_anyone_can_sign_with_is_refused() {
    let (_, member) = World::with_member().await;
    // An Ed25519 key of low order: (0, 1).
    let mut low_order = vec![0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32, 1];
    low_order.extend([0; 31]);
    let rsa = |e: &[u8]| {
        let mut key = vec![0xa4, 1, 3, 3, 0x39, 1, 0, 0x20, 0x59, 1, 0, 0x80];
        key.extend([1; 255]);
        key.extend([0x21, 0x40 + u8::try_from(e.len()).unwrap()]);
        key.extend(e);
        key
    };
    for (key, is_right) in [
        (low_order, false),
        (rsa(&[1]), false),
        (rsa(&[2]), false),
        (rsa(&[1, 0, 0]), false),
        (rsa(&[1, 0, 1]), true),
    ] {
        let mut authenticator = Authenticator::es256();
        authenticator.other_key = Some(key);
        let answer = authenticator.register(&member).await;
        if is_right {
            answer.expect_success(Message::PasskeyCreated);
        } else {
            answer.expect_error(ErrorCode::PasskeyInvalid);
        }
    }
}

#[tokio::test]
async fn truncated_attestation_object_is_invalid() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    for kept in [0, 1, 5, 30, 100, 150, 190] {
        let answer = register(&member, |credential| {
            let object = &mut credential["response"]["attestationObject"];
            let bytes = object.as_str().unwrap().as_bytes();
            let bytes = BASE64URL_NOPAD.decode(bytes).unwrap();
            *object = BASE64URL_NOPAD.encode(&bytes[..kept]).into();
        })
        .await;
        answer.expect_error(ErrorCode::PasskeyInvalid);
    }
    register(&member, |credential| {
        let object = &mut credential["response"]["attestationObject"];
        let mut text = object.as_str().unwrap().to_owned();
        text.push_str("AAAA");
        *object = text.into();
    })
    .await
    .expect_error(ErrorCode::PasskeyInvalid);
}

#[tokio::test]
async fn json_of_a_credential_is_checked() {
    let (_, member) = World::with_member().await;
    for (name, value) in [
        ("id", json!("AAAA")),
        ("rawId", json!("AAAA")),
        ("type", json!("password")),
        ("response", json!(null)),
    ] {
        let answer = register(&member, |credential| credential[name] = value.clone()).await;
        answer.expect_error(ErrorCode::PasskeyInvalid);
    }
    for prf in [json!({}), json!({ "enabled": null })] {
        let results = json!({ "prf": prf });
        let change =
            |credential: &mut Value| credential["clientExtensionResults"] = results.clone();
        assert_ne!(register(&member, change).await.status, 500, "{results}");
    }
    // Fields that a later version of the specification adds.
    register(&member, |credential| {
        credential["later"] = json!(1);
        credential["response"]["later"] = json!(1);
        credential["clientExtensionResults"]["later"] = json!({});
    })
    .await
    .expect_created();
}

#[tokio::test]
async fn unknown_client_data_is_ignored() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::eddsa();
    authenticator.client_data = json!({ "other_keys_can_be_added_here": "by browsers" });
    authenticator.register(&member).await.expect_success(Message::PasskeyCreated);
    authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
}
