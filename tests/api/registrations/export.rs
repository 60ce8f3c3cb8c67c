//! Exports for writers, calendars for confirmed people, and the registrations in the export of one's data.

use std::io::Cursor;

use calamine::{Data, DataType, Reader, Xlsx};
use common::{ErrorCode, Message};
use serde_json::{Value, json};
use tests::{Person, expect_fields};

use super::{Course, automatic};
use crate::files::fetch;

/// Answers that spreadsheet programs like to change.
async fn typed(course: &Course) -> (Person, Vec<String>) {
    let of = |kind: &str, text: &str| json!({ "language": "FR", "question": text, "questionType": kind });
    let mut ids = Vec::new();
    for (kind, text) in [
        ("SHORT_REPLY", "Formule ?"),
        ("LONG_REPLY", "الاسم"),
        ("NUMBER", "Somme ?"),
        ("DATE", "Jour ?"),
        ("PHONE", "Urgence ?"),
        ("YES_NO", "Permis ?"),
    ] {
        ids.push(course.ask(of(kind, text)).await);
    }
    let member = course.world.member().await;
    let values = json!(["=1+1", "ه\nسطر", -12.5, "2026-03-01", "+21698000123", true]);
    let answers: Value = ids.iter().cloned().zip(values.as_array().unwrap().clone()).collect();
    member.post(&course.path(""), json!({ "answers": answers })).await.expect_created();
    (member, ids)
}

/// The bytes that the link of an export leads to, and the export.
async fn exported(course: &Course, request: Value) -> (Vec<u8>, Value) {
    course.world.cloud().settle();
    let answer = course.trainer.post(&course.path("/export"), request).await;
    let body = answer.expect_success(Message::RegistrationsExported);
    let (status, headers, file) = fetch(body["export"]["url"].as_str().unwrap()).await;
    assert_eq!(status, 200);
    let name = headers["content-disposition"].to_str().unwrap();
    let start = format!("attachment; filename=\"inscriptions-{}-2", &course.id[..8]);
    assert!(name.starts_with(&start), "{name}");
    assert!(name.contains(body["export"]["fileName"].as_str().unwrap()), "{name}");
    (file.to_vec(), body["export"].clone())
}

/// The rows of the sheet in `file`, each cell as text.
fn rows(file: Vec<u8>) -> Vec<Vec<String>> {
    let mut workbook: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(file)).unwrap();
    let sheet = workbook.worksheet_range("Inscriptions").unwrap();
    let rows = sheet.rows();
    rows.map(|row| row.iter().map(ToString::to_string).collect()).collect()
}

#[tokio::test]
async fn workbook_keeps_texts_numbers_and_dates_as_typed() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = typed(&course).await;
    let (file, export) = exported(&course, json!({})).await;
    expect_fields(&export, json!({ "rows": 1, "bytes": file.len() }));
    let mut workbook: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(file)).unwrap();
    let sheet = workbook.worksheet_range("Inscriptions").unwrap();
    let rows: Vec<&[Data]> = sheet.rows().collect();
    let [headings, row] = rows[..] else { panic!("{rows:?}") };
    assert_eq!(headings[7].as_string().unwrap(), "Inscription (Africa/Tunis)");
    assert_eq!(headings[12].as_string().unwrap(), "Formule ?");
    let user = member.user();
    assert_eq!(row[..2], [Data::Float(1.0), Data::String("CONFIRMED".to_owned())]);
    assert_eq!(row[4].as_string().unwrap(), user.email.as_str());
    assert_eq!(row[12..14], [Data::String("=1+1".into()), Data::String("ه\nسطر".into())]);
    assert_eq!(row[14], Data::Float(-12.5));
    assert_eq!(row[15].as_date().unwrap().to_string(), "2026-03-01");
    assert_eq!(row[16..], [Data::String("+21698000123".into()), Data::String("Oui".into())]);
    assert!(workbook.worksheet_formula("Inscriptions").unwrap().is_empty());
}

