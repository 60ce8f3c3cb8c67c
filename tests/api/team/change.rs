use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Answer, Person, Someone, World};

async fn change(by: &Person, of: &domain::user::User, wish: Value) -> Answer {
    by.put(&format!("/team/{}", of.user_id), wish).await
}

#[tokio::test]
async fn every_field_can_be_changed_and_stays_when_it_is_not_named() {
    let world = World::new().await;
    let admin = world.admin().await;
    let sfax = world.another_committee("Sfax", true).await;
    let other = world
        .account(&Someone::with(Profile::Member).unverified())
        .await;
    let wish = json!({
        "name": " Leïla ", "lastName": "Ben Ali", "phoneCode": "216", "phone": "20123456", "profile": "TR", "role": "Trésorière",
        "permissions": "[\"sms:send\",\"courses:write\"]", "isVerified": true, "committeeID": sfax, "isActive": false, "isOtpEnabled": true,
    });
    let body = change(&admin, &other, wish)
        .await
        .tells(Message::TeamMemberUpdated);
    let user = &body["user"];
    for (field, value) in [
        ("name", json!("Leïla")),
        ("lastName", json!("Ben Ali")),
        ("phone", json!("20123456")),
        ("profile", json!("TR")),
        ("role", json!("Trésorière")),
        ("permissions", json!("[\"courses:write\",\"sms:send\"]")),
        ("isVerified", json!(true)),
        ("committeeID", json!(sfax)),
        ("isActive", json!(true)),
        ("isOtpEnabled", json!(false)),
    ] {
        assert_eq!(user[field], value, "{field}");
    }
    assert_eq!(body["version"], 2);
    let body = change(&admin, &other, json!({ "role": null, "permissions": [] }))
        .await
        .tells(Message::TeamMemberUpdated);
    assert_eq!(
        (
            &body["user"]["role"],
            &body["user"]["permissions"],
            &body["user"]["name"]
        ),
        (&json!(null), &json!("[]"), &json!("Leïla"))
    );
    assert_eq!(
        admin
            .get(&format!("/users/{}", other.user_id))
            .await
            .shows()["user"]["Committee"]["committeeID"],
        json!(sfax)
    );
    let body = change(&admin, &other, json!({}))
        .await
        .tells(Message::TeamMemberUpdated);
    assert_eq!(body["version"], 3, "nothing changed");
}

#[tokio::test]
async fn bad_fields_are_named() {
    let world = World::new().await;
    let admin = world.admin().await;
    let other = world.account(&Someone::with(Profile::Member)).await;
    let closed = world.another_committee("Fermé", false).await;
    for (wish, field, refusal) in [
        (json!({ "name": "" }), "name", ErrorCode::FieldRequired),
        (json!({ "name": null }), "name", ErrorCode::FieldType),
        (json!({ "profile": "XX" }), "profile", ErrorCode::FieldValue),
        (
            json!({ "permissions": "[\"everything\"]" }),
            "permissions",
            ErrorCode::FieldValue,
        ),
        (
            json!({ "permissions": ["everything"] }),
            "permissions",
            ErrorCode::FieldValue,
        ),
        (
            json!({ "permissions": "sms:send" }),
            "permissions",
            ErrorCode::FieldFormat,
        ),
        (
            json!({ "permissions": 1 }),
            "permissions",
            ErrorCode::FieldType,
        ),
        (
            json!({ "role": "x".repeat(65) }),
            "role",
            ErrorCode::FieldLength,
        ),
        (
            json!({ "isVerified": "yes" }),
            "isVerified",
            ErrorCode::FieldType,
        ),
        (
            json!({ "phone": "20123456" }),
            "phoneCode",
            ErrorCode::FieldRequired,
        ),
        (json!({ "email": "x" }), "email", ErrorCode::EmailInvalid),
        (
            json!({ "email": "ADMIN@example.org" }),
            "email",
            ErrorCode::EmailAlreadyUsed,
        ),
        (
            json!({ "committeeID": closed }),
            "committeeID",
            ErrorCode::CommitteeInvalid,
        ),
        (
            json!({ "committeeID": "x" }),
            "committeeID",
            ErrorCode::CommitteeInvalid,
        ),
        (
            json!({ "committeeID": other.user_id }),
            "committeeID",
            ErrorCode::CommitteeInvalid,
        ),
        (json!({ "version": "1" }), "version", ErrorCode::FieldType),
    ] {
        change(&admin, &other, wish)
            .await
            .refuses_field(field, refusal);
    }
    assert_eq!(world.user(other.user_id).await.version, 1);
}

