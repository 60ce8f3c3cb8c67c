use std::{iter, time::Duration};

use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::json;
use tests::{NewPerson, PASSWORD, World, expect_fields, until_answered};

#[tokio::test]
async fn own_fields_change_and_privileged_fields_are_ignored() {
    let (_, person) = World::with_person(NewPerson::with(Profile::Member).unverified()).await;
    let payload = json!({
        "name": "Leïla", "lastName": "Ben Ali", "password": PASSWORD, "phoneCode": "216", "phone": "20123456", "profile": "SA", "role": "chef",
        "permissions": "[\"sms:send\"]", "isActive": false, "isVerified": true, "isOtpEnabled": true, "committeeID": "x",
    });
    let user =
        person.change_self(payload).await.expect_success(Message::UserUpdated)["user"].clone();
    let expected = json!({
        "name": "Leïla", "lastName": "Ben Ali", "phoneCode": "216", "phone": "20123456",
        "profile": "MB", "role": null, "permissions": "[]", "isActive": true, "isVerified": false,
        "isOtpEnabled": false,
    });
    expect_fields(&user, expected);
    let body = json!({ "password": PASSWORD, "phoneCode": "", "phone": "" });
    let user = person.change_self(body).await.expect_success(Message::UserUpdated)["user"].clone();
    assert_eq!((&user["phone"], &user["name"]), (&json!(""), &json!("Leïla")));
}

#[tokio::test]
async fn new_address_is_pending_and_the_old_one_stays_valid() {
    let (world, member) = World::with_member().await;
    let taken = member.request_address("admin@example.org").await;
    taken.expect_field_error("email", ErrorCode::EmailAlreadyUsed);
    world.clock().advance(Duration::from_secs(60));
    let answer = member.request_address("neuve@example.org").await;
    let user = answer.expect_success(Message::UserUpdated)["user"].clone();
    assert_eq!(user["email"], json!(member.user().email));
    assert_eq!(world.mails(member.user().email.as_str()).await.len(), 1);
    let code = world.mailed_code("neuve@example.org").await;
    member.request_address(&member.user().email).await.expect_ok();
    let answer = member.verify_email("neuve@example.org", &code).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
    assert_eq!(world.user(member.user().user_id).await.email, member.user().email);
}

#[tokio::test]
async fn concurrent_changes_all_apply() {
    let (world, member) = World::with_member().await;
    let payloads = [
        json!({ "name": "Leïla" }),
        json!({ "lastName": "Ben Ali" }),
        json!({ "password": PASSWORD, "phoneCode": "216", "phone": "20123456" }),
    ];
    let calls = payloads.iter().map(|payload| member.change_self(payload.clone()));
    for answer in world.race(2, join_all(calls)).await {
        answer.expect_success(Message::UserUpdated);
    }
    let user = world.user(member.user().user_id).await;
    assert_eq!(
        (user.name.as_str(), user.last_name.as_str(), user.phone.number.as_str()),
        ("Leïla", "Ben Ali", "20123456")
    );
}

#[tokio::test]
async fn change_of_address_or_number_takes_the_password() {
    let (world, member) = World::with_member().await;
    let mut email = json!({ "email": "neuve@example.org" });
    let mut phone = json!({ "phoneCode": "216", "phone": "20123456" });
    for payload in [&mut email, &mut phone] {
        let answer = member.change_self(payload.clone()).await;
        answer.expect_field_error("password", ErrorCode::FieldRequired);
        payload["password"] = json!(null);
        let answer = member.change_self(payload.clone()).await;
        answer.expect_field_error("password", ErrorCode::FieldRequired);
        payload["password"] = json!("not the password");
        member.change_self(payload.clone()).await.expect_unauthorized();
        payload["password"] = json!(PASSWORD);
    }
    let user = world.user(member.user().user_id).await;
    assert_eq!((&user.pending_email, user.phone.number.as_str()), (&None, ""));
    for payload in [phone, email] {
        member.change_self(payload).await.expect_success(Message::UserUpdated);
    }
    let mails = world.mails(member.user().email.as_str()).await;
    let subjects: Vec<&str> = mails.iter().filter_map(|mail| mail["subject"].as_str()).collect();
    assert_eq!(
        subjects,
        [
            "Changement d’adresse e-mail demandé pour votre compte Halqa",
            "Le numéro de téléphone de votre compte Halqa a été modifié"
        ]
    );
    // What is already so needs no password.
    let same = json!({ "name": "Leïla", "email": member.user().email, "phoneCode": "216", "phone": "20123456" });
    member.change_self(same).await.expect_success(Message::UserUpdated);
}

