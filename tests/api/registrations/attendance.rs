//! Marks of attendance.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{Instant, Profile};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Answer, NewPerson, Person, expect_fields};

use super::{Course, DAY, HOUR, automatic, sessions::erase};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn hand(person: &Person, session: &Value, status: &str, version: u64) -> Value {
    json!({
        "userID": person.user().user_id, "sessionID": session["sessionID"], "status": status,
        "version": version,
    })
}

fn scan(person: &Person, session: &Value, ticket: &Value, at: Instant) -> Value {
    json!({
        "userID": person.user().user_id, "sessionID": session["sessionID"], "status": "PRESENT",
        "ticket": ticket, "at": at,
    })
}

impl Course {
    async fn mark_by(&self, by: &Person, marks: Value) -> Answer {
        let body = json!({ "sentAt": self.world.clock().now(), "marks": marks });
        // As a phone does: marks can be sent twice.
        by.post_until_answered(&self.path("/attendance"), body).await
    }

    /// The results of `marks` by the trainer.
    pub(crate) async fn mark(&self, marks: Value) -> Vec<Value> {
        let answer = self.mark_by(&self.trainer, marks).await;
        let body = answer.expect_success(Message::AttendanceRecorded);
        body["results"].as_array().unwrap().clone()
    }

    /// What became of one mark by the trainer: the result, or why it was refused.
    async fn outcome(&self, mark: Value) -> String {
        let results = self.mark(json!([mark])).await;
        let result = &results[0];
        result["RESPONSE_CODE"].as_str().or(result["result"].as_str()).unwrap().to_owned()
    }

    async fn listed(&self) -> Vec<Value> {
        self.trainer.pages(&self.path("/attendance?limit=100"), "attendance").await
    }
}

#[tokio::test]
async fn marks_are_listed_and_summed() {
    let (course, sessions) = Course::of_two_days().await;
    let (member, registration) = course.registered().await;
    let (other, _) = course.registered().await;
    let now = course.world.clock().now();
    let ticket = registration["ticket"].clone();
    let mut part = hand(&member, &sessions[1], "PRESENT", 0);
    (part["minutes"], part["note"]) = (json!(45), json!("Partie plus tôt"));
    // The second session begins later, on the same day.
    let results = course
        .mark(json!([
            scan(&member, &sessions[0], &ticket, now),
            part,
            hand(&other, &sessions[0], "EXCUSED", 7),
        ]))
        .await;
    expect_fields(
        &results[0],
        json!({ "result": "MARKED", "state": "CONFIRMED", "RESPONSE_CODE": null }),
    );
    let trainer = course.trainer.user().user_id;
    expect_fields(
        &results[0]["mark"],
        json!({
            "sessionID": sessions[0]["sessionID"], "status": "PRESENT", "at": now, "late": 0,
            "minutes": 180, "source": "SCAN", "note": null, "version": 0, "by": trainer,
        }),
    );
    expect_fields(
        &results[1]["mark"],
        json!({
            "status": "PRESENT", "at": null, "late": null, "minutes": 45, "source": "HAND",
            "note": "Partie plus tôt", "version": 1,
        }),
    );
    expect_fields(&results[2]["mark"], json!({ "status": "EXCUSED", "minutes": 0, "version": 1 }));

    let body = course.trainer.get(&course.path("/attendance?order=name")).await.expect_ok();
    assert_eq!(body["totalMinutes"], 720);
    let listed = course.listed().await;
    assert_eq!(listed.len(), 2);
    expect_fields(
        &listed[0],
        json!({
            "userID": member.user().user_id, "number": 1, "state": "CONFIRMED", "ticket": ticket,
            "minutes": 225, "percent": 31, "marks": [results[0]["mark"], results[1]["mark"]],
        }),
    );
    assert!(listed[0].get("email").is_none() && listed[0].get("phone").is_none());

    // The person sees their own, without notes and the accounts of those who marked.
    let seen = course.seen(&member).await;
    assert_eq!(seen["ticket"], ticket);
    let attendance = &seen["attendance"];
    expect_fields(attendance, json!({ "minutes": 225, "totalMinutes": 720, "percent": 31 }));
    expect_fields(&attendance["marks"][1], json!({ "note": null, "by": null, "minutes": 45 }));
    let own = member.get("/registrations/my-registrations").await.expect_ok();
    assert_eq!(own["registrations"][0]["attendance"], *attendance);
    let path = format!("/users/{}/export", member.user().user_id);
    let export = member.get(&path).await.expect_ok()["export"].clone();
    assert_eq!(export["registrations"][0]["attendance"], *attendance);
    let writer = course.trainer.get(&course.path_of(&member)).await.expect_ok();
    assert_eq!(writer["registration"]["attendance"]["marks"], listed[0]["marks"]);

    // A cancelled session counts nowhere, and minutes follow the session.
    let mut shorter = sessions.clone();
    shorter[0]["endAt"] = json!(now.after(MINUTE * 100));
    shorter[1]["cancelled"] = json!(true);
    course.plan(json!(shorter)).await.expect_ok();
    let attendance = course.seen(&member).await["attendance"].clone();
    expect_fields(&attendance, json!({ "minutes": 100, "totalMinutes": 460, "percent": 21 }));
    assert_eq!(attendance["marks"].as_array().unwrap().len(), 2);
    let refused = course.outcome(hand(&other, &sessions[1], "PRESENT", 0)).await;
    assert_eq!(refused, ErrorCode::SessionCancelled.code());
}

