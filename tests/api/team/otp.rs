use common::Message;
use domain::Profile;
use tests::{PASSWORD, TotpApp, World};

#[tokio::test]
async fn reset_disables_otp_ends_sessions_and_notifies_the_owner() {
    let (world, member) = World::with_member().await;
    TotpApp::enrolled_by(&world, &member).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let path = format!("/team/{}/otp", member.user().user_id);
    admin.delete(&path).await.expect_success(Message::OtpReset);
    member.get("/auth/check").await.expect_unauthorized();
    world.anonymous().sign_in(member.user().email.as_str(), PASSWORD).await;
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
