use common::ErrorCode;
use domain::{Grant, Profile};
use serde_json::json;
use tests::{NewPerson, World};

#[tokio::test]
async fn visible_fields_depend_on_profile_and_committee() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let target = world.account(Profile::Member).await;
    let path = format!("/users/{}", target.user_id);
    // caller, number of fields, whether the caller may edit the account
    for (someone, fields, may_edit) in [
        (NewPerson::with(Profile::Member), Some(7), false),
        (NewPerson::with(Profile::Member).granted(&[Grant::UsersRead]), Some(18), false),
        (NewPerson::with(Profile::Trainer), Some(18), false),
        (NewPerson::with(Profile::CommitteeAdmin), Some(18), true),
        (NewPerson::with(Profile::SuperAdmin), Some(18), true),
        (NewPerson::with(Profile::SuperAdmin).of(elsewhere), Some(18), true),
        (NewPerson::with(Profile::Member).of(elsewhere), None, false),
        (NewPerson::with(Profile::Trainer).of(elsewhere), None, false),
        (NewPerson::with(Profile::CommitteeAdmin).of(elsewhere), None, false),
        (NewPerson::with(Profile::Member).of(elsewhere).granted(&[Grant::UsersRead]), None, false),
    ] {
        let answer = world.person(someone.clone()).await.get(&path).await;
        match fields {
            None => answer.expect_error(ErrorCode::UserNotFound),
            Some(fields) => {
                let body = answer.expect_ok();
                assert_eq!(body["user"].as_object().unwrap().len(), fields, "{someone:?}");
                assert_eq!(body["user"]["userID"], json!(target.user_id));
                assert_eq!(body.get("version").is_some(), may_edit, "{someone:?}");
            }
        }
    }
}

#[tokio::test]
async fn malformed_user_id_returns_404() {
    let (_, admin) = World::with_admin().await;
    for id in [
        "x",
        "0198c0de-0000-7000-8000-000000000001",
        "me%3Fx",
        "%23",
        "%E2%82",
        "00000000-0000-0000-0000-000000000000",
    ] {
        admin.get(&format!("/users/{id}")).await.expect_error(ErrorCode::UserNotFound);
    }
}

#[tokio::test]
async fn me_is_the_caller_in_each_path_with_a_user() {
    let (world, member) = World::with_member().await;
    let id = member.user().user_id.to_string();
    assert_eq!(member.get("/users/me").await.expect_ok()["user"]["userID"], id);
    member.put("/users/me", json!({ "name": "Leïla" })).await.expect_ok();
    assert_eq!(member.get("/users/me/export").await.expect_ok()["export"]["user"]["userID"], id);
    world.anonymous().get("/users/me").await.expect_unauthorized();
    member.get("/users/ME").await.expect_error(ErrorCode::UserNotFound);
    world.admin().await.delete("/team/me/otp").await.expect_error(ErrorCode::Forbidden);
}