#[tokio::test]
async fn hand_is_never_undone_by_a_scan_or_an_older_hand() {
    let (course, sessions) = Course::of_two_days().await;
    let (member, registration) = course.registered().await;
    let now = course.world.clock().now();
    let ticket = &registration["ticket"];
    let session = &sessions[0];
    let scanned =
        |seconds: u64| scan(&member, session, ticket, now.before(Duration::from_secs(seconds)));
    let absent = |version| hand(&member, session, "ABSENT", version);
    for (mark, expected) in [
        (scanned(10), "MARKED"),
        (scanned(5), "UNCHANGED"),
        (scanned(20), "MARKED"),
        (absent(0), "MARKED"),
        (scanned(30), "KEPT"),
        (absent(0), "UNCHANGED"),
        (hand(&member, session, "EXCUSED", 1), "MARKED"),
        (absent(1), ErrorCode::MarkChanged.code()),
        (absent(0), ErrorCode::MarkChanged.code()),
        (hand(&member, session, "NONE", 2), "MARKED"),
        (scanned(40), "KEPT"),
    ] {
        assert_eq!(course.outcome(mark.clone()).await, expected, "{mark}");
    }
    let refused = course.mark(json!([absent(1)])).await;
    expect_fields(&refused[0]["mark"], json!({ "status": null, "version": 3, "minutes": 0 }));
    // Those who mark need its version, the person does not see it.
    assert_eq!(course.listed().await[0]["marks"][0]["version"], 3);
    assert_eq!(course.seen(&member).await["attendance"]["marks"], json!([]));
    // Two marks for one session are taken in their order.
    let present = hand(&member, session, "PRESENT", 3);
    let results = course.mark(json!([present, absent(4), absent(3)])).await;
    let results: Vec<&Value> = results.iter().map(|one| &one["result"]).collect();
    assert_eq!(results, ["MARKED", "MARKED", "UNCHANGED"]);
}

