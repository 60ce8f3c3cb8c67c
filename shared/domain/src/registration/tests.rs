use std::{collections::BTreeMap, time::Duration};

use serde_json::{json, value::RawValue};

use super::*;
use crate::{
    ValueError,
    course::{Course, CourseDetails, CourseSummary},
    question::{Question, QuestionContent, QuestionType},
};

fn admission(number: u64, state: RegistrationState) -> Admission {
    Admission { number, state, ticket: Ticket::new([7; 10]) }
}

fn at(milliseconds: i64) -> Instant {
    Instant::from_unix_milliseconds(milliseconds)
}

fn question(number: u8, kind: QuestionType, options: &[&str]) -> Question {
    let options = options.iter().map(|option| option.parse().unwrap()).collect::<Vec<_>>();
    Question {
        question_id: QuestionId::new(Uuid::from_bytes([number; 16])),
        course_id: CourseId::NONE,
        wording: QuestionContent {
            language: Language::default(),
            question: format!("Question {number} ?").parse().unwrap(),
            question_type: kind,
            required: false,
            options: Some(options).filter(|options| !options.is_empty()),
        },
        created_at: at(0),
    }
}

fn given(question: &Question, literal: &str) -> BTreeMap<QuestionId, Box<RawValue>> {
    let value = RawValue::from_string(literal.to_owned()).unwrap();
    BTreeMap::from([(question.question_id, value)])
}

