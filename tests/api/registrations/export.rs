//! Exports for writers, calendars for confirmed people, and the registrations in the export of one's data.

use std::io::{Cursor, Read};

use calamine::{Data, DataType, Range, Reader, Xlsx};
use common::{ErrorCode, Message};
use domain::{Instant, Zone};
use serde_json::{Value, json};
use tests::{Person, expect_fields};
use zip::ZipArchive;

use super::{Course, automatic};
use crate::files::fetch;

/// Answers that spreadsheet programs like to change.
async fn typed(course: &Course) -> (Person, Vec<String>) {
    let mut ids = Vec::new();
    for (kind, text) in [
        ("SHORT_REPLY", "Formule ?"),
        ("LONG_REPLY", "الاسم"),
        ("NUMBER", "Somme ?"),
        ("DATE", "Jour ?"),
        ("PHONE", "Urgence ?"),
        ("YES_NO", "Permis ?"),
    ] {
        ids.push(course.ask(question(kind, text)).await);
    }
    let values = json!(["=1+1", "ه\nسطر", -12.5, "2026-03-01", "+21698000123", true]);
    let member = answering(course, &ids, &values).await;
    (member, ids)
}

fn question(kind: &str, text: &str) -> Value {
    json!({ "language": "FR", "question": text, "questionType": kind })
}

/// A person who registered with `values` as answers to the questions `ids`.
async fn answering(course: &Course, ids: &[String], values: &Value) -> Person {
    let member = course.world.member().await;
    let answers: Value = ids.iter().cloned().zip(values.as_array().unwrap().clone()).collect();
    member.post(&course.path(""), json!({ "answers": answers })).await.expect_created();
    member
}

/// The bytes that the link of an export leads to, and the export.
async fn exported(course: &Course, request: Value) -> (Vec<u8>, Value) {
    course.world.cloud().settle();
    let answer = course.trainer.post(&course.path("/export"), request).await;
    let body = answer.expect_success(Message::RegistrationsExported);
    let (status, headers, file) = fetch(body["export"]["url"].as_str().unwrap()).await;
    assert_eq!(status, 200);
    let disposition = headers["content-disposition"].to_str().unwrap();
    let (fallback, whole) = disposition.split_once("; filename*=UTF-8''").unwrap();
    assert!(fallback.starts_with("attachment; filename=\"") && fallback.ends_with(".xlsx\""));
    let field = format!("name={whole}");
    let (_, name) = form_urlencoded::parse(field.as_bytes()).next().unwrap();
    assert_eq!(name, body["export"]["fileName"].as_str().unwrap());
    (file.to_vec(), body["export"].clone())
}

/// The sheet in `file`, and its name.
fn sheet(file: Vec<u8>) -> (Range<Data>, String) {
    let mut workbook: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(file)).unwrap();
    let [name] = <[String; 1]>::try_from(workbook.sheet_names()).unwrap();
    assert!(workbook.worksheet_formula(&name).unwrap().is_empty());
    (workbook.worksheet_range(&name).unwrap(), name)
}

/// The rows of the sheet in `file` below the first line, each cell as text.
fn rows(file: Vec<u8>) -> Vec<Vec<String>> {
    let (sheet, _) = sheet(file);
    let rows = sheet.rows().skip(1);
    rows.map(|row| row.iter().map(ToString::to_string).collect()).collect()
}

fn zone() -> Zone {
    "Africa/Tunis".parse().unwrap()
}

/// The content of `part` of the workbook `file`, as XML.
fn part(file: &[u8], part: &str) -> String {
    let mut archive = ZipArchive::new(Cursor::new(file)).unwrap();
    let mut text = String::new();
    archive.by_name(part).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The values of the attribute `name`, not the first one, of all elements `element` of `xml`.
fn attributes<'a>(xml: &'a str, element: &str, name: &str) -> Vec<&'a str> {
    let (start, name) = (format!("<{element} "), format!(" {name}=\""));
    let tags = xml.split(&*start).skip(1).map(|rest| rest.split_once('>').unwrap().0);
    let values = tags.filter_map(|tag| tag.split_once(&*name));
    values.map(|(_, rest)| rest.split_once('"').unwrap().0).collect()
}

#[tokio::test]
async fn workbook_keeps_texts_numbers_and_dates_as_typed() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = typed(&course).await;
    let (file, export) = exported(&course, json!({})).await;
    expect_fields(&export, json!({ "rows": 1, "bytes": file.len() }));
    let (sheet, _) = sheet(file);
    let rows: Vec<&[Data]> = sheet.rows().collect();
    let [_, headings, row] = rows[..] else { panic!("{rows:?}") };
    assert_eq!(headings[7].as_string().unwrap(), "Inscription (Africa/Tunis)");
    assert_eq!(headings[12].as_string().unwrap(), "Formule ?");
    let user = member.user();
    assert_eq!(row[..2], [Data::Float(1.0), Data::String("Confirmée".to_owned())]);
    assert_eq!(row[4].as_string().unwrap(), user.email.as_str());
    let registered: Instant =
        serde_json::from_value(course.seen(&member).await["createdAt"].clone()).unwrap();
    let local = row[7].as_datetime().unwrap().to_string();
    assert_eq!(local[..16], zone().local(registered).to_string().replace('T', " ")[..16]);
    assert_eq!(row[12..14], [Data::String("=1+1".into()), Data::String("ه\nسطر".into())]);
    assert_eq!(row[14], Data::Float(-12.5));
    assert_eq!(row[15].as_date().unwrap().to_string(), "2026-03-01");
    assert_eq!(row[16..], [Data::String("+21698000123".into()), Data::String("Oui".into())]);
}

