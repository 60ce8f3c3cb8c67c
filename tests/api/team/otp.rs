use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use tests::{NewPerson, PASSWORD, TotpApp, World};

#[tokio::test]
async fn reset_disables_otp_ends_sessions_and_notifies_the_owner() {
    let world = World::new().await;
    let member = world.member().await;
    TotpApp::enrolled_by(&world, &member).await;
    let admin = world.person(NewPerson::with(Profile::CommitteeAdmin)).await;
    let path = format!("/team/{}/otp", member.user().user_id);
    admin.delete(&path).await.expect_success(Message::OtpReset);
    member.get("/auth/check").await.expect_error(ErrorCode::BadAuthCombination);
    world
        .anonymous()
        .login(member.user().email.as_str(), PASSWORD)
        .await
        .expect_success(Message::LoginSuccess);
    let mails = world.mails(member.user().email.as_str()).await;
    assert!(
        mails.iter().any(|mail| mail["text"].as_str().unwrap().contains("administrateur")),
        "{mails:?}"
    );
    admin.delete(&path).await.expect_success(Message::OtpReset);
    assert_eq!(
        admin.get("/audit").await.expect_ok()["audit"].as_array().unwrap().len(),
        1,
        "the second reset changes nothing"
    );
}

#[tokio::test]
async fn reset_of_an_account_not_editable_returns_404_or_403() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let admin = world.person(NewPerson::with(Profile::CommitteeAdmin)).await;
    for (someone, error_code) in [
        (NewPerson::with(Profile::Member).of(elsewhere), ErrorCode::UserNotFound),
        (NewPerson::with(Profile::CommitteeAdmin), ErrorCode::Forbidden),
        (NewPerson::with(Profile::Member).granted(&[Grant::CpanelRead]), ErrorCode::Forbidden),
    ] {
        let other = world.account(&someone).await;
        admin.delete(&format!("/team/{}/otp", other.user_id)).await.expect_error(error_code);
    }
    let own = format!("/team/{}/otp", admin.user().user_id);
    admin.delete(&own).await.expect_error(ErrorCode::Forbidden);
}
