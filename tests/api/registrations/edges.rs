//! What holds where features meet: suspended people, moved dates, courses that are over, languages.

use std::time::Duration;

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{NewPerson, Person, World, expect_fields};

use super::{Course, DAY, automatic};

const MINUTE: Duration = Duration::from_secs(60);

fn question(kind: &str, language: &str) -> Value {
    json!({ "language": language, "question": "Q ?", "questionType": kind })
}

fn required(question: Value) -> Value {
    let mut question = question;
    question["required"] = json!(true);
    question
}

impl Course {
    /// Sets fields of the course.
    async fn change(&self, fields: Value) {
        let trainer = self.world.signed_in(self.trainer.user().clone()).await;
        let path = format!("/courses/{}", self.id);
        let mut course = trainer.get(&path).await.expect_ok()["course"].clone();
        course.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        trainer.put(&path, course).await.expect_success(Message::CourseUpdated);
    }

    async fn set_active(&self, person: &Person, is_active: bool) {
        let path = format!("/users/user-status/{}", person.user().user_id);
        let body = json!({ "isActive": is_active });
        self.world.admin().await.put(&path, body).await.expect_ok();
    }

    /// The state of `person` as the trainer sees it, after a new sign-in.
    async fn stored_state(&self, person: &Person) -> String {
        let trainer = self.world.signed_in(self.trainer.user().clone()).await;
        let seen = trainer.get(&self.path_of(person)).await.expect_ok();
        seen["registration"]["state"].as_str().unwrap().to_owned()
    }

    async fn work(&self) {
        self.world.deliver().await;
        self.world.sweep().await;
        self.world.deliver().await;
    }
}

#[tokio::test]
async fn suspended_person_on_a_full_list_keeps_no_free_seat_from_others() {
    for capacity in [json!(1), json!(null)] {
        let course = Course::with(automatic(1, 1)).await;
        let (first, _) = course.registered().await;
        let (suspended, _) = course.registered().await;
        course.set_active(&suspended, false).await;
        let full = course.world.member().await;
        course.register(&full).await.expect_error(ErrorCode::CourseFull);
        let cancel = format!("{}/cancel", course.path_of(&first));
        first.post(&cancel, json!({})).await.expect_ok();
        course.set(json!({ "mode": "AUTOMATIC", "capacity": capacity, "waitlistLimit": 1 })).await;
        course.world.deliver().await;
        let availability = full.get(&course.path("/availability")).await.expect_ok();
        assert_eq!(availability["availability"]["status"], "WAITLIST");
        let created = course.register(&full).await.expect_created();
        assert_eq!(created["registration"]["state"], "WAITLISTED");
        course.world.deliver().await;
        assert_eq!(course.state(&full).await, "CONFIRMED");
        assert_eq!(course.stored_state(&suspended).await, "WAITLISTED");
        assert_eq!(course.counts().await, [0, 1, 1]);
    }
}

#[tokio::test]
async fn suspended_person_gets_no_seat_by_approval() {
    let mut settings = automatic(1, 5);
    settings["mode"] = json!("MANUAL");
    let course = Course::with(settings).await;
    let (pending, _) = course.registered().await;
    course.set_active(&pending, false).await;
    let approve = format!("{}/approve", course.path_of(&pending));
    for body in [json!({}), json!({ "addSeat": true }), json!({})] {
        let body = course.trainer.post(&approve, body).await.expect_ok();
        assert_eq!(body["registration"]["state"], "WAITLISTED");
    }
    course.set_active(&pending, true).await;
    course.world.deliver().await;
    assert_eq!(course.stored_state(&pending).await, "CONFIRMED");
}

#[tokio::test]
async fn course_postponed_while_the_worker_ends_it_ends_nobody() {
    let course = Course::with(automatic(0, 5)).await;
    let (waiting, _) = course.registered().await;
    course.world.deliver().await;
    course.world.clock().advance(DAY * 10);
    let later = course.world.clock().now().after(DAY * 5);
    let trainer = course.world.signed_in(course.trainer.user().clone()).await;
    let path = format!("/courses/{}", course.id);
    let mut postponed = trainer.get(&path).await.expect_ok()["course"].clone();
    (postponed["startAt"], postponed["endAt"]) = (json!(later), json!(later));
    // The worker has decided by the old start, and is about to end the registration.
    let postpone = async {
        trainer.put(&path, postponed).await.expect_success(Message::CourseUpdated);
    };
    let ended = ("TransactWriteItems", "EXPIRED");
    course.world.overtaken(ended, course.world.sweep(), postpone).await;
    course.work().await;
    assert_eq!(course.stored_state(&waiting).await, "WAITLISTED");
}

