//! Decisions about seats that another change overtakes: they were made by what was read, and are written after it.

use common::{ErrorCode, Message};
use domain::CourseId;
use serde_json::{Value, json};
use store::{CommitOutcome, Part, SeatRule};
use tests::{Answer, Person};

use super::{Course, DAY, automatic, subjects};

impl Course {
    /// The answer to `request`, before whose transaction `change` is made.
    async fn overtaken(
        &self,
        request: impl Future<Output = Answer>,
        change: impl Future<Output = ()>,
    ) -> Answer {
        let seats = format!("SEATS#{}", self.id);
        self.world.overtaken(("TransactWriteItems", &seats), request, change).await
    }

    async fn decide(&self, decision: &str, person: &Person, body: Value) -> Answer {
        let path = format!("{}/{decision}", self.path_of(person));
        self.trainer.post(&path, body).await
    }

    async fn cancel(&self, person: &Person) {
        person.post(&format!("{}/cancel", self.path_of(person)), json!({})).await.expect_ok();
    }
}

fn manual(capacity: u32, waitlist_limit: u32) -> Value {
    json!({ "mode": "MANUAL", "capacity": capacity, "waitlistLimit": waitlist_limit })
}

fn state(answer: &Answer) -> Value {
    answer.json()["registration"]["state"].clone()
}

#[tokio::test]
async fn person_who_registers_in_two_tabs_is_registered_once() {
    let course = Course::with(automatic(5, 5)).await;
    let member = course.world.member().await;
    let other = async {
        course.register(&member).await.expect_created();
    };
    let answer = course.overtaken(course.register(&member), other).await;
    answer.expect_success(Message::AlreadyRegistered);
    assert_eq!(course.counts().await, [0, 0, 1]);
    // Also without the mail, whose identifier is that of the registration.
    let store = &course.world.setup().store;
    let id = CourseId::or_none(&course.id);
    let made = store.registration(id, member.user().user_id).await.unwrap().unwrap();
    let mut tx = store.transaction();
    tx.move_registrations(id, &[(None, &made)], SeatRule::None, u64::MAX);
    assert_eq!(tx.commit().await.unwrap(), CommitOutcome::ConditionFailed(Part::Registration));
}

#[tokio::test]
async fn registration_cancelled_by_both_at_once_is_cancelled_and_told_once() {
    let course = Course::with(automatic(5, 5)).await;
    let (member, _) = course.registered().await;
    course.world.deliver().await;
    let by_writer = async {
        course.decide("cancel", &member, json!({})).await.expect_ok();
    };
    let path = format!("{}/cancel", course.path_of(&member));
    let answer = course.overtaken(member.post(&path, json!({})), by_writer).await;
    assert_eq!(answer.json()["registration"]["cancelledBy"], "COMMITTEE");
    let history = course.seen(&member).await["history"].clone();
    assert_eq!(history.as_array().unwrap().len(), 2, "{history}");
    assert_eq!(course.counts().await, [0, 0, 0]);
    assert_eq!(subjects(&course.world, &member).await.len(), 2);
}

/// Each way in which a newcomer or an approved person gets a place, with registrations that are closed meanwhile.
#[tokio::test]
async fn settings_changed_meanwhile_decide_about_who_registers_or_is_approved() {
    let ways = [(false, automatic as fn(u32, u32) -> Value), (true, automatic), (false, manual)];
    for (is_full, mode) in ways {
        let course = Course::with(automatic(1, 9)).await;
        if is_full {
            course.registered().await;
        }
        course.set(mode(1, 9)).await.expect_ok();
        let close = async {
            course.set(json!({ "mode": "NONE" })).await.expect_ok();
        };
        let member = course.world.member().await;
        let answer = course.overtaken(course.register(&member), close).await;
        answer.expect_error(ErrorCode::RegistrationDisabled);
    }
    for is_full in [false, true] {
        let course = Course::with(manual(1, 9)).await;
        let (first, _) = course.registered().await;
        let (second, _) = course.registered().await;
        if is_full {
            course.decide("approve", &first, json!({})).await.expect_ok();
        }
        let admin = course.world.admin().await;
        let cancel = async {
            let path = course.path("/cancel-course");
            admin.post(&path, json!({ "reason": "Malade" })).await.expect_ok();
        };
        let approve = course.decide("approve", &second, json!({}));
        course.overtaken(approve, cancel).await.expect_error(ErrorCode::CourseCancelled);
    }
}

