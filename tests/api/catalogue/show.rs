use common::ErrorCode;
use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, World, expect_fields};

use super::{announced, titles};
use crate::registrations::DAY;

#[tokio::test]
async fn course_shows_its_card_description_and_contact() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let start = world.clock().now().after(DAY);
    let content =
        json!({ "contactPerson": "Amel", "contactPhone": "+21674000103", "startAt": start });
    let id = announced(&trainer, content).await;
    let visitor = world.anonymous();
    let path = format!("/catalogue/{}", id.to_uppercase());
    let answer = visitor.get(&path).await;
    assert_eq!(answer.header("cache-control"), "public, max-age=60");
    let body = answer.expect_ok();
    let mut card = visitor.get("/catalogue").await.expect_ok()["courses"][0].clone();
    for (field, value) in [
        ("description", "Tout ce qu’il faut savoir, en trois jours."),
        ("contactPerson", "Amel"),
        ("contactPhone", "+21674000103"),
        ("contactEmail", "cours@example.org"),
    ] {
        card[field] = json!(value);
    }
    card["sessions"] = json!([]);
    assert_eq!(body, json!({ "code": 200, "course": card }));
    world.clock().advance(DAY * 2);
    assert_eq!(titles(&world, "", 20).await, [""; 0]);
    let over = visitor.get(&path).await.expect_ok();
    expect_fields(&over["course"]["registration"], json!({ "status": "DISABLED" }));
}

/// What is not in the catalogue cannot be told from what does not exist.
#[tokio::test]
async fn course_that_is_not_announced_is_unknown() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let trainer = world.person(NewPerson::with(Profile::Trainer).of(elsewhere)).await;
    let (admin, visitor) = (world.admin().await, world.anonymous());
    let id = announced(&trainer, json!({})).await;
    world.deliver().await;
    let unknown = visitor.get("/catalogue/0198c0de-0000-7000-8000-0000000000ff").await;
    unknown.expect_error(ErrorCode::CourseNotFound);
    visitor.get("/catalogue/x").await.expect_error(ErrorCode::CourseNotFound);
    let course = format!("/courses/{id}");
    let committee = format!("/committees/{elsewhere}");
    let close = |is_active: bool| json!({ "isActive": is_active });
    let of_committee = format!("committeeID={elsewhere}");
    let queries = ["", "order=newest", "q=soudure", of_committee.as_str()];
    let expect = async |is_there: bool, after: &str| {
        let answer = visitor.get(&format!("/catalogue/{id}")).await;
        let count = if is_there {
            answer.expect_ok();
            1
        } else {
            assert_eq!((answer.status, &answer.body), (unknown.status, &unknown.body), "{after}");
            assert!(answer.header("cache-control").is_empty(), "{after}");
            0
        };
        for query in queries {
            assert_eq!(titles(&world, query, 20).await.len(), count, "{after}: {query}");
        }
    };
    expect(true, "publish").await;
    trainer.post(&format!("{course}/to-draft"), json!({})).await.expect_ok();
    expect(false, "to-draft").await;
    trainer.post(&format!("{course}/publish"), json!({})).await.expect_ok();
    expect(true, "publish again").await;
    admin.put(&committee, close(false)).await.expect_ok();
    expect(false, "close").await;
    admin.put(&committee, close(true)).await.expect_ok();
    expect(true, "open").await;
    let copy = trainer.post(&format!("{course}/copy"), json!({})).await.expect_created();
    let copy = copy["course"]["courseID"].as_str().unwrap().to_owned();
    visitor.get(&format!("/catalogue/{copy}")).await.expect_error(ErrorCode::CourseNotFound);
    let path = format!("/registrations/{id}/cancel-course");
    trainer.post(&path, json!({ "reason": "x" })).await.expect_ok();
    expect(false, "cancel").await;
    for act in ["to-draft", "publish"] {
        trainer.post(&format!("{course}/{act}"), json!({})).await.expect_ok();
    }
    expect(false, "publish what is cancelled").await;
    trainer.delete(&course).await.expect_ok();
    expect(false, "archive").await;
    let left = world.items("records").into_iter();
    assert_eq!(left.filter(|item| item["cataloguePk"] != Value::Null).count(), 0);
}
