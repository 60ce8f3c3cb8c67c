//! The sessions of a course.

use common::{ErrorCode, Message};
use domain::{Instant, Profile};
use serde_json::{Value, json};
use tests::{Answer, NewPerson, Person, expect_fields};

use super::{Course, DAY, HOUR, automatic};

impl Course {
    /// Replaces the sessions.
    pub(crate) async fn plan(&self, sessions: Value) -> Answer {
        self.trainer.put(&self.path("/sessions"), json!({ "sessions": sessions })).await
    }

    /// A course with four half days of 180 minutes on two days, of which the first begins now, and its sessions.
    pub(crate) async fn of_two_days() -> (Self, Vec<Value>) {
        let course = Self::with(automatic(400, 0)).await;
        let now = course.world.clock().now();
        let mut settings = automatic(400, 0);
        settings["closesAt"] = json!(now.after(DAY));
        course.set(settings).await.expect_ok();
        let session = |start: Instant| json!({ "startAt": start, "endAt": start.after(HOUR * 3) });
        let starts = [now, now.after(HOUR * 4), now.after(DAY), now.after(DAY + HOUR * 4)];
        let planned =
            course.plan(starts.map(session).into()).await.expect_success(Message::SessionsUpdated);
        (course, planned["sessions"].as_array().unwrap().clone())
    }

    pub(crate) async fn name_markers(&self, markers: Value) -> Answer {
        let shown = self.shown().await;
        let body = json!({ "sessions": shown["sessions"], "markers": markers });
        self.trainer.put(&self.path("/sessions"), body).await
    }

    async fn shown(&self) -> Value {
        self.trainer.get(&format!("/courses/{}", self.id)).await.expect_ok()
    }
}

#[tokio::test]
async fn sessions_give_the_course_their_dates() {
    let course = Course::with(automatic(5, 0)).await;
    let start = course.world.clock().now().after(DAY * 20);
    let times = |hours: u32| json!({ "startAt": start.after(HOUR * hours), "endAt": start.after(HOUR * hours + HOUR * 4) });
    let mut first = times(4);
    first["title"] = json!("Après-midi");
    first["trainers"] = json!(["Nizar", "Amina Ben Salah"]);
    let mut cancelled = times(40);
    cancelled["cancelled"] = json!(true);
    let before = course.shown().await["course"]["version"].as_u64().unwrap();
    let sessions = json!([cancelled, first, times(0)]);
    let planned = course.plan(sessions).await.expect_success(Message::SessionsUpdated);
    assert_eq!(planned["version"], before + 1);
    assert_eq!(planned["markers"], json!([]));
    let stored = &planned["sessions"];
    expect_fields(
        &stored[1],
        json!({
            "title": "Après-midi", "trainers": ["Nizar", "Amina Ben Salah"], "location": null,
            "cancelled": false, "minutes": 240, "startAt": start.after(HOUR * 4),
        }),
    );
    assert_eq!(stored[2]["cancelled"], true);
    let shown = course.shown().await;
    assert_eq!(shown["sessions"], *stored);
    let dates = json!({ "startAt": start, "endAt": start.after(HOUR * 8) });
    expect_fields(&shown["course"], dates.clone());
    expect_fields(&shown["registration"], json!({ "markers": [], "reminderHours": 24 }));
    let (member, _) = course.registered().await;
    let seen = member.get(&format!("/courses/{}", course.id)).await.expect_ok();
    assert_eq!(seen["sessions"], *stored);
    assert_eq!(seen["registration"]["markers"], Value::Null);

    // Its dates are theirs, until the last one is removed.
    let path = format!("/courses/{}", course.id);
    let mut content = shown["course"].clone();
    content["startAt"] = Value::Null;
    content.as_object_mut().unwrap().retain(|name, _| !["endAt", "version"].contains(&&**name));
    let kept = course.trainer.put(&path, content.clone()).await.expect_ok();
    expect_fields(&kept["course"], dates.clone());
    content["startAt"] = json!(start.after(HOUR));
    let refused = course.trainer.put(&path, content.clone()).await;
    refused.expect_error(ErrorCode::CourseHasSessions);
    course.plan(json!([])).await.expect_ok();
    let shown = course.shown().await;
    expect_fields(&shown["course"], dates);
    assert_eq!(shown["sessions"], json!([]));
    course.trainer.put(&path, content).await.expect_success(Message::CourseUpdated);
    // All cancelled: the dates are those of all.
    let planned = course.plan(json!([cancelled])).await;
    planned.expect_ok();
    assert_eq!(course.shown().await["course"]["startAt"], cancelled["startAt"]);
}

