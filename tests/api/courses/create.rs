use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, World};

use super::{created_course, payload};

#[tokio::test]
async fn new_course_is_a_draft_of_its_author_with_all_fields() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let course = created_course(&trainer, json!({ "courseTitle": "  Soudure  ", "committeeID": "x", "state": "PUBLISHED", "version": "x" })).await;
    let expected = json!({
        "courseID": course["courseID"], "committeeID": world.committee(), "courseTitle": "Soudure", "courseSubTitle": null,
        "description": null, "price": null, "currency": "TND", "location": null, "courseType": null, "sectionOfMatter": null,
        "language": "FR", "region": null, "city": null, "contactPerson": null, "contactPhone": null, "contactEmail": null,
        "startAt": null, "endAt": null, "state": "DRAFT", "version": 1, "questionCount": 0, "createdBy": trainer.user().user_id,
        "createdAt": course["createdAt"], "updatedAt": course["createdAt"], "publishedAt": null,
    });
    assert_eq!(course, expected);
}

#[tokio::test]
async fn all_course_fields_are_stored() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let payload = json!({
        "courseTitle": "تكوين في السلامة المهنية", "courseSubTitle": "Niveau 1 👷", "description": "السطر الأول\n\tالسطر الثاني  ",
        "price": 19.9, "currency": "EUR", "location": "Salle 3, 2ᵉ étage", "courseType": "HYBRID", "sectionOfMatter": "Sécurité",
        "language": "AR", "region": "Sfax", "city": "صفاقس", "contactPerson": "أمل التونسي", "contactPhone": "+21674000101",
        "contactEmail": "Cours@EXAMPLE.org", "startAt": "2027-01-10", "endAt": "2027-01-12T17:00:00+01:00",
    });
    let course = created_course(&trainer, payload.clone()).await;
    let again = trainer
        .get(&format!("/courses/{}", course["courseID"].as_str().unwrap()))
        .await
        .expect_ok()["course"]
        .clone();
    assert_eq!(again, course);
    let mut expected = payload;
    expected["contactEmail"] = json!("cours@example.org");
    expected["startAt"] = json!("2027-01-10T00:00:00.000Z");
    expected["endAt"] = json!("2027-01-12T16:00:00.000Z");
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&course[field], value, "{field}");
    }
}

#[tokio::test]
async fn invalid_field_is_reported() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let long = |length: usize| "é".repeat(length);
    for (field, value, error_code) in [
        ("courseTitle", json!(""), ErrorCode::FieldRequired),
        ("courseTitle", json!(null), ErrorCode::FieldRequired),
        ("courseTitle", json!("   "), ErrorCode::FieldRequired),
        ("courseTitle", json!(7), ErrorCode::FieldType),
        ("courseTitle", json!(long(201)), ErrorCode::FieldLength),
        ("courseTitle", json!("a\nb"), ErrorCode::FieldFormat),
        ("courseSubTitle", json!(long(301)), ErrorCode::FieldLength),
        ("description", json!(long(20_001)), ErrorCode::FieldLength),
        ("description", json!("a\u{0}b"), ErrorCode::FieldFormat),
        ("description", json!(["x"]), ErrorCode::FieldType),
        ("price", json!("19.9"), ErrorCode::FieldType),
        ("price", json!(""), ErrorCode::FieldType),
        ("price", json!(-1), ErrorCode::FieldValue),
        ("price", json!(19.999), ErrorCode::FieldFormat),
        ("price", json!(1e10), ErrorCode::FieldValue),
        ("currency", json!("DINAR"), ErrorCode::FieldValue),
        ("currency", json!(null), ErrorCode::FieldType),
        ("language", json!(null), ErrorCode::FieldType),
        ("currency", json!("tnd"), ErrorCode::FieldValue),
        ("courseType", json!("onsite"), ErrorCode::FieldValue),
        ("courseType", json!(1), ErrorCode::FieldType),
        ("language", json!("fr"), ErrorCode::FieldFormat),
        ("location", json!(long(301)), ErrorCode::FieldLength),
        ("sectionOfMatter", json!(long(101)), ErrorCode::FieldLength),
        ("region", json!(long(101)), ErrorCode::FieldLength),
        ("city", json!("a\tb"), ErrorCode::FieldFormat),
        ("contactPerson", json!(long(101)), ErrorCode::FieldLength),
        ("contactPhone", json!("74000101"), ErrorCode::FieldFormat),
        ("contactPhone", json!("+2167400010"), ErrorCode::FieldValue),
        ("contactEmail", json!("nobody"), ErrorCode::EmailInvalid),
        ("startAt", json!("tomorrow"), ErrorCode::FieldFormat),
        ("endAt", json!(1_800_000_000), ErrorCode::FieldType),
    ] {
        let mut body = json!({ "courseTitle": "x" });
        body[field] = value;
        trainer.post("/courses", body).await.expect_field_error(field, error_code);
    }
    let backwards =
        json!({ "courseTitle": "x", "startAt": "2027-01-02", "endAt": "2027-01-01T23:59:59Z" });
    trainer.post("/courses", backwards).await.expect_field_error("endAt", ErrorCode::FieldValue);
    trainer
        .post(
            "/courses",
            json!({ "courseTitle": "x", "startAt": "2027-01-02", "endAt": "2027-01-02" }),
        )
        .await
        .expect_success(Message::CourseCreated);
    let several = trainer.post("/courses", json!({ "price": "x", "language": "x" })).await;
    several.expect_error(ErrorCode::Validation);
    assert_eq!(several.errors().len(), 3);
}

#[tokio::test]
async fn price_is_never_rounded() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let send = |price: &str| {
        let body = format!(r#"{{"courseTitle":"x","price":{price}}}"#);
        let trainer = trainer.json();
        async move { trainer.send(http::Method::POST, "/api/v1/courses", body.into()).await }
    };
    for (price, rendered) in [
        ("0", "0"),
        ("0.10", "0.1"),
        ("19.99", "19.99"),
        ("1e2", "100"),
        ("9999999999.99", "9999999999.99"),
        ("250.0", "250"),
    ] {
        let answer = send(price).await;
        answer.expect_success(Message::CourseCreated);
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(body.contains(&format!(r#""price":{rendered},"#)), "{price}: {body}");
    }
    // the nearest doubles are 19.99 and 0.1
    for price in ["19.9900000000000000000001", "0.1000000000000000055511151231257827"] {
        send(price).await.expect_field_error("price", ErrorCode::FieldFormat);
    }
}

#[tokio::test]
async fn caller_without_the_right_cannot_create_course() {
    let world = World::new().await;
    let member = world.member().await;
    member.post("/courses", payload("x")).await.expect_error(ErrorCode::Forbidden);
    world
        .person(NewPerson::with(Profile::Member).granted(&[Grant::CoursesWrite]))
        .await
        .post("/courses", payload("x"))
        .await
        .expect_success(Message::CourseCreated);
    world
        .person(NewPerson::with(Profile::Trainer).unverified())
        .await
        .post("/courses", payload("x"))
        .await
        .expect_error(ErrorCode::AccountNotVerified);
    let closed = world.another_committee("Fermé", false).await;
    world
        .person(NewPerson::with(Profile::Trainer).of(closed))
        .await
        .post("/courses", payload("x"))
        .await
        .expect_error(ErrorCode::CommitteeInactive);
    let items = world.items("records");
    let courses = items
        .iter()
        .filter(|item: &&Value| item["pk"]["S"].as_str().unwrap().starts_with("COURSE#"));
    assert_eq!(courses.count(), 1);
}
