use common::ErrorCode;
use domain::{
    CourseId, Profile,
    attendance::Ticket,
    registration::{Admission, Registration, RegistrationState::Waitlisted},
    user::User,
};
use serde_json::{Value, json};
use store::SeatRule;
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
    for query in ["&order=name&q=BEN", "&q=ben", "&q=%20ben%20"] {
        assert_eq!(numbers(&course, query).await, [3, 4], "{query}");
    }
    assert_eq!(numbers(&course, "&q=Ben%20S").await, [3]);
    let by_number = course.trainer.get(&course.path("?order=number&q=ben")).await;
    by_number.expect_field_error("order", ErrorCode::FieldValue);
    // Keys of the list have only the beginnings of names.
    let long = "%D8%A8%D9%86".repeat(50);
    assert_eq!(numbers(&course, &format!("&q={long}")).await, [0; 0]);
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

#[tokio::test]
async fn beginnings_of_long_names_find_those_names_alone() {
    let course = Course::with(automatic(5, 5)).await;
    for end in ["ا", "ب"] {
        let user = course.world.unhashed_account(Profile::Member).await;
        let last_name = format!("{}{end}", "م".repeat(99));
        let named = |user: &mut User| user.last_name = last_name.parse().unwrap();
        let after = course.world.changed_account(&user, named).await;
        course.register(&course.world.signed_in(after).await).await.expect_created();
    }
    let start = "%D9%85".repeat(99);
    assert_eq!(numbers(&course, &format!("&q={start}")).await.len(), 2);
    assert_eq!(numbers(&course, &format!("&q={start}%D8%A8")).await, [2]);
}

#[tokio::test]
async fn page_and_counts_cost_the_same_beside_few_and_many_registrations() {
    let course = Course::with(automatic(0, 10_000)).await;
    let (store, now) = (&course.world.setup().store, course.world.clock().now());
    let mut costs = Vec::new();
    for count in [25, 200] {
        let id: CourseId = course.id.parse().unwrap();
        while store.seats(id).await.unwrap().waiting < count {
            let number = store.next_number(id).await.unwrap();
            let user = course.world.unhashed_account(Profile::Member).await;
            let ticket = Ticket::new([0; 10]);
            let admission = Admission { number, state: Waitlisted, ticket };
            let registration = Registration::new(None, id, &user, admission, now);
            let mut tx = store.transaction();
            tx.move_registrations(id, &[(None, &registration)], SeatRule::None, u64::MAX);
            tx.commit().await.unwrap().expect_committed().unwrap();
        }
        course.world.cloud().settle();
        let page = course.trainer.get(&course.path("?limit=20")).await;
        assert_eq!(page.expect_ok()["counts"]["waitlisted"], count);
        costs.push((page.cost.requests, page.cost.reads));
    }
    assert_eq!(costs[0], costs[1]);
}

#[tokio::test]
async fn included_answers_are_those_of_each_registration() {
    let course = Course::with(automatic(5, 5)).await;
    let text = json!({ "language": "FR", "question": "Pourquoi ?", "questionType": "LONG_REPLY" });
    let question = course.ask(text).await;
    for answer in ["Pour aider.", "Par curiosité."] {
        let (member, _) = course.registered().await;
        let body = json!({ "answers": { &question: answer } });
        member.put(&course.path("/me"), body).await.expect_ok();
    }
    course.registered().await;
    let page = course.trainer.get(&course.path("?include=answers")).await.expect_ok();
    let values: Vec<&Value> =
        (0..3).map(|one| &page["registrations"][one]["answers"][0]["value"]).collect();
    assert_eq!(values, [&json!("Pour aider."), &json!("Par curiosité."), &Value::Null]);
    let without = course.trainer.get(&course.path("")).await.expect_ok();
    assert_eq!(without["registrations"][0].get("answers"), None);
    let unknown = course.trainer.get(&course.path("?include=history")).await;
    unknown.expect_field_error("include", ErrorCode::FieldValue);
}

#[tokio::test]
async fn page_with_long_answers_is_short_and_the_next_begins_after_it() {
    let course = Course::with(automatic(100, 0)).await;
    let text = json!({ "language": "FR", "question": "Pourquoi ?", "questionType": "LONG_REPLY" });
    let mut questions = Vec::new();
    for _ in 0..13 {
        questions.push(course.ask(text.clone()).await);
    }
    // 65,000 bytes: of 70 registrations, 61 fit in one response.
    let answers: Value =
        questions.iter().map(|id| (id.clone(), json!("x".repeat(4_990)))).collect();
    for _ in 0..64 {
        let (member, _) = course.registered().await;
        member.put(&course.path("/me"), json!({ "answers": answers })).await.expect_ok();
    }
    let pages =
        course.trainer.pages(&course.path("?include=answers&limit=100"), "registrations").await;
    let numbers: Vec<u64> = pages.iter().map(|one| one["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, Vec::from_iter(1..=64));
    let first = course.trainer.get(&course.path("?include=answers&limit=100")).await.expect_ok();
    assert!(first["registrations"].as_array().unwrap().len() < 64);
}

#[tokio::test]
async fn included_answers_leave_state_and_version_those_of_the_list() {
    let course = Course::with(json!({ "mode": "MANUAL" })).await;
    let (member, _) = course.registered().await;
    let approve = course.path(&format!("/{}/approve", member.user().user_id));
    let approval = async {
        course.trainer.post(&approve, json!({})).await.expect_ok();
    };
    let path = course.path("?state=PENDING&include=answers");
    let list = course.trainer.get(&path);
    let list =
        course.world.overtaken(("BatchGetItem", "ANSWERS"), list, approval).await.expect_ok();
    let card = &list["registrations"][0];
    expect_fields(card, json!({ "state": "PENDING", "version": 1, "answers": [] }));
}
