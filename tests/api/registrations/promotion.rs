//! Seats under concurrency, and who gets them.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::json;
use tests::{Answer, Person, World, expect_fields};

use super::{Course, automatic, subjects};

async fn members(course: &Course, count: usize) -> Vec<Person> {
    let mut members = Vec::new();
    for _ in 0..count {
        let user = course.world.unhashed_account(Profile::Member).await;
        members.push(course.world.signed_in(user).await);
    }
    members
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_registrations_fill_seats_and_list_exactly() {
    let world = World::in_folder(&[("RATE_LIMIT", "100000")]).await;
    let course = Course::in_world(world, automatic(10, 20)).await;
    let people = members(&course, 100).await;
    let calls = people.iter().map(|person| {
        let (person, path) = (person.clone(), course.path(""));
        tokio::spawn(async move { person.post_until_answered(&path, json!({})).await })
    });
    let answers: Vec<_> =
        join_all(calls.collect::<Vec<_>>()).await.into_iter().map(Result::unwrap).collect();
    // On a busy machine a repeated request may meet the registration of the first one.
    let state =
        |answer: &Answer| answer.json()["registration"]["state"].as_str().map(str::to_owned);
    let in_state = |wanted: &str| {
        answers.iter().filter(|answer| state(answer).as_deref() == Some(wanted)).count()
    };
    let full = answers.iter().filter(|answer| answer.code() == ErrorCode::CourseFull.code());
    let counts = [in_state("CONFIRMED"), in_state("WAITLISTED"), full.count()];
    assert_eq!(counts, [10, 20, 70], "{:?}", answers.iter().find(|one| one.status >= 500));
    assert_eq!(course.counts().await, [0, 20, 10]);
    let mut waiting = Vec::new();
    for (person, answer) in people.iter().zip(&answers) {
        if state(answer).as_deref() == Some("WAITLISTED") {
            let seen = course.seen(person).await;
            waiting.push((seen["number"].as_u64().unwrap(), seen["position"].as_u64().unwrap()));
        }
    }
    waiting.sort_unstable();
    let positions: Vec<u64> = waiting.iter().map(|(_, position)| *position).collect();
    assert_eq!(positions, Vec::from_iter(1..=20), "numbers are in the order of the list");
}

#[tokio::test]
async fn raised_capacity_promotes_in_the_order_of_numbers() {
    let course = Course::with(automatic(1, 10)).await;
    let mut people = Vec::new();
    for _ in 0..5 {
        people.push(course.registered().await.0);
    }
    course.set(automatic(3, 10)).await.expect_ok();
    course.world.deliver().await;
    let mut states = Vec::new();
    for person in &people {
        states.push(course.state(person).await);
    }
    assert_eq!(states, ["CONFIRMED", "CONFIRMED", "CONFIRMED", "WAITLISTED", "WAITLISTED"]);
    assert_eq!(course.counts().await, [0, 2, 3]);
    course.set(json!({ "mode": "NONE" })).await.expect_ok();
    course.world.deliver().await;
    assert_eq!(course.counts().await, [0, 0, 5], "without a limit nobody waits");
}

#[tokio::test]
async fn sweep_promotes_what_the_stream_has_missed() {
    let course = Course::with(automatic(1, 10)).await;
    let (first, _) = course.registered().await;
    let (second, _) = course.registered().await;
    course.world.deliver().await;
    let cancel = format!("{}/cancel", course.path_of(&first));
    first.post(&cancel, json!({})).await.expect_ok();
    course.world.clock().advance(Duration::from_secs(61));
    course.world.sweep().await;
    assert_eq!(course.state(&second).await, "CONFIRMED");
}

#[tokio::test]
async fn inactive_account_keeps_its_place_and_is_skipped() {
    let course = Course::with(automatic(1, 10)).await;
    let (first, _) = course.registered().await;
    let (closed, _) = course.registered().await;
    let (third, _) = course.registered().await;
    let admin = course.world.admin().await;
    admin.set_active(closed.user().user_id, false).await;
    let cancel = format!("{}/cancel", course.path_of(&first));
    first.post(&cancel, json!({})).await.expect_ok();
    course.world.deliver().await;
    assert_eq!(course.state(&third).await, "CONFIRMED");
    assert_eq!(course.counts().await, [0, 1, 1]);
}

#[tokio::test]
async fn account_or_committee_that_is_active_again_is_promoted() {
    let course = Course::with(automatic(1, 10)).await;
    let (first, _) = course.registered().await;
    let (second, _) = course.registered().await;
    let (third, _) = course.registered().await;
    let admin = course.world.admin().await;
    admin.set_active(second.user().user_id, false).await;
    let committee = format!("/committees/{}", course.trainer.user().committee_id);
    admin.put(&committee, json!({ "isActive": false })).await.expect_ok();
    let cancel = |person: &Person| format!("{}/cancel", course.path_of(person));
    first.post(&cancel(&first), json!({})).await.expect_ok();
    course.world.deliver().await;
    assert_eq!(course.state(&third).await, "WAITLISTED", "the committee is closed");
    admin.put(&committee, json!({ "isActive": true })).await.expect_ok();
    course.world.deliver().await;
    assert_eq!(course.state(&third).await, "CONFIRMED");
    third.post(&cancel(&third), json!({})).await.expect_ok();
    course.world.deliver().await;
    assert_eq!(course.counts().await, [0, 1, 0], "only a closed account waits");
    admin.set_active(second.user().user_id, true).await;
    course.world.deliver().await;
    assert_eq!(course.counts().await, [0, 0, 1]);
}

#[tokio::test]
async fn account_is_shown_as_it_is_when_the_registration_is_read() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let path = format!("/users/{}", member.user().user_id);
    for name in ["Rim", "Sana"] {
        member.put(&path, json!({ "name": name, "lastName": "Zribi" })).await.expect_ok();
        assert_eq!(course.seen(&member).await["person"]["name"], name);
        let listed = course.trainer.get(&course.path("?order=name")).await.expect_ok();
        assert_eq!(listed["registrations"][0]["name"], name);
        let none = course.trainer.get(&course.path("?q=zribi")).await.expect_ok();
        assert_eq!(none["registrations"], json!([]), "listed by the name at the last change");
    }
}