#[tokio::test]
async fn wrong_start_that_is_corrected_within_ten_minutes_ends_nobody() {
    let course = Course::with(automatic(0, 5)).await;
    let (waiting, _) = course.registered().await;
    let now = course.world.clock().now();
    let past = json!({ "startAt": now.before(DAY * 365), "endAt": now.before(DAY * 364) });
    course.change(past.clone()).await;
    course.work().await;
    course.world.clock().advance(MINUTE * 9);
    course.work().await;
    assert_eq!(course.stored_state(&waiting).await, "WAITLISTED");
    course.change(json!({ "startAt": now.after(DAY), "endAt": now.after(DAY * 2) })).await;
    course.world.clock().advance(MINUTE * 30);
    course.work().await;
    assert_eq!(course.stored_state(&waiting).await, "WAITLISTED");
    // Who does not correct it within ten minutes meant it.
    course.change(past).await;
    course.world.clock().advance(MINUTE * 11);
    course.work().await;
    assert_eq!(course.stored_state(&waiting).await, "EXPIRED");
}

#[tokio::test]
async fn course_with_an_end_alone_starts_and_closes_with_it() {
    let course = Course::with(automatic(5, 5)).await;
    let now = course.world.clock().now();
    course.change(json!({ "startAt": null, "endAt": now.after(DAY) })).await;
    let (member, other) = (course.world.member().await, course.world.member().await);
    let shown = member.get(&course.path("/availability")).await.expect_ok();
    expect_fields(
        &shown["availability"],
        json!({ "status": "OPEN", "closesAt": now.after(DAY), "cancelUntil": now.after(DAY) }),
    );
    course.register(&member).await.expect_created();
    course.world.clock().advance(DAY);
    let member = course.world.signed_in(member.user().clone()).await;
    let other = course.world.signed_in(other.user().clone()).await;
    course.register(&other).await.expect_error(ErrorCode::RegistrationClosed);
    let cancel = format!("{}/cancel", course.path_of(&member));
    member.post(&cancel, json!({})).await.expect_error(ErrorCode::CancellationClosed);
    member.put(&course.path_of(&member), json!({})).await.expect_error(ErrorCode::EditClosed);
}

#[tokio::test]
async fn nobody_registers_after_the_end_and_what_is_over_is_not_cancelled() {
    let mut settings = automatic(5, 5);
    settings["closesAt"] = json!("2099-01-01T00:00:00Z");
    let course = Course::with(settings).await;
    let (member, _) = course.registered().await;
    course.world.clock().advance(DAY * 11);
    let other = course.world.member().await;
    course.register(&other).await.expect_error(ErrorCode::RegistrationClosed);
    let trainer = course.world.signed_in(course.trainer.user().clone()).await;
    let reason = json!({ "reason": "Trop tard" });
    let refused = trainer.post(&course.path("/cancel-course"), reason).await;
    refused.expect_error(ErrorCode::CourseEnded);
    assert_eq!(course.stored_state(&member).await, "CONFIRMED");
}

#[tokio::test]
async fn courses_that_are_over_do_not_count_towards_the_limit() {
    let settings = [("RATE_LIMIT", "10000"), ("REGISTRATIONS_PER_USER", "2")];
    let world = World::with(&settings).await;
    let member = world.member().await;
    let mut courses = Vec::new();
    for _ in 0..2 {
        courses.push(Course::in_world(world.clone(), automatic(5, 0)).await);
        courses.last().unwrap().register(&member).await.expect_created();
    }
    let refused = Course::in_world(world.clone(), automatic(5, 0)).await;
    refused.register(&member).await.expect_error(ErrorCode::RegistrationsLimit);
    // A person who was refused, and then accepted, has one more, too.
    let mut manual = automatic(5, 0);
    manual["mode"] = json!("MANUAL");
    world.clock().advance(DAY * 12);
    let member = world.signed_in(member.user().clone()).await;
    let third = Course::in_world(world.clone(), manual.clone()).await;
    third.register(&member).await.expect_created();
    let reject = format!("{}/reject", third.path_of(&member));
    third.trainer.post(&reject, json!({})).await.expect_ok();
    // Of ten at the same moment, as many are accepted as there is room for.
    let mut more = Vec::new();
    for _ in 0..10 {
        more.push(Course::in_world(world.clone(), automatic(5, 0)).await);
    }
    let answers = world.race(10, join_all(more.iter().map(|one| one.register(&member)))).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    let limit = ErrorCode::RegistrationsLimit.code();
    let refused = answers.iter().filter(|answer| answer.code() == limit).count();
    assert_eq!((created, refused), (2, 8));
    let approve = format!("{}/approve", third.path_of(&member));
    let refused = third.trainer.post(&approve, json!({})).await;
    refused.expect_error(ErrorCode::RegistrationsLimit);
}

