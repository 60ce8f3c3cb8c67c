use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::json;
use tests::{PASSWORD, Someone, World};

#[tokio::test]
async fn closing_ends_every_session_with_the_answer_and_opening_brings_none_back() {
    let world = World::new().await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    let member = world.member().await;
    let path = format!("/users/user-status/{}", member.user().user_id);
    let body = admin
        .put(&path, json!({ "isActive": false }))
        .await
        .tells(Message::UserStatusUpdated);
    assert_eq!(
        (&body["user"]["isActive"], &body["version"]),
        (&json!(false), &json!(2))
    );
    for path in [
        "/auth/check",
        "/users/activity",
        "/otp/generate",
        "/users/my-committee-users",
    ] {
        member
            .get(path)
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
    world
        .stranger()
        .login(member.user().email.as_str(), PASSWORD)
        .await
        .refuses(ErrorCode::BadAuthCombination);
    let again = admin
        .put(&path, json!({ "isActive": false }))
        .await
        .tells(Message::UserStatusUpdated);
    assert_eq!(again["version"], 2, "the same again changes nothing");
    admin
        .put(&path, json!({ "isActive": true }))
        .await
        .tells(Message::UserStatusUpdated);
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    world
        .stranger()
        .login(member.user().email.as_str(), PASSWORD)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn who_may_not_edit_is_told_403_or_404() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    for (someone, refusal) in [
        (Someone::with(Profile::CommitteeAdmin), ErrorCode::Forbidden),
        (Someone::with(Profile::SuperAdmin), ErrorCode::Forbidden),
        (
            Someone::with(Profile::Member).granted(&[Grant::CpanelWrite]),
            ErrorCode::Forbidden,
        ),
        (
            Someone::with(Profile::Member).of(elsewhere),
            ErrorCode::UserNotFound,
        ),
    ] {
        let other = world.account(&someone).await;
        admin
            .put(
                &format!("/users/user-status/{}", other.user_id),
                json!({ "isActive": false }),
            )
            .await
            .refuses(refusal);
    }
    let own = format!("/users/user-status/{}", admin.user().user_id);
    admin
        .put(&own, json!({ "isActive": false }))
        .await
        .refuses(ErrorCode::Forbidden);
    admin
        .put("/users/user-status/x", json!({ "isActive": "no" }))
        .await
        .refuses_field("isActive", ErrorCode::FieldType);
    admin
        .put("/users/user-status/x", json!({ "isActive": false }))
        .await
        .refuses(ErrorCode::UserNotFound);
    world
        .member()
        .await
        .put("/users/user-status/x", json!({}))
        .await
        .refuses(ErrorCode::Forbidden);
}

#[tokio::test]
async fn one_super_admin_remains_when_two_close_each_other_at_once() {
    let world = World::new().await;
    let (one, two) = (
        world.admin().await,
        world.person(Someone::with(Profile::SuperAdmin)).await,
    );
    let close = |by: tests::Person, of: tests::Person| async move {
        by.put(
            &format!("/users/user-status/{}", of.user().user_id),
            json!({ "isActive": false }),
        )
        .await
    };
    let (first, second) = tokio::join!(
        close(one.clone(), two.clone()),
        close(two.clone(), one.clone())
    );
    assert_eq!(
        [&first, &second]
            .iter()
            .filter(|answer| answer.status == 200)
            .count(),
        1,
        "{first:?} {second:?}"
    );
}

#[tokio::test]
async fn the_administrators_of_a_closed_committee_only_read() {
    let world = World::new().await;
    let closed = world.another_committee("Fermé", false).await;
    let admin = world
        .person(Someone::with(Profile::CommitteeAdmin).of(closed))
        .await;
    let member = world
        .account(&Someone::with(Profile::Member).of(closed))
        .await;
    admin
        .put(
            &format!("/users/user-status/{}", member.user_id),
            json!({ "isActive": false }),
        )
        .await
        .refuses(ErrorCode::CommitteeInactive);
    admin
        .put(&format!("/team/{}", member.user_id), json!({ "role": "x" }))
        .await
        .refuses(ErrorCode::CommitteeInactive);
    admin
        .delete(&format!("/team/{}/otp", member.user_id))
        .await
        .refuses(ErrorCode::CommitteeInactive);
    admin.get("/users/my-committee-users").await.shows();
    admin
        .get(&format!("/users/{}", member.user_id))
        .await
        .shows();
    admin
        .put(
            &format!("/users/{}", admin.user().user_id),
            json!({ "name": "Leïla" }),
        )
        .await
        .tells(Message::UserUpdated);
}
