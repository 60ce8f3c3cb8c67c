use common::ErrorCode;
use domain::{Grant, Profile};
use serde_json::json;
use tests::{Someone, World};

#[tokio::test]
async fn each_sees_as_much_of_another_as_his_profile_says() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let target = world.account(&Someone::with(Profile::Member)).await;
    let path = format!("/users/{}", target.user_id);
    // who, how many fields of the user, whether he may edit him
    for (someone, fields, may_edit) in [
        (Someone::with(Profile::Member), Some(7), false),
        (
            Someone::with(Profile::Member).granted(&[Grant::UsersRead]),
            Some(18),
            false,
        ),
        (Someone::with(Profile::Trainer), Some(18), false),
        (Someone::with(Profile::CommitteeAdmin), Some(18), true),
        (Someone::with(Profile::SuperAdmin), Some(18), true),
        (
            Someone::with(Profile::SuperAdmin).of(elsewhere),
            Some(18),
            true,
        ),
        (Someone::with(Profile::Member).of(elsewhere), None, false),
        (Someone::with(Profile::Trainer).of(elsewhere), None, false),
        (
            Someone::with(Profile::CommitteeAdmin).of(elsewhere),
            None,
            false,
        ),
        (
            Someone::with(Profile::Member)
                .of(elsewhere)
                .granted(&[Grant::UsersRead]),
            None,
            false,
        ),
    ] {
        let answer = world.person(someone.clone()).await.get(&path).await;
        match fields {
            None => answer.refuses(ErrorCode::UserNotFound),
            Some(fields) => {
                let body = answer.shows();
                assert_eq!(
                    body["user"].as_object().unwrap().len(),
                    fields,
                    "{someone:?}"
                );
                assert_eq!(body["user"]["userID"], json!(target.user_id));
                assert_eq!(body.get("version").is_some(), may_edit, "{someone:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_unverified_person_sees_himself_and_nobody_else() {
    let world = World::new().await;
    let target = world.account(&Someone::with(Profile::Member)).await;
    let person = world
        .person(Someone::with(Profile::Member).unverified())
        .await;
    let own = person
        .get(&format!("/users/{}", person.user().user_id))
        .await
        .shows();
    assert_eq!(own["user"].as_object().unwrap().len(), 18);
    for id in [target.user_id.to_string(), "x".to_owned()] {
        person
            .get(&format!("/users/{id}"))
            .await
            .refuses(ErrorCode::AccountNotVerified);
    }
}

#[tokio::test]
async fn what_is_no_identifier_is_a_user_that_is_not_there() {
    let world = World::new().await;
    let admin = world.admin().await;
    for id in [
        "x",
        "0198c0de-0000-7000-8000-000000000001",
        "me%3Fx",
        "%23",
        "%E2%82",
        "00000000-0000-0000-0000-000000000000",
    ] {
        admin
            .get(&format!("/users/{id}"))
            .await
            .refuses(ErrorCode::UserNotFound);
    }
}

#[tokio::test]
async fn an_identifier_may_be_written_in_upper_case() {
    let world = World::new().await;
    let admin = world.admin().await;
    let id = admin.user().user_id.to_string();
    assert_eq!(
        admin
            .get(&format!("/users/{}", id.to_uppercase()))
            .await
            .shows()["user"]["userID"],
        json!(id)
    );
}

#[tokio::test]
async fn the_caller_comes_before_the_object() {
    let world = World::new().await;
    world
        .stranger()
        .get("/users/x")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}
