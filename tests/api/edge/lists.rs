//! `limit` and `cursor` of all lists.

use common::ErrorCode;
use tests::Document;

use crate::registrations::{Course, automatic};

/// The paths of the operations that take a cursor.
fn lists() -> Vec<String> {
    let paths = Document::get().root()["paths"].as_object().unwrap().iter();
    let is_list = |parameters: &serde_json::Value| {
        let parameters = parameters.as_array().into_iter().flatten();
        parameters.into_iter().any(|one| one["$ref"] == "#/components/parameters/Cursor")
    };
    let lists = paths.filter(|(_, item)| is_list(&item["get"]["parameters"]));
    lists.map(|(path, _)| path.clone()).collect()
}

/// The other parameters are invalid or name what does not exist.
#[tokio::test]
async fn limit_and_cursor_are_judged_first_and_alone_in_every_list() {
    let course = Course::with(automatic(1, 0)).await;
    let admin = course.world.admin().await;
    let id = "0198c0de-0000-7000-8000-000000000001";
    let (long, lists) = ("x".repeat(300), lists());
    assert!(lists.len() >= 12, "{lists:?}");
    for path in lists {
        let path = path.replace("{courseId}", &course.id);
        for others in [
            format!("state=x&order=x&scope=x&profile=x&isActive=x&isVerified=x&q={long}"),
            format!("scope=committee&committeeID={id}&userID={id}&batchID={id}"),
        ] {
            for (given, field, code) in [
                ("limit=0", "limit", ErrorCode::LimitInvalid),
                ("limit=101&cursor=x", "limit", ErrorCode::LimitInvalid),
                ("cursor=x", "cursor", ErrorCode::InvalidCursor),
            ] {
                let answer = admin.get(&format!("{path}?{others}&{given}")).await;
                assert_eq!(
                    answer.errors(),
                    [(field.to_owned(), code.code().to_owned())],
                    "{path} {others} {given}"
                );
                answer.expect_error(code);
            }
        }
    }
}
