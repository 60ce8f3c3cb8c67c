use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::json;
use tests::{PASSWORD, World};

const NEW: &str = "quatre figuiers sous la pluie";

#[tokio::test]
async fn responses_match_the_documented_bytes() {
    let (_, member) = World::with_member().await;
    let refused = member.change_password("not the password", NEW).await;
    insta::assert_snapshot!(String::from_utf8_lossy(&refused.body), @r#"{"code":401,"message":{"RESPONSE_TEXT":"Vous n’êtes pas connecté ou vos identifiants sont incorrects.","RESPONSE_CODE":"BAD_AUTH_COMBINATION_MESSAGE"}}"#);
    assert_eq!(
        (refused.status, refused.header("www-authenticate")),
        (401, "Bearer realm=\"halqa\"")
    );
    let changed = member.change_password(PASSWORD, NEW).await;
    assert_eq!(changed.status, 200);
    insta::assert_snapshot!(String::from_utf8_lossy(&changed.body), @r#"{"code":200,"message":{"RESPONSE_TEXT":"Votre mot de passe a été modifié.","RESPONSE_CODE":"PASSWORD_CHANGED_SUCCESS_MESSAGE"}}"#);
}

#[tokio::test]
async fn other_sessions_end_and_the_current_one_stays() {
    let world = World::new().await;
    let here = world.member().await;
    let there = world.signed_in(here.user().clone()).await.via(&world.another_process());
    there.get("/auth/check").await.expect_ok();
    here.change_password(PASSWORD, NEW).await.expect_ok();
    there.get("/auth/check").await.expect_unauthorized();
    here.get("/auth/check").await.expect_ok();
    assert_eq!(here.session_count().await, 1);
    let email = here.user().email.to_string();
    world.anonymous().login(&email, PASSWORD).await.expect_unauthorized();
    world.anonymous().sign_in(&email, NEW).await;
}

#[tokio::test]
async fn fields_are_checked_then_old_then_new_password() {
    let (_, member) = World::with_member().await;
    let answer = member.put("/users/reset-password", json!({ "oldPassword": "wrong" })).await;
    answer.expect_error(ErrorCode::Validation);
    assert_eq!(answer.errors().len(), 2);
    let both_bad = json!({ "oldPassword": "wrong", "newPassword": "x", "confirmPassword": "y" });
    member.put("/users/reset-password", both_bad).await.expect_unauthorized();
    let new_bad =
        json!({ "oldPassword": PASSWORD, "newPassword": "court", "confirmPassword": "autre" });
    let answer = member.put("/users/reset-password", new_bad).await;
    answer.expect_error(ErrorCode::Validation);
    let codes: Vec<String> = answer.errors().into_iter().map(|(_, code)| code).collect();
    assert_eq!(codes, [ErrorCode::PasswordTooShort.code(), ErrorCode::PasswordMismatch.code()]);
}

#[tokio::test]
async fn common_personal_or_unchanged_password_is_rejected() {
    let (_, member) = World::with_member().await;
    for (new, error_code) in [
        ("azertyuiop", ErrorCode::PasswordTooCommon),
        ("la maison de Amina", ErrorCode::PasswordTooCommon),
        (PASSWORD, ErrorCode::PasswordUnchanged),
    ] {
        member.change_password(PASSWORD, new).await.expect_field_error("newPassword", error_code);
    }
}

#[tokio::test]
async fn administrators_need_longer_passwords() {
    let world = World::new().await;
    for (profile, taken) in
        [(Profile::Trainer, true), (Profile::CommitteeAdmin, false), (Profile::SuperAdmin, false)]
    {
        let answer = world.person(profile).await.change_password(PASSWORD, "dix lettres").await;
        if taken {
            answer.expect_success(Message::PasswordChanged);
        } else {
            answer.expect_field_error("newPassword", ErrorCode::PasswordTooShort);
        }
    }
}

#[tokio::test]
async fn wrong_old_passwords_count_as_failed_sign_ins() {
    let (_, member) = World::with_member().await;
    for _ in 0..5 {
        member.change_password("wrong", NEW).await.expect_unauthorized();
        member.login(member.user().email.as_str(), "wrong").await.expect_unauthorized();
    }
    member.change_password(PASSWORD, NEW).await.expect_error(ErrorCode::TooManyAttempts);
    member.get("/auth/check").await.expect_ok();
}

#[tokio::test]
async fn correct_old_password_with_invalid_new_one_is_not_counted() {
    let (_, member) = World::with_member().await;
    for _ in 0..12 {
        member.change_password(PASSWORD, "court").await.expect_error(ErrorCode::PasswordTooShort);
    }
}

#[tokio::test]
async fn concurrent_changes_one_succeeds() {
    let (world, member) = World::with_member().await;
    let payloads: Vec<String> = (0..6).map(|number| format!("{NEW} {number}")).collect();
    let changes = payloads.iter().map(|new| member.change_password(PASSWORD, new));
    let answers = world.race(2, join_all(changes)).await;
    let won: Vec<usize> = answers
        .iter()
        .enumerate()
        .filter(|(_, answer)| answer.status == 200)
        .map(|(number, _)| number)
        .collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    world.anonymous().sign_in(member.user().email.as_str(), &payloads[won[0]]).await;
}