#[tokio::test]
async fn of_twenty_with_the_same_version_one_wins_and_nineteen_are_told() {
    let world = World::new().await;
    let admin = world.admin().await;
    let other = world.account(&Someone::with(Profile::Member)).await;
    let answers = join_all((0..20).map(|number| {
        change(
            &admin,
            &other,
            json!({ "role": format!("rôle {number}"), "version": 1 }),
        )
    }))
    .await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 200).count(),
        1
    );
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
async fn without_a_guard_nothing_that_was_acknowledged_is_lost() {
    let world = World::new().await;
    let admin = world.admin().await;
    let other = world.account(&Someone::with(Profile::Member)).await;
    let wishes = [
        json!({ "name": "Leïla" }),
        json!({ "lastName": "Ben Ali" }),
        json!({ "role": "Trésorière" }),
        json!({ "profile": "TR" }),
    ];
    let answers = join_all(
        wishes
            .iter()
            .map(|wish| change(&admin, &other, wish.clone())),
    )
    .await;
    let user = admin
        .get(&format!("/users/{}", other.user_id))
        .await
        .shows()["user"]
        .clone();
    for (wish, answer) in wishes.iter().zip(&answers) {
        let (field, value) = wish.as_object().unwrap().iter().next().unwrap();
        assert!(answer.status != 200 || user[field] == *value, "{field}");
    }
    assert!(
        answers
            .iter()
            .all(|answer| [200, 409].contains(&answer.status))
    );
}

#[tokio::test]
async fn the_tag_of_what_was_seen_guards_too() {
    let world = World::new().await;
    let admin = world.admin().await;
    let other = world.account(&Someone::with(Profile::Member)).await;
    let seen = admin.get(&format!("/users/{}", other.user_id)).await;
    let guarded = admin.with("if-match", seen.header("etag"));
    change(&guarded, &other, json!({ "role": "un" }))
        .await
        .tells(Message::TeamMemberUpdated);
    change(&guarded, &other, json!({ "role": "deux" }))
        .await
        .refuses(ErrorCode::VersionConflict);
    change(
        &admin.with("if-match", "*"),
        &other,
        json!({ "role": "trois" }),
    )
    .await
    .tells(Message::TeamMemberUpdated);
}

