//! Exports for writers, calendars for confirmed people, and the registrations in the export of one's data.

use std::{
    io::{Cursor, Read},
    time::Duration,
};

use calamine::{Data, DataType, Range, Reader, Xlsx};
use common::{ErrorCode, Message};
use domain::{Instant, Profile, Zone, user::User};
use serde_json::{Value, json};
use tests::{Person, expect_fields};
use zip::ZipArchive;

use super::{Course, DAY, automatic};
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
    let widths: Vec<f64> =
        attributes(&xml, "col", "width").into_iter().map(|width| width.parse().unwrap()).collect();
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
        let numbers: Vec<String> =
            rows(file).into_iter().skip(1).map(|row| row[0].clone()).collect();
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

/// Local start and end of a session on `day`.
fn hours(day: impl std::fmt::Display, start: &str, end: &str) -> Value {
    let at = |time: &str| format!("{day}T{time}:00+01:00");
    json!({ "startAt": at(start), "endAt": at(end) })
}

/// `object` with the fields of `more`.
fn with(mut object: Value, more: Value) -> Value {
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

/// A person of this name who registers.
async fn named(course: &Course, last_name: &str, name: &str) -> Person {
    let user = course.world.unhashed_account(Profile::Member).await;
    let rename = |user: &mut User| {
        user.last_name = last_name.parse().unwrap();
        user.name = name.parse().unwrap();
    };
    let user = course.world.changed_account(&user, rename).await;
    let member = course.world.signed_in(user).await;
    course.register(&member).await.expect_created();
    member
}

/// The names of the worksheets of `file`, and their cells as texts.
fn worksheets(file: &[u8]) -> Vec<(String, Vec<Vec<String>>)> {
    let mut workbook: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(file)).unwrap();
    let texts = |row: &[Data]| row.iter().map(ToString::to_string).collect();
    let sheets = workbook.worksheets().into_iter();
    sheets.map(|(name, range)| (name, range.rows().map(texts).collect())).collect()
}

#[tokio::test]
async fn sheet_to_sign_has_a_worksheet_a_day_and_a_column_a_half_day() {
    let course = Course::with(automatic(3, 5)).await;
    for (last_name, name) in [("بن علي", "أحمد"), ("Évrard", "Zoé"), ("evrard", "Éa"), ("Aa", "Aa")]
    {
        named(&course, last_name, name).await;
    }
    let day = zone().local(course.world.clock().now().after(DAY * 20)).date();
    let next = day.tomorrow().unwrap();
    let sessions = json!([
        with(
            hours(day, "09:00", "12:00"),
            json!({ "location": "Salle 1", "trainers": ["Nizar G"] })
        ),
        with(hours(day, "14:00", "18:00"), json!({ "trainers": ["منى", "Nizar G"] })),
        with(hours(day, "18:00", "19:00"), json!({ "location": "Salle 1" })),
        with(hours(next, "08:00", "16:00"), json!({ "location": "Salle 2" })),
        with(hours(next, "16:00", "17:00"), json!({ "location": "Gymnase", "cancelled": true })),
        with(hours(next.tomorrow().unwrap(), "09:00", "12:00"), json!({ "cancelled": true })),
    ]);
    course.plan(sessions).await.expect_success(Message::SessionsUpdated);
    let (file, export) =
        exported(&course, json!({ "content": "SHEET", "states": ["CANCELLED"] })).await;
    expect_fields(&export, json!({ "rows": 3, "bytes": file.len() }));
    let today = zone().local(course.world.clock().now()).date();
    let name = format!("Premiers secours – feuille de présence {today}.xlsx");
    assert_eq!(export["fileName"], name);
    let [(first, rows), (second, other)] = &worksheets(&file)[..] else { panic!("two days") };
    assert_eq!((first, second), (&day.to_string(), &next.to_string()));

    let committee =
        course.world.setup().store.committee(course.world.committee()).await.unwrap().unwrap();
    assert_eq!(rows[0][0], "Premiers secours – feuille de présence");
    assert_eq!(rows[1][0], format!("{} — {}", committee.name_latin, committee.name_arabe));
    let date = day.strftime("%d/%m/%Y");
    let start = format!("{date} 09:00 – 19:00 (Africa/Tunis) — Salle 1 — Imprimé le ");
    assert!(rows[2][0].starts_with(&start), "{:?}", rows[2]);
    let signature = |hours: &str| format!("Signature {}", hours.replace(' ', "\u{a0}"));
    assert_eq!(rows[3][..2], ["Numéro", "Nom et prénom"]);
    assert_eq!(rows[3][2..], ["09:00 – 12:00", "14:00 – 18:00", "18:00 – 19:00"].map(signature));
    let people = [["3", "evrard Éa"], ["2", "Évrard Zoé"], ["1", "بن علي أحمد"]];
    let trainers = [["Formateur", "Nizar G"], ["Formateur", "منى"]];
    let expected: Vec<_> = people.into_iter().chain([["", ""]; 5]).chain(trainers).collect();
    let shown: Vec<_> = rows[4..].iter().map(|row| [&*row[0], &*row[1]]).collect();
    assert_eq!(shown, expected);
    assert!(rows[4..].iter().flat_map(|row| &row[2..]).all(String::is_empty));

    assert!(other[2][0].contains(" 08:00 – 16:00 (Africa/Tunis) — Salle 2 — Imprimé"));
    assert_eq!(other[3][2..], ["08:00 – 13:00", "13:00 – 16:00"].map(signature));
    assert_eq!(other.len(), 4 + 3, "people, and nothing in the cells of the empty lines");
    let xml = part(&file, "xl/worksheets/sheet1.xml");
    let heights = attributes(&xml, "row", "ht");
    assert_eq!(heights[3..], ["26.25"; 11], "26 points in pixels: {heights:?}");
    for expected in ["fitToHeight=\"0\" orientation=\"landscape\"", "ySplit=\"4\""] {
        assert!(xml.contains(expected), "{expected} in {xml}");
    }
    let names = part(&file, "xl/workbook.xml");
    assert_eq!(names.matches("$1:$4</definedName>").count(), 2, "{names}");
    for address in ["@", "+216"] {
        assert!(!xml.contains(address), "{address} in {xml}");
    }
}