#[tokio::test]
async fn mark_is_refused_for_the_first_reason_and_stops_no_other() {
    let (course, mut sessions) = Course::of_two_days().await;
    let (member, registration) = course.registered().await;
    let (other, _) = course.registered().await;
    let stranger = course.world.member().await;
    let now = course.world.clock().now();
    let ticket = &registration["ticket"];
    sessions[1]["cancelled"] = json!(true);
    course.plan(json!(sessions)).await.expect_ok();
    let unknown = json!({ "sessionID": "0198c0de-0000-7000-8000-0000000000ff" });
    let results = course
        .mark(json!([
            hand(&stranger, &unknown, "PRESENT", 0),
            hand(&stranger, &sessions[1], "PRESENT", 0),
            // Tomorrow's.
            hand(&stranger, &sessions[2], "PRESENT", 0),
            hand(&stranger, &sessions[0], "PRESENT", 0),
            scan(&other, &sessions[0], ticket, now),
            scan(&other, &sessions[0], &json!("https://example.org/?x=1"), now),
            scan(&member, &sessions[0], ticket, now),
        ]))
        .await;
    let codes: Vec<&Value> = results.iter().map(|one| &one["RESPONSE_CODE"]).collect();
    let expected = [
        ErrorCode::SessionNotFound,
        ErrorCode::SessionCancelled,
        ErrorCode::AttendanceClosed,
        ErrorCode::RegistrationNotFound,
        ErrorCode::TicketInvalid,
        ErrorCode::TicketInvalid,
    ];
    assert_eq!(codes[..6], expected.map(ErrorCode::code));
    expect_fields(&results[3], json!({ "result": "REFUSED", "state": null, "mark": null }));
    assert_eq!((codes[6], &results[6]["result"]), (&Value::Null, &json!("MARKED")));
    // What was refused marks no session.
    let left = json!([sessions[0], sessions[1]]);
    course.plan(left).await.expect_success(Message::SessionsUpdated);

    course.plan(json!([sessions[1]])).await.expect_error(ErrorCode::SessionHasMarks);
    let (ended, _) = (course.trainer.clone(), ());
    let reason = json!({ "reason": "?" });
    ended.post(&course.path("/cancel-course"), reason).await.expect_ok();
    let answer =
        course.mark_by(&course.trainer, json!([hand(&member, &sessions[0], "PRESENT", 0)]));
    answer.await.expect_error(ErrorCode::CourseCancelled);
    let course = Course::with(automatic(5, 0)).await;
    let answer =
        course.mark_by(&course.trainer, json!([hand(&member, &sessions[0], "PRESENT", 0)]));
    answer.await.expect_error(ErrorCode::CourseWithoutSessions);
}

#[tokio::test]
async fn fields_of_a_mark_fit_its_kind() {
    let (course, sessions) = Course::of_two_days().await;
    let (member, registration) = course.registered().await;
    let now = course.world.clock().now();
    let scanned = scan(&member, &sessions[0], &registration["ticket"], now);
    let chosen = hand(&member, &sessions[0], "ABSENT", 0);
    for (base, field, value, code) in [
        (&scanned, "at", None, ErrorCode::FieldRequired),
        (&scanned, "status", Some(json!("ABSENT")), ErrorCode::FieldValue),
        (&scanned, "version", Some(json!(0)), ErrorCode::FieldValue),
        (&scanned, "minutes", Some(json!(5)), ErrorCode::FieldValue),
        (&scanned, "note", Some(json!("?")), ErrorCode::FieldValue),
        (&chosen, "version", None, ErrorCode::FieldRequired),
        (&chosen, "minutes", Some(json!(5)), ErrorCode::FieldValue),
        (&chosen, "status", Some(json!("LATE")), ErrorCode::FieldValue),
    ] {
        let mut mark = base.clone();
        match value {
            Some(value) => mark[field] = value,
            None => drop(mark.as_object_mut().unwrap().remove(field)),
        }
        let answer = course.mark_by(&course.trainer, json!([mark])).await;
        answer.expect_field_error(&format!("marks[0].{field}"), code);
    }
    let mut long = hand(&member, &sessions[0], "PRESENT", 0);
    long["minutes"] = json!(181);
    let answer = course.mark_by(&course.trainer, json!([long])).await;
    answer.expect_field_error("marks[0].minutes", ErrorCode::FieldValue);
    assert_eq!(answer.json()["errors"][0]["max"], 180);
}

