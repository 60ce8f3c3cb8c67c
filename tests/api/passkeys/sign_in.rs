use std::time::Duration;

use common::{ErrorCode, Message};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{
    Authenticator, PASSWORD, Person, TotpApp, World,
    authenticator::{BE, BS, UP, UV, begin},
    expect_fields,
};

#[tokio::test]
async fn passkey_signs_in_completely_without_one_time_password() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    TotpApp::enrolled_by(&world, &member).await;
    let answer = authenticator.sign_in(&world.anonymous()).await;
    let user = answer.expect_success(Message::LoginSuccess)["user"].clone();
    assert_eq!(user["email"], member.user().email.as_str());
    let token = answer.header("authorization");
    assert_eq!(user["token"], token);
    let claims =
        data_encoding::BASE64URL_NOPAD.decode(token.split('.').nth(1).unwrap().as_bytes()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["amr"], json!(["pop", "mfa"]));
    let person = world.anonymous().with_token(token);
    person.get("/auth/current-user").await.expect_ok();
    let activity = person.get("/users/activity").await.expect_ok();
    assert_eq!(activity["activity"][0]["amr"], json!(["pop", "mfa"]));
    let listed = person.get("/passkeys").await.expect_ok();
    assert!(listed["passkeys"][0]["lastUsedAt"].is_string(), "{listed}");
}

#[tokio::test]
async fn options_name_no_account_and_fit_the_browser() {
    let world = World::new().await;
    let (options, token) = begin(&world.anonymous()).await;
    expect_fields(&options, json!({ "rpId": "front.example.org", "userVerification": "required" }));
    assert_eq!((&options["allowCredentials"], &options["timeout"]), (&json!([]), &json!(300_000)));
    assert!(token.as_str().unwrap().starts_with("Bearer "));
    // The token opens nothing else.
    world
        .anonymous()
        .with_token(token.as_str().unwrap())
        .get("/auth/current-user")
        .await
        .expect_unauthorized();
}

#[tokio::test]
async fn answer_used_fifty_times_at_once_signs_in_once() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let (options, token) = begin(&world.anonymous()).await;
    let payload = json!({ "credential": authenticator.get(&options), "token": token });
    let people: Vec<_> = (0..50).map(|_| world.anonymous()).collect();
    let calls =
        people.iter().map(|person| person.post_until_answered("/auth/passkey", payload.clone()));
    let before = member.session_count().await;
    let answers = world.race(2, join_all(calls)).await;
    assert_eq!(member.session_count().await, before + 1, "{answers:?}");
    // On a busy machine the store may not answer in time: then a 503 began the session.
    assert!(answers.iter().filter(|answer| answer.status == 200).count() <= 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.expect_unauthorized();
    }
}

#[tokio::test]
async fn all_failures_have_the_same_response() {
    let (world, member) = World::with_member().await;
    let mut known = Authenticator::registered_by(&member).await;
    let mut unknown = Authenticator::es256();
    unknown.user_handle = known.user_handle.clone();
    let anonymous = world.anonymous();
    let mut answers = vec![unknown.sign_in(&anonymous).await];
    let mut other_user = known.clone();
    other_user.user_handle = vec![7; 16];
    answers.push(other_user.sign_in(&anonymous).await);
    let mut forger = Authenticator::es256();
    forger.credential_id = known.credential_id.clone();
    forger.user_handle = known.user_handle.clone();
    answers.push(forger.sign_in(&anonymous).await);
    let (options, token) = begin(&anonymous).await;
    let credential = known.get(&options);
    for payload in [
        json!({ "credential": {}, "token": token }),
        json!({ "credential": credential, "token": "Bearer x" }),
        json!({ "credential": credential, "token": begin(&anonymous).await.1 }),
        json!({ "credential": credential, "token": member.token() }),
    ] {
        answers.push(anonymous.post("/auth/passkey", payload).await);
    }
    for answer in &answers {
        answer.expect_unauthorized();
        assert_eq!(answer.body, answers[0].body);
        assert_eq!(answer.header("www-authenticate"), answers[0].header("www-authenticate"));
    }
}

