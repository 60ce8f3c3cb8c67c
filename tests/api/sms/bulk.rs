//! `POST /sms/bulk`.

use std::{collections::BTreeSet, time::Duration};

use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tests::{World, texts_of};

use super::{NUMBER, numbers, send_to, sender, texts, world_and_sender};

#[tokio::test]
async fn variable_is_found_in_either_form_of_its_letters() {
    let (world, admin) = world_and_sender().await;
    let (composed, decomposed) = ("pr\u{e9}nom", "pre\u{301}nom ");
    let message = format!("Bonjour {{{{{composed}}}}}");
    let to = |variables: Value| json!({ "message": message, "recipients": [{ "to": NUMBER, "variables": variables }] });
    let both = admin.post("/sms/bulk", to(json!({ composed: "Amel", decomposed: "Rim" }))).await;
    both.expect_field_error("recipients[0].variables", ErrorCode::FieldValue);
    let sent = admin.post("/sms/bulk", to(json!({ decomposed: "Amel" }))).await;
    sent.expect_success(Message::SmsBulkAccepted);
    world.deliver().await;
    world.sweep().await;
    assert_eq!(texts_of(&json!(texts(&world)), "text"), ["Bonjour Amel"]);
}

#[tokio::test]
async fn each_recipient_has_a_result_in_request_order() {
    let (world, admin) = world_and_sender().await;
    admin.put("/sms/opt-outs/21620000009", json!({})).await.expect_success(Message::OptOutAdded);
    // The call may read the opt-outs of a moment ago: they are read again before each message is sent.
    world.cloud().settle();
    let payload = json!({
        "message": "Bonjour {{name}}",
        "recipients": [
            { "to": "+21620000001", "variables": { "name": "Amel" }, "clientRef": "a" },
            { "to": "+21620000001", "variables": { "name": "Amel" } },
            { "to": "+21620000001", "variables": { "name": 12.50, "n": 1 } },
            { "to": "+21620000002" },
            { "to": "+21620000002", "variables": { "name": null } },
            { "to": "+21620000002", "message": "Sans nom" },
            "+21671123456",
            { "to": "appelez-moi au bureau demain matin", "message": "x" },
            { "to": "", "message": "x" },
            { "to": "+21620000009", "message": "x" },
            { "to": "+21620000003", "message": "{{text}}", "variables": { "text": "a".repeat(1601) } },
        ],
    });
    let response =
        admin.post("/sms/bulk", payload.clone()).await.expect_success(Message::SmsBulkAccepted);
    let results: Vec<Value> = response["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| json!([result["to"], result["status"], result["RESPONSE_CODE"]]))
        .collect();
    let rejected = |to: &str, code: &str| json!([to, "REJECTED", code]);
    assert_eq!(
        results,
        [
            json!(["+21620000001", "QUEUED", null]),
            json!(["+21620000001", "DUPLICATE", null]),
            json!(["+21620000001", "QUEUED", null]),
            rejected("+21620000002", "SMS_VARIABLE_MISSING_MESSAGE"),
            rejected("+21620000002", "SMS_VARIABLE_MISSING_MESSAGE"),
            json!(["+21620000002", "QUEUED", null]),
            rejected("+21671123456", "FIELD_VALUE_MESSAGE"),
            rejected("appelez-moi au burea", "FIELD_FORMAT_MESSAGE"),
            rejected("", "FIELD_REQUIRED_MESSAGE"),
            rejected("+21620000009", "RECIPIENT_OPTED_OUT_MESSAGE"),
            rejected("+21620000003", "FIELD_LENGTH_MESSAGE"),
        ]
    );
    let mut batch = response["batch"].clone();
    let id = batch["batchID"].take();
    assert_eq!(
        batch,
        json!({ "batchID": null, "total": 11, "accepted": 3, "rejected": 7, "duplicates": 1, "segments": 3 })
    );
    let sms_id = |at: usize| response["results"][at]["smsID"].as_str().unwrap().to_owned();
    assert!(
        response["results"][1].get("smsID").is_none()
            && response["results"][3].get("smsID").is_none()
    );

    world.deliver().await;
    world.sweep().await;
    let sent: BTreeSet<(String, String)> = texts(&world)
        .iter()
        .map(|text| (text["to"].as_str().unwrap().into(), text["text"].as_str().unwrap().into()))
        .collect();
    let expected = [
        ("+21620000001", "Bonjour Amel"),
        ("+21620000001", "Bonjour 12.5"),
        ("+21620000002", "Sans nom"),
    ];
    assert_eq!(sent, expected.map(|(to, text)| (to.to_owned(), text.to_owned())).into());
    assert_eq!(texts(&world).len(), 3);
    let answer = admin.get(&format!("/sms?batchID={}", id.as_str().unwrap())).await;
    let listed = answer.expect_ok()["sms"].clone();
    assert_eq!(
        texts_of(&listed, "smsID"),
        [sms_id(0), sms_id(2), sms_id(5)],
        "in the order of the request"
    );
    assert_eq!((&listed[0]["clientRef"], &listed[0]["status"]), (&json!("a"), &json!("SENT")));
}

#[tokio::test]
async fn results_have_the_references_of_the_request() {
    let (_, admin) = world_and_sender().await;
    let payload = json!({
        "message": "Bonjour",
        "recipients": [
            { "to": "+21620000001", "clientRef": "a" },
            { "to": "+21620000001", "clientRef": "b" },
            "+21620000002",
            { "to": "x", "clientRef": "c" },
        ],
    });
    let references = |body: &Value| {
        let results = body["results"].as_array().unwrap().iter();
        let pair = |result: &Value| json!([result["status"], result.get("clientRef")]);
        results.map(pair).collect::<Vec<_>>()
    };
    let expected = [
        json!(["QUEUED", "a"]),
        json!(["DUPLICATE", "b"]),
        json!(["QUEUED", null]),
        json!(["REJECTED", "c"]),
    ];
    let with_key = admin.with("idempotency-key", "k");
    for person in [&admin, &with_key, &with_key] {
        let answer = person.post("/sms/bulk", payload.clone()).await;
        let body = answer.expect_success(Message::SmsBulkAccepted);
        assert_eq!(references(&body), expected);
        assert!(body.get("warnings").is_none(), "only a dry run has them");
    }
    let payload = json!({ "recipients": [{ "to": "x", "clientRef": "d" }], "message": "a" });
    let answer = admin.post("/sms/bulk", payload).await;
    answer.expect_error(ErrorCode::SmsBulkRejected);
    assert_eq!(references(&answer.json()), [json!(["REJECTED", "d"])]);
}

#[tokio::test]
async fn longest_results_are_accepted_and_replayed() {
    let world = World::new().await;
    let admin = sender(&world).await.with("idempotency-key", "k");
    let long = "\u{1f600}".repeat(64);
    let mut recipients = vec![json!({ "to": NUMBER, "clientRef": long })];
    recipients.resize(1000, json!({ "to": "\u{1f600}".repeat(20), "clientRef": long }));
    let payload = json!({ "recipients": recipients, "message": "a" });
    let first = admin.post("/sms/bulk", payload.clone()).await;
    let first_body = first.expect_success(Message::SmsBulkAccepted);
    assert_eq!(first_body["results"][999]["clientRef"], json!(long));
    let second = admin.post("/sms/bulk", payload).await;
    assert_eq!(second.header("idempotent-replayed"), "true");
    assert_eq!(second.body, first.body);
}

#[tokio::test]
async fn dry_run_warns_about_names_in_single_braces() {
    let (world, admin) = world_and_sender().await;
    let warn = async |message: &str, own: Value| {
        let payload = json!({
            "message": message, "dryRun": true,
            "recipients": ["+21620000001", { "to": "+21620000002", "message": own, "variables": { "nom": "Amel" } }],
        });
        let answer = admin.post("/sms/bulk", payload).await;
        answer.expect_success(Message::SmsBulkAccepted)["warnings"].clone()
    };
    let warning = |field: &str, variable: &str| {
        json!({
            "field": field, "variable": variable, "RESPONSE_CODE": ErrorCode::SingleBraces.code(),
            "RESPONSE_TEXT": ErrorCode::SingleBraces.text(domain::Language::French),
        })
    };
    let own = "recipients[1].message";
    for (message, text, expected) in [
        ("Bonjour", Value::Null, vec![]),
        ("Bonjour", json!("Bonjour {{nom}}"), vec![]),
        ("Bonjour { }", json!("{{{nom}}}"), vec![]),
        ("Bonjour {nom}", Value::Null, vec![warning("message", "nom")]),
        ("Bonjour", json!("{ nom } {x}"), vec![warning(own, "nom")]),
        (
            "Bonjour {nom}",
            json!("{{nom}}, {prénom}"),
            vec![warning("message", "nom"), warning(own, "prénom")],
        ),
    ] {
        assert_eq!(warn(message, text).await, json!(expected), "{message}");
    }
    // It is a warning: such a text is sent as it is.
    send_to(&admin, &numbers(1), "Bonjour {nom}").await;
    world.deliver().await;
    world.sweep().await;
    assert_eq!(texts(&world)[0]["text"], "Bonjour {nom}");
}

#[tokio::test]
async fn dry_run_stores_and_counts_nothing() {
    let world = World::with(&[("SMS_PER_USER_DAY", "1")]).await;
    let admin = sender(&world).await.with("idempotency-key", "k");
    let before = (world.items("records").len(), world.items("transient").len());
    let payload = json!({ "recipients": ["+21620000001", "+21620000002", "x"], "message": "أهلا", "dryRun": true });
    let response = admin.post("/sms/bulk", payload).await.expect_success(Message::SmsBulkAccepted);
    assert_eq!(
        response["batch"],
        json!({ "batchID": null, "total": 3, "accepted": 2, "rejected": 1, "duplicates": 0, "segments": 2 })
    );
    assert!(
        response["results"].as_array().unwrap().iter().all(|result| result.get("smsID").is_none())
    );
    // The only new item is the rate limit window of the caller.
    assert_eq!(
        (world.items("records").len(), world.items("transient").len()),
        (before.0, before.1 + 1)
    );
    let body = json!({ "recipients": ["+21620000001"], "message": "a" });
    admin.post("/sms/bulk", body).await.expect_success(Message::SmsBulkAccepted);
}

#[tokio::test]
async fn request_without_valid_recipient_is_rejected_with_reasons() {
    let world = World::new().await;
    let answer = sender(&world)
        .await
        .post("/sms/bulk", json!({ "recipients": ["x", "+21671123456"], "message": "a" }))
        .await;
    answer.expect_error(ErrorCode::SmsBulkRejected);
    let codes = texts_of(&answer.json()["results"], "RESPONSE_CODE");
    assert_eq!(codes, ["FIELD_FORMAT_MESSAGE", "FIELD_VALUE_MESSAGE"]);
}

#[tokio::test]
async fn body_has_at_most_two_million_bytes() {
    let world = World::new().await;
    let admin = sender(&world).await.json();
    let body = |bytes: usize| {
        let payload = json!({ "recipients": [NUMBER], "message": "a", "x": "" }).to_string();
        payload.replace("\"x\":\"\"", &format!("\"x\":\"{}\"", "a".repeat(bytes - payload.len())))
    };
    let send = async |path: &str, bytes: usize| {
        admin.send(Method::POST, &format!("/api/v1/sms/{path}"), body(bytes).into()).await
    };
    send("bulk", 2_000_000).await.expect_success(Message::SmsBulkAccepted);
    send("bulk", 2_000_001).await.expect_error(ErrorCode::PayloadTooLarge);
    send("single", 102_401).await.expect_error(ErrorCode::PayloadTooLarge);
}

#[tokio::test]
async fn request_over_the_quota_is_rejected_whole_and_stores_nothing() {
    let world = World::with(&[("SMS_PER_USER_DAY", "10"), ("SMS_PER_COMMITTEE_DAY", "15")]).await;
    let (first, second) = (sender(&world).await, sender(&world).await);
    let body = json!({ "recipients": numbers(11), "message": "a" });
    first.post("/sms/bulk", body).await.expect_error(ErrorCode::SmsQuotaExceeded);
    send_to(&first, &numbers(10), "a").await;
    let payload = json!({ "recipients": numbers(6), "message": "a" });
    second.post("/sms/bulk", payload).await.expect_error(ErrorCode::SmsQuotaExceeded);
    send_to(&second, &numbers(5), "a").await;
    world.deliver().await;
    world.sweep().await;
    assert_eq!(texts(&world).len(), 15);
}

#[tokio::test]
async fn bulk_sms_same_idempotency_key_returns_same_batch() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = sender(&world).await.with("idempotency-key", "inscription-17");
    let payload = json!({ "recipients": numbers(60), "message": "Bonjour" });
    let answers =
        join_all((0..50).map(|_| admin.post_until_answered("/sms/bulk", payload.clone()))).await;
    let bodies: BTreeSet<_> =
        answers.iter().map(|answer| (answer.status, answer.body.clone())).collect();
    assert_eq!(
        (bodies.len(), answers[0].status),
        (1, 200),
        "{:?}",
        bodies
            .iter()
            .map(|(status, body)| (status, &body[..body.len().min(200)]))
            .collect::<Vec<_>>()
    );
    // All but the first are replays; the first may be one too, if it got a 503 and was sent again.
    assert!(
        answers.iter().filter(|answer| answer.header("idempotent-replayed") == "true").count()
            >= 49
    );
    world.deliver().await;
    world.sweep().await;
    assert_eq!(texts(&world).len(), 60);
    let request = json!({ "recipients": numbers(60), "message": "Bonsoir" });
    admin.post("/sms/bulk", request).await.expect_error(ErrorCode::IdempotencyKeyReused);
}