#[tokio::test]
async fn last_seat_and_place_taken_meanwhile_are_given_to_one_person() {
    // By approval: the last seat, and the last place on the list.
    for is_full in [false, true] {
        let course = Course::with(manual(1, 1)).await;
        let mut people = Vec::new();
        for _ in 0..3 {
            people.push(course.registered().await.0);
        }
        if is_full {
            course.decide("approve", &people[2], json!({})).await.expect_ok();
        }
        let other = async {
            course.decide("approve", &people[1], json!({})).await.expect_ok();
        };
        let approve = course.decide("approve", &people[0], json!({}));
        let answer = course.overtaken(approve, other).await;
        if is_full {
            answer.expect_error(ErrorCode::CourseFull);
        } else {
            assert_eq!(state(&answer), "WAITLISTED");
        }
    }
    // After the start, when there is no list.
    let mut settings = automatic(1, 9);
    let course = Course::with(settings.clone()).await;
    let end = course.world.clock().now().after(DAY * 11);
    settings["closesAt"] = json!(end.before(DAY / 2));
    course.set(settings).await.expect_ok();
    course.world.clock().advance(DAY * 10);
    let people = [course.world.member().await, course.world.member().await];
    let other = async {
        course.register(&people[1]).await.expect_created();
    };
    let answer = course.overtaken(course.register(&people[0]), other).await;
    answer.expect_error(ErrorCode::CourseFull);
}

#[tokio::test]
async fn settings_changed_meanwhile_decide_about_who_registers_after_the_start() {
    let mut settings = automatic(1, 9);
    let course = Course::with(settings.clone()).await;
    settings["closesAt"] = json!(course.world.clock().now().after(DAY * 11).before(DAY / 2));
    course.set(settings.clone()).await.expect_ok();
    course.world.clock().advance(DAY * 10);
    let trainer = course.world.signed_in(course.trainer.user().clone()).await;
    let close = async {
        settings["mode"] = json!("NONE");
        trainer.put(&course.path("/settings"), settings).await.expect_ok();
    };
    let member = course.world.member().await;
    let answer = course.overtaken(course.register(&member), close).await;
    answer.expect_error(ErrorCode::RegistrationDisabled);
}

/// A seat becomes free while a person waits for it: it is theirs, not the newcomer's who has read that nobody waits.
#[tokio::test]
async fn person_who_began_to_wait_meanwhile_is_not_passed() {
    let course = Course::with(automatic(1, 9)).await;
    let newcomer = course.world.member().await;
    let other = async {
        let (first, _) = course.registered().await;
        course.registered().await;
        course.cancel(&first).await;
    };
    let answer = course.overtaken(course.register(&newcomer), other).await;
    assert_eq!(state(&answer), "WAITLISTED");

    let course = Course::with(manual(1, 9)).await;
    let mut people = Vec::new();
    for _ in 0..3 {
        people.push(course.registered().await.0);
    }
    let other = async {
        for person in &people[..2] {
            course.decide("approve", person, json!({})).await.expect_ok();
        }
        course.cancel(&people[0]).await;
    };
    let approve = course.decide("approve", &people[2], json!({}));
    assert_eq!(state(&course.overtaken(approve, other).await), "WAITLISTED");
}

/// The worker is about to promote the first of two people who wait for the only seat.
async fn promoting(change: impl AsyncFnOnce(&Course, &[Person])) -> (Course, [u64; 3]) {
    let course = Course::with(automatic(1, 9)).await;
    let mut people = Vec::new();
    for _ in 0..3 {
        people.push(course.registered().await.0);
    }
    course.world.deliver().await;
    course.cancel(&people[0]).await;
    let seats = format!("SEATS#{}", course.id);
    let promotion = ("TransactWriteItems", &*seats);
    let change = change(&course, &people[1..]);
    course.world.overtaken(promotion, course.world.deliver(), change).await;
    course.world.deliver().await;
    let counts = course.counts().await;
    (course, counts)
}

#[tokio::test]
async fn seat_taken_away_meanwhile_promotes_nobody() {
    let take_away = async |course: &Course, _: &[Person]| {
        course.set(automatic(0, 9)).await.expect_ok();
    };
    assert_eq!(promoting(take_away).await.1, [0, 2, 0]);
}

/// A second process finds the first person suspended, and promotes the next one.
#[tokio::test]
async fn seat_given_to_another_meanwhile_is_not_given_twice() {
    let promote_next = async |course: &Course, waiting: &[Person]| {
        course.world.admin().await.set_active(waiting[0].user().user_id, false).await;
        course.world.clock().advance(std::time::Duration::from_secs(61));
        course.world.another_process().sweep().await;
        assert_eq!(course.counts().await, [0, 1, 1]);
    };
    assert_eq!(promoting(promote_next).await.1, [0, 1, 1]);
}

#[tokio::test]
async fn course_that_nobody_waits_for_is_not_made_due() {
    let course = Course::with(automatic(1, 9)).await;
    course.world.deliver().await;
    let before = course.world.items_of("SEATS#");
    let (store, now) = (&course.world.setup().store, course.world.clock().now());
    assert!(!store.wake_seats(CourseId::or_none(&course.id), now).await.unwrap());
    assert_eq!(course.world.items_of("SEATS#"), before);
}

