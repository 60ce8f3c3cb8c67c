//! `POST /sms/single`, and the delivery of the message.

use std::{collections::BTreeSet, pin::pin, time::Duration};

use cloud::{
    faults::{Fault, Mode, Service},
    strict::Strictness,
};
use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::{Either, join, join_all, select};
use serde_json::{Value, json};
use tests::{NewPerson, World, expect_fields};

use super::{
    NUMBER, is_being_sent, numbers, send_one, send_to, sender, status, texts, world_and_sender,
};

#[tokio::test]
async fn message_is_accepted_and_sent_unchanged() {
    let world = World::with(&[("SMS_SENDER_IDS", "Halqa,Forma")]).await;
    let admin = sender(&world).await;
    let payload = json!({
        "to": NUMBER, "message": "Rendez-vous à 9 h,\nsalle 3 ; coût : 5 €", "type": "PROMOTIONAL", "senderId": "Forma", "clientRef": "r-1",
    });
    let sms = admin.post("/sms/single", payload).await.expect_success(Message::SmsAccepted)["sms"]
        .clone();
    for (field, value) in [
        ("to", json!(NUMBER)),
        ("status", json!("QUEUED")),
        ("type", json!("PROMOTIONAL")),
        ("senderId", json!("Forma")),
        ("clientRef", json!("r-1")),
        ("encoding", json!("UCS-2")),
        ("segments", json!(1)),
        ("batchID", Value::Null),
        ("failure", Value::Null),
        ("userID", json!(admin.user().user_id)),
        ("committeeID", json!(admin.user().committee_id)),
    ] {
        assert_eq!(sms[field], value, "{field}");
    }
    assert_eq!(texts(&world).len(), 0, "nothing is sent during the request");
    world.deliver().await;
    let text = &texts(&world)[0];
    assert_eq!(
        (&text["to"], &text["text"]),
        (&json!(NUMBER), &json!("Rendez-vous à 9 h,\nsalle 3 ; coût : 5 €"))
    );
    assert_eq!((&text["type"], &text["senderId"]), (&json!("Promotional"), &json!("Forma")));
    assert_eq!(
        status(&admin, sms["smsID"].as_str().unwrap()).await,
        ("SENT".to_owned(), Value::Null)
    );
}

/// What is counted is what is sent: a line break is one septet.
#[tokio::test]
async fn line_breaks_are_one_character_in_what_is_counted_stored_and_sent() {
    let (world, admin) = world_and_sender().await;
    let (given, sent) = ("ligne 1\r\n".repeat(20), "ligne 1\n".repeat(20));
    let payload = json!({ "to": NUMBER, "message": given });
    let sms = admin.post("/sms/single", payload).await.expect_ok()["sms"].clone();
    assert_eq!((&sms["encoding"], &sms["segments"]), (&json!("GSM-7"), &json!(1)));
    world.deliver().await;
    assert_eq!(texts(&world)[0]["text"], sent);
}

#[tokio::test]
async fn number_may_be_given_in_one_field_or_two() {
    let (_, admin) = world_and_sender().await;
    for payload in [
        json!({ "to": NUMBER }),
        json!({ "to": " +21620123456 " }),
        json!({ "phoneCode": "216", "phone": "20123456" }),
        json!({ "to": NUMBER, "phoneCode": "216", "phone": "20123456" }),
    ] {
        let mut payload = payload.clone();
        payload["message"] = "Bonjour".into();
        let sms = admin.post("/sms/single", payload.clone()).await.expect_ok()["sms"].clone();
        expect_fields(&sms, json!({ "to": NUMBER, "type": "TRANSACTIONAL", "encoding": "GSM-7" }));
    }
}