#[tokio::test]
async fn line_breaks_and_escapes_of_sheets_are_shown_as_typed() {
    let course = Course::with(automatic(5, 0)).await;
    let question =
        json!({ "language": "FR", "question": "Un\r\n_x000D_ ?", "questionType": "LONG_REPLY" });
    let id = course.ask(question).await;
    let member = course.world.member().await;
    let answers = json!({ "answers": { id: "a\r\nb\rc _x000D_ _x005F_x000D_" } });
    member.post(&course.path(""), answers).await.expect_created();
    let note = json!({ "note": "d\r\ne_x0007_" });
    course.trainer.put(&course.path_of(&member), note).await.expect_ok();
    let (file, _) = exported(&course, json!({})).await;
    let mut workbook: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(file)).unwrap();
    let sheet = workbook.worksheet_range("Inscriptions").unwrap();
    let texts: Vec<&str> = sheet.used_cells().filter_map(|(.., cell)| cell.get_string()).collect();
    for text in ["Un\n_x000D_ ?", "a\nb\nc _x000D_ _x005F_x000D_", "d\ne_x0007_"] {
        assert!(texts.contains(&text), "{text:?} in {texts:?}");
    }
}

#[tokio::test]
async fn headings_are_in_the_requested_language_then_come_the_questions() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = typed(&course).await;
    let rows = rows(exported(&course, json!({ "language": "EN" })).await.0);
    let expected = [
        ["Number", "State", "Last name", "First name", "E-mail", "Phone"],
        [
            "Committee",
            "Registered (Africa/Tunis)",
            "Confirmed (Africa/Tunis)",
            "Reason",
            "Language",
            "Note",
        ],
    ];
    assert_eq!(rows[0][..12], expected.concat());
    let asked = ["Formule ?", "الاسم", "Somme ?", "Jour ?", "Urgence ?", "Permis ?"];
    assert_eq!(rows[0][12..], asked);
    assert_eq!(rows[1][2], member.user().last_name.as_str());
    assert_eq!(rows[1][17], "Yes");
}

#[tokio::test]
async fn file_that_answers_two_questions_is_named_in_both_columns() {
    let course = Course::with(automatic(5, 0)).await;
    let of = |text: &str| json!({ "language": "FR", "question": text, "questionType": "FILE" });
    let (first, second) = (course.ask(of("Diplôme ?")).await, course.ask(of("Preuve ?")).await);
    let member = course.world.member().await;
    let file = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    let file = crate::files::uploaded_file(&member, file, b"hallo").await;
    let body = json!({ "answers": { first: file, second: file } });
    member.post(&course.path(""), body).await.expect_created();
    let rows = rows(exported(&course, json!({})).await.0);
    assert_eq!(rows[1][12..], ["a.txt", "a.txt"]);
}

#[tokio::test]
async fn deleted_question_is_the_last_column_with_its_answers() {
    let course = Course::with(automatic(5, 0)).await;
    let (_, ids) = typed(&course).await;
    let path = format!("/courses/questions/{}/{}", course.id, ids[0]);
    course.trainer.delete(&path).await.expect_success(Message::QuestionDeleted);
    let rows = rows(exported(&course, json!({})).await.0);
    assert_eq!(rows[0][16..], ["Permis ?", "Formule ? (supprimée)"]);
    assert_eq!(rows[1][16..], ["Oui", "=1+1"]);
}

#[tokio::test]
async fn export_has_the_requested_states_in_order_of_numbers() {
    let course = Course::with(automatic(1, 10)).await;
    let mut people = Vec::new();
    for _ in 0..4 {
        people.push(course.registered().await.0);
    }
    let cancel = format!("{}/cancel", course.path_of(&people[1]));
    people[1].post(&cancel, json!({})).await.expect_ok();
    let numbers = async |request: Value| {
        let (file, export) = exported(&course, request).await;
        let numbers = rows(file).into_iter().skip(1).map(|row| row[0].clone());
        let numbers: Vec<String> = numbers.collect();
        assert_eq!(export["rows"], numbers.len());
        numbers
    };
    assert_eq!(numbers(json!({})).await, ["1", "3", "4"]);
    let request = json!({ "states": ["CANCELLED", "WAITLISTED", "CANCELLED"] });
    assert_eq!(numbers(request).await, ["2", "3", "4"]);
    let wrong = course.trainer.post(&course.path("/export"), json!({ "states": ["GONE"] })).await;
    wrong.expect_field_error("states[0]", ErrorCode::FieldValue);
}

