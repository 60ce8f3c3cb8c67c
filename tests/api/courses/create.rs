use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::World;

use super::created_course;

#[tokio::test]
async fn new_course_is_a_draft_of_its_author_with_all_fields() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let course = created_course(&trainer, json!({ "courseTitle": "  Soudure  ", "committeeID": "x", "state": "PUBLISHED", "version": "x" })).await;
    let expected = json!({
        "courseID": course["courseID"], "committeeID": world.committee(), "courseTitle": "Soudure", "courseSubTitle": null,
        "description": null, "price": null, "currency": "TND", "location": null, "courseType": null, "sectionOfMatter": null,
        "language": "FR", "region": null, "city": null, "contactPerson": null, "contactPhone": null, "contactEmail": null,
        "startAt": null, "endAt": null, "state": "DRAFT", "cancelledAt": null, "version": 1, "questionCount": 0, "createdBy": trainer.user().user_id,
        "createdAt": course["createdAt"], "updatedAt": course["createdAt"], "publishedAt": null,
    });
    assert_eq!(course, expected);
}

#[tokio::test]
async fn all_course_fields_are_stored() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let payload = json!({
        "courseTitle": "تكوين في السلامة المهنية", "courseSubTitle": "Niveau 1 👷", "description": "السطر الأول\n\tالسطر الثاني  ",
        "price": 19.9, "currency": "EUR", "location": "Salle 3, 2ᵉ étage", "courseType": "HYBRID", "sectionOfMatter": "Sécurité",
        "language": "AR", "region": "Sfax", "city": "صفاقس", "contactPerson": "أمل التونسي", "contactPhone": "+21674000101",
        "contactEmail": "Cours@EXAMPLE.org", "startAt": "2027-01-10", "endAt": "2027-01-12T17:00:00+01:00",
    });
    let course = created_course(&trainer, payload.clone()).await;
    let answer = trainer.get(&format!("/courses/{}", course["courseID"].as_str().unwrap())).await;
    assert_eq!(answer.expect_ok()["course"].clone(), course);
    let mut expected = payload;
    expected["contactEmail"] = json!("cours@example.org");
    expected["startAt"] = json!("2027-01-10T00:00:00.000Z");
    expected["endAt"] = json!("2027-01-12T16:00:00.000Z");
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&course[field], value, "{field}");
    }
}

#[tokio::test]
async fn rules_beyond_the_schema_are_reported() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    for (field, value, error_code) in [
        ("price", json!(19.9995), ErrorCode::FieldFormat),
        ("currency", json!("DINAR"), ErrorCode::FieldValue),
        ("currency", json!("HRK"), ErrorCode::FieldValue),
        ("currency", json!("XXX"), ErrorCode::FieldValue),
        ("contactPhone", json!("+2167400010"), ErrorCode::FieldFormat),
        ("startAt", json!("2027-02-30"), ErrorCode::FieldFormat),
        ("endAt", json!("2026-12-31T23:59:59Z"), ErrorCode::FieldValue),
    ] {
        let mut body = json!({ "courseTitle": "x", "startAt": "2027-01-01" });
        body[field] = value;
        trainer.post("/courses", body).await.expect_field_error(field, error_code);
    }
    let one_day = json!({ "courseTitle": "x", "startAt": "2027-01-02", "endAt": "2027-01-02" });
    trainer.post("/courses", one_day).await.expect_success(Message::CourseCreated);
}

#[tokio::test]
async fn price_has_the_decimals_of_its_currency_at_most() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    for (currency, right, wrong) in
        [("TND", 9.999, 9.9999), ("EUR", 9.99, 9.999), ("JPY", 9.0, 9.5), ("KWD", 9.999, 9.9999)]
    {
        let course = |price| json!({ "courseTitle": "x", "currency": currency, "price": price });
        trainer.post("/courses", course(right)).await.expect_success(Message::CourseCreated);
        let refused = trainer.post("/courses", course(wrong)).await;
        refused.expect_field_error("price", ErrorCode::FieldFormat);
    }
}

#[tokio::test]
async fn price_is_never_rounded() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
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