#[tokio::test]
async fn invalid_number_sender_or_text_is_reported_and_nothing_is_sent() {
    let world = World::with(&[("SMS_SENDER_IDS", "Halqa")]).await;
    let admin = sender(&world).await;
    for (field, value, error_code) in [
        ("to", json!("+2162012345"), ErrorCode::FieldFormat),
        ("to", json!("+216201234567"), ErrorCode::FieldFormat),
        ("to", json!("+21671123456"), ErrorCode::FieldValue),
        ("to", json!("+33612345678"), ErrorCode::FieldValue),
        ("to", json!("20123456"), ErrorCode::FieldFormat),
        ("message", json!("é".repeat(1601)), ErrorCode::FieldLength),
        ("senderId", json!("Autre"), ErrorCode::FieldValue),
        ("senderId", json!("Hal qa"), ErrorCode::FieldFormat),
    ] {
        let mut payload = json!({ "to": NUMBER, "message": "Bonjour" });
        payload[field] = value;
        admin.post("/sms/single", payload).await.expect_field_error(field, error_code);
    }
    let both =
        json!({ "to": NUMBER, "phoneCode": "216", "phone": "20123457", "message": "Bonjour" });
    admin.post("/sms/single", both).await.expect_field_error("to", ErrorCode::FieldValue);
    let none = admin.post("/sms/single", json!({ "message": "Bonjour" })).await;
    none.expect_field_error("to", ErrorCode::FieldRequired);
    world.deliver().await;
    assert_eq!(texts(&world).len(), 0);
}

#[tokio::test]
async fn same_idempotency_key_and_body_send_once() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = sender(&world).await.with("idempotency-key", "inscription-17");
    let payload = json!({ "to": NUMBER, "message": "Bonjour" });
    let answers =
        join_all((0..50).map(|_| admin.post_until_answered("/sms/single", payload.clone()))).await;
    let bodies: BTreeSet<_> =
        answers.iter().map(|answer| (answer.status, answer.body.clone())).collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    // The first request may have got a 503 and been sent again.
    assert!(
        answers.iter().filter(|answer| answer.header("idempotent-replayed") == "true").count()
            >= 49
    );
    world.deliver().await;
    assert_eq!(texts(&world).len(), 1);
    world.clock().advance(Duration::from_secs(86_300));
    let admin =
        world.signed_in(admin.user().clone()).await.with("idempotency-key", "inscription-17");
    let again = admin.post("/sms/single", payload.clone()).await;
    assert_eq!(
        (again.body, again.headers["idempotent-replayed"].as_bytes()),
        (answers[0].body.clone(), b"true".as_slice()),
        "the key is still valid"
    );
    let other = json!({ "to": NUMBER, "message": "Bonsoir" });
    admin.post("/sms/single", other.clone()).await.expect_error(ErrorCode::IdempotencyKeyReused);
    world.clock().advance(Duration::from_secs(100));
    let fresh = admin.post("/sms/single", other).await;
    assert_eq!(fresh.header("idempotent-replayed"), "", "the key expires after a day");
    fresh.expect_success(Message::SmsAccepted);
}

#[tokio::test]
async fn idempotency_key_is_per_caller_and_route_and_unused_by_errors() {
    let world = World::new().await;
    let one = sender(&world).await.with("idempotency-key", "k");
    let other = sender(&world).await.with("idempotency-key", "k");
    let answer = one.post("/sms/single", json!({ "to": "+2160", "message": "a" })).await;
    answer.expect_field_error("to", ErrorCode::FieldFormat);
    let payload = json!({ "to": NUMBER, "message": "a", "recipients": [NUMBER] });
    for person in [&one, &other] {
        for path in ["/sms/single", "/sms/bulk"] {
            let answer = person.post(path, payload.clone()).await;
            assert_eq!((answer.status, answer.header("idempotent-replayed")), (200, ""), "{path}");
        }
    }
    world.deliver().await;
    world.sweep().await;
    assert_eq!(texts(&world).len(), 4);
}

