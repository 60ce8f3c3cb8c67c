//! Reminders, and mails about changed dates.

use std::{task::Poll, time::Duration};

use common::Message;
use domain::Instant;
use serde_json::{Value, json};
use tests::{Person, World};

use super::{Course, DAY, HOUR, automatic, subjects};

const REMINDER: &str = "Rappel de votre cours";
const CHANGED: &str = "Votre cours a changé";
const MINUTE: Duration = Duration::from_secs(60);

impl Course {
    /// Goes on to `time`, and does what is due then.
    async fn at(&self, time: Instant) {
        let clock = self.world.clock();
        clock.advance(time.since(clock.now()));
        self.world.deliver().await;
        self.world.sweep().await;
        self.world.deliver().await;
        self.world.sweep().await;
    }

    /// How many mails with this subject `person` has.
    async fn told(&self, person: &Person, subject: &str) -> usize {
        let subjects = subjects(&self.world, person).await;
        subjects.iter().filter(|one| *one == subject).count()
    }

    async fn newest_mail(&self, person: &Person) -> Value {
        self.world.mails(person.user().email.as_str()).await[0].clone()
    }

    /// A course with a session of two hours on each of two days, the first of which starts in ten days.
    async fn with_days(settings: Value) -> (Self, Vec<Value>) {
        Self::with(settings).await.planned().await
    }

    /// The same with these sessions.
    async fn planned(self) -> (Self, Vec<Value>) {
        let start = self.world.clock().now().after(DAY * 10);
        let session = |start: Instant| json!({ "startAt": start, "endAt": start.after(HOUR * 2), "location": "Salle 2" });
        let planned = self.plan(json!([session(start), session(start.after(DAY))])).await;
        let planned = planned.expect_success(Message::SessionsUpdated);
        (self, planned["sessions"].as_array().unwrap().clone())
    }

    async fn move_to(&mut self, sessions: &[Value]) {
        self.trainer = self.world.signed_in(self.trainer.user().clone()).await;
        self.plan(json!(sessions)).await.expect_success(Message::SessionsUpdated);
    }
}

fn time(value: &Value) -> Instant {
    value.as_str().unwrap().parse().unwrap()
}

fn shifted(session: &Value, by: Duration) -> Value {
    let mut session = session.clone();
    for field in ["startAt", "endAt"] {
        session[field] = json!(time(&session[field]).after(by));
    }
    session
}