#[tokio::test]
async fn a_new_address_is_pending_until_its_code_comes_back_and_the_old_one_is_told() {
    let world = World::new().await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    let other = world.account(&Someone::with(Profile::Member)).await;
    let body = change(&admin, &other, json!({ "email": "neuve@example.org" }))
        .await
        .tells(Message::TeamMemberUpdated);
    assert_eq!(body["user"]["email"], json!(other.email));
    assert_eq!(
        world.mails(other.email.as_str()).await.len(),
        1,
        "the old address is told"
    );
    let code = world.mailed_code("neuve@example.org").await;
    let verify = world
        .stranger()
        .put(
            "/users/email-verification",
            json!({ "email": "neuve@example.org", "code": code }),
        )
        .await;
    verify.tells(Message::EmailVerified);
    assert_eq!(
        world.user(other.user_id).await.email.as_str(),
        "neuve@example.org"
    );
    assert_eq!(
        world.mails(other.email.as_str()).await.len(),
        2,
        "told again, when it changed"
    );
    world
        .stranger()
        .login(other.email.as_str(), tests::PASSWORD)
        .await
        .refuses(ErrorCode::BadAuthCombination);
    world
        .stranger()
        .login("neuve@example.org", tests::PASSWORD)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn nobody_climbs() {
    let world = World::new().await;
    let every: Vec<Grant> = Grant::ALL.to_vec();
    let admin = world
        .person(Someone::with(Profile::CommitteeAdmin).granted(&every))
        .await;
    let plain = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    let member = world.account(&Someone::with(Profile::Member)).await;
    for wish in [
        json!({ "profile": "CA" }),
        json!({ "profile": "SA" }),
        json!({ "permissions": ["sms:bulk"] }),
        json!({ "permissions": ["cpanel:read"] }),
        json!({ "name": "Leïla", "permissions": ["sms:send", "cpanel:write"] }),
    ] {
        change(&admin, &member, wish.clone())
            .await
            .refuses(ErrorCode::Forbidden);
        assert_eq!(world.user(member.user_id).await.version, 1, "{wish}");
    }
    for someone in [
        Someone::with(Profile::SuperAdmin),
        Someone::with(Profile::CommitteeAdmin),
        Someone::with(Profile::Member).granted(&[Grant::SmsBulk]),
    ] {
        let other = world.account(&someone).await;
        for wish in [
            json!({ "email": "mienne@example.org" }),
            json!({ "name": "X" }),
            json!({ "permissions": [] }),
        ] {
            change(&plain, &other, wish)
                .await
                .refuses(ErrorCode::Forbidden);
        }
    }
    let own = admin.user().clone();
    change(&admin, &own, json!({ "role": "chef" }))
        .await
        .refuses(ErrorCode::Forbidden);
    let holder = world
        .account(&Someone::with(Profile::Member).granted(&[Grant::SmsBulk]))
        .await;
    change(
        &admin,
        &holder,
        json!({ "permissions": ["sms:bulk", "sms:send"] }),
    )
    .await
    .tells(Message::TeamMemberUpdated);
    change(
        &plain,
        &member,
        json!({ "permissions": ["sms:send", "users:read"], "profile": "TR" }),
    )
    .await
    .tells(Message::TeamMemberUpdated);
}

#[tokio::test]
async fn an_address_that_was_asked_for_before_a_promotion_is_not_taken_after_it() {
    let world = World::new().await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    let member = world.account(&Someone::with(Profile::Member)).await;
    change(&admin, &member, json!({ "email": "mienne@example.org" }))
        .await
        .tells(Message::TeamMemberUpdated);
    let code = world.mailed_code("mienne@example.org").await;
    change(&world.admin().await, &member, json!({ "profile": "SA" }))
        .await
        .tells(Message::TeamMemberUpdated);
    let proof = json!({ "email": "mienne@example.org", "code": code });
    world
        .stranger()
        .put("/users/email-verification", proof)
        .await
        .refuses(ErrorCode::VerificationInvalid);
    assert_eq!(world.user(member.user_id).await.email, member.email);
}

#[tokio::test]
async fn a_closed_account_gets_no_message() {
    let world = World::new().await;
    let member = world
        .account(&Someone::with(Profile::Member).inactive())
        .await;
    change(
        &world.admin().await,
        &member,
        json!({ "email": "neuve@example.org" }),
    )
    .await
    .tells(Message::TeamMemberUpdated);
    assert_eq!(
        (
            world.mails("neuve@example.org").await.len(),
            world.mails(member.email.as_str()).await.len()
        ),
        (0, 0)
    );
}

#[tokio::test]
async fn whoever_is_promoted_lives_under_the_strict_rules_at_once() {
    let world = World::new().await;
    let member = world.member().await;
    world
        .clock()
        .advance(std::time::Duration::from_secs(3 * 3600));
    change(
        &world.admin().await,
        member.user(),
        json!({ "profile": "CA" }),
    )
    .await
    .tells(Message::TeamMemberUpdated);
    let renewed = member.get("/auth/check").await;
    renewed.shows();
    assert_ne!(
        renewed.header("authorization"),
        member.token(),
        "half of its life is gone by now"
    );
    world.clock().advance(std::time::Duration::from_secs(3600));
    member
        .get("/audit")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    member
        .holding(renewed.header("authorization"))
        .get("/audit")
        .await
        .shows();
}

#[tokio::test]
async fn a_committees_administrator_moves_nobody_elsewhere() {
    let world = World::new().await;
    let sfax = world.another_committee("Sfax", true).await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    let member = world.account(&Someone::with(Profile::Member)).await;
    for committee in [json!(sfax), json!(1), json!(null)] {
        change(&admin, &member, json!({ "committeeID": committee }))
            .await
            .tells(Message::TeamMemberUpdated);
    }
    assert_eq!(
        world.user(member.user_id).await.committee_id,
        world.committee()
    );
    let foreign = world
        .account(&Someone::with(Profile::Member).of(sfax))
        .await;
    change(&admin, &foreign, json!({ "role": "x" }))
        .await
        .refuses(ErrorCode::UserNotFound);
}

#[tokio::test]
async fn one_super_admin_remains_when_two_demote_each_other_at_once() {
    let world = World::new().await;
    for _ in 0..5 {
        let pair = [
            world.admin().await,
            world.person(Someone::with(Profile::SuperAdmin)).await,
        ];
        let (one, two) = tokio::join!(
            change(&pair[0], pair[1].user(), json!({ "profile": "MB" })),
            change(&pair[1], pair[0].user(), json!({ "profile": "MB" })),
        );
        let won = [&one, &two]
            .iter()
            .filter(|answer| answer.status == 200)
            .count();
        assert_eq!(won, 1, "{one:?} {two:?}");
        if two.status == 200 {
            let admin = &pair[1];
            change(admin, pair[0].user(), json!({ "profile": "SA" }))
                .await
                .tells(Message::TeamMemberUpdated);
            change(&pair[0], admin.user(), json!({ "profile": "MB" }))
                .await
                .tells(Message::TeamMemberUpdated);
        }
    }
}

#[tokio::test]
async fn a_demotion_is_felt_by_the_next_request() {
    let world = World::new().await;
    let admin = world.admin().await;
    let other = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    let member = world.account(&Someone::with(Profile::Member)).await;
    change(&other, &member, json!({ "role": "un" }))
        .await
        .tells(Message::TeamMemberUpdated);
    change(&admin, other.user(), json!({ "profile": "MB" }))
        .await
        .tells(Message::TeamMemberUpdated);
    change(&other, &member, json!({ "role": "deux" }))
        .await
        .refuses(ErrorCode::Forbidden);
}