#[tokio::test]
async fn numbers_that_nobody_got_do_not_use_up_a_course() {
    let course = Course::with(automatic(5, 0)).await;
    let setup = course.world.setup();
    let client = Client::new(setup.aws.sdk());
    let set = |sk: &str, name: &str, number: u32| {
        let update = client.update_item().table_name("records");
        update
            .key("pk", AttributeValue::S(format!("SEATS#{}", course.id)))
            .key("sk", AttributeValue::S(sk.to_owned()))
            .update_expression(format!("SET {name} = :number"))
            .expression_attribute_values(":number", AttributeValue::N(number.to_string()))
            .send()
    };
    set("NUMBER", "n", 1_000_000).await.unwrap();
    let (member, registration) = course.registered().await;
    assert_eq!(registration["number"], 1_000_001);
    // People count, also those who have cancelled; who was registered already may come again.
    set("SEATS", "registered", 50_000).await.unwrap();
    let other = course.world.member().await;
    course.register(&other).await.expect_error(ErrorCode::RegistrationsLimit);
    let cancel = format!("{}/cancel", course.path_of(&member));
    member.post(&cancel, json!({})).await.expect_ok();
    course.register(&member).await.expect_created();
}

#[tokio::test]
async fn language_is_stored_and_changes_while_there_are_no_answers() {
    let course = Course::with(automatic(5, 0)).await;
    let [member, other] = [course.world.member().await, course.world.member().await];
    let german = member.post(&course.path(""), json!({ "language": "DE" })).await;
    german.expect_field_error("language", ErrorCode::FieldValue);
    for person in [&member, &other] {
        let created = course.register(person).await.expect_created();
        assert_eq!(created["registration"]["language"], "FR");
    }
    let asked = course.ask(required(question("SHORT_REPLY", "AR"))).await;
    let answers = json!({ "answers": { &asked: "نعم" } });
    let refused = member.put(&course.path_of(&member), answers.clone()).await;
    refused.expect_field_error(&format!("answers.{asked}"), ErrorCode::FieldValue);
    let english = member.put(&course.path_of(&member), json!({ "language": "EN" })).await;
    english.expect_field_error("language", ErrorCode::FieldValue);
    for (person, registered) in [(&member, &member), (&course.trainer, &other)] {
        let mut body = answers.clone();
        body["language"] = json!("AR");
        let changed = person.put(&course.path_of(registered), body).await.expect_ok();
        expect_fields(&changed["registration"], json!({ "language": "AR", "missing": [] }));
    }
    let ignored = member.put(&course.path_of(&member), json!({ "language": "FR" })).await;
    assert_eq!(ignored.expect_ok()["registration"]["language"], "AR");
}

#[tokio::test]
async fn long_questions_leave_room_for_the_values_of_answers() {
    let course = Course::with(automatic(5, 0)).await;
    let mut asked = question("SHORT_REPLY", "FR");
    asked["question"] = json!("م".repeat(1000));
    let mut answers = json!({});
    for _ in 0..40 {
        answers[course.ask(asked.clone()).await] = json!("نعم");
    }
    let member = course.world.member().await;
    let created = member.post(&course.path(""), json!({ "answers": answers })).await;
    assert_eq!(created.expect_created()["registration"]["answers"].as_array().unwrap().len(), 40);
}

