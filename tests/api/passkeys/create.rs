use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::json;
use store::CommitOutcome;
use tests::{
    Authenticator, NewPerson, PASSWORD, World,
    authenticator::{BE, BS, UP, UV},
    expect_fields,
};

const OPTIONS: &str = "/passkeys/registration-options";

#[tokio::test]
async fn options_ask_for_a_discoverable_verified_credential() {
    let (_, member) = World::with_member().await;
    let options = member.post(OPTIONS, json!({})).await.expect_ok()["options"].clone();
    assert_eq!(
        (&options["rp"], &options["user"]["displayName"]),
        (&json!({ "id": "front.example.org", "name": "Halqa" }), &json!("Amina Ben Salah"))
    );
    assert_eq!(options["user"]["name"], member.user().email.as_str());
    assert_eq!(
        options["pubKeyCredParams"],
        json!([-8, -7, -257].map(|alg| json!({ "type": "public-key", "alg": alg })))
    );
    let selection = &options["authenticatorSelection"];
    expect_fields(selection, json!({ "residentKey": "required", "userVerification": "required" }));
    assert_eq!((&options["attestation"], &options["timeout"]), (&json!("none"), &json!(300_000)));
    assert_eq!(options["excludeCredentials"], json!([]));
}

#[tokio::test]
async fn registration_returns_the_passkey_and_notifies_the_owner() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::eddsa();
    authenticator.flags = UP | UV | BE | BS;
    let created = authenticator.register(&member).await;
    let created = created.expect_success(Message::PasskeyCreated)["passkey"].clone();
    assert_eq!((&created["name"], &created["lastUsedAt"]), (&json!("Téléphone"), &json!(null)));
    assert_eq!(json!([created["backedUp"], created["transports"]]), json!([true, ["internal"]]));
    assert_eq!(member.get("/passkeys").await.expect_ok()["passkeys"], json!([created]));
    let mails = world.mails(member.user().email.as_str()).await;
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert!(mails[0]["text"].as_str().unwrap().contains("clé d’accès"));
    let options = member.post(OPTIONS, json!({})).await.expect_ok();
    let excluded = options["options"]["excludeCredentials"].as_array().unwrap();
    assert_eq!(excluded.len(), 1, "{excluded:?}");
}

#[tokio::test]
async fn passkey_without_name_gets_one() {
    let (_, member) = World::with_member().await;
    let options = member.post(OPTIONS, json!({})).await.expect_ok();
    let credential = Authenticator::es256().create(&options["options"]);
    let answer = member.post("/passkeys", json!({ "credential": credential })).await;
    assert_eq!(answer.expect_success(Message::PasskeyCreated)["passkey"]["name"], "Clé d’accès");
}

#[tokio::test]
async fn malformed_credential_is_invalid() {
    let (_, member) = World::with_member().await;
    let answer = member.post("/passkeys", json!({ "credential": {} })).await;
    answer.expect_error(ErrorCode::PasskeyInvalid);
}

#[tokio::test]
async fn member_of_a_closed_committee_registers_and_signs_in() {
    let world = World::new().await;
    let closed = world.another_committee("Gafsa", false).await;
    let member = NewPerson::with(Profile::Member).of(closed);
    let member = world.person(member).await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn challenge_is_valid_for_five_minutes() {
    let (world, member) = World::with_member().await;
    let options = member.post(OPTIONS, json!({})).await.expect_ok();
    let mut authenticator = Authenticator::es256();
    let payload = json!({ "credential": authenticator.create(&options["options"]) });
    world.clock().advance(Duration::from_secs(300));
    member.post("/passkeys", payload).await.expect_error(ErrorCode::PasskeyInvalid);
}

#[tokio::test]
async fn challenge_of_another_session_is_invalid() {
    let (world, member) = World::with_member().await;
    let elsewhere = world.signed_in(member.user().clone()).await;
    let other = world.member().await;
    let options = member.post(OPTIONS, json!({})).await.expect_ok();
    elsewhere.post(OPTIONS, json!({})).await.expect_ok();
    other.post(OPTIONS, json!({})).await.expect_ok();
    let credential = Authenticator::es256().create(&options["options"]);
    let payload = json!({ "credential": credential });
    for person in [&elsewhere, &other] {
        person.post("/passkeys", payload.clone()).await.expect_error(ErrorCode::PasskeyInvalid);
    }
    member.post("/passkeys", payload).await.expect_success(Message::PasskeyCreated);
}

#[tokio::test]
async fn challenge_before_a_password_change_is_invalid() {
    let (_, member) = World::with_member().await;
    let options = member.post(OPTIONS, json!({})).await.expect_ok();
    let new = "une lanterne sur le port";
    member.change_password(PASSWORD, new).await.expect_success(Message::PasswordChanged);
    let credential = Authenticator::es256().create(&options["options"]);
    let answer = member.post("/passkeys", json!({ "credential": credential })).await;
    answer.expect_error(ErrorCode::PasskeyInvalid);
}

#[tokio::test]
async fn answer_registers_once() {
    let (world, member) = World::with_member().await;
    let options = member.post(OPTIONS, json!({})).await.expect_ok();
    let credential = Authenticator::es256().create(&options["options"]);
    let payload = json!({ "credential": credential });
    let calls = (0..10).map(|_| member.post_until_answered("/passkeys", payload.clone()));
    let answers = world.race(2, join_all(calls)).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created, 1, "{answers:?}");
    assert_eq!(world.user(member.user().user_id).await.passkeys, 1);
}

