use common::ErrorCode;
use serde_json::{Value, json};
use tests::Person;

use super::{Course, automatic};
use crate::files::{fetch, uploaded_file, uploaded_only};

/// A course that asks for a file, the question, and two people.
async fn asking(is_required: bool) -> (Course, String, Person, Person) {
    let course = Course::with(automatic(5, 0)).await;
    let asked = json!({
        "language": "FR", "question": "Diplôme ?", "questionType": "FILE", "required": is_required,
    });
    let asked = course.ask(asked).await;
    let (member, other) = (course.world.member().await, course.world.member().await);
    (course, asked, member, other)
}

fn diploma() -> Value {
    json!({ "name": "diplome.txt", "contentType": "text/plain", "size": 5 })
}

/// Two files that no answer of `member` may name: one of `other`, and one whose upload is not confirmed.
async fn refused_files(member: &Person, other: &Person) -> [String; 2] {
    [
        uploaded_file(other, diploma(), b"hallo").await,
        uploaded_only(member, diploma(), b"hallo").await,
    ]
}

#[tokio::test]
async fn file_of_an_answer_is_for_its_person_and_writers() {
    let (course, asked, member, other) = asking(false).await;
    let refused_files = refused_files(&member, &other).await;
    let own = uploaded_file(&member, diploma(), b"hallo").await;
    for id in &refused_files {
        let refused = member.post(&course.path(""), json!({ "answers": { &asked: id } })).await;
        let invalid = (format!("answers.{asked}"), ErrorCode::FileNotFound.code().to_owned());
        assert_eq!((refused.status, refused.errors()), (400, vec![invalid]));
    }
    let body = json!({ "answers": { &asked: own } });
    member.post(&course.path(""), body).await.expect_created();
    course.register(&other).await.expect_created();

    let path = format!("{}/files/{asked}", course.path_of(&member));
    for person in [&member, &course.trainer] {
        let shown = person.get(&path).await.expect_ok();
        assert_eq!(shown["file"]["name"], "diplome.txt");
        let (status, _, content) = fetch(shown["file"]["url"].as_str().unwrap()).await;
        assert_eq!((status, &*content), (200, &b"hallo"[..]));
    }
    other.get(&path).await.expect_error(ErrorCode::RegistrationNotFound);
    let none = format!("{}/files/{asked}", course.path_of(&other));
    other.get(&none).await.expect_error(ErrorCode::FileNotFound);

    member.delete(&format!("/files/{own}")).await.expect_ok();
    member.get(&path).await.expect_error(ErrorCode::FileNotFound);
    let answer = &course.seen(&member).await["answers"][0];
    assert_eq!(json!([answer["value"], answer["current"]]), json!([null, false]));
}

#[tokio::test]
async fn file_of_another_person_is_refused_however_the_question_is_written() {
    let (course, asked, member, other) = asking(false).await;
    let refused_files = refused_files(&member, &other).await;
    let own = uploaded_file(&member, diploma(), b"hallo").await;
    let field = format!("answers.{asked}");
    let upper = asked.to_uppercase();
    let refused = [(field.clone(), ErrorCode::FileNotFound.code().to_owned())];
    for id in &refused_files {
        let body = json!({ "answers": { &upper: id } });
        let answer = member.post(&course.path(""), body).await;
        assert_eq!((answer.status, answer.errors()), (400, refused.to_vec()));
    }
    let twice = json!({ "answers": { &asked: own, &upper: refused_files[0] } });
    let answer = member.post(&course.path(""), twice.clone()).await;
    answer.expect_field_error(&field, ErrorCode::FieldValue);
    member.post(&course.path(""), json!({ "answers": { &upper: own } })).await.expect_created();

    // Neither may the person or a writer change to such a file.
    for person in [&member, &course.trainer] {
        for id in &refused_files {
            let body = json!({ "answers": { &upper: id } });
            let answer = person.put(&course.path_of(&member), body).await;
            assert_eq!((answer.status, answer.errors()), (400, refused.to_vec()));
        }
        let answer = person.put(&course.path_of(&member), twice.clone()).await;
        answer.expect_field_error(&field, ErrorCode::FieldValue);
    }
    let path = format!("{}/files/{upper}", course.path_of(&member));
    assert_eq!(course.trainer.get(&path).await.expect_ok()["file"]["fileID"], own.as_str());
}