#[tokio::test]
async fn times_dates_numbers_and_choices_have_cells_of_their_kind() {
    let course = Course::with(automatic(5, 0)).await;
    let mut ids = Vec::new();
    for kind in ["TIME", "DATE", "DATE", "DATE", "NUMBER", "NUMBER", "SCALE", "RATING"] {
        ids.push(course.ask(question(kind, "?")).await);
    }
    let mut choice = question("MULTIPLE_CHOICE", "Quand ?");
    choice["options"] = json!(["Lundi; mardi", "Mercredi", "Jeudi"]);
    ids.push(course.ask(choice).await);
    let values = json!([
        "09:05",
        "1900-02-28",
        "1900-03-01",
        "2100-12-31",
        123_456_789_012_u64,
        0.000_001,
        10,
        5,
        ["Jeudi", "Lundi; mardi"],
    ]);
    answering(&course, &ids, &values).await;
    let (file, _) = exported(&course, json!({})).await;
    let styles = part(&file, "xl/styles.xml");
    let formats = attributes(&styles, "numFmt", "formatCode");
    for format in ["dd/mm/yyyy hh:mm", "dd/mm/yyyy", "hh:mm", "0.000000"] {
        assert!(formats.contains(&format), "{format} in {formats:?}");
    }
    let (sheet, _) = sheet(file);
    let row = &sheet.rows().nth(2).unwrap()[12..];
    assert_eq!(row[0].as_time().unwrap().to_string(), "09:05:00");
    // Programs disagree about the dates before March 1900.
    assert_eq!(row[1], Data::String("28/02/1900".to_owned()));
    let dates = [&row[2], &row[3]].map(|cell| cell.as_date().unwrap().to_string());
    assert_eq!(dates, ["1900-03-01", "2100-12-31"]);
    assert_eq!(row[4..8], [123_456_789_012.0, 0.000_001, 10.0, 5.0].map(Data::Float));
    assert_eq!(row[8], Data::String("Lundi; mardi\nJeudi".to_owned()));
}

#[tokio::test]
async fn first_line_names_course_committee_dates_and_who_made_it() {
    let course = Course::with(automatic(5, 0)).await;
    let shown = course.trainer.get(&format!("/courses/{}", course.id)).await.expect_ok();
    let (file, _) = exported(&course, json!({})).await;
    let (sheet, _) = sheet(file);
    let line = sheet.rows().next().unwrap()[0].to_string();
    let parts: Vec<&str> = line.split(" — ").collect();
    let [title, committee, dates, made] = parts[..] else { panic!("{line}") };
    assert_eq!((title, committee), ("Premiers secours", "Fédération nationale de la formation"));
    let local = |field: &str| {
        let at = serde_json::from_value(shown["course"][field].clone()).unwrap();
        zone().local(at).strftime("%d/%m/%Y %H:%M").to_string()
    };
    assert_eq!(dates, format!("{} – {}", local("startAt"), local("endAt")));
    let user = course.trainer.user();
    assert!(made.starts_with("Établi le "), "{made}");
    assert!(made.ends_with(&format!(" par {} {}", user.name, user.last_name)), "{made}");
}

#[tokio::test]
async fn states_answers_and_committees_are_in_the_requested_language() {
    let course = Course::with(automatic(2, 5)).await;
    let (member, _) = typed(&course).await;
    let (cancelled, _) = course.registered().await;
    course.registered().await;
    course.registered().await;
    cancelled.post(&format!("{}/cancel", course.path_of(&cancelled)), json!({})).await.expect_ok();
    let admin = course.world.admin().await;
    let path = format!("/committees/{}", member.user().committee_id);
    let committee = admin.get(&path).await.expect_ok()["committee"].clone();
    for (language, states, yes, name) in [
        ("FR", ["Confirmée", "Annulée", "Sur liste d’attente"], "Oui", &committee["nameLatin"]),
        ("AR", ["مؤكد", "ملغى", "في قائمة الانتظار"], "نعم", &committee["nameArabe"]),
        ("EN", ["Confirmed", "Cancelled", "On the waiting list"], "Yes", &committee["nameLatin"]),
    ] {
        let all = json!(["CONFIRMED", "WAITLISTED", "CANCELLED"]);
        let request = json!({ "language": language, "states": all });
        let (file, _) = exported(&course, request).await;
        let sheet_xml = part(&file, "xl/worksheets/sheet1.xml");
        assert_eq!(sheet_xml.contains("rightToLeft=\"1\""), language == "AR");
        let rows = rows(file);
        let column =
            |index: usize| rows[1..].iter().map(|row| row[index].as_str()).collect::<Vec<_>>();
        assert_eq!(column(1)[..3], states);
        assert_eq!(column(17)[0], yes);
        assert_eq!(column(6), [name.as_str().unwrap(); 4]);
    }
}