#[tokio::test]
async fn thousand_recipients_take_five_round_trips_and_forty_chunks() {
    let (world, admin) = world_and_sender().await;
    // Opens the rate limit window, in which the measured request counts.
    admin.get("/nowhere").await;
    let answer = admin
        .post("/sms/bulk", json!({ "recipients": numbers(1000), "message": "Bonjour à tous" }))
        .await;
    answer.expect_success(Message::SmsBulkAccepted);
    assert_eq!(answer.cost.round_trips, 5, "the caller; the opt-outs; two quotas; the batch");
    assert_eq!(world.items_of("CHUNK#").len(), 40);
}

#[tokio::test]
async fn chunk_becomes_messages_once_despite_crashes() {
    let (world, admin) = world_and_sender().await;
    let id = send_to(&admin, &numbers(200), "Bonjour").await;
    // Transactions succeed with lost responses, and several sweeps handle the same chunks.
    world.inject_fault(Fault::new(Mode::Silent).on("TransactWriteItems").times(20));
    world.deliver().await;
    world.clear_faults();
    world.clock().advance(Duration::from_secs(3600));
    let processes: Vec<_> = (0..4).map(|_| world.another_process()).collect();
    join_all(processes.iter().map(World::sweep)).await;
    world.sweep().await;
    assert_eq!(texts(&world).len(), 200);
    let to: BTreeSet<String> =
        texts(&world).iter().map(|text| text["to"].as_str().unwrap().to_owned()).collect();
    assert_eq!(to.len(), 200, "each once");
    let batch = admin.get(&format!("/sms/bulk/{id}")).await.expect_ok()["batch"].clone();
    assert_eq!((&batch["sent"], &batch["queued"]), (&json!(200), &json!(0)));
}

#[tokio::test]
async fn batch_is_audited_with_counts_and_without_numbers() {
    let (world, admin) = world_and_sender().await;
    let id = send_to(&admin, &numbers(3), "Bonjour").await;
    let entry = world.admin().await.get("/audit").await.expect_ok()["audit"][0].clone();
    assert_eq!(
        (&entry["action"], &entry["targetType"], &entry["targetID"]),
        (&json!("BATCH_ACCEPTED"), &json!("BATCH"), &json!(id))
    );
    assert_eq!(entry["after"], json!({ "total": 3, "accepted": 3, "segments": 3 }));
}
