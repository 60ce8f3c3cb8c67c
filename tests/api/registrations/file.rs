use common::ErrorCode;
use serde_json::json;

use super::{Course, automatic};
use crate::files::{fetch, uploaded_file, uploaded_only};

#[tokio::test]
async fn file_of_an_answer_is_for_its_person_and_writers() {
    let course = Course::with(automatic(5, 0)).await;
    let asked = json!({ "language": "FR", "question": "Diplôme ?", "questionType": "FILE" });
    let asked = course.ask(asked).await;
    let (member, other) = (course.world.member().await, course.world.member().await);
    let file = json!({ "name": "diplome.txt", "contentType": "text/plain", "size": 5 });
    let anothers = uploaded_file(&other, file.clone(), b"hallo").await;
    let incomplete = uploaded_only(&member, file.clone(), b"hallo").await;
    for id in [&anothers, &incomplete] {
        let refused = member.post(&course.path(""), json!({ "answers": { &asked: id } })).await;
        let invalid = (format!("answers.{asked}"), ErrorCode::FileNotFound.code().to_owned());
        assert_eq!((refused.status, refused.errors()), (400, vec![invalid]));
    }
    let own = uploaded_file(&member, file, b"hallo").await;
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