#[tokio::test]
async fn errors_of_answers_come_in_the_order_of_the_form() {
    let course = Course::with(automatic(5, 0)).await;
    let of = |kind: &str| json!({ "language": "FR", "question": "Q", "questionType": kind, "required": true });
    let mut asked = Vec::new();
    for kind in ["FILE", "SHORT_REPLY", "NUMBER", "FILE"] {
        asked.push(course.ask(of(kind)).await);
    }
    // The ids of questions rise in their order; the form has another one.
    let path = format!("/courses/questions/{}/{}", course.id, asked[3]);
    let mut first = of("FILE");
    first["order"] = json!(1);
    course.trainer.put(&path, first).await.expect_ok();
    let member = course.world.member().await;
    let doubled = asked[0].to_uppercase();
    let answers = json!({
        &asked[3]: "x", &asked[0]: "y", &doubled: "y", &asked[2]: "z", "no id": 1, &course.id: 1,
    });
    let answer = member.post(&course.path(""), json!({ "answers": answers })).await;
    let unknown = course.id.as_str();
    let expected = [
        (&*asked[3], ErrorCode::FileNotFound),
        (&*asked[0], ErrorCode::FieldValue),
        (&*asked[1], ErrorCode::FieldRequired),
        (&*asked[2], ErrorCode::FieldType),
        (unknown, ErrorCode::QuestionNotFound),
        ("no id", ErrorCode::QuestionNotFound),
    ]
    .map(|(id, code)| (format!("answers.{id}"), code.code().to_owned()));
    assert_eq!(answer.errors(), expected);
}

#[tokio::test]
async fn writer_opens_files_of_active_registrations_alone_and_audited() {
    let (course, asked, member, _) = asking(true).await;
    let own = uploaded_file(&member, diploma(), b"hallo").await;
    let body = json!({ "answers": { &asked: own } });
    member.post(&course.path(""), body.clone()).await.expect_created();
    let path = format!("{}/files/{asked}", course.path_of(&member));
    member.get(&path).await.expect_ok();
    course.trainer.get(&path).await.expect_ok();
    let admin = course.world.admin().await;
    let audit = admin.get("/audit").await.expect_ok();
    let entry = &audit["audit"][0];
    let trainer = course.trainer.user().user_id;
    assert_eq!(
        json!([entry["action"], entry["actorID"]]),
        json!(["REGISTRATION_FILE_READ", trainer])
    );
    let read = audit["audit"].as_array().unwrap().iter();
    let read = read.filter(|entry| entry["action"] == "REGISTRATION_FILE_READ");
    assert_eq!(read.count(), 1, "the person's own look is not audited");

    let status = format!("/users/user-status/{}", member.user().user_id);
    admin.put(&status, json!({ "isActive": false })).await.expect_ok();
    course.trainer.get(&path).await.expect_error(ErrorCode::FileNotFound);
    admin.put(&status, json!({ "isActive": true })).await.expect_ok();
    course.trainer.get(&path).await.expect_ok();
    let member = course.world.signed_in(member.user().clone()).await;
    let cancel = format!("{}/cancel", course.path_of(&member));
    member.post(&cancel, json!({})).await.expect_ok();
    course.trainer.get(&path).await.expect_error(ErrorCode::FileNotFound);
    member.get(&path).await.expect_ok();

    // Answers can be taken back, also required ones; nothing else can be changed.
    let registration = course.path_of(&member);
    let cleared = json!({ "answers": { &asked: null } });
    for (person, body) in [(&member, body), (&course.trainer, cleared.clone())] {
        person.put(&registration, body).await.expect_error(ErrorCode::RegistrationEnded);
    }
    let taken = member.put(&registration, cleared).await.expect_ok();
    assert_eq!(taken["registration"]["answers"], json!([]));
    member.get(&path).await.expect_error(ErrorCode::FileNotFound);
}

#[tokio::test]
async fn question_whose_file_was_deleted_is_missing_wherever_it_is_shown() {
    let (course, asked, member, _) = asking(true).await;
    let file = uploaded_file(&member, diploma(), b"hallo").await;
    let body = json!({ "answers": { &asked: file } });
    member.post(&course.path(""), body).await.expect_created();
    for missing in [json!([]), json!([asked])] {
        assert_eq!(course.seen(&member).await["missing"], missing);
        let own = member.get("/registrations/my-registrations").await.expect_ok();
        assert_eq!(own["registrations"][0]["missing"], missing);
        let listed = course.trainer.get(&course.path("")).await.expect_ok();
        let count = missing.as_array().unwrap().len();
        assert_eq!(listed["registrations"][0]["missing"], count);
        if count == 0 {
            member.delete(&format!("/files/{file}")).await.expect_ok();
        }
    }
}