#[tokio::test]
async fn known_and_unknown_credentials_cost_the_same_store_requests() {
    let (world, member) = World::with_member().await;
    let known = Authenticator::registered_by(&member).await;
    let mut unknown = Authenticator::es256();
    unknown.user_handle = known.user_handle.clone();
    let mut forger = unknown.clone();
    forger.credential_id = known.credential_id.clone();
    for mut authenticator in [unknown, forger] {
        let cost = authenticator.sign_in(&world.anonymous()).await.cost;
        assert_eq!((cost.round_trips, cost.requests, cost.writes), (3, 5, 2.0));
    }
}

#[tokio::test]
async fn sign_in_needs_four_round_trips_and_six_requests() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let answer = authenticator.sign_in(&world.anonymous()).await;
    answer.expect_success(Message::LoginSuccess);
    assert_eq!((answer.cost.round_trips, answer.cost.requests), (4, 6));
}

#[tokio::test]
async fn first_sign_in_after_a_move_needs_one_more_round_trip() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let sfax = world.another_committee("Sfax", true).await;
    world.admin().await.change_member(member.user().user_id, json!({ "committeeID": sfax })).await;
    for round_trips in [5, 4] {
        let answer = authenticator.sign_in(&world.anonymous()).await;
        let user = &answer.expect_success(Message::LoginSuccess)["user"];
        assert_eq!(user["committeeID"], json!(sfax));
        assert_eq!(answer.cost.round_trips, round_trips);
    }
}

#[tokio::test]
async fn challenge_is_valid_for_five_minutes() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let anonymous = world.anonymous();
    let (options, token) = begin(&anonymous).await;
    world.clock().advance(Duration::from_secs(300));
    let payload = json!({ "credential": authenticator.get(&options), "token": token });
    anonymous.post("/auth/passkey", payload).await.expect_unauthorized();
}

#[tokio::test]
async fn failures_are_counted_per_network_and_successes_are_not() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let mut stranger = Authenticator::es256();
    stranger.user_handle = authenticator.user_handle.clone();
    let anonymous = world.anonymous();
    for _ in 0..49 {
        stranger.sign_in(&anonymous).await.expect_unauthorized();
    }
    for _ in 0..3 {
        authenticator.sign_in(&anonymous).await.expect_success(Message::LoginSuccess);
    }
    stranger.sign_in(&anonymous).await.expect_unauthorized();
    let mut colleague = Authenticator::registered_by(&world.member().await).await;
    colleague.sign_in(&anonymous).await.expect_error(ErrorCode::TooManyAttempts);
    // The owner still gets in elsewhere, and here, from where they signed in before.
    authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
    authenticator.sign_in(&anonymous).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn counter_that_does_not_rise_is_refused_and_reported_once() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let mut authenticator = Authenticator::registered_by(&member).await;
    let mut copy = authenticator.clone();
    authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
    let mails = world.mails(email).await.len();
    let anonymous = world.anonymous();
    let (options, token) = begin(&anonymous).await;
    let payload = json!({ "credential": copy.get(&options), "token": token });
    for _ in 0..2 {
        anonymous.post("/auth/passkey", payload.clone()).await.expect_unauthorized();
    }
    let received = world.mails(email).await;
    assert_eq!(received.len(), mails + 1, "{received:?}");
    assert!(received[0]["text"].as_str().unwrap().contains("copiée"));
    // The counter that rises again signs in.
    authenticator.sign_in(&anonymous).await.expect_success(Message::LoginSuccess);
}

/// The body of a sign-in: the answer of `authenticator` to a new challenge.
async fn begun(person: &Person, authenticator: &mut Authenticator) -> Value {
    let (options, token) = begin(person).await;
    json!({ "credential": authenticator.get(&options), "token": token })
}

