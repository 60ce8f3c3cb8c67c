//! A certificate is verified by everybody who has its code.

use common::ErrorCode;
use serde_json::{Value, json};
use tests::expect_fields;

use super::Over;
use crate::registrations::HOUR;

#[tokio::test]
async fn code_is_read_however_it_was_typed() {
    let over = Over::with(1).await;
    let code = over.code(0).await;
    let anonymous = over.course.world.anonymous();
    let answer = anonymous.get(&format!("/certificates/{code}")).await;
    assert_eq!(answer.header("cache-control"), "no-cache");
    let groups = |gap: &str| [0, 4, 8, 12].map(|at| &code[at..at + 4]).join(gap);
    for typed in [groups("-"), groups("%20").to_lowercase(), groups("").replace('0', "o")] {
        assert_eq!(anonymous.get(&format!("/certificates/{typed}")).await.json(), answer.json());
    }
    let etag = answer.header("etag").to_owned();
    let kept = anonymous.with("if-none-match", &etag).get(&format!("/certificates/{code}")).await;
    assert_eq!(kept.status, 304);
}

#[tokio::test]
async fn network_that_tries_codes_gets_429_for_unknown_ones_alone() {
    let over = Over::with(1).await;
    let code = over.code(0).await;
    let network = over.course.world.anonymous().at("198.51.100.9");
    for attempt in 0..30 {
        let path = match attempt % 3 {
            0 => "/certificates/0000000000000000".to_owned(),
            1 => format!("/certificates/{attempt}/pdf"),
            _ => "/certificates/%20".to_owned(),
        };
        network.get(&path).await.expect_error(ErrorCode::CertificateNotFound);
    }
    let refused = network.get("/certificates/0000000000000001").await;
    refused.expect_error(ErrorCode::TooManyAttempts);
    assert!(!refused.header("retry-after").is_empty());
    network.get("/certificates/x/pdf").await.expect_error(ErrorCode::TooManyAttempts);
    network.get(&format!("/certificates/{code}")).await.expect_ok();
    assert_eq!(network.get(&format!("/certificates/{code}/pdf")).await.status, 200);
    let elsewhere = over.course.world.anonymous().at("198.51.100.10");
    elsewhere.get("/certificates/x").await.expect_error(ErrorCode::CertificateNotFound);
    over.course.world.clock().advance(HOUR);
    network.get("/certificates/x").await.expect_error(ErrorCode::CertificateNotFound);
}

#[tokio::test]
async fn certificates_are_listed_latest_first_in_a_closed_committee() {
    let over = Over::with(1).await;
    let mut codes = Vec::new();
    for _ in 0..3 {
        let code = over.code(0).await;
        let path = format!("/certificates/{code}/revoke");
        let reason = json!({ "reason": "Nom" });
        over.course.trainer.post(&path, reason).await.expect_ok();
        codes.insert(0, json!(code));
        over.course.world.clock().advance(std::time::Duration::from_secs(60));
    }
    let world = over.course.world.clone();
    let committee = over.members[0].user().committee_id;
    let path = format!("/committees/{committee}");
    world.admin().await.put(&path, json!({ "isActive": false })).await.expect_ok();
    let listed =
        over.members[0].pages("/certificates/my-certificates?limit=2", "certificates").await;
    let listed_codes: Vec<&Value> = listed.iter().map(|one| &one["code"]).collect();
    assert_eq!(listed_codes, codes.iter().collect::<Vec<_>>());
    let user = over.members[0].user();
    expect_fields(
        &listed[0],
        json!({ "status": "REVOKED", "reason": "Nom", "name": user.name, "minutes": 720 }),
    );
    world.anonymous().get("/certificates/my-certificates").await.expect_unauthorized();
}