#[tokio::test]
async fn export_is_for_writers_audited_and_limited_to_thirty_an_hour() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let path = course.path("/export");
    member.post(&path, json!({})).await.expect_error(ErrorCode::Forbidden);
    for _ in 0..30 {
        course.trainer.post(&path, json!({})).await.expect_success(Message::RegistrationsExported);
    }
    course.trainer.post(&path, json!({})).await.expect_error(ErrorCode::TooManyAttempts);
    let admin = course.world.admin().await;
    let audit = admin.get("/audit?limit=100").await.expect_ok();
    let entries = audit["audit"].as_array().unwrap().iter();
    let exports: Vec<_> =
        entries.filter(|entry| entry["action"] == "REGISTRATIONS_EXPORTED").collect();
    assert_eq!(exports.len(), 30);
    expect_fields(exports[0], json!({ "targetType": "COURSE", "targetID": course.id }));
    assert_eq!(exports[0]["after"], json!({ "rows": 1 }));
}

#[tokio::test]
async fn calendar_has_one_event_in_utc_for_confirmed_people() {
    let course = Course::with(automatic(1, 5)).await;
    let (member, _) = course.registered().await;
    let (waiting, _) = course.registered().await;
    let calendar = |person: &Person| format!("{}/calendar", course.path_of(person));
    let answer = member.get(&calendar(&member)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/calendar; charset=utf-8");
    let text = String::from_utf8_lossy(&answer.body);
    let lines: Vec<&str> = text.split("\r\n").collect();
    let one = |start: &str| {
        let found: Vec<&&str> = lines.iter().filter(|line| line.starts_with(start)).collect();
        assert_eq!(found.len(), 1, "{start} in {text}");
        (*found[0]).to_owned()
    };
    assert!(one("UID:").starts_with(&format!("UID:{}@", course.id)), "{text}");
    assert_eq!(one("SUMMARY:"), "SUMMARY:Premiers secours");
    assert_eq!(one("PRODID:"), "PRODID:-//Halqa//Courses//FR");
    assert!(one("URL:").ends_with(&format!("/courses/{}", course.id)), "{text}");
    assert!(one("CONTACT:").contains("@example.org"), "{text}");
    let name = answer.header("content-disposition");
    assert!(name.contains("filename=\"Premiers secours.ics\""), "{name}");
    let shown = member.get(&format!("/courses/{}", course.id)).await.expect_ok();
    assert_eq!(one("SEQUENCE:"), format!("SEQUENCE:{}", shown["course"]["version"]));
    let start = one("DTSTART:");
    assert!(start.len() == "DTSTART:20261120T234612Z".len() && start.ends_with('Z'), "{start}");
    assert!(one("BEGIN:VEVENT").len() > 1 && !text.contains("ATTENDEE"));
    let refused = waiting.get(&calendar(&waiting)).await;
    refused.expect_error(ErrorCode::RegistrationNotConfirmed);
    course.trainer.get(&calendar(&member)).await.expect_error(ErrorCode::Forbidden);
    waiting.get(&calendar(&member)).await.expect_error(ErrorCode::RegistrationNotFound);
    course.remove_dates().await;
    member.get(&calendar(&member)).await.expect_error(ErrorCode::CourseWithoutDate);
}

#[tokio::test]
async fn calendar_has_no_control_characters() {
    let course = Course::with(automatic(1, 0)).await;
    let mut settings = automatic(1, 0);
    settings["joinInfo"] = json!("Salle 3\r\nÀ 9 h\rBadge\tCarte; stylo");
    course.set(settings).await.expect_success(Message::RegistrationSettings);
    let (member, registration) = course.registered().await;
    assert_eq!(registration["joinInfo"], "Salle 3\nÀ 9 h\nBadge\tCarte; stylo");
    let answer = member.get(&format!("{}/calendar", course.path_of(&member))).await;
    let text = String::from_utf8_lossy(&answer.body).replace("\r\n", "");
    assert!(!text.contains(char::is_control), "{text:?}");
    let line = r"DESCRIPTION:Salle 3\nÀ 9 h\nBadge Carte\; stylo";
    assert!(text.contains(line), "{text:?}");
}

#[tokio::test]
async fn export_of_ones_data_contains_registrations_whole() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = typed(&course).await;
    let seen = course.seen(&member).await;
    let body = member.get(&format!("/users/{}/export", member.user().user_id)).await.expect_ok();
    assert_eq!(body["export"]["registrations"], json!([seen]));
}
