use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use tests::{Answer, NewPerson, Person, World, expect_fields};

async fn change(by: &Person, of: &domain::user::User, payload: Value) -> Answer {
    by.put(&format!("/team/{}", of.user_id), payload).await
}

#[tokio::test]
async fn all_fields_can_be_changed_and_omitted_ones_stay() {
    let (world, admin) = World::with_admin().await;
    let sfax = world.another_committee("Sfax", true).await;
    let other = world.account(&NewPerson::with(Profile::Member).unverified()).await;
    let payload = json!({
        "name": " Leïla ", "lastName": "Ben Ali", "phoneCode": "216", "phone": "20123456", "profile": "TR", "role": "Trésorière",
        "permissions": "[\"sms:send\",\"courses:write\"]", "isVerified": true, "committeeID": sfax, "isActive": false, "isOtpEnabled": true,
    });
    let body = change(&admin, &other, payload).await.expect_success(Message::TeamMemberUpdated);
    let user = &body["user"];
    let expected = json!({
        "name": "Leïla", "lastName": "Ben Ali", "phone": "20123456", "profile": "TR",
        "role": "Trésorière", "permissions": "[\"courses:write\",\"sms:send\"]",
        "isVerified": true, "committeeID": sfax, "isActive": true, "isOtpEnabled": false,
    });
    expect_fields(user, expected);
    assert_eq!(body["version"], 2);
    let body = change(&admin, &other, json!({ "role": null, "permissions": [] })).await.expect_ok();
    expect_fields(&body["user"], json!({ "role": null, "permissions": "[]", "name": "Leïla" }));
    assert_eq!(
        admin.get(&format!("/users/{}", other.user_id)).await.expect_ok()["user"]["Committee"]["committeeID"],
        json!(sfax)
    );
    let body = change(&admin, &other, json!({})).await.expect_success(Message::TeamMemberUpdated);
    assert_eq!(body["version"], 3, "an empty change keeps the version");
}

#[tokio::test]
async fn unknown_grant_address_or_committee_is_reported() {
    let (world, admin) = World::with_admin().await;
    let other = world.account(Profile::Member).await;
    let closed = world.another_committee("Fermé", false).await;
    for (payload, field, error_code) in [
        (json!({ "permissions": "[\"everything\"]" }), "permissions", ErrorCode::FieldValue),
        (json!({ "permissions": ["everything"] }), "permissions", ErrorCode::FieldValue),
        (json!({ "permissions": "sms:send" }), "permissions", ErrorCode::FieldFormat),
        (json!({ "email": "ADMIN@example.org" }), "email", ErrorCode::EmailAlreadyUsed),
        (json!({ "committeeID": closed }), "committeeID", ErrorCode::CommitteeInvalid),
        (json!({ "committeeID": other.user_id }), "committeeID", ErrorCode::CommitteeInvalid),
    ] {
        change(&admin, &other, payload).await.expect_field_error(field, error_code);
    }
    assert_eq!(world.user(other.user_id).await.version, 1);
}

#[tokio::test]
async fn twenty_concurrent_changes_with_one_version_one_succeeds() {
    let (world, admin) = World::with_admin().await;
    let other = world.account(Profile::Member).await;
    let calls = (0..20).map(|number| {
        change(&admin, &other, json!({ "role": format!("rôle {number}"), "version": 1 }))
    });
    let answers = world.race(2, join_all(calls)).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(
        answers
            .iter()
            .filter(
                |answer| answer.status == 412 && answer.code() == ErrorCode::VersionConflict.code()
            )
            .count(),
        19
    );
}

#[tokio::test]
async fn concurrent_changes_without_version_lose_no_acknowledged_one() {
    let (world, admin) = World::with_admin().await;
    let other = world.account(Profile::Member).await;
    let payloads = [
        json!({ "name": "Leïla" }),
        json!({ "lastName": "Ben Ali" }),
        json!({ "role": "Trésorière" }),
        json!({ "profile": "TR" }),
    ];
    let calls = payloads.iter().map(|payload| change(&admin, &other, payload.clone()));
    let answers = world.race(payloads.len(), join_all(calls)).await;
    let user = admin.get(&format!("/users/{}", other.user_id)).await.expect_ok()["user"].clone();
    for (payload, answer) in payloads.iter().zip(&answers) {
        answer.expect_success(Message::TeamMemberUpdated);
        let (field, value) = payload.as_object().unwrap().iter().next().unwrap();
        assert_eq!(user[field], *value, "{field}");
    }
}

