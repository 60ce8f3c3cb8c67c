//! Certificates are issued.

use common::{ErrorCode, Message};
use domain::{Instant, Profile};
use serde_json::{Value, json};
use tests::expect_fields;

use super::{Over, giving};
use crate::registrations::{Course, HOUR, attendance::hand, automatic, subjects};

const ISSUED: &str = "Votre attestation";

#[tokio::test]
async fn certificate_says_what_was_so_when_it_was_issued() {
    let mut over = Over::with(1).await;
    let certificate = json!({
        "kind": "COMPLETION", "text": "Bravo.\nÀ bientôt.", "signedBy": "Salma Khelifi",
        "signedAs": "Présidente", "validMonths": 24,
    });
    let set = over.course.set(giving(certificate.clone())).await.expect_ok();
    let mut expected = certificate;
    expected["minimumPercent"] = json!(80);
    assert_eq!(set["registration"]["certificate"], expected);
    let user = over.members[0].user().clone();
    let begun = over.now();
    let issued = over.issue(json!({})).await;
    let counts = json!({ "issued": 1, "already": 0, "remaining": 0 });
    expect_fields(&issued, counts);
    let result = &issued["results"][0];
    let code = result["code"].as_str().unwrap().to_owned();
    assert_eq!(code.len(), 16);
    assert_eq!(
        *result,
        json!({
            "userID": user.user_id, "result": "ISSUED", "code": code, "RESPONSE_CODE": null,
            "characters": null,
        })
    );
    let shown = over.verified(&code).await;
    let issued_at = shown["issuedAt"].as_str().unwrap();
    assert!(issued_at.parse::<Instant>().unwrap() >= begun);
    // The date is that of the clock of this machine, which may be a 29 February.
    let year: u32 = issued_at[..4].parse().unwrap();
    let ends = format!("{}{}", year + 2, &issued_at[4..]).replace("-02-29", "-02-28");
    expect_fields(
        &shown,
        json!({
            "status": "VALID", "code": code, "kind": "COMPLETION", "name": user.name,
            "lastName": user.last_name, "courseTitle": "Premiers secours", "courseSubTitle": null,
            "minutes": 720, "totalMinutes": 720, "trainers": [], "text": "Bravo.\nÀ bientôt.",
            "signedBy": "Salma Khelifi", "signedAs": "Présidente",
            "expiresAt": ends, "revokedAt": null, "startAt": over.sessions[0]["startAt"],
            "endAt": over.sessions[3]["endAt"], "location": null, "city": null,
        }),
    );
    for hidden in ["userID", "courseID", "committeeID", "email", "reason", "language"] {
        assert!(shown.get(hidden).is_none(), "{hidden}");
    }
    let summary =
        json!({ "code": code, "status": "VALID", "issuedAt": issued_at, "expiresAt": ends });
    assert_eq!(over.summary(0).await, summary);
    let own = over.members[0].get("/registrations/my-registrations").await.expect_ok();
    assert_eq!(own["registrations"][0]["certificate"], summary);
    let mut mine = shown.clone();
    mine["reason"] = Value::Null;
    let listed = over.members[0].get("/certificates/my-certificates").await.expect_ok();
    assert_eq!(listed["certificates"], json!([mine]));
    let path = format!("/users/{}/export", user.user_id);
    let export = over.members[0].get(&path).await.expect_ok()["export"].clone();
    assert_eq!(export["certificates"], json!([mine]));

    // Neither a name nor a course that changes changes it.
    let member = over.members[0].clone();
    member.change_self(json!({ "name": "Zohra" })).await.expect_ok();
    let mut last = over.sessions[3].clone();
    last["cancelled"] = json!(true);
    let sessions = json!([over.sessions[0], over.sessions[1], over.sessions[2], last]);
    over.course.plan(sessions).await.expect_ok();
    assert_eq!(over.verified(&code).await, shown);
    over.course.world.deliver().await;
    over.course.world.sweep().await;
    let mails = over.course.world.mails(user.email.as_str()).await;
    let mail = mails.iter().find(|mail| mail["subject"].as_str().unwrap().starts_with(ISSUED));
    let text = mail.unwrap()["text"].as_str().unwrap();
    assert!(text.contains(&format!("https://front.example.org/certificates/{code}")), "{text}");

    // At its end it is expired, and the person can get another one.
    over.pass(HOUR * 24 * 731).await;
    assert_eq!(over.verified(&code).await["status"], "EXPIRED");
    assert_eq!(over.summary(0).await["status"], "EXPIRED");
    let again = over.issue(json!({})).await;
    assert_eq!(again["issued"], 1);
    assert_ne!(again["results"][0]["code"], json!(code));
}

