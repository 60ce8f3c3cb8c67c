use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::json;
use tests::{NewPerson, PASSWORD, World};

#[tokio::test]
async fn registration_code_verifies_the_account_in_its_session() {
    let world = World::new().await;
    world.register("amel@example.org").await;
    let code = world.mailed_code("amel@example.org").await;
    let typed = format!(" {}-{} {} ", &code[..2], &code[2..4], &code[4..]);
    let signed_in = world.anonymous().sign_in("amel@example.org", "clé de sol et fa").await;
    let person = world.anonymous().with_token(signed_in["user"]["token"].as_str().unwrap());
    for proof in [json!({ "code": typed }), json!({ "email": "amel@example.org", "code": typed })] {
        world.anonymous().put("/users/email-verification", proof).await.expect_unauthorized();
    }
    let proof = json!({ "email": " AMEL@example.org", "code": typed });
    person.put("/users/email-verification", proof.clone()).await.expect_ok();
    let answer = person.put("/users/email-verification", proof).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
    assert_eq!(person.get("/auth/check").await.expect_ok()["user"]["isVerified"], true);
}

#[tokio::test]
async fn code_without_address_is_that_of_the_pending_one() {
    let world = World::new().await;
    let person = world.member().await;
    person.request_address("voulue@example.org").await.expect_ok();
    let code = world.mailed_link("voulue@example.org").await;
    let answer = person.verify_email(&person.user().email, &code).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
    let answer = person.put("/users/email-verification", json!({ "code": code })).await;
    answer.expect_success(Message::EmailVerified);
    assert_eq!(world.user(person.user().user_id).await.email.as_str(), "voulue@example.org");
}

#[tokio::test]
async fn new_code_is_sent_on_request_and_replaces_the_old_one() {
    let (world, person) = World::with_person(NewPerson::with(Profile::Member).unverified()).await;
    let email = person.user().email.as_str();
    person.post("/users/email-verification", json!({})).await.expect_ok();
    let first = world.mailed_link(email).await;
    let answer = person.post("/users/email-verification", json!({})).await;
    answer.expect_error(ErrorCode::TooManyAttempts);
    assert_eq!(world.mails(email).await.len(), 1, "one a minute");
    world.clock().advance(std::time::Duration::from_secs(60));
    person.post("/users/email-verification", json!({})).await.expect_ok();
    let second = world.mailed_link(email).await;
    person.verify_email(email, &first).await.expect_error(ErrorCode::VerificationInvalid);
    person.verify_email(email, &second).await.expect_success(Message::EmailVerified);
    assert!(world.user(person.user().user_id).await.is_verified);
}

#[tokio::test]
async fn approval_mode_verified_mailbox_does_not_verify_the_account() {
    let world = World::with(&[("REGISTRATION", "approval")]).await;
    let person = world.person(NewPerson::with(Profile::Member).unverified()).await;
    person.post("/users/email-verification", json!({})).await.expect_ok();
    let code = world.mailed_code(person.user().email.as_str()).await;
    person.verify_email(&person.user().email, &code).await.expect_success(Message::EmailVerified);
    assert!(!world.user(person.user().user_id).await.is_verified);
    world.admin().await.change_member(person.user().user_id, json!({ "isVerified": true })).await;
    assert!(world.user(person.user().user_id).await.is_verified);
}

#[tokio::test]
async fn address_taken_meanwhile_is_refused_at_verification() {
    let world = World::new().await;
    let (one, two) = (world.member().await, world.member().await);
    for person in [&one, &two] {
        person.request_address("voulue@example.org").await.expect_ok();
    }
    let code = world.mailed_code("voulue@example.org").await;
    world.register("voulue@example.org").await;
    let answer = two.verify_email("voulue@example.org", &code).await;
    answer.expect_field_error("email", ErrorCode::EmailAlreadyUsed);
    world.clock().advance(std::time::Duration::from_secs(60));
    let answer = two.post("/users/email-verification", json!({})).await;
    answer.expect_error(ErrorCode::EmailTaken);
    assert_eq!(world.user(two.user().user_id).await.email, two.user().email);
    world.anonymous().sign_in(one.user().email.as_str(), PASSWORD).await;
}

#[tokio::test]
async fn code_used_fifty_times_at_once_verifies_once() {
    let (world, person) = World::with_person(NewPerson::with(Profile::Member).unverified()).await;
    let answer = person.post("/users/email-verification", json!({})).await;
    answer.expect_success(Message::VerificationSent);
    let proof = json!({ "email": person.user().email, "code": world.mailed_link(person.user().email.as_str()).await });
    let calls = (0..50).map(|_| person.put("/users/email-verification", proof.clone()));
    let answers = world.race(2, join_all(calls)).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
}

#[tokio::test]
async fn changes_beside_the_first_verification_keep_the_session() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    for _ in 0..5 {
        let person = world.person(NewPerson::with(Profile::Member).unverified()).await;
        let email = person.user().email.as_str();
        let answer = person.post("/users/email-verification", json!({})).await;
        answer.expect_success(Message::VerificationSent);
        let proof = json!({ "email": email, "code": world.mailed_link(email).await });
        let changes = (0..6).map(|_| person.change_self(json!({ "name": "Amel" })));
        let (verified, changed) =
            tokio::join!(person.put("/users/email-verification", proof), join_all(changes));
        verified.expect_success(Message::EmailVerified);
        for answer in changed {
            answer.expect_success(Message::UserUpdated);
        }
    }
}

#[tokio::test]
async fn request_for_a_foreign_address_keeps_the_owners_code_valid() {
    let world = World::new().await;
    let attacker = world.member().await;
    attacker.request_address("amel@example.org").await.expect_ok();
    world.register("amel@example.org").await;
    let code = world.mailed_code("amel@example.org").await;
    let before = world.mails("amel@example.org").await.len();
    world.clock().advance(std::time::Duration::from_secs(60));
    attacker.post("/users/email-verification", json!({})).await.expect_error(ErrorCode::EmailTaken);
    assert_eq!(
        world.mails("amel@example.org").await.len(),
        before,
        "the address belongs to another account by now"
    );
    let signed_in = world.anonymous().sign_in("amel@example.org", "clé de sol et fa").await;
    let owner = world.anonymous().with_token(signed_in["user"]["token"].as_str().unwrap());
    owner.verify_email("amel@example.org", &code).await.expect_ok();
}