#[tokio::test]
async fn invalid_idempotency_key_is_reported() {
    let (_, admin) = world_and_sender().await;
    let (long, longest) = ("k".repeat(256), "k".repeat(255));
    for (key, error_code) in [
        ("", ErrorCode::FieldRequired),
        (long.as_str(), ErrorCode::FieldLength),
        ("a b", ErrorCode::FieldFormat),
        ("clé", ErrorCode::FieldFormat),
    ] {
        let answer = admin
            .with("idempotency-key", key)
            .post("/sms/single", json!({ "to": NUMBER, "message": "a" }))
            .await;
        answer.expect_field_error("Idempotency-Key", error_code);
    }
    let twice = admin.with("idempotency-key", "a").with("idempotency-key", "b");
    let answer = twice.post("/sms/single", json!({ "to": NUMBER, "message": "a" })).await;
    answer.expect_field_error("Idempotency-Key", ErrorCode::FieldFormat);
    admin
        .with("idempotency-key", &longest)
        .post("/sms/single", json!({ "to": NUMBER, "message": "a" }))
        .await
        .expect_ok();
}

#[tokio::test]
async fn daily_quotas_hold_per_user_and_committee_under_concurrency() {
    let world = World::with(&[("SMS_PER_USER_DAY", "5"), ("SMS_PER_COMMITTEE_DAY", "8")]).await;
    let (one, other) = (sender(&world).await, sender(&world).await);
    let call = |person: tests::Person| async move {
        person.post("/sms/single", json!({ "to": NUMBER, "message": "a" })).await
    };
    let answers = join_all((0..12).map(|_| call(one.clone()))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 5);
    let refused = answers.iter().find(|answer| answer.status == 429).unwrap();
    refused.expect_error(ErrorCode::SmsQuotaExceeded);
    let left = world.clock().now().end_of_day().since(world.clock().now()).as_secs();
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!(
        (left..left + 60).contains(&seconds),
        "{seconds} seconds; {left} until the end of the day"
    );
    let answers = join_all((0..12).map(|_| call(other.clone()))).await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 200).count(),
        3,
        "eight for the committee"
    );
    world.clock().advance(world.clock().now().end_of_day().since(world.clock().now()));
    let one = world.signed_in(one.user().clone()).await;
    call(one.clone()).await.expect_success(Message::SmsAccepted);
}

#[tokio::test]
async fn messages_of_one_committee_do_not_conflict() {
    let world = World::new().await;
    let mut senders = Vec::new();
    for _ in 0..16 {
        senders.push(sender(&world).await);
    }
    let send = |sender: tests::Person| async move {
        let answer = sender.post("/sms/single", json!({ "to": NUMBER, "message": "a" })).await;
        answer.expect_success(Message::SmsAccepted);
        answer.cost.requests
    };
    let alone = send(sender(&world).await).await;
    world.cloud().set_strictness(Strictness { transaction_ms: 20, ..Strictness::default() });
    let requests = join_all(senders.into_iter().map(send)).await;
    assert_eq!(requests, [alone; 16], "no transaction is repeated");
}

#[tokio::test]
async fn repeated_request_is_counted_once_in_the_quota() {
    let world = World::with(&[("SMS_PER_USER_DAY", "2")]).await;
    let admin = sender(&world).await;
    let keyed = admin.with("idempotency-key", "k");
    let payload = json!({ "to": NUMBER, "message": "a" });
    let repeated = async {
        keyed.post("/sms/single", payload.clone()).await.expect_success(Message::SmsAccepted);
    };
    let first = keyed.post("/sms/single", payload.clone());
    let answer = world.overtaken(("TransactWriteItems", "SMS#"), first, repeated).await;
    assert_eq!(answer.header("idempotent-replayed"), "true");
    admin.post("/sms/single", payload.clone()).await.expect_success(Message::SmsAccepted);
    admin.post("/sms/single", payload).await.expect_error(ErrorCode::SmsQuotaExceeded);
}