#[tokio::test]
async fn note_beside_a_change_of_answers_leaves_what_is_missing_right() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let asked = course.ask(required(question("SHORT_REPLY", "FR"))).await;
    let path = course.path_of(&member);
    course.world.inject_fault(Fault { delay_ms: Some(30), ..Fault::new(Mode::Torn) });
    for round in 0..4 {
        let cleared = json!({ "answers": { &asked: null } });
        course.trainer.put(&path, cleared).await.expect_ok();
        let answer = json!({ "answers": { &asked: format!("{round}") } });
        let note = json!({ "note": format!("{round}") });
        let note = async {
            course.trainer.put(&path, note).await.expect_ok();
        };
        let put = member.put(&path, answer);
        course.world.overtaken(("TransactWriteItems", "ANSWERS"), put, note).await.expect_ok();
    }
    course.world.clear_faults();
    let seen = course.seen(&member).await;
    assert_eq!(json!([seen["missing"], seen["answers"][0]["value"]]), json!([[], "3"]));
    let seen = course.trainer.get(&path).await.expect_ok();
    assert_eq!(seen["registration"]["note"], "3");
}

#[tokio::test]
async fn availability_says_who_may_not_register_and_why() {
    let mut settings = automatic(5, 5);
    settings["audience"] = json!("COMMITTEE");
    let course = Course::with(settings).await;
    let elsewhere = course.world.another_committee("Ailleurs", true).await;
    let closed = course.world.another_committee("Fermé", false).await;
    let of = |committee| NewPerson::with(Profile::Member).of(committee);
    let stranger = course.world.person(of(elsewhere)).await;
    let idle = course.world.person(of(closed)).await;
    let unverified = course.world.person(NewPerson::with(Profile::Member).unverified()).await;
    let member = course.world.member().await;
    for (person, reason) in [
        (&stranger, json!("REGISTRATION_AUDIENCE_MESSAGE")),
        (&idle, json!("COMMITTEE_INACTIVE_MESSAGE")),
        (&unverified, json!("ACCOUNT_NOT_VERIFIED_MESSAGE")),
        (&member, json!(null)),
    ] {
        let shown = person.get(&course.path("/availability")).await.expect_ok();
        expect_fields(
            &shown["availability"],
            json!({ "status": "OPEN", "eligible": reason.is_null(), "reason": reason }),
        );
        let answer = course.register(person).await;
        let code = if reason.is_null() { "REGISTRATION_CONFIRMED_MESSAGE".into() } else { reason };
        assert_eq!(answer.code(), code);
    }
}

#[tokio::test]
async fn committee_that_is_active_again_promotes_for_all_its_courses() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let course = Course::in_world(world.clone(), automatic(1, 5)).await;
    let (confirmed, _) = course.registered().await;
    let (waiting, _) = course.registered().await;
    // It is the last one of the list, on its second page.
    for _ in 0..55 {
        Course::in_world(world.clone(), json!({})).await;
    }
    let (admin, committee) = (world.admin().await, format!("/committees/{}", world.committee()));
    admin.put(&committee, json!({ "isActive": false })).await.expect_ok();
    let cancel = format!("{}/cancel", course.path_of(&confirmed));
    confirmed.post(&cancel, json!({})).await.expect_ok();
    world.deliver().await;
    assert_eq!(course.state(&waiting).await, "WAITLISTED");
    admin.put(&committee, json!({ "isActive": true })).await.expect_ok();
    world.deliver().await;
    assert_eq!(course.state(&waiting).await, "CONFIRMED");
}

#[tokio::test]
async fn settings_and_dates_that_decide_nothing_disturb_no_registration() {
    let course = Course::with(automatic(5, 0)).await;
    let revision = || {
        let items = course.world.items_of(&format!("SEATS#{}", course.id));
        let seats = items.into_iter().find(|item| item["sk"]["S"] == "SEATS").unwrap();
        seats["revision"]["N"].as_str().unwrap().to_owned()
    };
    let before = revision();
    let mut settings = automatic(5, 0);
    settings["joinInfo"] = json!("Salle 2");
    settings["consentText"] = json!("Je viens.");
    settings["cancelUntil"] = json!("2099-01-01T00:00:00Z");
    course.set(settings.clone()).await.expect_ok();
    let end = course.world.clock().now().after(DAY * 20);
    course.change(json!({ "endAt": end })).await;
    assert_eq!(revision(), before);
    for decisive in
        [("capacity", json!(6)), ("audience", json!("COMMITTEE")), ("opensAt", json!("2026-01-01"))]
    {
        let before = revision();
        settings[decisive.0] = decisive.1;
        course.set(settings.clone()).await.expect_ok();
        assert_ne!(revision(), before, "{}", decisive.0);
    }
    let before = revision();
    course.change(json!({ "startAt": course.world.clock().now().after(DAY * 15) })).await;
    assert_ne!(revision(), before);
}