#[tokio::test]
async fn free_and_taken_addresses_are_limited_alike_per_account() {
    let (world, member) = World::with_member().await;
    let (free, taken) = ("libre@example.org", "admin@example.org");
    member.request_address(taken).await.expect_field_error("email", ErrorCode::EmailAlreadyUsed);
    // In the same minute the answer does not depend on the address.
    for email in [free, taken] {
        member.request_address(email).await.expect_error(ErrorCode::TooManyAttempts);
    }
    let minute = Duration::from_secs(60);
    world.clock().advance(minute);
    member.request_address(free).await.expect_success(Message::UserUpdated);
    world.clock().advance(minute);
    member.request_address(taken).await.expect_field_error("email", ErrorCode::EmailAlreadyUsed);
    world.clock().advance(minute);
    // Three in a quarter of an hour.
    for email in ["autre@example.org", taken] {
        member.request_address(email).await.expect_error(ErrorCode::TooManyAttempts);
    }
    // The pending address again and the address in force are no requests.
    for email in [free, member.user().email.as_str()] {
        member.request_address(email).await.expect_success(Message::UserUpdated);
    }
    assert_eq!(world.mails(free).await.len(), 1);
}

#[tokio::test]
async fn account_requests_at_most_ten_addresses_a_day() {
    let (world, member) = World::with_member().await;
    let request = async |number: u32| {
        world.clock().advance(Duration::from_secs(15 * 60));
        member.request_address(format!("voulue{number}@example.org")).await
    };
    for number in 0..10 {
        request(number).await.expect_ok();
    }
    request(10).await.expect_error(ErrorCode::TooManyAttempts);
}

#[tokio::test]
async fn network_requests_at_most_twenty_addresses_an_hour() {
    let world = World::with(&[("MESSAGE_INTERVAL_SECONDS", "1")]).await;
    let mut statuses = Vec::new();
    for person in 0..7 {
        let member = world.member().await.at("10.200.0.1");
        for number in 0..3 {
            world.clock().advance(Duration::from_secs(1));
            let email = format!("voulue{person}{number}@example.org");
            statuses.push(member.request_address(email).await.status);
        }
    }
    let expected: Vec<u16> = iter::repeat_n(200, 20).chain([429]).collect();
    assert_eq!(statuses, expected);
}

#[tokio::test]
async fn hundred_changes_at_once_lose_none() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let changes = (0..100).map(|number| {
        let body = json!({ "name": format!("Amel {number}") });
        let member = &member;
        // On a busy machine the time of a request may be over.
        async move { until_answered(|| member.change_self(body.clone())).await }
    });
    let answers = join_all(changes).await;
    let other = answers.iter().find(|answer| answer.status != 200);
    assert!(other.is_none(), "{other:?}");
    let version = world.user(member.user().user_id).await.version;
    assert_eq!(version - member.user().version, 100);
}

#[tokio::test]
async fn change_that_conflicts_with_transactions_is_tried_again() {
    let (world, member) = World::with_member().await;
    world.inject_fault(Fault::new(Mode::Conflict).on("TransactWriteItems").times(8));
    let change = json!({ "name": "Amel" });
    member.change_self(change).await.expect_success(Message::UserUpdated);
    world.faults_have_occurred().await;
}