#[tokio::test]
async fn repeated_request_waits_for_the_one_that_is_counted_in_its_quota() {
    let world = World::with(&[("SMS_PER_USER_DAY", "1")]).await;
    let admin = sender(&world).await.with("idempotency-key", "k");
    let send = || admin.post("/sms/single", json!({ "to": NUMBER, "message": "a" }));
    let writes = world.cloud().hold_next("TransactWriteItems", "SMS#");
    let (first, second) = join(send(), async {
        writes.reached(1).await.unwrap();
        // It looks for an earlier response at its start, and twice after it met the quota.
        let mut second = pin!(send());
        for _ in 0..3 {
            let look = world.cloud().hold_next("GetItem", "IDEMPOTENCY#");
            match select(second.as_mut(), pin!(look.reached(1))).await {
                Either::Left(_) => panic!("it does not wait for the first"),
                Either::Right((reached, _)) => reached.unwrap(),
            }
        }
        writes.release();
        second.await
    })
    .await;
    first.expect_success(Message::SmsAccepted);
    second.expect_success(Message::SmsAccepted);
    assert_eq!(second.header("idempotent-replayed"), "true");
    assert_eq!(second.body, first.body);
}

#[tokio::test]
async fn rejected_request_releases_its_idempotency_key() {
    let world = World::with(&[("SMS_PER_USER_DAY", "1")]).await;
    let admin = sender(&world).await;
    send_one(&admin, NUMBER).await;
    let keyed = admin.with("idempotency-key", "k");
    for text in ["a", "b"] {
        let answer = keyed.post("/sms/single", json!({ "to": NUMBER, "message": text })).await;
        answer.expect_error(ErrorCode::SmsQuotaExceeded);
    }
}

#[tokio::test]
async fn message_that_was_not_accepted_is_not_counted() {
    let world = World::with(&[("SMS_PER_USER_DAY", "1")]).await;
    let admin = sender(&world).await;
    let payload = json!({ "to": NUMBER, "message": "a" });
    world.inject_fault(Fault::new(Mode::Throttle).on("TransactWriteItems"));
    admin.post("/sms/single", payload.clone()).await.expect_error(ErrorCode::Unavailable);
    world.clear_faults();
    send_one(&admin, NUMBER).await;
}

#[tokio::test]
async fn message_with_unknown_outcome_stays_counted() {
    let world = World::with(&[("SMS_PER_USER_DAY", "1")]).await;
    let admin = sender(&world).await;
    let payload = json!({ "to": NUMBER, "message": "a" });
    world.inject_fault(Fault::new(Mode::Refuse).on("TransactWriteItems"));
    admin.post("/sms/single", payload.clone()).await.expect_error(ErrorCode::Unavailable);
    world.clear_faults();
    admin.post("/sms/single", payload).await.expect_error(ErrorCode::SmsQuotaExceeded);
}

#[tokio::test]
async fn opted_out_number_is_neither_sent_to_nor_counted() {
    let (world, admin) = world_and_sender().await;
    let waiting = send_one(&admin, NUMBER).await;
    admin.put(&format!("/sms/opt-outs/{NUMBER}"), json!({})).await.expect_ok();
    let answer = admin.post("/sms/single", json!({ "to": NUMBER, "message": "a" })).await;
    answer.expect_field_error("to", ErrorCode::RecipientOptedOut);
    world.deliver().await;
    assert_eq!(
        status(&admin, &waiting).await,
        ("FAILED".to_owned(), json!("RECIPIENT_OPTED_OUT")),
        "it was accepted before the opt-out"
    );
    assert_eq!(texts(&world).len(), 0);
    // The opt-out list of a committee applies to that committee only.
    let elsewhere = NewPerson::with(Profile::CommitteeAdmin)
        .of(world.another_committee("Ailleurs", true).await);
    send_one(&world.person(elsewhere).await, NUMBER).await;
    world.admin().await.put(&format!("/sms/opt-outs/{NUMBER}"), json!({})).await.expect_ok();
    let elsewhere = NewPerson::with(Profile::CommitteeAdmin)
        .of(world.another_committee("Plus loin", true).await);
    let refused = world
        .person(elsewhere)
        .await
        .post("/sms/single", json!({ "to": NUMBER, "message": "a" }))
        .await;
    refused.expect_field_error("to", ErrorCode::RecipientOptedOut);
}

