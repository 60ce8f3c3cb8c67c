use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{PASSWORD, Someone, World};

const NEW: &str = "quatre figuiers sous la pluie";

fn change(old: &str, new: &str) -> Value {
    json!({ "oldPassword": old, "newPassword": new, "confirmPassword": new })
}

#[tokio::test]
async fn the_bodies_are_those_of_the_interface_to_the_byte() {
    let world = World::new().await;
    let member = world.member().await;
    let refused = member
        .put("/users/reset-password", change("not the password", NEW))
        .await;
    insta::assert_snapshot!(String::from_utf8_lossy(&refused.body), @r#"{"code":401,"message":{"RESPONSE_TEXT":"Les informations d’identification sont incorrectes.","RESPONSE_CODE":"BAD_AUTH_COMBINATION_MESSAGE"}}"#);
    assert_eq!(
        (refused.status, refused.header("www-authenticate")),
        (401, "Bearer realm=\"halqa\"")
    );
    let changed = member
        .put("/users/reset-password", change(PASSWORD, NEW))
        .await;
    assert_eq!(changed.status, 200);
    insta::assert_snapshot!(String::from_utf8_lossy(&changed.body), @r#"{"code":200,"message":{"RESPONSE_TEXT":"Votre mot de passe a été modifié.","RESPONSE_CODE":"PASSWORD_CHANGED_SUCCESS_MESSAGE"}}"#);
}

#[tokio::test]
async fn all_other_sessions_end_and_this_one_stays() {
    let world = World::new().await;
    let here = world.member().await;
    let there = world
        .signed_in(here.user().clone())
        .await
        .before(&world.another_process());
    there.get("/auth/check").await.shows();
    here.put("/users/reset-password", change(PASSWORD, NEW))
        .await
        .tells(Message::PasswordChanged);
    there
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    here.get("/auth/check").await.shows();
    assert_eq!(
        here.get("/auth/sessions").await.shows()["sessions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let email = here.user().email.to_string();
    world
        .stranger()
        .login(&email, PASSWORD)
        .await
        .refuses(ErrorCode::BadAuthCombination);
    world
        .stranger()
        .login(&email, NEW)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn fields_come_first_then_the_old_password_then_the_new_one() {
    let world = World::new().await;
    let member = world.member().await;
    let answer = member
        .put("/users/reset-password", json!({ "oldPassword": "wrong" }))
        .await;
    answer.refuses(ErrorCode::Validation);
    assert_eq!(answer.errors().len(), 2);
    let both_bad = json!({ "oldPassword": "wrong", "newPassword": "x", "confirmPassword": "y" });
    member
        .put("/users/reset-password", both_bad)
        .await
        .refuses(ErrorCode::BadAuthCombination);
    let new_bad =
        json!({ "oldPassword": PASSWORD, "newPassword": "court", "confirmPassword": "autre" });
    let answer = member.put("/users/reset-password", new_bad).await;
    answer.refuses(ErrorCode::Validation);
    let codes: Vec<String> = answer.errors().into_iter().map(|(_, code)| code).collect();
    assert_eq!(
        codes,
        [
            ErrorCode::PasswordTooShort.code(),
            ErrorCode::PasswordMismatch.code()
        ]
    );
}

#[tokio::test]
async fn each_bad_field_is_named_with_its_reason() {
    let world = World::new().await;
    let member = world.member().await;
    for (body, field, refusal) in [
        (
            change(PASSWORD, "court"),
            "newPassword",
            ErrorCode::PasswordTooShort,
        ),
        (
            change(PASSWORD, "azertyuiop"),
            "newPassword",
            ErrorCode::PasswordTooCommon,
        ),
        (
            change(PASSWORD, "la maison de Amina"),
            "newPassword",
            ErrorCode::PasswordTooCommon,
        ),
        (
            change(PASSWORD, PASSWORD),
            "newPassword",
            ErrorCode::PasswordUnchanged,
        ),
        (
            json!({ "oldPassword": PASSWORD, "newPassword": NEW, "confirmPassword": "autre" }),
            "confirmPassword",
            ErrorCode::PasswordMismatch,
        ),
        (
            json!({ "oldPassword": PASSWORD, "newPassword": NEW }),
            "confirmPassword",
            ErrorCode::FieldRequired,
        ),
        (
            json!({ "oldPassword": 1, "newPassword": NEW, "confirmPassword": NEW }),
            "oldPassword",
            ErrorCode::FieldType,
        ),
    ] {
        member
            .put("/users/reset-password", body)
            .await
            .refuses_field(field, refusal);
    }
}

#[tokio::test]
async fn those_who_run_something_have_longer_passwords() {
    let world = World::new().await;
    for (profile, taken) in [
        (Profile::Trainer, true),
        (Profile::CommitteeAdmin, false),
        (Profile::SuperAdmin, false),
    ] {
        let person = world.person(Someone::with(profile)).await;
        let answer = person
            .put("/users/reset-password", change(PASSWORD, "dix lettres"))
            .await;
        if taken {
            answer.tells(Message::PasswordChanged);
        } else {
            answer.refuses_field("newPassword", ErrorCode::PasswordTooShort);
        }
    }
}

#[tokio::test]
async fn wrong_old_passwords_count_with_sign_ins() {
    let world = World::new().await;
    let member = world.member().await;
    for _ in 0..5 {
        member
            .put("/users/reset-password", change("wrong", NEW))
            .await
            .refuses(ErrorCode::BadAuthCombination);
        member
            .login(member.user().email.as_str(), "wrong")
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
    member
        .put("/users/reset-password", change(PASSWORD, NEW))
        .await
        .refuses(ErrorCode::TooManyAttempts);
    member.get("/auth/check").await.shows();
}

#[tokio::test]
async fn a_right_old_password_is_not_counted_even_when_the_new_one_is_refused() {
    let world = World::new().await;
    let member = world.member().await;
    for _ in 0..12 {
        member
            .put("/users/reset-password", change(PASSWORD, "court"))
            .await
            .refuses(ErrorCode::PasswordTooShort);
    }
}

#[tokio::test]
async fn of_two_changes_at_once_one_wins_and_the_other_is_told() {
    let world = World::new().await;
    let member = world.member().await;
    let wishes: Vec<String> = (0..6).map(|number| format!("{NEW} {number}")).collect();
    let answers = join_all(
        wishes
            .iter()
            .map(|new| member.put("/users/reset-password", change(PASSWORD, new))),
    )
    .await;
    let won: Vec<usize> = answers
        .iter()
        .enumerate()
        .filter(|(_, answer)| answer.status == 200)
        .map(|(number, _)| number)
        .collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    world
        .stranger()
        .login(member.user().email.as_str(), &wishes[won[0]])
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn it_takes_a_session() {
    let world = World::new().await;
    world
        .stranger()
        .put("/users/reset-password", json!([]))
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn an_address_that_was_asked_for_in_another_session_does_not_come_into_force_after_it() {
    let world = World::new().await;
    let owner = world.member().await;
    let thief = world.signed_in(owner.user().clone()).await;
    let own = format!("/users/{}", owner.user().user_id);
    thief
        .put(&own, json!({ "email": "voleur@example.org" }))
        .await
        .tells(Message::UserUpdated);
    let proof = json!({ "email": "voleur@example.org", "code": world.mailed_code("voleur@example.org").await });
    owner
        .put("/users/reset-password", change(PASSWORD, NEW))
        .await
        .tells(Message::PasswordChanged);
    thief
        .put("/users/email-verification", proof)
        .await
        .refuses(ErrorCode::VerificationInvalid);
    assert_eq!(
        world.user(owner.user().user_id).await.email,
        owner.user().email
    );
}