#[tokio::test]
async fn second_issue_and_dry_run_store_nothing() {
    let over = Over::with(3).await;
    let names = |place: usize| json!(over.members[place].user().user_id);
    let stored = || over.course.world.items_of("CERTIFICATE#").len();
    let dry = over.issue(json!({ "dryRun": true })).await;
    expect_fields(&dry, json!({ "issued": 3, "already": 0, "remaining": 0 }));
    assert_eq!((dry["results"][0]["code"].clone(), stored()), (Value::Null, 0));
    let first = over.issue(json!({ "userIDs": [names(1)] })).await;
    let all = over.issue(json!({})).await;
    expect_fields(&all, json!({ "issued": 2, "already": 1 }));
    // By number, which is the order of registration.
    let order: Vec<&Value> =
        all["results"].as_array().unwrap().iter().map(|one| &one["userID"]).collect();
    assert_eq!(order, [&names(0), &names(1), &names(2)]);
    assert_eq!(all["results"][1]["result"], "ALREADY");
    assert_eq!(all["results"][1]["code"], first["results"][0]["code"]);
    let again = over.issue(json!({ "userIDs": [names(2), names(0)] })).await;
    expect_fields(&again, json!({ "issued": 0, "already": 2 }));
    assert_eq!(again["results"][0]["userID"], names(2));
    assert_eq!(stored(), 3);
    over.course.world.deliver().await;
    over.course.world.sweep().await;
    for member in &over.members {
        let subjects = subjects(&over.course.world, member).await;
        assert_eq!(subjects.iter().filter(|one| *one == ISSUED).count(), 1);
    }
    let audit = over.course.world.admin().await.get("/audit").await.expect_ok()["audit"].clone();
    let issued: Vec<&Value> = audit
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["action"] == "CERTIFICATES_ISSUED")
        .map(|entry| &entry["after"])
        .collect();
    let entry = |count: u32| json!({ "certificates": count, "override": false });
    assert_eq!(issued, [&entry(2), &entry(1)]);
}

#[tokio::test]
async fn people_are_refused_for_the_first_reason_that_holds() {
    let over = Over::attended(4, 3).await;
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|place| over.members[place].clone());
    // 540 of 720 minutes are 75 percent.
    let cancel = format!("{}/cancel", over.course.path_of(&second));
    over.course.trainer.post(&cancel, json!({})).await.expect_ok();
    let unmark = |person, place: usize| hand(person, &over.sessions[place], "NONE", 1);
    over.course.mark(json!([0, 1, 2].map(|place| unmark(&third, place)))).await;
    let user = over.course.world.user(fourth.user().user_id).await;
    over.course
        .world
        .changed_account(&user, |user| {
            user.name = "Li \u{200d}山".parse().unwrap();
            user.last_name = "山田 Ben".parse().unwrap();
        })
        .await;
    let stranger = over.course.world.member().await;
    let ids: Vec<_> = [&first, &second, &third, &fourth, &stranger]
        .map(|person| person.user().user_id.to_string())
        .into();
    let issued = over.issue(json!({ "userIDs": ids, "override": true })).await;
    let refused = |place: usize| issued["results"][place]["RESPONSE_CODE"].clone();
    assert_eq!(issued["results"][0]["result"], "ISSUED", "too few minutes are enough");
    assert_eq!(refused(1), "REGISTRATION_NOT_CONFIRMED_MESSAGE");
    assert_eq!(refused(2), "NOT_MARKED_MESSAGE");
    assert_eq!(refused(3), "NAME_NOT_PRINTABLE_MESSAGE");
    assert_eq!(issued["results"][3]["characters"], json!(["山", "田"]));
    assert_eq!(refused(4), "REGISTRATION_NOT_CONFIRMED_MESSAGE");
    assert_eq!(issued["results"][1]["characters"], Value::Null);
    let counts =
        json!({ "notConfirmed": 2, "notMarked": 1, "notEnough": 0, "nameNotPrintable": 1 });
    assert_eq!(issued["refused"], counts);
    // Without the override too few minutes come before the name; a lower minimum lets them in.
    let all = over.issue(json!({ "dryRun": true })).await;
    expect_fields(&all, json!({ "issued": 0, "already": 1 }));
    let counts =
        json!({ "notConfirmed": 0, "notMarked": 1, "notEnough": 1, "nameNotPrintable": 0 });
    assert_eq!(all["refused"], counts);
    let rules = json!({ "kind": "ATTENDANCE", "minimumPercent": 75 });
    over.course.set(giving(rules)).await.expect_ok();
    over.course
        .world
        .changed_account(&over.course.world.user(fourth.user().user_id).await, |user| {
            user.name = "Li".parse().unwrap();
            user.last_name = "ⵙⴰⵍⵎⴰ".parse().unwrap();
        })
        .await;
    expect_fields(&over.issue(json!({})).await, json!({ "issued": 1, "already": 1 }));
}