#[tokio::test]
async fn stale_if_match_returns_412() {
    let (world, admin) = World::with_admin().await;
    let other = world.account(Profile::Member).await;
    let seen = admin.get(&format!("/users/{}", other.user_id)).await;
    let guarded = admin.with("if-match", seen.header("etag"));
    guarded.change_member(other.user_id, json!({ "role": "un" })).await;
    let answer = change(&guarded, &other, json!({ "role": "deux" })).await;
    answer.expect_error(ErrorCode::VersionConflict);
    change(&admin.with("if-match", "*"), &other, json!({ "role": "trois" })).await.expect_ok();
}

#[tokio::test]
async fn version_is_the_same_after_requests_of_the_person() {
    let (world, admin) = World::with_admin().await;
    let member = world.member().await;
    let path = format!("/users/{}", member.user().user_id);
    let seen = admin.get(&path).await.expect_ok();
    world.clock().advance(std::time::Duration::from_secs(600));
    member.get("/auth/check").await.expect_ok();
    let now = admin.get(&path).await.expect_ok();
    assert_ne!(now["user"]["lastActive"], seen["user"]["lastActive"]);
    let role = json!({ "role": "Trésorière", "version": seen["version"] });
    admin.change_member(member.user().user_id, role).await;
}

#[tokio::test]
async fn new_address_takes_effect_when_verified_and_old_one_is_notified() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let other = world.account(Profile::Member).await;
    let body = change(&admin, &other, json!({ "email": "neuve@example.org" })).await.expect_ok();
    assert_eq!(body["user"]["email"], json!(other.email));
    assert_eq!(world.mails(other.email.as_str()).await.len(), 1, "the old address is notified");
    let code = world.mailed_code("neuve@example.org").await;
    let owner = world.signed_in(other.clone()).await;
    let verify = owner.verify_email("neuve@example.org", &code).await;
    verify.expect_success(Message::EmailVerified);
    assert_eq!(world.user(other.user_id).await.email.as_str(), "neuve@example.org");
    assert_eq!(world.mails(other.email.as_str()).await.len(), 2, "notified again when it changed");
    world.anonymous().login(other.email.as_str(), tests::PASSWORD).await.expect_unauthorized();
    world.anonymous().sign_in("neuve@example.org", tests::PASSWORD).await;
}

#[tokio::test]
async fn request_for_a_taken_address_counts_and_needs_the_right_to_edit() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let other = world.account(Profile::Member).await;
    let taken = json!({ "email": "admin@example.org" });
    let answer = change(&admin, &other, taken.clone()).await;
    answer.expect_field_error("email", ErrorCode::EmailAlreadyUsed);
    for email in ["admin@example.org", "neuve@example.org"] {
        let answer = change(&admin, &other, json!({ "email": email })).await;
        answer.expect_error(ErrorCode::TooManyAttempts);
    }
    let above = world.account(Profile::SuperAdmin).await;
    change(&admin, &above, taken).await.expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn refused_change_of_an_address_is_not_counted() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let other = world.account(Profile::Member).await;
    for email in ["neuve@example.org", "admin@example.org"] {
        let answer = change(&admin, &other, json!({ "email": email, "profile": "SA" })).await;
        answer.expect_error(ErrorCode::Forbidden);
        let answer = change(&admin, &other, json!({ "email": email, "version": 99 })).await;
        answer.expect_error(ErrorCode::VersionConflict);
    }
    admin.change_member(other.user_id, json!({ "email": "neuve@example.org" })).await;
}

#[tokio::test]
async fn administrator_cannot_give_or_edit_more_than_their_own_rights() {
    let world = World::new().await;
    let admin = world.person(NewPerson::with(Profile::CommitteeAdmin).granted(&Grant::ALL)).await;
    let ungranted = world.person(Profile::CommitteeAdmin).await;
    let member = world.account(Profile::Member).await;
    for payload in [
        json!({ "profile": "CA" }),
        json!({ "profile": "SA" }),
        json!({ "permissions": ["sms:bulk"] }),
        json!({ "permissions": ["cpanel:read"] }),
        json!({ "name": "Leïla", "permissions": ["sms:send", "cpanel:write"] }),
    ] {
        change(&admin, &member, payload.clone()).await.expect_error(ErrorCode::Forbidden);
        assert_eq!(world.user(member.user_id).await.version, 1, "{payload}");
    }
    for someone in [
        NewPerson::with(Profile::SuperAdmin),
        NewPerson::with(Profile::CommitteeAdmin),
        NewPerson::with(Profile::Member).granted(&[Grant::SmsBulk]),
    ] {
        let other = world.account(&someone).await;
        for payload in [
            json!({ "email": "mienne@example.org" }),
            json!({ "name": "X" }),
            json!({ "permissions": [] }),
        ] {
            change(&ungranted, &other, payload).await.expect_error(ErrorCode::Forbidden);
        }
    }
    let own = admin.user().clone();
    change(&admin, &own, json!({ "role": "chef" })).await.expect_error(ErrorCode::Forbidden);
    let holder = world.account(&NewPerson::with(Profile::Member).granted(&[Grant::SmsBulk])).await;
    admin.change_member(holder.user_id, json!({ "permissions": ["sms:bulk", "sms:send"] })).await;
    ungranted
        .change_member(
            member.user_id,
            json!({ "permissions": ["sms:send", "users:read"], "profile": "TR" }),
        )
        .await;
}