#[tokio::test]
async fn sheet_to_sign_in_arabic_is_from_right_to_left() {
    let course = Course::with(automatic(3, 5)).await;
    let day = zone().local(course.world.clock().now().after(DAY * 20)).date();
    course
        .plan(json!([with(hours(day, "09:00", "12:00"), json!({ "trainers": ["منى"] }))]))
        .await
        .expect_success(Message::SessionsUpdated);
    for (language, name, heading, trainer) in [
        ("AR", "قائمة الحضور", "الإمضاء 09:00\u{a0}–\u{a0}12:00", "المكوّن"),
        ("EN", "attendance sheet", "Signature 09:00\u{a0}–\u{a0}12:00", "Trainer"),
    ] {
        let request = json!({ "content": "SHEET", "language": language });
        let (file, export) = exported(&course, request).await;
        assert!(export["fileName"].as_str().unwrap().contains(&format!(" – {name} ")), "{export}");
        let (_, rows) = &worksheets(&file)[0];
        assert_eq!((&*rows[3][2], &*rows[9][0]), (heading, trainer));
        let xml = part(&file, "xl/worksheets/sheet1.xml");
        assert_eq!(xml.contains("rightToLeft=\"1\""), language == "AR");
    }
}

#[tokio::test]
async fn sheet_to_sign_counts_as_export_and_needs_sessions_that_take_place() {
    let course = Course::with(automatic(3, 5)).await;
    course.registered().await;
    let day = zone().local(course.world.clock().now().after(DAY * 20)).date();
    let session = hours(day, "09:00", "12:00");
    let sheet = json!({ "content": "SHEET" });
    let refused = course.trainer.post(&course.path("/export"), sheet.clone()).await;
    refused.expect_error(ErrorCode::CourseWithoutSessions);
    course
        .plan(json!([with(session.clone(), json!({ "cancelled": true }))]))
        .await
        .expect_success(Message::SessionsUpdated);
    let refused = course.trainer.post(&course.path("/export"), sheet.clone()).await;
    refused.expect_error(ErrorCode::CourseWithoutSessions);
    course.plan(json!([session])).await.expect_success(Message::SessionsUpdated);
    for request in std::iter::repeat_n([sheet.clone(), json!({})], 15).flatten() {
        let answer = course.trainer.post(&course.path("/export"), request).await;
        answer.expect_success(Message::RegistrationsExported);
    }
    let refused = course.trainer.post(&course.path("/export"), sheet).await;
    refused.expect_error(ErrorCode::TooManyAttempts);
    let audit = course.world.admin().await.get("/audit?limit=100").await.expect_ok();
    let is_export = |entry: &&Value| entry["action"] == "REGISTRATIONS_EXPORTED";
    let entries: Vec<_> = audit["audit"].as_array().unwrap().iter().filter(is_export).collect();
    assert_eq!(entries.len(), 30);
    assert!(entries.iter().all(|entry| entry["after"] == json!({ "rows": 1 })), "{entries:?}");
    let wrong = course.trainer.post(&course.path("/export"), json!({ "content": "ALL" })).await;
    wrong.expect_field_error("content", ErrorCode::FieldValue);
}