#[tokio::test]
async fn each_carrier_outcome_maps_to_its_status() {
    let error = |name: &str| Fault::named(name);
    for (fault, expected, failure, sent) in [
        (error("OptedOut"), "FAILED", json!("RECIPIENT_OPTED_OUT"), 0),
        (error("InvalidParameter"), "FAILED", json!("CARRIER_REFUSED"), 0),
        (error("MonthlySpendLimitReached"), "QUEUED", Value::Null, 0),
        (Fault::new(Mode::Throttle), "QUEUED", Value::Null, 0),
        (Fault::new(Mode::Refuse), "UNKNOWN", Value::Null, 0),
        (Fault::new(Mode::Silent), "UNKNOWN", Value::Null, 1),
    ] {
        let world = World::new().await;
        let admin = sender(&world).await;
        world.inject_fault_in(Service::Sns, fault.clone().times(1));
        let id = send_one(&admin, NUMBER).await;
        world.deliver().await;
        assert_eq!(status(&admin, &id).await, (expected.to_owned(), failure), "{fault:?}");
        assert_eq!(texts(&world).len(), sent, "{fault:?}");
        world.clock().advance(Duration::from_secs(60));
        world.sweep().await;
        assert_eq!(
            texts(&world).len(),
            if expected == "QUEUED" { 1 } else { sent },
            "{fault:?}: sent once or never"
        );
    }
}

#[tokio::test]
async fn message_refused_for_a_day_becomes_failed() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    world.inject_fault_in(Service::Sns, Fault::new(Mode::Throttle));
    world.deliver().await;
    for _ in 0..100 {
        world.clock().advance(Duration::from_secs(900));
        world.sweep().await;
    }
    let admin = world.signed_in(admin.user().clone()).await;
    assert_eq!(status(&admin, &id).await, ("FAILED".to_owned(), json!("EXPIRED")));
}

#[tokio::test]
async fn message_that_waited_for_days_is_sent() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    world.clock().advance(Duration::from_secs(3 * 86_400));
    world.sweep().await;
    let admin = world.signed_in(admin.user().clone()).await;
    assert_eq!(
        status(&admin, &id).await,
        ("SENT".to_owned(), Value::Null),
        "waiting for its turn is no failure"
    );
}

#[tokio::test]
async fn message_of_a_closed_account_is_not_sent() {
    let world = World::new().await;
    let (admin, sender) = (world.admin().await, sender(&world).await);
    let id = send_one(&sender, NUMBER).await;
    admin.set_active(sender.user().user_id, false).await;
    world.deliver().await;
    assert_eq!(
        (status(&admin, &id).await, texts(&world).len()),
        (("FAILED".to_owned(), json!("SENDER_CLOSED")), 0)
    );
}