#[tokio::test]
async fn address_requested_before_promotion_is_rejected_after_it() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let member = world.account(Profile::Member).await;
    admin.change_member(member.user_id, json!({ "email": "mienne@example.org" })).await;
    let code = world.mailed_code("mienne@example.org").await;
    world.admin().await.change_member(member.user_id, json!({ "profile": "SA" })).await;
    let member = world.signed_in(world.user(member.user_id).await).await;
    let answer = member.verify_email("mienne@example.org", &code).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
    assert_eq!(world.user(member.user().user_id).await.email, member.user().email);
}

#[tokio::test]
async fn closed_account_gets_no_message() {
    let world = World::new().await;
    let member = world.account(&NewPerson::with(Profile::Member).inactive()).await;
    world
        .admin()
        .await
        .change_member(member.user_id, json!({ "email": "neuve@example.org" }))
        .await;
    assert_eq!(
        (
            world.mails("neuve@example.org").await.len(),
            world.mails(member.email.as_str()).await.len()
        ),
        (0, 0)
    );
}

#[tokio::test]
async fn promotion_shortens_the_current_session_at_once() {
    let (world, member) = World::with_member().await;
    world.clock().advance(std::time::Duration::from_secs(3 * 3600));
    world.admin().await.change_member(member.user().user_id, json!({ "profile": "CA" })).await;
    let renewed = member.get("/auth/check").await;
    renewed.expect_ok();
    assert_ne!(renewed.header("authorization"), member.token(), "past half of its lifetime");
    world.clock().advance(std::time::Duration::from_secs(3600));
    member.get("/audit").await.expect_unauthorized();
    member.with_token(renewed.header("authorization")).get("/audit").await.expect_ok();
}

#[tokio::test]
async fn committee_administrator_cannot_move_people_elsewhere() {
    let world = World::new().await;
    let sfax = world.another_committee("Sfax", true).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let member = world.account(Profile::Member).await;
    for committee in [json!(sfax), json!(1), json!(null)] {
        admin.change_member(member.user_id, json!({ "committeeID": committee })).await;
    }
    assert_eq!(world.user(member.user_id).await.committee_id, world.committee());
    let foreign = world.account(&NewPerson::with(Profile::Member).of(sfax)).await;
    change(&admin, &foreign, json!({ "role": "x" })).await.expect_error(ErrorCode::UserNotFound);
}

#[tokio::test]
async fn one_super_admin_remains_when_two_demote_each_other() {
    let world = World::new().await;
    for _ in 0..5 {
        let pair = [world.admin().await, world.person(Profile::SuperAdmin).await];
        let both = join(
            change(&pair[0], pair[1].user(), json!({ "profile": "MB" })),
            change(&pair[1], pair[0].user(), json!({ "profile": "MB" })),
        );
        let (one, two) = world.race(2, both).await;
        let successes = [&one, &two].iter().filter(|answer| answer.status == 200).count();
        assert_eq!(successes, 1, "{one:?} {two:?}");
        if two.status == 200 {
            let admin = &pair[1];
            admin.change_member(pair[0].user().user_id, json!({ "profile": "SA" })).await;
            pair[0].change_member(admin.user().user_id, json!({ "profile": "MB" })).await;
        }
    }
}

#[tokio::test]
async fn last_verified_super_admin_cannot_be_unverified() {
    let (world, admin) = World::with_admin().await;
    let other = world.person(Profile::SuperAdmin).await;
    let both = join(
        change(&admin, other.user(), json!({ "isVerified": false })),
        change(&other, admin.user(), json!({ "isVerified": false })),
    );
    let (one, two) = world.race(2, both).await;
    let successes = [&one, &two].iter().filter(|answer| answer.status == 200).count();
    assert_eq!(successes, 1, "{one:?} {two:?}");
}

#[tokio::test]
async fn demotion_applies_to_the_next_request() {
    let (world, admin) = World::with_admin().await;
    let other = world.person(Profile::CommitteeAdmin).await;
    let member = world.account(Profile::Member).await;
    other.change_member(member.user_id, json!({ "role": "un" })).await;
    admin.change_member(other.user().user_id, json!({ "profile": "MB" })).await;
    change(&other, &member, json!({ "role": "deux" })).await.expect_error(ErrorCode::Forbidden);
}