#[tokio::test]
async fn promotion_pauses_while_the_course_is_a_draft() {
    let course = Course::with(automatic(1, 10)).await;
    let (first, _) = course.registered().await;
    let (second, _) = course.registered().await;
    let path = format!("/courses/{}", course.id);
    course.trainer.post(&format!("{path}/to-draft"), json!({})).await.expect_ok();
    let cancel = format!("{}/cancel", course.path_of(&first));
    first.post(&cancel, json!({})).await.expect_ok();
    course.world.deliver().await;
    assert_eq!(course.state(&second).await, "WAITLISTED");
    course.trainer.post(&format!("{path}/publish"), json!({})).await.expect_ok();
    course.world.deliver().await;
    assert_eq!(course.state(&second).await, "CONFIRMED");
    assert_eq!(subjects(&course.world, &second).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_changes_keep_counters_equal_to_registrations() {
    let course = Course::with(automatic(5, 50)).await;
    let people = members(&course, 30).await;
    for person in &people {
        course.register(person).await.expect_created();
    }
    let trainer = course.trainer.clone();
    let settings = (6..10).map(|capacity| {
        let (trainer, path) = (trainer.clone(), course.path("/settings"));
        tokio::spawn(async move { trainer.put(&path, automatic(capacity, 50)).await })
    });
    let cancels = people.iter().step_by(3).map(|person| {
        let (person, path) = (person.clone(), format!("{}/cancel", course.path_of(person)));
        tokio::spawn(async move { person.post(&path, json!({})).await })
    });
    // Half of them are those whom the person cancels at the same time.
    let by_writer = people.iter().step_by(2).map(|person| {
        let (trainer, path) = (trainer.clone(), format!("{}/cancel", course.path_of(person)));
        tokio::spawn(async move { trainer.post(&path, json!({})).await })
    });
    let calls: Vec<_> = settings.chain(cancels).chain(by_writer).collect();
    let world = course.world.clone();
    let (answers, ()) = tokio::join!(join_all(calls), world.deliver());
    for answer in answers {
        let answer = answer.unwrap();
        assert!(answer.status < 500, "{answer:?}");
    }
    course.world.deliver().await;
    course.world.clock().advance(Duration::from_secs(61));
    course.world.sweep().await;
    course.world.deliver().await;
    let [_, waiting, confirmed] = course.counts().await;
    let page = course.trainer.get(&course.path("/availability")).await.expect_ok();
    let capacity = page["availability"]["capacity"].as_u64().unwrap();
    assert!(confirmed <= capacity && (waiting == 0 || confirmed == capacity));
    expect_fields(&page["availability"], json!({ "taken": confirmed, "waiting": waiting }));
}

#[tokio::test]
async fn erased_person_gives_the_seat_away_and_leaves_no_data() {
    let course = Course::with(automatic(1, 10)).await;
    let (first, registration) = course.registered().await;
    let (second, _) = course.registered().await;
    let admin = course.world.admin().await;
    let path = format!("/users/{}", first.user().user_id);
    admin.delete(&path).await.expect_success(Message::UserDeleted);
    course.world.deliver().await;
    assert_eq!(course.state(&second).await, "CONFIRMED");
    let seen = course.trainer.get(&course.path_of(&first)).await.expect_ok();
    let seen = &seen["registration"];
    expect_fields(
        seen,
        json!({ "state": "CANCELLED", "cancelledBy": "SYSTEM", "history": [], "answers": [] }),
    );
    expect_fields(
        &seen["person"],
        json!({ "name": "Compte", "lastName": "supprimé", "email": null, "phone": null }),
    );
    assert_eq!(seen["number"], registration["number"]);
    assert_eq!(course.counts().await, [0, 0, 1]);
}
