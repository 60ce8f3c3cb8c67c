//! Certificates are taken back, and become anonymous.

use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, Person, expect_fields};

use super::Over;
use crate::registrations::{HOUR, subjects};

impl Over {
    async fn revoke(&self, by: &Person, code: &str) -> tests::Answer {
        let body = json!({ "reason": "Le nom est faux." });
        by.post(&format!("/certificates/{code}/revoke"), body).await
    }
}

#[tokio::test]
async fn revoked_certificate_says_so_without_the_person() {
    let over = Over::with(1).await;
    let code = over.code(0).await;
    let valid = over.verified(&code).await;
    let trainer = over.course.trainer.clone();
    let body = over.revoke(&trainer, &code).await.expect_success(Message::CertificateRevoked);
    expect_fields(&body["certificate"], json!({ "reason": "Le nom est faux." }));
    let at = &body["certificate"]["revokedAt"];
    assert!(at.is_string());
    let revoked = over.verified(&code).await;
    let mut expected = valid.clone();
    (expected["status"], expected["revokedAt"]) = (json!("REVOKED"), at.clone());
    for hidden in ["name", "lastName", "minutes", "totalMinutes", "text"] {
        expected[hidden] = Value::Null;
    }
    assert_eq!(revoked, expected);
    let pdf = over.course.world.anonymous().get(&format!("/certificates/{code}/pdf")).await;
    pdf.expect_error(ErrorCode::CertificateNotAvailable);
    assert_eq!(over.summary(0).await["status"], "REVOKED");
    // The second time, too, with the first reason.
    let path = format!("/certificates/{code}/revoke");
    let again = trainer.post(&path, json!({ "reason": "Autre" })).await;
    let again = again.expect_success(Message::CertificateRevoked);
    assert_eq!(again["certificate"]["reason"], "Le nom est faux.");
    over.course.world.deliver().await;
    over.course.world.sweep().await;
    let subjects = subjects(&over.course.world, &over.members[0]).await;
    let told = |subject: &str| subjects.iter().filter(|one| *one == subject).count();
    // The mail about the issue was overtaken.
    assert_eq!((told("Votre attestation est révoquée"), told("Votre attestation")), (1, 0));
    let audit = over.course.world.admin().await.get("/audit").await.expect_ok()["audit"].clone();
    let after = json!({ "code": code, "reason": "Le nom est faux." });
    expect_fields(&audit[0], json!({ "action": "CERTIFICATE_REVOKED", "after": after }));
    // Another one can be issued.
    let other = over.code(0).await;
    assert_ne!(other, code);
    assert_eq!(over.summary(0).await["code"], json!(other));
    assert_eq!(over.verified(&code).await, revoked);
}

#[tokio::test]
async fn certificate_is_revoked_by_writers_of_the_course_alone() {
    let over = Over::with(1).await;
    let code = over.code(0).await;
    let world = &over.course.world;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let stranger = NewPerson::with(Profile::CommitteeAdmin).of(elsewhere);
    let stranger = world.signed_in(world.unhashed_account(&stranger).await).await;
    let colleague = over.colleague(Profile::Trainer).await;
    for person in [&stranger, &colleague, &over.members[0]] {
        over.revoke(person, &code).await.expect_error(ErrorCode::Forbidden);
    }
    over.revoke(&world.anonymous(), &code).await.expect_unauthorized();
    let admin = world.admin().await;
    let unknown = over.revoke(&admin, "0000000000000000").await;
    unknown.expect_error(ErrorCode::CertificateNotFound);
    let path = format!("/certificates/{code}/revoke");
    let without = admin.post(&path, json!({})).await;
    without.expect_field_error("reason", ErrorCode::FieldRequired);
    assert_eq!(over.verified(&code).await["status"], "VALID");
    over.revoke(&admin, &code).await.expect_success(Message::CertificateRevoked);
}

#[tokio::test]
async fn certificates_of_an_erased_person_verify_without_the_name() {
    let over = Over::with(1).await;
    let revoked = over.code(0).await;
    let trainer = over.course.trainer.clone();
    over.revoke(&trainer, &revoked).await.expect_ok();
    let code = over.code(0).await;
    let valid = over.verified(&code).await;
    let member = over.members[0].clone();
    let named = member.user().name.as_str().to_owned();
    let before = over.course.trainer.get(&over.course.path_of(&member)).await.expect_ok();
    assert_eq!(before["registration"]["certificate"]["code"], json!(code));
    let world = over.course.world.clone();
    let path = format!("/users/{}", member.user().user_id);
    world.admin().await.delete(&path).await.expect_ok();
    world.deliver().await;
    world.sweep().await;
    let mut expected = valid;
    expected["status"] = json!("ANONYMISED");
    (expected["name"], expected["lastName"]) = (Value::Null, Value::Null);
    assert_eq!(over.verified(&code).await, expected);
    expect_fields(
        &over.verified(&revoked).await,
        json!({ "status": "ANONYMISED", "name": null, "minutes": null, "revokedAt": null }),
    );
    let items = world.items_of("CERTIFICATE#");
    let kept = serde_json::to_string(&items).unwrap();
    assert!(!kept.contains(&named) && !kept.contains("Le nom est faux."), "{kept}");
    assert!(!kept.contains(&member.user().user_id.to_string()));
    let pdf = world.anonymous().get(&format!("/certificates/{code}/pdf")).await;
    pdf.expect_error(ErrorCode::CertificateNotAvailable);
    let trainer = over.course.trainer.clone();
    let refused = over.revoke(&trainer, &code).await;
    refused.expect_error(ErrorCode::CertificateNotAvailable);
    let after = over.course.trainer.get(&over.course.path_of(&member)).await.expect_ok();
    assert_eq!(after["registration"]["certificate"]["status"], "ANONYMISED");
}

#[tokio::test]
async fn certificate_becomes_anonymous_when_its_retention_is_over() {
    let mut over = Over::with(1).await;
    let code = over.code(0).await;
    let day = HOUR * 24;
    over.pass(day * 3649).await;
    over.course.world.sweep().await;
    assert_eq!(over.verified(&code).await["status"], "VALID");
    over.pass(day).await;
    over.course.world.sweep().await;
    assert_eq!(over.verified(&code).await["status"], "ANONYMISED");
    let listed = over.members[0].get("/certificates/my-certificates").await.expect_ok();
    assert_eq!(listed["certificates"], json!([]));
}