/// As after a password change by another request of the session.
#[tokio::test]
async fn challenge_of_a_session_renewed_meanwhile_is_invalid() {
    for turns in 0..40 {
        let world = World::new().await;
        let member = world.member().await;
        let options = member.post(OPTIONS, json!({})).await.expect_ok();
        let payload = json!({ "credential": Authenticator::es256().create(&options["options"]) });
        let renewal = world.renewal(&member).await;
        let renew = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            renewal.commit().await.unwrap()
        };
        let (answer, renewed) = tokio::join!(member.post("/passkeys", payload), renew);
        match renewed {
            CommitOutcome::Committed => answer.expect_error(ErrorCode::PasskeyInvalid),
            CommitOutcome::ConditionFailed(_) => {
                drop(answer.expect_success(Message::PasskeyCreated));
            }
        }
        member.get("/auth/check").await.expect_ok();
    }
}

#[tokio::test]
async fn credential_of_an_account_cannot_be_registered_again() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let email = member.user().email.as_str();
    let mails = world.mails(email).await.len();
    for (person, notified) in [(&member, 0), (&world.member().await, 1)] {
        let options = person.post(OPTIONS, json!({})).await.expect_ok();
        let payload = json!({ "credential": authenticator.create(&options["options"]) });
        let answer = person.post("/passkeys", payload.clone()).await;
        answer.expect_error(ErrorCode::PasskeyAlreadyRegistered);
        // The challenge is used up.
        person.post("/passkeys", payload).await.expect_error(ErrorCode::PasskeyInvalid);
        let received = world.mails(email).await;
        assert_eq!(received.len(), mails + notified, "{received:?}");
    }
    assert!(world.mails(email).await[0]["text"].as_str().unwrap().contains("à un autre compte"));
}

#[tokio::test]
async fn credentials_of_other_accounts_are_counted_per_network() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let other = world.member().await;
    for _ in 0..50 {
        authenticator.register(&other).await.expect_error(ErrorCode::PasskeyAlreadyRegistered);
    }
    authenticator.register(&other).await.expect_error(ErrorCode::TooManyAttempts);
    // Own passkeys are not counted, and a new one can be added.
    authenticator.register(&member).await.expect_error(ErrorCode::PasskeyAlreadyRegistered);
    Authenticator::registered_by(&other).await;
}

#[tokio::test]
async fn concurrent_registrations_never_exceed_twenty() {
    let (world, mut member) = World::with_member().await;
    for _ in 0..3 {
        for _ in 0..6 {
            Authenticator::registered_by(&member).await;
        }
        // Ten are possible in an hour.
        world.clock().advance(Duration::from_secs(3600));
        member = world.signed_in(world.user(member.user().user_id).await).await;
    }
    // A challenge belongs to a session, so that each call has one of its own.
    let mut calls = Vec::new();
    for _ in 0..5 {
        let session = world.signed_in(member.user().clone()).await;
        let options = session.post(OPTIONS, json!({})).await.expect_ok();
        let credential = Authenticator::es256().create(&options["options"]);
        calls.push((session, json!({ "credential": credential })));
    }
    let calls = calls
        .iter()
        .map(|(session, payload)| session.post_until_answered("/passkeys", payload.clone()));
    let answers = world.race(5, join_all(calls)).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created, 2, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.expect_error(ErrorCode::PasskeysLimit);
    }
    member.post(OPTIONS, json!({})).await.expect_error(ErrorCode::PasskeysLimit);
    assert_eq!(member.get("/passkeys").await.expect_ok()["passkeys"].as_array().unwrap().len(), 20);
}