#[tokio::test]
async fn reminder_comes_once_before_each_day_to_who_was_confirmed() {
    let mut settings = automatic(2, 5);
    settings["joinInfo"] = json!("Apportez un carnet.");
    let (course, sessions) = Course::with_days(settings).await;
    let (member, registration) = course.registered().await;
    let (gone, _) = course.registered().await;
    let (waiting, _) = course.registered().await;
    gone.post(&format!("{}/cancel", course.path_of(&gone)), json!({})).await.expect_ok();
    course.world.deliver().await;
    let first = time(&sessions[0]["startAt"]);
    course.at(first.before(DAY + MINUTE)).await;
    assert_eq!(course.told(&member, REMINDER).await, 0);
    course.at(first.before(DAY)).await;
    // Who came later was told of the dates when they were confirmed.
    let late = course.world.clock().now();
    course.at(late.after(MINUTE)).await;
    let expected = [(&member, 1), (&gone, 0), (&waiting, 1)];
    for (person, count) in expected {
        assert_eq!(course.told(person, REMINDER).await, count);
    }
    let mail = course.newest_mail(&member).await;
    let text = mail["text"].as_str().unwrap();
    let ticket = registration["ticket"].as_str().unwrap();
    let ticket = format!("{}-{}", &ticket[..5], &ticket[5..]);
    for part in ["Salle 2", "Apportez un carnet.", &ticket, "heure de Tunis", "Séance"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    course.at(first).await;
    assert_eq!(course.told(&member, REMINDER).await, 2, "that of the second day");
}

#[tokio::test]
async fn moved_day_is_reminded_again_and_the_old_reminder_dropped() {
    let (mut course, mut sessions) = Course::with_days(automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let first = time(&sessions[0]["startAt"]);
    course.at(first.before(DAY)).await;
    assert_eq!(course.told(&member, REMINDER).await, 1);
    // Another room is no other day.
    sessions[0]["location"] = json!("Salle 3");
    course.move_to(&sessions).await;
    course.at(first.before(DAY).after(MINUTE * 20)).await;
    assert_eq!((course.told(&member, REMINDER).await, course.told(&member, CHANGED).await), (1, 1));
    sessions[0] = shifted(&sessions[0], HOUR * 3);
    course.move_to(&sessions).await;
    course.at(first.before(DAY).after(HOUR * 3)).await;
    assert_eq!(course.told(&member, REMINDER).await, 2);
}

#[tokio::test]
async fn change_is_told_a_quarter_of_an_hour_after_the_last_one() {
    let (mut course, mut sessions) = Course::with_days(automatic(5, 0)).await;
    // Nobody was confirmed when the course got its sessions.
    course.at(course.world.clock().now().after(MINUTE * 20)).await;
    let (member, _) = course.registered().await;
    let begun = course.world.clock().now();
    let original = sessions.clone();
    sessions[0] = shifted(&sessions[0], HOUR);
    course.move_to(&sessions).await;
    course.at(begun.after(MINUTE * 10)).await;
    sessions[1]["cancelled"] = json!(true);
    course.move_to(&sessions).await;
    let (newcomer, _) = course.registered().await;
    course.at(begun.after(MINUTE * 20)).await;
    assert_eq!(course.told(&member, CHANGED).await, 0);
    course.at(begun.after(MINUTE * 26)).await;
    assert_eq!(
        (course.told(&member, CHANGED).await, course.told(&newcomer, CHANGED).await),
        (1, 0)
    );
    let mail = course.newest_mail(&member).await;
    let text = mail["text"].as_str().unwrap();
    assert_eq!(text.matches("- Avant").count(), 2, "{text}");
    assert!(text.contains("annulée") && text.contains("heure de Tunis"), "{text}");
    let attached = mail.to_string();
    assert!(
        attached.contains("STATUS:CANCELLED") && attached.contains("BEGIN:VEVENT"),
        "{attached}"
    );
    // What was undone is not told.
    course.move_to(&original).await;
    course.move_to(&sessions).await;
    course.at(begun.after(HOUR)).await;
    assert_eq!(course.told(&member, CHANGED).await, 1);
    // A change of a title alone is not announced.
    sessions[0]["title"] = json!("Protéger");
    course.move_to(&sessions).await;
    course.at(begun.after(HOUR * 2)).await;
    assert_eq!(course.told(&member, CHANGED).await, 1);
}

#[tokio::test]
async fn course_without_sessions_has_one_reminder_and_tells_its_changes() {
    let mut settings = automatic(5, 0);
    settings["reminderHours"] = json!(48);
    let mut course = Course::with(settings.clone()).await;
    let (member, _) = course.registered().await;
    let now = course.world.clock().now();
    let start = now.after(DAY * 10);
    settings["joinInfo"] = json!("https://example.org/salle");
    course.set(settings.clone()).await.expect_ok();
    course.at(now.after(MINUTE * 16)).await;
    assert_eq!(course.told(&member, CHANGED).await, 1);
    let mail = course.newest_mail(&member).await;
    assert!(mail["text"].as_str().unwrap().contains("https://example.org/salle"));
    let path = format!("/courses/{}", course.id);
    course.trainer = course.world.signed_in(course.trainer.user().clone()).await;
    let mut content = course.trainer.get(&path).await.expect_ok()["course"].clone();
    content["city"] = json!("Gafsa");
    content.as_object_mut().unwrap().remove("version");
    course.trainer.put(&path, content.clone()).await.expect_ok();
    course.at(now.after(MINUTE * 40)).await;
    assert_eq!(course.told(&member, CHANGED).await, 2);
    // A change of the title alone is not announced.
    content["courseTitle"] = json!("Secours");
    course.trainer.put(&path, content).await.expect_ok();
    course.at(start.before(DAY * 2)).await;
    assert_eq!(course.told(&member, CHANGED).await, 2);
    let all = subjects(&course.world, &member).await;
    assert!(all[0].starts_with(REMINDER), "{all:?}");
}

#[tokio::test]
async fn setting_of_reminders_moves_what_is_still_to_come() {
    let mut settings = automatic(5, 0);
    settings["reminderHours"] = Value::Null;
    let (mut course, sessions) = Course::with_days(settings.clone()).await;
    let (member, _) = course.registered().await;
    let first = time(&sessions[0]["startAt"]);
    course.at(first.before(HOUR * 3)).await;
    assert_eq!(course.told(&member, REMINDER).await, 0);
    settings["reminderHours"] = json!(2);
    course.trainer = course.world.signed_in(course.trainer.user().clone()).await;
    let set = course.set(settings.clone()).await.expect_ok();
    assert_eq!(set["registration"]["reminderHours"], 2);
    course.at(first.before(HOUR * 2)).await;
    assert_eq!(course.told(&member, REMINDER).await, 1);
    settings["reminderHours"] = json!(169);
    let refused = course.set(settings).await;
    refused.expect_field_error("reminderHours", common::ErrorCode::FieldValue);
}

#[tokio::test]
async fn announcement_is_dropped_for_who_left_and_for_a_course_that_is_off() {
    let (mut course, mut sessions) = Course::with_days(automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let (leaver, _) = course.registered().await;
    let (again, _) = course.registered().await;
    let first = time(&sessions[0]["startAt"]);
    let world = course.world.clone();
    world.clock().advance(first.before(DAY).since(world.clock().now()));
    // The walk has queued the messages, none of which has been sent.
    course.world.cloud().settle();
    let event = serde_json::from_value(json!({ "source": "aws.scheduler" })).unwrap();
    course.world.consumers().worker.clone().answer(event).await.unwrap();
    for person in [&leaver, &again] {
        let person = course.world.signed_in(person.user().clone()).await;
        person.post(&format!("{}/cancel", course.path_of(&person)), json!({})).await.expect_ok();
    }
    let person = course.world.signed_in(again.user().clone()).await;
    course.register(&person).await.expect_created();
    course.world.deliver().await;
    course.world.sweep().await;
    for (person, count) in [(&member, 1), (&leaver, 0), (&again, 0)] {
        assert_eq!(course.told(person, REMINDER).await, count);
    }
    // A cancelled course tells its cancellation alone.
    sessions[1] = shifted(&sessions[1], HOUR);
    course.move_to(&sessions).await;
    let reason = json!({ "reason": "Salle fermée" });
    course.trainer.post(&course.path("/cancel-course"), reason).await.expect_ok();
    course.at(world.clock().now().after(HOUR)).await;
    assert_eq!(course.told(&member, CHANGED).await, 0);
}

/// People who are reminded, and how often their course is moved.
const PEOPLE: usize = 40;
const MOVES: u32 = 5;

/// Polls `work` up to `polls` times, and drops it there: a process that is killed between two requests to the store.
async fn killed(work: impl Future, polls: usize) {
    let mut work = Box::pin(work);
    for _ in 0..polls {
        let is_over =
            std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context).is_ready()));
        if is_over.await {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn reminders_of_a_worker_killed_anywhere_come_once_to_everybody() {
    let settings = [("RATE_LIMIT", "100000"), ("MAIL_RATE_PER_SECOND", "100000")];
    let course = Course::in_world(World::with(&settings).await, automatic(10_000, 0)).await;
    let (mut course, mut sessions) = course.planned().await;
    let mut people = Vec::new();
    for _ in 0..PEOPLE {
        people.push(course.registered().await.0);
    }
    let mut expected = vec![0; PEOPLE];
    for round in 0..MOVES {
        if round > 0 {
            sessions = sessions.iter().map(|session| shifted(session, DAY * 3)).collect();
            course.move_to(&sessions).await;
        }
        // One person leaves in each round, before the reminders.
        let leaver = course.world.signed_in(people[round as usize].user().clone()).await;
        let cancel = format!("{}/cancel", course.path_of(&leaver));
        leaver.post(&cancel, json!({})).await.expect_ok();
        expected.iter_mut().skip(round as usize + 1).for_each(|count| *count += 1);
        let due = time(&sessions[0]["startAt"]).before(DAY);
        course.world.clock().advance(due.since(course.world.clock().now()));
        course.world.cloud().settle();
        for kill in 0..12 {
            let event = serde_json::from_value(json!({ "source": "aws.scheduler" })).unwrap();
            let work = course.world.consumers().worker.clone().answer(event);
            killed(work, 37 * (kill + 1) * (round as usize + 2)).await;
        }
        course.at(due.after(MINUTE)).await;
    }
    for (person, expected) in people.iter().zip(expected) {
        assert_eq!(course.told(person, REMINDER).await, expected);
    }
}

#[tokio::test]
async fn dates_that_change_during_an_announcement_are_announced_anew() {
    let (mut course, sessions) = Course::with_days(automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let item = format!("ANNOUNCEMENTS#{}", course.id);
    let moved = |hours: u32| -> Vec<Value> {
        sessions.iter().map(|session| shifted(session, HOUR * hours)).collect()
    };
    // Nothing is due: the worker only notes when something will be.
    let change = async {
        course.plan(json!(moved(1))).await.expect_ok();
    };
    course.world.overtaken(("UpdateItem", &item), course.world.deliver(), change).await;
    let first = time(&sessions[0]["startAt"]).after(HOUR);
    let world = course.world.clone();
    world.clock().advance(first.before(DAY).since(world.clock().now()));
    course.trainer = world.signed_in(course.trainer.user().clone()).await;
    // The reminder is queued, and the day moves before it is sent.
    let change = async {
        course.plan(json!(moved(3))).await.expect_ok();
    };
    world.overtaken(("UpdateItem", &item), world.sweep(), change).await;
    course.at(world.clock().now().after(MINUTE)).await;
    assert_eq!(course.told(&member, REMINDER).await, 0);
    course.at(first.after(HOUR * 2).before(DAY)).await;
    assert_eq!(course.told(&member, REMINDER).await, 1);
}