#[test]
fn answer_is_read_as_its_question_type_requires() {
    use QuestionType::*;
    const LARGE: &str = "99999999999.123456";
    let options = ["Été", "Hiver", "Printemps"];
    for (kind, literal, expected) in [
        (ShortReply, r#"" Sfax ""#, Ok(r#""Sfax""#)),
        (ShortReply, r#""a\nb""#, Ok(r#""a b""#)),
        (LongReply, r#""a\nb ""#, Ok(r#""a\nb ""#)),
        (SingleChoice, "\"E\u{301}te\u{301} \"", Ok("\"Été\"")),
        (Dropdown, r#""Automne""#, Err(ValueError::Value)),
        (MultipleChoice, r#"["Hiver","Été"]"#, Ok(r#"["Été","Hiver"]"#)),
        (MultipleChoice, r#"["Hiver","Hiver"]"#, Err(ValueError::Repeated)),
        (MultipleChoice, r#""Hiver""#, Err(ValueError::Type)),
        (YesNo, "false", Ok("false")),
        (YesNo, r#""true""#, Err(ValueError::Type)),
        (Number, LARGE, Ok(LARGE)),
        (Number, "-1.50", Ok("-1.5")),
        (Number, "1e3", Ok("1000")),
        (Number, "-0", Ok("0")),
        (Number, "0.0000001", Err(ValueError::Format)),
        (Number, "1000000000000", Err(ValueError::Value)),
        (Number, r#""5""#, Err(ValueError::Type)),
        (Date, r#""2024-02-29""#, Ok(r#""2024-02-29""#)),
        (Date, r#""2023-02-29""#, Err(ValueError::Format)),
        (Date, r#""1899-12-31""#, Err(ValueError::Value)),
        (Date, r#""20240229""#, Err(ValueError::Format)),
        (Time, r#""23:59""#, Ok(r#""23:59""#)),
        (Time, r#""24:00""#, Err(ValueError::Format)),
        (Time, r#""7:05""#, Err(ValueError::Format)),
        (Scale, "10.0", Ok("10")),
        (Scale, "11", Err(ValueError::Value)),
        (Scale, "1.5", Err(ValueError::Type)),
        (Rating, "6", Err(ValueError::Value)),
        (Email, r#""x""#, Err(ValueError::Email)),
        (Phone, r#""+21698000123""#, Ok(r#""+21698000123""#)),
        (Phone, r#""98000123""#, Err(ValueError::Format)),
        (ShortReply, r#""a\tb\r\nc\nd""#, Ok(r#""a b c d""#)),
        // That of no file.
        (File, r#""x""#, Ok(r#""00000000-0000-0000-0000-000000000000""#)),
    ] {
        let options = if kind.has_options() { &options[..] } else { &[] };
        let questions = [question(1, kind, options)];
        let language = Language::default();
        let given = given(&questions[0], literal);
        let (answers, errors) = merged(&questions, &language, &[], &given, Clearing::Never);
        let read = match errors.first() {
            None => Ok(answers[0].value.get().to_owned()),
            Some((_, AnswerError::Value(error, _))) => Err(*error),
            Some((_, AnswerError::UnknownQuestion)) => panic!("{errors:?}"),
        };
        assert_eq!(read, expected.map(str::to_owned), "{kind:?} {literal}");
    }
}

#[test]
fn merged_answers_keep_absent_ones_and_clear_empty_ones() {
    let mut questions =
        [question(1, QuestionType::ShortReply, &[]), question(2, QuestionType::YesNo, &[])];
    questions[1].wording.required = true;
    let language = Language::default();
    let merge = |stored: &[Answer], given: &BTreeMap<_, _>, clearing| {
        merged(&questions, &language, stored, given, clearing)
    };
    let (taken, missing) = merge(&[], &given(&questions[0], r#""x""#), Clearing::Never);
    assert_eq!(missing[0].0, questions[1].question_id);
    assert_eq!(ids(&taken), [questions[0].question_id], "also beside an error");
    let (first, _) = merge(&[], &given(&questions[0], r#""x""#), Clearing::Absent);
    let (both, errors) = merge(&first, &given(&questions[1], "true"), Clearing::Absent);
    assert_eq!(errors.len(), 0);
    assert_eq!(ids(&both), [questions[0].question_id, questions[1].question_id]);
    for empty in ["null", r#""""#, r#"" ""#, "[]"] {
        let (left, _) = merge(&both, &given(&questions[0], empty), Clearing::Absent);
        assert_eq!(ids(&left), [questions[1].question_id], "{empty}");
        assert_eq!(merge(&both, &given(&questions[1], empty), Clearing::Absent).1.len(), 1);
        assert_eq!(merge(&both, &given(&questions[1], empty), Clearing::Any).1.len(), 0);
    }
    // A deleted question keeps its answer, after the others.
    let (kept, _) = merged(&questions[1..], &language, &both, &BTreeMap::new(), Clearing::Absent);
    assert_eq!(ids(&kept), [questions[1].question_id, questions[0].question_id]);
    assert!(kept[0].is_current(&questions) && !kept[1].is_current(&questions[1..]));
}

fn ids(answers: &[Answer]) -> Vec<QuestionId> {
    answers.iter().map(|answer| answer.question_id).collect()
}

#[test]
fn answer_stays_current_while_its_options_are_offered_in_any_order() {
    let language = Language::default();
    let mut question = question(1, QuestionType::MultipleChoice, &["a", "b", "c"]);
    let questions = [question.clone()];
    let chosen = given(&question, r#"["c","a"]"#);
    let (answers, _) = merged(&questions, &language, &[], &chosen, Clearing::Any);
    question.wording.options.as_mut().unwrap().reverse();
    assert!(answers[0].is_current(&[question.clone()]));
    question.wording.options.as_mut().unwrap().remove(1);
    assert!(answers[0].is_current(&[question.clone()]), "an option that was not chosen is gone");
    question.wording.options.as_mut().unwrap().remove(0);
    assert!(!answers[0].is_current(&[question]));
}

#[test]
fn newcomer_gets_a_seat_only_while_nobody_waits() {
    let seats = |taken, waiting| Seats { taken, waiting, capacity: Some(2), ..Seats::default() };
    assert_eq!(seats(1, 0).place(Some(5)), Some(RegistrationState::Confirmed));
    assert_eq!(seats(1, 1).place(Some(5)), Some(RegistrationState::Waitlisted));
    assert_eq!(seats(2, 4).place(Some(5)), Some(RegistrationState::Waitlisted));
    assert_eq!(seats(2, 5).place(Some(5)), None);
    // Those who wait while a seat is free cannot be promoted: they take nobody's place.
    assert_eq!(seats(1, 5).place(Some(5)), Some(RegistrationState::Waitlisted));
    // After the start.
    assert_eq!(seats(1, 1).place(None), Some(RegistrationState::Confirmed));
    assert_eq!(seats(2, 0).place(None), None);
    let unlimited = Seats { capacity: None, ..seats(9, 0) };
    assert_eq!(unlimited.place(Some(0)), Some(RegistrationState::Confirmed));
}

const DAY: i64 = 86_400_000;

const RETENTION: Retention = Retention {
    answers: Duration::from_secs(365 * 86_400),
    cards: Duration::from_secs(1095 * 86_400),
};

/// A published course that was changed at 0, on day 10 if it has dates.
pub(crate) fn course(has_dates: bool) -> CourseSummary {
    let (start, end) = (has_dates.then(|| at(10 * DAY)), has_dates.then(|| at(11 * DAY)));
    serde_json::from_value(json!({
        "courseID": CourseId::NONE, "committeeID": CommitteeId::NONE, "courseTitle": "Soudure",
        "currency": "TND", "language": "FR", "state": "PUBLISHED", "version": 1,
        "questionCount": 0, "createdBy": UserId::NONE, "createdAt": at(0), "updatedAt": at(0),
        "startAt": start, "endAt": end,
    }))
    .unwrap()
}

#[test]
fn id_of_an_event_ends_with_the_host_of_the_front_end() {
    let course = Course { summary: course(true), details: CourseDetails::default() };
    for (url, host) in [
        ("https://halqa.example", "halqa.example"),
        ("http://localhost:9000/_local/front", "localhost"),
        ("http://[::1]:9000", "[::1]"),
        ("http://[::1]", "[::1]"),
    ] {
        let sessions = &Default::default();
        let content = CalendarContent { course: &course, sessions, join_info: None };
        let text = calendar(&content, EventStatus::Confirmed, url, at(0)).unwrap();
        assert!(text.contains(&format!("UID:{}@{host}\r\n", CourseId::NONE)), "{text}");
    }
}

#[test]
fn work_is_what_seats_settings_and_dates_of_a_course_allow() {
    use super::{Ending::*, Work::*};
    let open = RegistrationSettings::default();
    let cancelled = RegistrationSettings { cancelled_at: Some(at(1)), ..open.clone() };
    let seats = |taken, waiting, pending| Seats {
        taken,
        waiting,
        pending,
        capacity: Some(2),
        registered: 5,
        ..Seats::default()
    };
    let corrected = Seats { start_changed_at: Some(at(10 * DAY)), ..seats(1, 1, 1) };
    for (seats, settings, has_dates, day, expected) in [
        (seats(1, 1, 0), &open, true, 9, vec![Promote]),
        (seats(2, 1, 1), &open, true, 9, vec![]),
        (seats(1, 0, 1), &open, true, 9, vec![]),
        (seats(1, 0, 0), &cancelled, true, 9, vec![End(Cancelled)]),
        (seats(0, 0, 0), &cancelled, true, 9, vec![]),
        (seats(1, 1, 1), &open, true, 10, vec![End(Started)]),
        // The start may be a mistake: nobody is promoted, and nobody ends yet.
        (corrected, &open, true, 10, vec![]),
        (seats(2, 0, 0), &open, true, 375, vec![]),
        (seats(2, 0, 0), &open, true, 376, vec![Forget]),
        (seats(1, 1, 0), &open, true, 376, vec![End(Started), Forget]),
        (seats(1, 1, 0), &open, false, 364, vec![Promote]),
        (seats(1, 1, 0), &open, false, 365, vec![Promote, Forget]),
        (Seats::default(), &open, false, 365, vec![]),
    ] {
        let work = seats.work(&course(has_dates), settings, RETENTION, at(day * DAY));
        assert_eq!(work, expected, "{seats:?}, {has_dates}, day {day}");
    }
}

#[test]
fn next_work_is_the_end_of_waiting_then_that_of_each_retention() {
    let waiting = Seats { waiting: 1, registered: 1, ..Seats::default() };
    let confirmed = Seats { waiting: 0, ..waiting.clone() };
    for (seats, has_dates, day, expected) in [
        (&waiting, true, 9, Some(10)),
        (&waiting, true, 10, Some(376)),
        (&waiting, false, 9, Some(365)),
        (&confirmed, true, 9, Some(376)),
        (&confirmed, true, 376, Some(1106)),
        (&confirmed, true, 1106, None),
        (&Seats::default(), true, 9, None),
    ] {
        let next = seats.next_work(&course(has_dates), RETENTION, at(day * DAY));
        assert_eq!(next, expected.map(|day| at(day * DAY)), "{seats:?}, {has_dates}, day {day}");
    }
}

#[test]
fn registering_again_takes_a_new_number_and_keeps_the_history() {
    let user: User = serde_json::from_value(json!({
        "userID": Uuid::nil(), "name": "Amel", "lastName": "Trabelsi", "email": "a@example.org",
        "DoC": at(0), "avatar": "", "avatarNumber": 0, "phoneCode": "", "phone": "",
        "isActive": true, "isVerified": true, "profile": "MB", "role": null, "lastActive": at(0),
        "isOtpEnabled": false, "isOtpVerified": false, "committeeID": Uuid::nil(),
        "permissions": "[]", "version": 1, "epoch": 1, "isPhoneVerified": false,
        "isMailboxVerified": true, "isVerificationWithdrawn": false, "passkeys": 0,
        "passkeySeries": 0,
        "deviceSeries": 0,
    }))
    .unwrap();
    let state = RegistrationState::Confirmed;
    let first = Registration::new(None, CourseId::NONE, &user, admission(1, state), at(1));
    assert_eq!((first.card.version, first.details.confirmed_at), (1, Some(at(1))));
    let cancelled = first.moved(RegistrationState::Cancelled, Party::Person, None, at(2));
    assert_eq!(cancelled.details.cancelled_by, Some(Party::Person));
    assert_ne!(cancelled.message_id(), first.message_id());
    let state = RegistrationState::Waitlisted;
    let again =
        Registration::new(Some(&cancelled), CourseId::NONE, &user, admission(7, state), at(3));
    assert_eq!((again.card.number, again.card.version, again.details.times), (7, 3, 2));
    assert_eq!((again.details.cancelled_by, again.details.confirmed_at), (None, None));
    let moves: Vec<_> = again.history.iter().map(|entry| (entry.from, entry.to)).collect();
    let (confirmed, cancelled) = (RegistrationState::Confirmed, RegistrationState::Cancelled);
    assert_eq!(moves, [(None, confirmed), (Some(confirmed), cancelled), (Some(cancelled), state)]);
}