#[tokio::test]
async fn sessions_have_columns_with_marks_then_come_hours_and_percent() {
    let course = Course::with(automatic(5, 0)).await;
    course.ask(question("SHORT_REPLY", "Ville ?")).await;
    let (present, registration) = course.registered().await;
    let (absent, _) = course.registered().await;
    let (late, _) = course.registered().await;
    let start = course.world.clock().now().before(DAY);
    let minutes = |minutes: u32| start.after(Duration::from_secs(60) * minutes);
    let times = |start, end| json!({ "startAt": minutes(start), "endAt": minutes(end) });
    let titled = with(times(0, 180), json!({ "title": "Gestes" }));
    let planned = course.plan(json!([titled, times(200, 300), times(400, 500)])).await;
    let sessions = planned.expect_success(Message::SessionsUpdated)["sessions"].clone();
    let ids: Vec<&Value> = (0..3).map(|place| &sessions[place]["sessionID"]).collect();
    let hand = |person: &Person, session: usize, status: &str, version: u64| {
        let user_id = person.user().user_id;
        json!({ "userID": user_id, "sessionID": ids[session], "status": status, "version": version })
    };
    let scan = |person: &Person, session: usize, ticket: &Value, at: u32| {
        let user_id = person.user().user_id;
        json!({ "userID": user_id, "sessionID": ids[session], "status": "PRESENT", "ticket": ticket, "at": minutes(at) })
    };
    let ticket = &registration["ticket"];
    let other = &course.seen(&late).await["ticket"];
    for marks in [
        json!([
            scan(&present, 0, ticket, 12),
            with(hand(&present, 1, "PRESENT", 0), json!({ "minutes": 45 })),
            hand(&present, 2, "PRESENT", 0),
            hand(&absent, 0, "ABSENT", 0),
            hand(&absent, 1, "EXCUSED", 0),
            hand(&late, 0, "PRESENT", 0),
            scan(&late, 1, other, 200),
        ]),
        json!([hand(&late, 0, "NONE", 1)]),
    ] {
        let body = json!({ "sentAt": course.world.clock().now(), "marks": marks });
        let answer = course.trainer.post(&course.path("/attendance"), body).await;
        let marked = answer.expect_success(Message::AttendanceRecorded);
        let results = marked["results"].as_array().unwrap();
        assert!(results.iter().all(|one| one["result"] == "MARKED"), "{marked}");
    }
    let mut changed = sessions.clone();
    changed[2]["cancelled"] = json!(true);
    course.plan(changed).await.expect_success(Message::SessionsUpdated);
    let giving = with(automatic(5, 0), json!({ "certificate": { "kind": "ATTENDANCE" } }));
    course.set(giving).await.expect_success(Message::RegistrationSettings);
    let issued = course.trainer.post(&course.path("/certificates"), json!({})).await;
    let issued = issued.expect_success(Message::CertificatesIssued);
    let code = issued["results"][0]["code"].as_str().unwrap();
    let code = [0, 4, 8, 12].map(|at| &code[at..at + 4]).join("-");

    let (file, _) = exported(&course, json!({})).await;
    let (sheet, _) = sheet(file);
    let rows: Vec<&[Data]> = sheet.rows().skip(1).map(|row| &row[12..]).collect();
    let local = |at: u32| zone().local(minutes(at)).strftime("%d/%m/%Y %H:%M").to_string();
    let headings = [
        format!("Gestes – {}", local(0)),
        format!("Séance du {}", local(200)),
        format!("Séance du {} (annulée)", local(400)),
        "Heures".to_owned(),
        "Présence (%)".to_owned(),
        "Attestation".to_owned(),
        "État de l’attestation".to_owned(),
        "Ville ?".to_owned(),
    ];
    assert_eq!(rows[0], headings.map(Data::String));
    let texts = |row: usize| rows[row][..3].iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        [texts(1), texts(2), texts(3)],
        [["P +12", "P 45 min", "P"], ["A", "E", ""], ["", "P", ""]]
    );
    let sums = |hours: f64, percent: f64| [Data::Float(hours), Data::Float(percent)];
    assert_eq!(rows[1][3..5], sums(3.75, 80.0));
    let certificate = [code, "Valable".to_owned()].map(Data::String);
    assert_eq!((&rows[1][5..7], &rows[2][5]), (&certificate[..], &Data::Empty));
    assert_eq!(rows[2][3..5], sums(0.0, 0.0));
    assert_eq!(rows[3][3..5], sums(100.0 / 60.0, 35.0));
    for (language, second, third) in [("AR", "حصة", "(ملغاة)"), ("EN", "Session of", "(cancelled)")]
    {
        let rows = self::rows(exported(&course, json!({ "language": language })).await.0);
        assert_eq!(rows[0][13], format!("{second} {}", local(200)));
        assert_eq!(rows[0][14], format!("{second} {} {third}", local(400)));
        assert_eq!(rows[1][12], "P +12");
    }
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
