//! Certificates under concurrent requests.

use common::Message;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::Over;
use crate::registrations::subjects;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_concurrent_issues_for_a_hundred_people_issue_a_hundred() {
    let over = Over::with(100).await;
    let path = over.course.path("/certificates");
    let calls = (0..50).map(|_| over.course.trainer.post_until_answered(&path, json!({})));
    let mut issued = 0;
    let mut codes = std::collections::BTreeSet::new();
    for answer in join_all(calls).await {
        let body = answer.expect_success(Message::CertificatesIssued);
        issued += body["issued"].as_u64().unwrap();
        for result in body["results"].as_array().unwrap() {
            assert_ne!(result["result"], "REFUSED");
            codes.insert(result["code"].as_str().unwrap().to_owned());
        }
    }
    // A call that is repeated after a lost answer issues nothing twice.
    assert!(issued <= 100, "{issued}");
    assert_eq!(codes.len(), 100);
    for code in &codes {
        assert_eq!(over.verified(code).await["status"], "VALID");
    }
    let world = &over.course.world;
    assert_eq!(world.items_of("CERTIFICATE#").len(), 100);
    world.deliver().await;
    world.sweep().await;
    world.sweep().await;
    for member in &over.members {
        let subjects = subjects(world, member).await;
        assert_eq!(subjects.iter().filter(|one| *one == "Votre attestation").count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verification_after_the_revocation_is_answered_says_revoked() {
    let over = Over::with(1).await;
    for _ in 0..5 {
        let code = over.code(0).await;
        let path = format!("/certificates/{code}/revoke");
        let revoked = async {
            let reason = json!({ "reason": "Nom" });
            over.course.trainer.post_until_answered(&path, reason).await.expect_ok();
            join_all((0..8).map(|_| over.verified(&code))).await
        };
        let before = join_all((0..8).map(|_| over.verified(&code)));
        let (after, before) = tokio::join!(revoked, before);
        assert!(after.iter().all(|one| one["status"] == "REVOKED"));
        let known = [json!("VALID"), json!("REVOKED")];
        assert!(before.iter().all(|one| known.contains(&one["status"])));
    }
}

#[tokio::test]
async fn erasure_during_the_issue_leaves_no_certificate_with_a_name() {
    let over = Over::with(2).await;
    let world = over.course.world.clone();
    let user = over.members[0].user().user_id;
    let admin = world.admin().await;
    let erase = async {
        admin.delete(&format!("/users/{user}")).await.expect_ok();
        world.deliver().await;
    };
    // The erasure comes between the reads and the transaction of the first person.
    let issue = over.issue(json!({ "userIDs": [user] }));
    let issued = world.overtaken(("TransactWriteItems", "CERTIFICATE#"), issue, erase).await;
    let result = &issued["results"][0];
    assert_eq!(result["RESPONSE_CODE"], "REGISTRATION_NOT_CONFIRMED_MESSAGE", "{issued}");
    assert_eq!(world.items_of("CERTIFICATE#").len(), 0);
}

#[tokio::test]
async fn person_who_is_cancelled_or_unmarked_meanwhile_is_decided_anew() {
    let over = Over::with(2).await;
    let world = over.course.world.clone();
    let (course, ids) = (&over.course, [0, 1].map(|place| over.members[place].user().user_id));
    let cancel = async {
        let path = format!("{}/cancel", course.path_of(&over.members[0]));
        course.trainer.post(&path, json!({})).await.expect_ok();
    };
    let issue = over.issue(json!({ "userIDs": [ids[0]] }));
    let issued = world.overtaken(("TransactWriteItems", "CERTIFICATE#"), issue, cancel).await;
    let code = |issued: &Value| issued["results"][0]["RESPONSE_CODE"].clone();
    assert_eq!(code(&issued), "REGISTRATION_NOT_CONFIRMED_MESSAGE");
    let unmark = async {
        let hand = |place: usize| {
            crate::registrations::attendance::hand(
                &over.members[1],
                &over.sessions[place],
                "ABSENT",
                1,
            )
        };
        course.mark(json!([hand(0), hand(1)])).await;
    };
    let issue = over.issue(json!({ "userIDs": [ids[1]] }));
    let issued = world.overtaken(("TransactWriteItems", "CERTIFICATE#"), issue, unmark).await;
    assert_eq!(code(&issued), "NOT_ENOUGH_MESSAGE");
    assert_eq!(world.items_of("CERTIFICATE#").len(), 0);
}

#[tokio::test]
async fn revocation_that_another_overtakes_keeps_the_first_reason() {
    let over = Over::with(1).await;
    let world = over.course.world.clone();
    let path = format!("/certificates/{}/revoke", over.code(0).await);
    let revoke =
        |reason: &'static str| over.course.trainer.post(&path, json!({ "reason": reason }));
    let first = async {
        revoke("Nom").await.expect_success(Message::CertificateRevoked);
    };
    let second = world.overtaken(("TransactWriteItems", "CERTIFICATE#"), revoke("Date"), first);
    let body = second.await.expect_success(Message::CertificateRevoked);
    assert_eq!(body["certificate"]["reason"], "Nom");
}

#[tokio::test]
async fn certificate_revoked_while_its_person_is_erased_is_anonymous() {
    let over = Over::with(1).await;
    let world = over.course.world.clone();
    let code = over.code(0).await;
    let path = format!("/users/{}", over.members[0].user().user_id);
    world.admin().await.delete(&path).await.expect_ok();
    let revoke = async {
        let reason = json!({ "reason": "Nom" });
        let path = format!("/certificates/{code}/revoke");
        over.course.trainer.post(&path, reason).await.expect_success(Message::CertificateRevoked);
    };
    world.overtaken(("TransactWriteItems", "CERTIFICATE#"), world.deliver(), revoke).await;
    // The step failed, and is done again.
    world.clock().advance(std::time::Duration::from_secs(60));
    world.sweep().await;
    world.deliver().await;
    let shown = over.verified(&code).await;
    assert_eq!((&shown["status"], &shown["minutes"]), (&json!("ANONYMISED"), &Value::Null));
    let item = world.items_of("CERTIFICATE#")[0].to_string();
    assert!(!item.contains("Nom\""), "{item}");
}