#[tokio::test]
async fn course_that_gives_no_certificates_returns_409() {
    let refused = async |course: &Course, error| {
        let body = json!({ "dryRun": true });
        course.trainer.post(&course.path("/certificates"), body).await.expect_error(error);
    };
    let (course, sessions) = Course::of_two_days().await;
    refused(&course, ErrorCode::CertificatesDisabled).await;
    course.set(giving(json!({ "kind": "ATTENDANCE" }))).await.expect_ok();
    refused(&course, ErrorCode::CourseNotEnded).await;
    let mut cancelled = sessions.clone();
    cancelled.iter_mut().for_each(|session| session["cancelled"] = json!(true));
    course.plan(json!(cancelled)).await.expect_ok();
    refused(&course, ErrorCode::CourseWithoutSessions).await;
    course.plan(json!(sessions)).await.expect_ok();
    let reason = json!({ "reason": "Salle fermée" });
    course.trainer.post(&course.path("/cancel-course"), reason).await.expect_ok();
    refused(&course, ErrorCode::CourseNotEnded).await;
    let mut over = Over { course, members: Vec::new(), sessions };
    over.pass(HOUR * 40).await;
    refused(&over.course, ErrorCode::CourseCancelled).await;
}

#[tokio::test]
async fn texts_that_cannot_be_printed_are_named() {
    let over = Over::with(1).await;
    let certificate =
        json!({ "kind": "ATTENDANCE", "text": "Bravo 🎉🎉", "signedBy": "山", "signedAs": "OK" });
    over.course.set(giving(certificate)).await.expect_ok();
    let mut sessions = over.sessions.clone();
    sessions[0]["trainers"] = json!(["Nizar", "田中"]);
    sessions[1]["trainers"] = json!(["田"]);
    sessions[1]["cancelled"] = json!(true);
    over.course.plan(json!(sessions)).await.expect_ok();
    let path = over.course.path("/certificates");
    let answer = over.course.trainer.post(&path, json!({ "dryRun": true })).await;
    answer.expect_error(ErrorCode::CertificatesNotPrintable);
    let errors = answer.json()["errors"].clone();
    let named: Vec<(&Value, &Value)> = errors
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (&error["field"], &error["characters"]))
        .collect();
    assert_eq!(
        named,
        [
            (&json!("certificate.text"), &json!(["🎉"])),
            (&json!("certificate.signedBy"), &json!(["山"])),
            (&json!("sessions[0].trainers[1]"), &json!(["田", "中"])),
        ]
    );
}

#[tokio::test]
async fn issue_reads_its_fields_and_needs_the_right_to_publish() {
    let over = Over::with(1).await;
    let (course, path) = (&over.course, over.course.path("/certificates"));
    let send = async |body: Value| course.trainer.post(&path, body).await;
    let id = over.members[0].user().user_id;
    let required = ErrorCode::FieldRequired;
    send(json!({ "userIDs": [] })).await.expect_field_error("userIDs", required);
    let twice = send(json!({ "userIDs": [id, id] })).await;
    twice.expect_field_error("userIDs[1]", ErrorCode::FieldValue);
    let alone = send(json!({ "override": true })).await;
    alone.expect_field_error("override", ErrorCode::FieldValue);
    let many: Vec<_> = (0..501).map(|_| id).collect();
    let many = send(json!({ "userIDs": many })).await;
    many.expect_field_error("userIDs", ErrorCode::FieldLength);
    let settings = |certificate: Value| course.set(giving(certificate));
    let without_kind = settings(json!({})).await;
    without_kind.expect_field_error("certificate.kind", required);
    let months = settings(json!({ "kind": "ATTENDANCE", "validMonths": 121 })).await;
    months.expect_field_error("certificate.validMonths", ErrorCode::FieldValue);
    settings(json!([])).await.expect_field_error("certificate", ErrorCode::FieldType);

    let writer = over.colleague(Profile::Trainer).await;
    let forbidden = over.members[0].post(&path, json!({})).await;
    forbidden.expect_error(ErrorCode::Forbidden);
    writer.post(&path, json!({})).await.expect_error(ErrorCode::Forbidden);
    // An archived course still gives them.
    let archived = course.trainer.delete(&format!("/courses/{}", course.id)).await;
    archived.expect_success(Message::CourseArchived);
    expect_fields(&over.issue(json!({})).await, json!({ "issued": 1 }));
    let other = Course::in_world(over.course.world.clone(), automatic(1, 0)).await;
    assert!(other.trainer.get(&format!("/courses/{}", other.id)).await.expect_ok()["registration"]
        ["certificate"]
        .is_null());
}
