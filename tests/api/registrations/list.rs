use common::ErrorCode;
use domain::{Profile, user::User};
use serde_json::{Value, json};
use tests::expect_fields;

use super::{Course, automatic};

/// The numbers of the registrations on all pages of `query`.
async fn numbers(course: &Course, query: &str) -> Vec<u64> {
    let path = course.path(&format!("?limit=2{query}"));
    let all: Vec<Value> = course.trainer.pages(&path, "registrations").await;
    all.iter().map(|card| card["number"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn registrations_are_listed_by_number_or_name_in_every_state() {
    let course = Course::with(automatic(2, 5)).await;
    for last_name in ["Zouari", "Évian", "Ben Salah", "Benali", "بن صالح"] {
        let user = course.world.unhashed_account(Profile::Member).await;
        let named = |user: &mut User| user.last_name = last_name.parse().unwrap();
        let after = course.world.changed_account(&user, named).await;
        let member = course.world.signed_in(after).await;
        course.register(&member).await.expect_created();
    }
    assert_eq!(numbers(&course, "").await, [1, 2, 3, 4, 5]);
    assert_eq!(numbers(&course, "&state=WAITLISTED").await, [3, 4, 5]);
    assert_eq!(numbers(&course, "&order=name").await, [3, 4, 2, 1, 5]);
    assert_eq!(numbers(&course, "&order=name&q=BEN").await, [3, 4]);
    assert_eq!(numbers(&course, "&order=name&q=%C3%A9v").await, [2]);
    assert_eq!(numbers(&course, "&order=name&q=%D8%A8%D9%86").await, [5]);
    let body = course.trainer.get(&course.path("?limit=1")).await.expect_ok();
    assert_eq!(body["counts"], json!({ "pending": 0, "waitlisted": 3, "confirmed": 2 }));
    expect_fields(
        &body["registrations"][0],
        json!({ "number": 1, "lastName": "Zouari", "missing": 0 }),
    );
    let member = course.world.member().await;
    member.get(&course.path("")).await.expect_error(ErrorCode::Forbidden);
}