#[tokio::test]
async fn sheet_is_set_up_for_screen_and_paper() {
    let course = Course::with(automatic(5, 0)).await;
    typed(&course).await;
    let (file, _) = exported(&course, json!({})).await;
    let xml = part(&file, "xl/worksheets/sheet1.xml");
    for expected in [
        "<pane ySplit=\"2\" topLeftCell=\"A3\" activePane=\"bottomLeft\" state=\"frozen\"/>",
        "<autoFilter ref=\"A2:R3\"/>",
        "<mergeCell ref=\"A1:R1\"/>",
        "<pageSetup paperSize=\"9\" fitToHeight=\"0\" orientation=\"landscape\"",
        "<pageSetUpPr fitToPage=\"1\"/>",
        "<oddFooter>&amp;L&amp;R&amp;P / &amp;N</oddFooter>",
    ] {
        assert!(xml.contains(expected), "{expected} in {xml}");
    }
    let names = part(&file, "xl/workbook.xml");
    assert!(names.contains("$1:$2</definedName>"), "{names}");
}

#[tokio::test]
async fn columns_and_rows_are_as_large_as_their_texts() {
    let course = Course::with(automatic(5, 0)).await;
    let question = course.ask(question("LONG_REPLY", "Parcours ?")).await;
    let ids = [question];
    for text in ["un mot", "deux\nmots", &"mot ".repeat(1_000), &"mot ".repeat(1_250)] {
        answering(&course, &ids, &json!([text])).await;
    }
    let (file, _) = exported(&course, json!({})).await;
    let xml = part(&file, "xl/worksheets/sheet1.xml");
    let widths = attributes(&xml, "col", "width").into_iter().map(|width| width.parse().unwrap());
    let widths: Vec<f64> = widths.collect();
    assert!(widths.iter().all(|width| (6.0..51.0).contains(width)), "{widths:?}");
    assert!(widths.last().is_some_and(|width| *width > 50.0), "{widths:?}");
    // The title, headings on two lines, and all answers but the first one: two lines, small letters, and too many of them.
    assert_eq!(attributes(&xml, "row", "ht"), ["22.5", "30", "30", "404.25", "408.75"]);
    assert_eq!(xml.matches("<row r=\"6\"").count(), 1);
    assert!(part(&file, "xl/styles.xml").contains("FFF9D6"));
    assert!(xml.contains("&amp;LFond jaune : le texte peut continuer"));
}

#[tokio::test]
async fn names_of_sheet_and_file_begin_with_the_title() {
    let course = Course::with(automatic(5, 0)).await;
    let path = format!("/courses/{}", course.id);
    for (title, language, sheet_name, file_name) in [
        (
            "Premiers secours",
            "FR",
            "Premiers secours – inscriptions",
            "Premiers secours – inscriptions",
        ),
        (
            "'Gestes [1/2] : que faire ?' \u{200f}*",
            "EN",
            "Gestes 1 2 que faire ' – regist",
            "'Gestes 1 2 que faire ' – registrations",
        ),
        ("إسعافات أولية", "AR", "إسعافات أولية – التسجيلات", "إسعافات أولية – التسجيلات"),
        ("<<?>>", "FR", "– inscriptions", "– inscriptions"),
        (
            "Prévention des noyades en mer 🌊🌊 et surveillance des plages",
            "FR",
            "Prévention des noyades en mer",
            "Prévention des noyades en mer 🌊🌊 et surveillance des plages – inscriptions",
        ),
    ] {
        let mut changed = course.trainer.get(&path).await.expect_ok()["course"].clone();
        changed["courseTitle"] = json!(title);
        course.trainer.put(&path, changed).await.expect_success(Message::CourseUpdated);
        let (file, export) = exported(&course, json!({ "language": language })).await;
        assert_eq!(sheet(file).1, sheet_name);
        let day = zone().local(course.world.clock().now()).date();
        assert_eq!(export["fileName"], format!("{file_name} {day}.xlsx"));
    }
}

#[tokio::test]
async fn erased_person_has_a_row_without_address_and_phone() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = typed(&course).await;
    let admin = course.world.admin().await;
    let path = format!("/users/{}", member.user().user_id);
    admin.delete(&path).await.expect_success(Message::UserDeleted);
    course.world.deliver().await;
    let (file, _) = exported(&course, json!({ "states": ["CANCELLED"] })).await;
    assert_eq!(rows(file)[1][2..6], ["supprimé", "Compte", "", ""]);
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
    let (sheet, _) = sheet(file);
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
