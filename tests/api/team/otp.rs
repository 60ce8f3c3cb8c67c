use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use tests::{Authenticator, PASSWORD, Someone, World};

#[tokio::test]
async fn an_administrator_helps_out_the_sessions_end_and_the_owner_is_told() {
    let world = World::new().await;
    let member = world.member().await;
    Authenticator::enrolled_by(&world, &member).await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    let path = format!("/team/{}/otp", member.user().user_id);
    admin.delete(&path).await.tells(Message::OtpReset);
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    world
        .stranger()
        .login(member.user().email.as_str(), PASSWORD)
        .await
        .tells(Message::LoginSuccess);
    let mails = world.mails(member.user().email.as_str()).await;
    assert!(
        mails
            .iter()
            .any(|mail| mail["text"].as_str().unwrap().contains("administrateur")),
        "{mails:?}"
    );
    admin.delete(&path).await.tells(Message::OtpReset);
    assert_eq!(
        admin.get("/audit").await.shows()["audit"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "the second time nothing happened"
    );
}

#[tokio::test]
async fn nobody_helps_where_he_may_not_edit() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    for (someone, refusal) in [
        (
            Someone::with(Profile::Member).of(elsewhere),
            ErrorCode::UserNotFound,
        ),
        (Someone::with(Profile::CommitteeAdmin), ErrorCode::Forbidden),
        (
            Someone::with(Profile::Member).granted(&[Grant::CpanelRead]),
            ErrorCode::Forbidden,
        ),
    ] {
        let other = world.account(&someone).await;
        admin
            .delete(&format!("/team/{}/otp", other.user_id))
            .await
            .refuses(refusal);
    }
    let own = format!("/team/{}/otp", admin.user().user_id);
    admin.delete(&own).await.refuses(ErrorCode::Forbidden);
}