#[tokio::test]
async fn only_writers_and_markers_mark() {
    let (course, sessions) = Course::of_two_days().await;
    let world = &course.world;
    let (member, _) = course.registered().await;
    let marker = world.member().await;
    let far = world.another_committee("Loin", true).await;
    let other = world.person(NewPerson::with(Profile::Trainer).of(far)).await;
    let mark = json!([hand(&member, &sessions[0], "PRESENT", 0)]);
    for person in [&member, &marker, &other] {
        course.mark_by(person, mark.clone()).await.expect_error(ErrorCode::Forbidden);
        person.get(&course.path("/attendance")).await.expect_error(ErrorCode::Forbidden);
        let body = json!({ "sessions": [] });
        let refused = person.put(&course.path("/sessions"), body).await;
        refused.expect_error(ErrorCode::Forbidden);
    }
    course.name_markers(json!([marker.user().user_id])).await.expect_ok();
    let marked = course.mark_by(&marker, mark.clone()).await.expect_ok();
    assert_eq!(marked["results"][0]["mark"]["by"], json!(marker.user().user_id));
    let listed = marker.get(&course.path("/attendance")).await.expect_ok();
    assert!(listed["attendance"][0]["ticket"].is_string());
    // For this course alone, and nothing else of it.
    marker.get(&course.path("")).await.expect_error(ErrorCode::Forbidden);
    let nowhere = "/registrations/0198c0de-0000-7000-8000-0000000000ff/attendance";
    marker.get(nowhere).await.expect_error(ErrorCode::CourseNotFound);
    // The account of a marker that is erased is not shown.
    erase(&marker).await;
    assert_eq!(course.listed().await[0]["marks"][0]["by"], Value::Null);
    let seen = course.trainer.get(&course.path_of(&member)).await.expect_ok();
    assert_eq!(seen["registration"]["attendance"]["marks"][0]["by"], Value::Null);
    let result = course.mark(mark).await;
    assert_eq!(result[0]["mark"]["by"], Value::Null);
    // A marker who has moved to another committee is none.
    let mover = world.member().await;
    course.name_markers(json!([mover.user().user_id])).await.expect_ok();
    let moved = world.changed_account(mover.user(), |user| user.committee_id = far).await;
    let mover = world.signed_in(moved).await;
    mover.get(&course.path("/attendance")).await.expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn ticket_ends_with_its_number_and_opens_for_who_was_cancelled() {
    let (course, sessions) = Course::of_two_days().await;
    // People can leave until the course starts.
    let mut later = sessions.clone();
    later.truncate(1);
    let start = course.world.clock().now().after(HOUR);
    (later[0]["startAt"], later[0]["endAt"]) = (json!(start), json!(start.after(HOUR)));
    course.plan(json!(later)).await.expect_ok();
    let (member, registration) = course.registered().await;
    let first = registration["ticket"].clone();
    assert_eq!(first.as_str().unwrap().len(), 10);
    let now = course.world.clock().now();
    let cancel = format!("{}/cancel", course.path_of(&member));
    member.post(&cancel, json!({})).await.expect_ok();
    assert_eq!(course.seen(&member).await["ticket"], Value::Null);
    assert_eq!(course.listed().await.len(), 0);
    // They were scanned by a phone that was offline.
    let typed = format!(" {}-{} ", &first.as_str().unwrap()[..5], &first.as_str().unwrap()[5..])
        .to_lowercase();
    let results = course.mark(json!([scan(&member, &later[0], &json!(typed), now)])).await;
    expect_fields(&results[0], json!({ "result": "MARKED", "state": "CANCELLED" }));
    let listed = course.listed().await;
    expect_fields(&listed[0], json!({ "state": "CANCELLED", "ticket": null, "minutes": 60 }));

    let again = course.register(&member).await.expect_created()["registration"].clone();
    assert_ne!(again["ticket"], first);
    assert_eq!(again["attendance"]["minutes"], 60);
    let scanned = |ticket: &Value| scan(&member, &later[0], ticket, now);
    assert_eq!(course.outcome(scanned(&first)).await, ErrorCode::TicketInvalid.code());
    assert_eq!(course.outcome(scanned(&again["ticket"])).await, "UNCHANGED");
}

#[tokio::test]
async fn wrong_clock_changes_neither_status_nor_minutes_nor_lateness() {
    let (course, sessions) = Course::of_two_days().await;
    let world = &course.world;
    world.clock().advance(MINUTE * 30);
    let now = world.clock().now();
    // Scanned ten minutes ago, sent now, by the clock of the phone.
    for (minutes_wrong, is_ahead) in [(0, true), (90, true), (90, false)] {
        let (member, registration) = course.registered().await;
        let error = MINUTE * minutes_wrong;
        let phone = |time: Instant| if is_ahead { time.after(error) } else { time.before(error) };
        let scanned = phone(now.before(MINUTE * 10));
        let mark = scan(&member, &sessions[0], &registration["ticket"], scanned);
        let body = json!({ "sentAt": phone(now), "marks": [mark] });
        let answer = course.trainer.post(&course.path("/attendance"), body).await.expect_ok();
        let expected = json!({ "status": "PRESENT", "minutes": 180, "late": 20 });
        expect_fields(&answer["results"][0]["mark"], expected);
        // A time after the receipt is not known.
        let (member, registration) = course.registered().await;
        let later = scan(&member, &sessions[0], &registration["ticket"], phone(now.after(HOUR)));
        let body = json!({ "sentAt": phone(now), "marks": [later] });
        let answer = course.trainer.post(&course.path("/attendance"), body).await.expect_ok();
        let expected = json!({ "status": "PRESENT", "minutes": 180, "at": null, "late": null });
        expect_fields(&answer["results"][0]["mark"], expected);
    }
}

#[tokio::test]
async fn attendance_is_marked_until_thirty_days_after_the_course() {
    let (mut course, sessions) = Course::of_two_days().await;
    let (member, _) = course.registered().await;
    let end: Instant = sessions[3]["endAt"].as_str().unwrap().parse().unwrap();
    let clock = course.world.clock();
    clock.advance(end.after(DAY * 30).before(HOUR).since(clock.now()));
    course.trainer = course.world.signed_in(course.trainer.user().clone()).await;
    assert_eq!(course.outcome(hand(&member, &sessions[0], "PRESENT", 0)).await, "MARKED");
    clock.advance(HOUR);
    let late = course.outcome(hand(&member, &sessions[1], "PRESENT", 0)).await;
    assert_eq!(late, ErrorCode::AttendanceClosed.code());
}

#[tokio::test]
async fn marks_of_an_erased_person_go_and_none_follows() {
    let (course, sessions) = Course::of_two_days().await;
    let member = course.world.member().await;
    course.register(&member).await.expect_created();
    let mark = |status| hand(&member, &sessions[0], status, 1);
    assert_eq!(course.outcome(mark("PRESENT")).await, "MARKED");
    // A mark that is decided before the erasure, and written after it.
    let item = format!("ATTENDANCE#{}", course.id);
    let erasure = async {
        erase(&member).await;
        course.world.deliver().await;
    };
    let overtaken = course.mark(json!([mark("ABSENT")]));
    let results = course.world.overtaken(("UpdateItem", &item), overtaken, erasure).await;
    assert_eq!(results[0]["RESPONSE_CODE"], ErrorCode::RegistrationNotFound.code());
    assert_eq!(course.listed().await.len(), 0);
    let items = course.world.items_of(&item);
    assert_eq!(items.len(), 1);
    assert!(items[0].get("marks").is_none(), "{items:?}");
}

#[tokio::test]
async fn hands_are_audited_once_a_call_scans_are_not() {
    let (course, sessions) = Course::of_two_days().await;
    let (member, registration) = course.registered().await;
    let now = course.world.clock().now();
    let audit = async || {
        course.world.admin().await.get("/audit").await.expect_ok()["audit"]
            .as_array()
            .unwrap()
            .clone()
    };
    let before = audit().await.len();
    course.mark(json!([scan(&member, &sessions[0], &registration["ticket"], now)])).await;
    assert_eq!(audit().await.len(), before);
    let marks =
        [hand(&member, &sessions[0], "ABSENT", 0), hand(&member, &sessions[1], "ABSENT", 0)];
    course.mark(json!(marks)).await;
    let entries = audit().await;
    assert_eq!(entries.len(), before + 1);
    let mut ids = tests::texts_of(&json!(sessions[..2]), "sessionID");
    ids.sort_unstable();
    expect_fields(
        &entries[0],
        json!({
            "action": "ATTENDANCE_CORRECTED", "targetID": course.id,
            "after": { "marks": 2, "sessions": ids },
        }),
    );
}

#[tokio::test]
async fn session_removed_while_its_first_mark_arrives_has_no_mark() {
    let (course, sessions) = Course::of_two_days().await;
    let (member, _) = course.registered().await;
    let (mark, left) = (hand(&member, &sessions[0], "PRESENT", 0), json!(sessions[1..]));
    // The mark is decided before the session is removed, and written after it.
    let removal = async {
        course.plan(left.clone()).await.expect_ok();
    };
    let item = format!("COURSE#{}", course.id);
    let marking = course.mark(json!([mark]));
    let results = course.world.overtaken(("TransactWriteItems", &item), marking, removal).await;
    assert_eq!(results[0]["RESPONSE_CODE"], ErrorCode::SessionNotFound.code());
    // The removal is decided before the mark is written, and made after it.
    let (mark, left) = (hand(&member, &sessions[1], "PRESENT", 0), json!(sessions[2..]));
    let marking = async {
        assert_eq!(course.outcome(mark.clone()).await, "MARKED");
    };
    let removed = course.world.overtaken(("TransactWriteItems", &item), course.plan(left), marking);
    removed.await.expect_error(ErrorCode::SessionHasMarks);
}

#[tokio::test]
async fn four_phones_leave_one_merged_mark_for_each_person_and_session() {
    let (course, sessions) = Course::of_two_days().await;
    let now = course.world.clock().now();
    let people = join_all((0..12).map(|_| course.registered())).await;
    let phones: Vec<Person> =
        [(); 4].iter().map(|()| course.trainer.via(&course.world.another_process())).collect();
    // Each phone scans all people at its own times, and sends its batch twice, the second time in reverse order.
    let batches = phones.iter().zip(1_u64..).flat_map(|(phone, number)| {
        let marks = people.iter().zip(0_u64..).map(|((person, registration), place)| {
            let at = now.before(Duration::from_secs(60 * ((number + place) % 4) + number));
            scan(person, &sessions[0], &registration["ticket"], at)
        });
        let mut marks: Vec<Value> = marks.collect();
        let first = json!(marks);
        marks.reverse();
        [(phone, first), (phone, json!(marks))]
    });
    // Meanwhile a writer corrects every third person.
    let corrections: Vec<Value> = people
        .iter()
        .step_by(3)
        .map(|(person, _)| hand(person, &sessions[0], "ABSENT", 0))
        .collect();
    let sent = batches.chain([(&course.trainer, json!(corrections))]);
    let answers = join_all(sent.map(|(phone, marks)| course.mark_by(phone, marks))).await;
    for answer in answers {
        let body = answer.expect_ok();
        for result in body["results"].as_array().unwrap() {
            assert_ne!(result["result"], "REFUSED", "{result}");
        }
    }
    let listed = course.listed().await;
    for ((person, _), place) in people.iter().zip(0_u64..) {
        let of = |one: &&Value| one["userID"] == json!(person.user().user_id);
        let marks = listed.iter().find(of).unwrap()["marks"].as_array().unwrap();
        assert_eq!(marks.len(), 1);
        let earliest = (1..=4).map(|number| 60 * ((number + place) % 4) + number).max().unwrap();
        let expected = if place % 3 == 0 {
            json!({ "status": "ABSENT", "source": "HAND", "version": 1 })
        } else {
            let at = now.before(Duration::from_secs(earliest));
            json!({ "status": "PRESENT", "source": "SCAN", "at": at, "version": 0 })
        };
        expect_fields(&marks[0], expected);
    }
}

#[tokio::test]
async fn mark_costs_four_trips_and_one_write_of_its_item() {
    let (course, sessions) = Course::of_two_days().await;
    let people = join_all((0..30).map(|_| course.registered())).await;
    let now = course.world.clock().now();
    let scans = |count: usize, second: u64| {
        let at = now.before(Duration::from_secs(second));
        let marks = people[..count].iter();
        let marks = marks.map(|(person, own)| scan(person, &sessions[0], &own["ticket"], at));
        json!(marks.collect::<Vec<_>>())
    };
    // The first mark of a session also records that it has one.
    course.mark(scans(1, 1)).await;
    let one = course.mark_by(&course.trainer, scans(1, 2)).await.cost;
    let many = course.mark_by(&course.trainer, scans(30, 3)).await.cost;
    // Beside the limit and the caller: the course, the people, and an item of each.
    assert_eq!((one.round_trips, one.requests), (4, 5));
    assert_eq!(many.requests - one.requests, 29);
    assert_eq!(many.writes - one.writes, 29.0);
    let list = course.trainer.get(&course.path("/attendance?limit=30")).await.cost;
    assert_eq!(list.round_trips, 5, "{list:?}");
}