#[tokio::test]
async fn copies_that_sign_in_at_once_are_counted_and_reported() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let email = member.user().email.as_str();
    let mut authenticator = Authenticator::registered_by(&member).await;
    let anonymous = world.anonymous();
    for _ in 0..49 {
        let mut copy = authenticator.clone();
        let payloads =
            [begun(&anonymous, &mut authenticator).await, begun(&anonymous, &mut copy).await];
        let calls = payloads
            .iter()
            .map(|payload| anonymous.post_until_answered("/auth/passkey", payload.clone()));
        let mut statuses: Vec<_> = join_all(calls).await.iter().map(|it| it.status).collect();
        statuses.sort();
        assert_eq!(statuses, [200, 401]);
    }
    let received = world.mails(email).await;
    let reports = received.iter().filter(|mail| mail["text"].as_str().unwrap().contains("copiée"));
    assert_eq!(reports.count(), 10, "ten an hour");
    let mut stranger = Authenticator::es256();
    stranger.user_handle = authenticator.user_handle.clone();
    let mut colleague = Authenticator::registered_by(&world.member().await).await;
    for (who, expected) in [
        (&mut stranger, ErrorCode::BadAuthCombination),
        (&mut colleague, ErrorCode::TooManyAttempts),
    ] {
        who.sign_in(&anonymous).await.expect_error(expected);
    }
}

#[tokio::test]
async fn sign_in_beside_the_removal_is_refused_without_a_report() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let email = member.user().email.as_str();
    let mut authenticator = Authenticator::registered_by(&member).await;
    let listed = member.get("/passkeys").await.expect_ok();
    let id = listed["passkeys"][0]["passkeyID"].as_str().unwrap();
    let anonymous = world.anonymous();
    let payload = begun(&anonymous, &mut authenticator).await;
    let remove = async {
        let removed = member.delete(&format!("/passkeys/{id}")).await;
        removed.expect_success(Message::PasskeyDeleted);
    };
    let sign_in = anonymous.post("/auth/passkey", payload);
    let signed_in = world.overtaken(("TransactWriteItems", "CHALLENGE#"), sign_in, remove).await;
    signed_in.expect_unauthorized();
    authenticator.sign_in(&anonymous).await.expect_unauthorized();
    assert_eq!(world.user(member.user().user_id).await.passkeys, 0);
    for mail in world.mails(email).await {
        assert!(!mail["text"].as_str().unwrap().contains("copiée"), "{mail}");
    }
}

#[tokio::test]
async fn authenticator_without_counter_signs_in_repeatedly() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::eddsa();
    authenticator.sign_count = 0;
    authenticator.register(&member).await.expect_success(Message::PasskeyCreated);
    for _ in 0..2 {
        authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
    }
}

#[tokio::test]
async fn backup_state_is_shown_and_not_judged() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::es256();
    authenticator.flags = UP | UV | BE;
    authenticator.register(&member).await.expect_success(Message::PasskeyCreated);
    for (flags, backed_up) in [(BE | BS, true), (BE, false), (BS, true), (0, false)] {
        authenticator.flags = UP | UV | flags;
        authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
        assert_eq!(member.get("/passkeys").await.expect_ok()["passkeys"][0]["backedUp"], backed_up);
    }
}

#[tokio::test]
async fn inactive_account_is_refused_and_keeps_its_passkeys() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let admin = world.admin().await;
    for (is_active, expected) in [(false, 401), (true, 200)] {
        admin.set_active(member.user().user_id, is_active).await;
        let answer = authenticator.sign_in(&world.anonymous()).await;
        assert_eq!(answer.status, expected, "{answer:?}");
    }
}

#[tokio::test]
async fn password_change_keeps_passkeys_and_its_mail_names_them() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let new = "une lanterne sur le port";
    member.change_password(PASSWORD, new).await.expect_success(Message::PasswordChanged);
    let mails = world.mails(member.user().email.as_str()).await;
    assert!(mails[0]["text"].as_str().unwrap().contains("clés d’accès"));
    authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
}
