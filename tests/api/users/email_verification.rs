use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::json;
use tests::{PASSWORD, Someone, World};

#[tokio::test]
async fn the_code_that_registering_sent_verifies_the_account_from_any_device() {
    let world = World::new().await;
    let wish = json!({
        "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": "clé de sol et fa", "committeeID": world.committee(),
    });
    world
        .stranger()
        .post("/users/register", wish)
        .await
        .tells(Message::UserRegistered);
    let code = world.mailed_code("amel@example.org").await;
    let proof = json!({ "email": " AMEL@example.org", "code": code });
    world
        .stranger()
        .put("/users/email-verification", proof.clone())
        .await
        .tells(Message::EmailVerified);
    world
        .stranger()
        .put("/users/email-verification", proof)
        .await
        .refuses(ErrorCode::VerificationInvalid);
    let view = world
        .stranger()
        .login("amel@example.org", "clé de sol et fa")
        .await
        .tells(Message::LoginSuccess);
    assert_eq!(view["user"]["isVerified"], true);
}

#[tokio::test]
async fn another_code_is_sent_on_demand_and_kills_the_former() {
    let world = World::new().await;
    let person = world
        .person(Someone::with(Profile::Member).unverified())
        .await;
    let email = person.user().email.as_str();
    person
        .post("/users/email-verification", json!({}))
        .await
        .tells(Message::VerificationSent);
    let first = world.mailed_link(email).await;
    person
        .post("/users/email-verification", json!({}))
        .await
        .tells(Message::VerificationSent);
    assert_eq!(world.mails(email).await.len(), 1, "one a minute");
    world.clock().advance(std::time::Duration::from_secs(60));
    person
        .post("/users/email-verification", json!({}))
        .await
        .tells(Message::VerificationSent);
    let second = world.mailed_link(email).await;
    let verify = |code: String| {
        let stranger = world.stranger();
        async move {
            stranger
                .put(
                    "/users/email-verification",
                    json!({ "email": email, "code": code }),
                )
                .await
        }
    };
    verify(first).await.refuses(ErrorCode::VerificationInvalid);
    verify(second).await.tells(Message::EmailVerified);
    assert!(world.user(person.user().user_id).await.is_verified);
}

#[tokio::test]
async fn where_administrators_approve_the_mailbox_alone_is_not_enough() {
    let world = World::with(&[("REGISTRATION", "approval")]).await;
    let person = world
        .person(Someone::with(Profile::Member).unverified())
        .await;
    person
        .post("/users/email-verification", json!({}))
        .await
        .tells(Message::VerificationSent);
    let code = world.mailed_code(person.user().email.as_str()).await;
    let proof = json!({ "email": person.user().email, "code": code });
    person
        .put("/users/email-verification", proof)
        .await
        .tells(Message::EmailVerified);
    assert!(!world.user(person.user().user_id).await.is_verified);
    let path = format!("/team/{}", person.user().user_id);
    world
        .admin()
        .await
        .put(&path, json!({ "isVerified": true }))
        .await
        .tells(Message::TeamMemberUpdated);
    assert!(world.user(person.user().user_id).await.is_verified);
}

#[tokio::test]
async fn an_address_that_somebody_takes_first_is_refused_to_who_asked_for_it() {
    let world = World::new().await;
    let (one, two) = (world.member().await, world.member().await);
    for person in [&one, &two] {
        let path = format!("/users/{}", person.user().user_id);
        person
            .put(&path, json!({ "email": "voulue@example.org" }))
            .await
            .tells(Message::UserUpdated);
    }
    let code = world.mailed_code("voulue@example.org").await;
    let proof = json!({ "email": "voulue@example.org", "code": code });
    let wish = json!({
        "name": "Amel", "lastName": "Trabelsi", "email": "voulue@example.org", "password": "clé de sol et fa", "committeeID": world.committee(),
    });
    world
        .stranger()
        .post("/users/register", wish)
        .await
        .tells(Message::UserRegistered);
    world
        .stranger()
        .put("/users/email-verification", proof)
        .await
        .refuses_field("email", ErrorCode::EmailAlreadyUsed);
    assert_eq!(world.user(two.user().user_id).await.email, two.user().email);
    world
        .stranger()
        .login(one.user().email.as_str(), PASSWORD)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn of_fifty_at_once_exactly_one_uses_the_code() {
    let world = World::new().await;
    let person = world
        .person(Someone::with(Profile::Member).unverified())
        .await;
    person
        .post("/users/email-verification", json!({}))
        .await
        .tells(Message::VerificationSent);
    let proof = json!({ "email": person.user().email, "code": world.mailed_link(person.user().email.as_str()).await });
    let people: Vec<_> = (0..50).map(|_| world.stranger()).collect();
    let answers = join_all(
        people
            .iter()
            .map(|person| person.put("/users/email-verification", proof.clone())),
    )
    .await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 200).count(),
        1
    );
}

#[tokio::test]
async fn missing_fields_are_named() {
    let world = World::new().await;
    world
        .stranger()
        .post("/users/email-verification", json!({}))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    world
        .stranger()
        .put(
            "/users/email-verification",
            json!({ "email": "a@example.org" }),
        )
        .await
        .refuses_field("code", ErrorCode::FieldRequired);
}

#[tokio::test]
async fn whoever_asks_for_somebodys_address_does_not_reach_the_owners_codes() {
    let world = World::new().await;
    let thief = world.member().await;
    let path = format!("/users/{}", thief.user().user_id);
    thief
        .put(&path, json!({ "email": "amel@example.org" }))
        .await
        .tells(Message::UserUpdated);
    let wish = json!({
        "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": "clé de sol et fa", "committeeID": world.committee(),
    });
    world
        .stranger()
        .post("/users/register", wish)
        .await
        .tells(Message::UserRegistered);
    let code = world.mailed_code("amel@example.org").await;
    let before = world.mails("amel@example.org").await.len();
    thief
        .post("/users/email-verification", json!({}))
        .await
        .tells(Message::VerificationSent);
    assert_eq!(
        world.mails("amel@example.org").await.len(),
        before,
        "it is somebody else's by now"
    );
    let proof = json!({ "email": "amel@example.org", "code": code });
    world
        .stranger()
        .put("/users/email-verification", proof)
        .await
        .tells(Message::EmailVerified);
}