#[tokio::test]
async fn message_of_a_sender_who_may_no_longer_send_is_not_sent() {
    let world = World::new().await;
    let (admin, other) = (world.admin().await, world.another_committee("Sousse", true).await);
    for change in [
        json!({ "profile": "MB" }),
        json!({ "isVerified": false }),
        json!({ "committeeID": other }),
    ] {
        let sender = sender(&world).await;
        let id = send_one(&sender, NUMBER).await;
        admin.change_member(sender.user().user_id, change.clone()).await;
        world.deliver().await;
        let expected = ("FAILED".to_owned(), json!("SENDER_NOT_ALLOWED"));
        assert_eq!(status(&admin, &id).await, expected, "{change}");
    }
    let sender = sender(&world).await;
    let (id, batch) = (send_one(&sender, NUMBER).await, send_to(&sender, &numbers(3), "a").await);
    let path = format!("/committees/{}", sender.user().committee_id);
    admin.put(&path, json!({ "isActive": false })).await.expect_ok();
    world.deliver().await;
    world.sweep().await;
    assert_eq!(status(&admin, &id).await.1, "SENDER_NOT_ALLOWED");
    let batch = admin.get(&format!("/sms/bulk/{batch}")).await.expect_ok()["batch"].clone();
    assert_eq!((&batch["failed"], texts(&world).len()), (&json!(3), 0), "{batch}");
}

#[tokio::test]
async fn number_gets_twenty_messages_of_a_sender_a_day() {
    let (world, admin) = world_and_sender().await;
    let mut ids = Vec::new();
    for _ in 0..21 {
        ids.push(send_one(&admin, NUMBER).await);
        world.deliver().await;
    }
    let expected = ("FAILED".to_owned(), json!("RECIPIENT_LIMIT"));
    assert_eq!(status(&admin, &ids[20]).await, expected);
    assert_eq!(texts(&world).len(), 20);
    send_one(&admin, "+21620123457").await;
    send_one(&sender(&world).await, NUMBER).await;
    world.clock().advance(Duration::from_secs(86_400));
    send_one(&world.signed_in(admin.user().clone()).await, NUMBER).await;
    world.deliver().await;
    assert_eq!(texts(&world).len(), 23);
}

#[tokio::test]
async fn lost_store_response_accepts_the_message_once() {
    let world = World::new().await;
    let admin = sender(&world).await.with("idempotency-key", "k");
    let payload = json!({ "to": NUMBER, "message": "a" });
    world.inject_fault(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    admin.post("/sms/single", payload.clone()).await.expect_success(Message::SmsAccepted);
    world.inject_fault(Fault::new(Mode::Silent).on("TransactWriteItems"));
    let other = admin.with("x", "y");
    assert_eq!(other.post("/sms/single", payload).await.status, 200, "the stored response");
    world.clear_faults();
    world.deliver().await;
    assert_eq!(texts(&world).len(), 1);
}

#[tokio::test]
async fn messages_do_not_delay_a_code() {
    let world = World::with(&[("SMS_RATE_PER_SECOND", "1")]).await;
    let admin = sender(&world).await;
    let member =
        world.account(&NewPerson::with(Profile::Member).with_phone("216", "20999999")).await;
    for number in 0..5 {
        send_one(&admin, &format!("+2162010000{number}")).await;
    }
    world.anonymous().ask_to_sign_in(&member.email, "sms").await;
    world.deliver().await;
    let to: Vec<Value> = texts(&world).iter().map(|text| text["to"].clone()).collect();
    assert!(
        to.contains(&json!("+21620999999")),
        "five messages must leave a send time that a code can wait for: {to:?}"
    );
}

#[tokio::test]
async fn outcome_is_recorded_despite_store_faults() {
    for mode in [Mode::Refuse, Mode::Throttle, Mode::Silent] {
        let world = World::new().await;
        let admin = sender(&world).await;
        let id = send_one(&admin, NUMBER).await;
        world
            .inject_fault_in(Service::Sns, Fault { delay_ms: Some(200), ..Fault::new(Mode::Slow) });
        let store_fault = async {
            while !is_being_sent(&world) {
                tokio::task::yield_now().await;
            }
            world.inject_fault(Fault::new(mode).on("UpdateItem").times(3));
        };
        tokio::join!(world.deliver(), store_fault);
        world.clear_faults();
        assert_eq!(status(&admin, &id).await, ("SENT".to_owned(), Value::Null), "{mode:?}");
        assert_eq!(texts(&world).len(), 1, "{mode:?}");
    }
}
