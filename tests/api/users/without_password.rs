//! Accounts without a password: the first code by mail that signs in removes the one that was set before.

use std::time::Duration;

use common::{ErrorCode, Message};
use serde_json::json;
use tests::{Person, TotpApp, World};

/// A person who signed in by code just now, to an account that has no password.
async fn person(world: &World) -> Person {
    let registered = world.register("amel@example.org").await;
    let id = registered["user"]["userID"].as_str().unwrap();
    sign_in(world).await.as_user(world.user(id.parse().unwrap()).await)
}

async fn sign_in(world: &World) -> Person {
    world.anonymous().ask_to_sign_in("amel@example.org", "email").await;
    let link = world.mailed_link("amel@example.org").await;
    let answer = world.anonymous().get(&format!("/auth/passwordless?code={link}")).await;
    let signed_in = answer.expect_success(Message::LoginSuccess);
    world.anonymous().with_token(signed_in["user"]["token"].as_str().unwrap())
}

#[tokio::test]
async fn recent_sign_in_takes_the_place_of_the_password() {
    let world = World::new().await;
    let person = person(&world).await;
    let contact = json!({ "phoneCode": "216", "phone": "20123456" });
    person.change_self(contact).await.expect_success(Message::UserUpdated);
    let app = TotpApp::enrolled_by(&world, &person).await;
    world.clock().advance(Duration::from_secs(30));
    let code = json!({ "code": app.code(&world) });
    person.delete_with("/otp", code).await.expect_success(Message::OtpDisabled);
    let path = format!("/users/{}", person.user().user_id);
    person.delete_with(&path, json!({ "password": "any other" })).await.expect_unauthorized();
    person.delete_with(&path, json!({})).await.expect_success(Message::UserDeleted);
}

#[tokio::test]
async fn older_sign_in_is_refused() {
    let world = World::new().await;
    let person = person(&world).await;
    world.clock().advance(Duration::from_secs(601));
    let path = format!("/users/{}", person.user().user_id);
    let contact = json!({ "phoneCode": "216", "phone": "20123456" });
    for answer in [
        person.delete_with(&path, json!({})).await,
        person.change_self(contact).await,
        person.delete_with("/otp", json!({ "code": "123456" })).await,
    ] {
        answer.expect_error(ErrorCode::Reauthentication);
    }
    let person = sign_in(&world).await;
    person.delete_with(&path, json!({})).await.expect_success(Message::UserDeleted);
}
