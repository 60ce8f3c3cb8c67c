use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join;
use serde_json::json;
use tests::{PASSWORD, World};

#[tokio::test]
async fn closing_ends_all_sessions_and_reopening_restores_none() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let member = world.member().await;
    let path = format!("/users/user-status/{}", member.user().user_id);
    let body = admin.put(&path, json!({ "isActive": false })).await.expect_ok();
    assert_eq!((&body["user"]["isActive"], &body["version"]), (&json!(false), &json!(2)));
    for path in ["/auth/check", "/users/activity", "/otp/generate", "/users/my-committee-users"] {
        member.get(path).await.expect_unauthorized();
    }
    world.anonymous().login(member.user().email.as_str(), PASSWORD).await.expect_unauthorized();
    let again = admin.put(&path, json!({ "isActive": false })).await.expect_ok();
    assert_eq!(again["version"], 2, "repeating it changes nothing");
    admin.put(&path, json!({ "isActive": true })).await.expect_success(Message::UserStatusUpdated);
    member.get("/auth/check").await.expect_unauthorized();
    world.anonymous().sign_in(member.user().email.as_str(), PASSWORD).await;
}

#[tokio::test]
async fn own_account_cannot_be_closed() {
    let (_, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let own = format!("/users/user-status/{}", admin.user().user_id);
    admin.put(&own, json!({ "isActive": false })).await.expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn one_super_admin_remains_when_two_close_each_other() {
    let world = World::new().await;
    let (one, two) = (world.admin().await, world.person(Profile::SuperAdmin).await);
    let close = |by: tests::Person, of: tests::Person| async move {
        by.put(&format!("/users/user-status/{}", of.user().user_id), json!({ "isActive": false }))
            .await
    };
    let both = join(close(one.clone(), two.clone()), close(two.clone(), one.clone()));
    let (first, second) = world.race(2, both).await;
    assert_eq!(
        [&first, &second].iter().filter(|answer| answer.status == 200).count(),
        1,
        "{first:?} {second:?}"
    );
}
