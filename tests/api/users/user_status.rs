use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::json;
use tests::{NewPerson, PASSWORD, World};

#[tokio::test]
async fn closing_ends_all_sessions_and_reopening_restores_none() {
    let world = World::new().await;
    let admin = world.person(NewPerson::with(Profile::CommitteeAdmin)).await;
    let member = world.member().await;
    let path = format!("/users/user-status/{}", member.user().user_id);
    let body = admin
        .put(&path, json!({ "isActive": false }))
        .await
        .expect_success(Message::UserStatusUpdated);
    assert_eq!((&body["user"]["isActive"], &body["version"]), (&json!(false), &json!(2)));
    for path in ["/auth/check", "/users/activity", "/otp/generate", "/users/my-committee-users"] {
        member.get(path).await.expect_error(ErrorCode::BadAuthCombination);
    }
    world
        .anonymous()
        .login(member.user().email.as_str(), PASSWORD)
        .await
        .expect_error(ErrorCode::BadAuthCombination);
    let again = admin
        .put(&path, json!({ "isActive": false }))
        .await
        .expect_success(Message::UserStatusUpdated);
    assert_eq!(again["version"], 2, "repeating it changes nothing");
    admin.put(&path, json!({ "isActive": true })).await.expect_success(Message::UserStatusUpdated);
    member.get("/auth/check").await.expect_error(ErrorCode::BadAuthCombination);
    world
        .anonymous()
        .login(member.user().email.as_str(), PASSWORD)
        .await
        .expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn caller_who_may_not_edit_gets_403_or_404() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let admin = world.person(NewPerson::with(Profile::CommitteeAdmin)).await;
    for (someone, error_code) in [
        (NewPerson::with(Profile::CommitteeAdmin), ErrorCode::Forbidden),
        (NewPerson::with(Profile::SuperAdmin), ErrorCode::Forbidden),
        (NewPerson::with(Profile::Member).granted(&[Grant::CpanelWrite]), ErrorCode::Forbidden),
        (NewPerson::with(Profile::Member).of(elsewhere), ErrorCode::UserNotFound),
    ] {
        let other = world.account(&someone).await;
        admin
            .put(&format!("/users/user-status/{}", other.user_id), json!({ "isActive": false }))
            .await
            .expect_error(error_code);
    }
    let own = format!("/users/user-status/{}", admin.user().user_id);
    admin.put(&own, json!({ "isActive": false })).await.expect_error(ErrorCode::Forbidden);
    admin
        .put("/users/user-status/x", json!({ "isActive": "no" }))
        .await
        .expect_field_error("isActive", ErrorCode::FieldType);
    admin
        .put("/users/user-status/x", json!({ "isActive": false }))
        .await
        .expect_error(ErrorCode::UserNotFound);
    world
        .member()
        .await
        .put("/users/user-status/x", json!({}))
        .await
        .expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn one_super_admin_remains_when_two_close_each_other() {
    let world = World::new().await;
    let (one, two) =
        (world.admin().await, world.person(NewPerson::with(Profile::SuperAdmin)).await);
    let close = |by: tests::Person, of: tests::Person| async move {
        by.put(&format!("/users/user-status/{}", of.user().user_id), json!({ "isActive": false }))
            .await
    };
    let (first, second) =
        tokio::join!(close(one.clone(), two.clone()), close(two.clone(), one.clone()));
    assert_eq!(
        [&first, &second].iter().filter(|answer| answer.status == 200).count(),
        1,
        "{first:?} {second:?}"
    );
}

#[tokio::test]
async fn administrators_of_a_closed_committee_can_only_read() {
    let world = World::new().await;
    let closed = world.another_committee("Fermé", false).await;
    let admin = world.person(NewPerson::with(Profile::CommitteeAdmin).of(closed)).await;
    let member = world.account(&NewPerson::with(Profile::Member).of(closed)).await;
    admin
        .put(&format!("/users/user-status/{}", member.user_id), json!({ "isActive": false }))
        .await
        .expect_error(ErrorCode::CommitteeInactive);
    admin
        .put(&format!("/team/{}", member.user_id), json!({ "role": "x" }))
        .await
        .expect_error(ErrorCode::CommitteeInactive);
    admin
        .delete(&format!("/team/{}/otp", member.user_id))
        .await
        .expect_error(ErrorCode::CommitteeInactive);
    admin.get("/users/my-committee-users").await.expect_ok();
    admin.get(&format!("/users/{}", member.user_id)).await.expect_ok();
    admin
        .put(&format!("/users/{}", admin.user().user_id), json!({ "name": "Leïla" }))
        .await
        .expect_success(Message::UserUpdated);
}