#[tokio::test]
async fn settings_and_course_changed_at_once_both_raise_the_version() {
    let course = Course::with(automatic(1, 9)).await;
    let path = format!("/courses/{}", course.id);
    let before = course.trainer.get(&path).await.expect_ok()["course"].clone();
    let rename = async {
        let mut renamed = before.clone();
        renamed["courseTitle"] = json!("Premiers gestes");
        course.trainer.put(&path, renamed).await.expect_ok();
    };
    let settings = ("TransactWriteItems", "registrationVersion");
    course.world.overtaken(settings, course.set(automatic(2, 9)), rename).await.expect_ok();
    let after = course.trainer.get(&path).await.expect_ok()["course"].clone();
    assert_eq!(after["version"], before["version"].as_u64().unwrap() + 2);
}

#[tokio::test]
async fn course_changed_while_it_is_cancelled_is_cancelled_and_changed() {
    let course = Course::with(automatic(1, 9)).await;
    let path = format!("/courses/{}", course.id);
    let mut renamed = course.trainer.get(&path).await.expect_ok()["course"].clone();
    renamed["courseTitle"] = json!("Premiers gestes");
    let rename = async {
        course.trainer.put(&path, renamed).await.expect_ok();
    };
    let cancel_path = course.path("/cancel-course");
    let cancel = course.trainer.post(&cancel_path, json!({ "reason": "Orage" }));
    let cancellation = ("TransactWriteItems", "cancelledAt");
    course.world.overtaken(cancellation, cancel, rename).await.expect_ok();
    let after = course.trainer.get(&path).await.expect_ok()["course"].clone();
    assert!(after["courseTitle"] == "Premiers gestes" && after["cancelledAt"].is_string());
}

#[tokio::test]
async fn seats_that_changed_meanwhile_stay_due() {
    let course = Course::with(automatic(1, 9)).await;
    course.registered().await;
    course.world.deliver().await;
    let store = &course.world.setup().store;
    let id = CourseId::or_none(&course.id);
    let due_at = || {
        let items = course.world.items_of(&format!("SEATS#{}", course.id));
        let seats = items.into_iter().find(|item| item["sk"]["S"] == "SEATS").unwrap();
        seats["dueAt"]["N"].clone()
    };
    let read = store.seats(id).await.unwrap();
    course.registered().await;
    let due = due_at();
    let later = course.world.clock().now().after(DAY);
    store.reschedule_seats(id, &read, Some(later), None).await.unwrap();
    store.reschedule_seats(id, &read, None, None).await.unwrap();
    assert_eq!(due_at(), due);
}

#[tokio::test]
async fn nobody_is_promoted_once_the_course_has_started() {
    let course = Course::with(automatic(1, 9)).await;
    let (first, _) = course.registered().await;
    let (second, _) = course.registered().await;
    course.world.deliver().await;
    let path = format!("/courses/{}", course.id);
    let mut begun = course.trainer.get(&path).await.expect_ok()["course"].clone();
    begun["startAt"] = json!(course.world.clock().now().before(DAY));
    course.trainer.put(&path, begun).await.expect_success(Message::CourseUpdated);
    course.decide("cancel", &first, json!({})).await.expect_ok();
    // The start may be a mistake: for ten minutes nobody who waits loses their place.
    course.world.deliver().await;
    course.world.sweep().await;
    assert_eq!(course.state(&second).await, "WAITLISTED");
}

#[tokio::test]
async fn course_for_which_people_wait_or_ask_is_not_archived() {
    for settings in [automatic(0, 5), manual(1, 0)] {
        let course = Course::with(settings).await;
        course.registered().await;
        let archived = course.trainer.delete(&format!("/courses/{}", course.id)).await;
        archived.expect_error(ErrorCode::CourseHasRegistrations);
    }
}

/// A read of registration and answers is not isolated from a change of both: the registration may be newer.
#[tokio::test]
async fn answers_read_before_others_were_stored_do_not_replace_them() {
    let course = Course::with(automatic(5, 0)).await;
    let asked = json!({ "language": "FR", "question": "Ville ?", "questionType": "SHORT_REPLY" });
    let asked = course.ask(asked).await;
    let (member, _) = course.registered().await;
    let id = CourseId::or_none(&course.id);
    let (store, person) = (&course.world.setup().store, member.user().user_id);
    let answer = async |city: &str| {
        let body = json!({ "answers": { &asked: city } });
        member.put(&course.path_of(&member), body).await.expect_ok();
    };
    let without = store.full_registration(id, person).await.unwrap().unwrap();
    answer("Sfax").await;
    let first = store.full_registration(id, person).await.unwrap().unwrap();
    answer("Gabès").await;
    for read in [without, first] {
        let newer = store.registration(id, person).await.unwrap().unwrap();
        let after = newer.changed(course.world.clock().now(), |_| {});
        let mut tx = store.transaction();
        tx.change_registration(&newer, &after);
        tx.set_answers(&after, &read.answers, read.answers_version);
        assert_eq!(tx.commit().await.unwrap(), CommitOutcome::ConditionFailed(Part::Registration));
    }
    assert_eq!(course.seen(&member).await["answers"][0]["value"], "Gabès");
}