#[tokio::test]
async fn session_that_is_named_keeps_its_id_and_is_removed_unnamed() {
    let (course, sessions) = Course::of_two_days().await;
    let mut second = sessions[1].clone();
    second["location"] = json!("Salle 4");
    let planned = course.plan(json!([second, sessions[3]])).await.expect_ok();
    let ids = |list: &Value| {
        list.as_array().unwrap().iter().map(|one| one["sessionID"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        ids(&planned["sessions"]),
        [second["sessionID"].clone(), sessions[3]["sessionID"].clone()]
    );
    assert_eq!(planned["sessions"][0]["location"], "Salle 4");
    // A copy has no sessions.
    let path = format!("/courses/{}/copy", course.id);
    let copied = course.trainer.post(&path, json!({})).await.expect_created();
    let path = format!("/courses/{}", copied["course"]["courseID"].as_str().unwrap());
    let copy = course.trainer.get(&path).await.expect_ok();
    assert_eq!((&copy["sessions"], &copy["course"]["startAt"]), (&json!([]), &Value::Null));
}

#[tokio::test]
async fn sessions_that_do_not_fit_are_refused_with_their_field() {
    let (course, sessions) = Course::of_two_days().await;
    let start = course.world.clock().now().after(DAY * 20);
    let session = |from: u32, to: u32| {
        let minute = HOUR / 60;
        json!({ "startAt": start.after(minute * from), "endAt": start.after(minute * to) })
    };
    let mut named = session(0, 60);
    named["sessionID"] = sessions[0]["sessionID"].clone();
    let mut unknown = session(60, 120);
    unknown["sessionID"] = json!("0198c0de-0000-7000-8000-0000000000ff");
    let mut cancelled = session(10, 70);
    cancelled["cancelled"] = json!(true);
    for (list, field, code) in [
        (
            json!([session(30, 90), session(0, 31)]),
            "sessions[0].startAt",
            ErrorCode::SessionsOverlap,
        ),
        (json!([session(0, 4)]), "sessions[0].endAt", ErrorCode::FieldValue),
        (json!([session(0, 721)]), "sessions[0].endAt", ErrorCode::FieldValue),
        (json!([session(0, 60), unknown]), "sessions[1].sessionID", ErrorCode::SessionNotFound),
        (json!([named, named]), "sessions[1].sessionID", ErrorCode::FieldValue),
        (json!(vec![session(0, 60); 61]), "sessions", ErrorCode::FieldLength),
    ] {
        let answer = course.plan(list).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert_eq!(answer.errors(), [(field.to_owned(), code.code().to_owned())]);
    }
    course.plan(json!([session(0, 60), cancelled, session(60, 65)])).await.expect_ok();
    let body = json!({ "sessions": [], "version": 1 });
    let answer = course.trainer.put(&course.path("/sessions"), body).await;
    answer.expect_error(ErrorCode::VersionConflict);
    course.trainer.post(&course.path("/cancel-course"), json!({ "reason": "?" })).await.expect_ok();
    course.plan(json!([])).await.expect_error(ErrorCode::CourseCancelled);
    course.trainer.delete(&format!("/courses/{}", course.id)).await.expect_ok();
    course.plan(json!([])).await.expect_error(ErrorCode::CourseArchived);
}

#[tokio::test]
async fn markers_are_active_verified_members_of_the_committee() {
    let (course, _) = Course::of_two_days().await;
    let world = &course.world;
    let id = async |person: NewPerson| json!(world.unhashed_account(person).await.user_id);
    let far = world.another_committee("Loin", true).await;
    let marker = world.member().await;
    let member = json!(marker.user().user_id);
    let all = [
        member.clone(),
        id(NewPerson::with(Profile::Member).inactive()).await,
        id(NewPerson::with(Profile::Member).unverified()).await,
        id(NewPerson::with(Profile::Member).of(far)).await,
        json!("0198c0de-0000-7000-8000-0000000000ff"),
        member.clone(),
    ];
    let refused = course.name_markers(json!(all)).await;
    let code = ErrorCode::MarkerInvalid.code();
    let expected = [1, 2, 3, 4].map(|place| (format!("markers[{place}]"), code.to_owned()));
    assert_eq!((refused.status, refused.errors()), (400, expected.to_vec()));
    let named = course.name_markers(json!([member, member])).await.expect_ok();
    assert_eq!(named["markers"], json!([member]));
    // Absent, they stay; who was erased is not shown.
    assert_eq!(course.plan(json!([])).await.expect_ok()["markers"], json!([member]));
    erase(&marker).await;
    assert_eq!(course.shown().await["registration"]["markers"], json!([]));
    assert_eq!(course.plan(json!([])).await.expect_ok()["markers"], json!([]));
}

/// Erases the account of `person`.
pub(super) async fn erase(person: &Person) {
    let path = format!("/users/{}", person.user().user_id);
    let answer = person.delete_with(&path, json!({ "password": tests::PASSWORD })).await;
    answer.expect_ok();
}

#[tokio::test]
async fn change_of_sessions_is_audited_with_before_and_after() {
    let (course, sessions) = Course::of_two_days().await;
    course.plan(json!([sessions[0]])).await.expect_ok();
    let audit = course.world.admin().await.get("/audit").await.expect_ok()["audit"].clone();
    expect_fields(
        &audit[0],
        json!({ "action": "SESSIONS_UPDATED", "targetType": "COURSE", "targetID": course.id }),
    );
    let after = &audit[0]["after"]["sessions"];
    assert_eq!(after[0]["sessionID"], sessions[0]["sessionID"], "{audit}");
    assert!(audit[0]["before"]["sessions"].is_array(), "{audit}");
}

#[tokio::test]
async fn sessions_are_replaced_by_a_change_that_overtakes_another() {
    let (course, sessions) = Course::of_two_days().await;
    let other = async {
        course.plan(json!([sessions[1]])).await.expect_ok();
    };
    let change = course.plan(json!([sessions[1], sessions[2]]));
    let item = format!("COURSE#{}", course.id);
    // The other change removed a session that this one names.
    let answer = course.world.overtaken(("TransactWriteItems", &item), change, other).await;
    assert_eq!(answer.errors()[0].1, ErrorCode::SessionNotFound.code(), "{answer:?}");
}
