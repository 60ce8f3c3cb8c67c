//! The commands of `cargo dev` for those who add an endpoint: `event` and `check`.

use std::{collections::BTreeSet, fs, path::Path};

use dev::{endpoints, event_file};
use serde_json::Value;
use tempfile::TempDir;
use tests::{LambdaAnswer, World};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// A function with one route, without its other parts.
const SOURCE: &str = r#"
    Router::new()
        .route(
            "/courses/{courseId}/copy",
            sign_in(post(copy::copy)),
        )
        .with_state(courses)
        .get(not_a_route())
"#;

/// A repository of `files`: path and content.
fn repository(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn read(root: &Path, path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(root.join(path)).unwrap()).unwrap()
}

#[test]
fn event_has_the_form_of_the_others_and_replaces_none() {
    let root = repository(&[("functions/courses/src/lib.rs", SOURCE)]);
    let target = "/api/v1/courses/7/copy?draft=yes%20please";
    let write = |body| event_file::write(root.path(), "POST", target, Some(body));
    let file = write(r#"{"title":"é"}"#).unwrap();
    assert_eq!(file, Path::new("events/courses/post-courses-copy.json"));
    let written = read(root.path(), &file);
    assert_eq!(written["rawPath"], "/api/v1/courses/7/copy");
    assert_eq!(written["queryStringParameters"]["draft"], "yes please");
    assert_eq!(written["body"], r#"{"title":"é"}"#);
    assert_eq!(written["headers"]["content-length"], "14");
    assert_eq!(written["pathParameters"]["proxy"], "7/copy");

    let other = read(Path::new(ROOT), Path::new("events/courses/add-questions.json"));
    for part in ["", "/headers", "/requestContext", "/requestContext/http"] {
        let keys = |event: &Value| -> BTreeSet<String> {
            let object = event.pointer(part).unwrap().as_object().unwrap();
            object.keys().cloned().collect()
        };
        let mut expected = keys(&other);
        if part.is_empty() {
            expected.insert("queryStringParameters".to_owned());
        }
        assert_eq!(keys(&written), expected, "{part}");
    }
    assert_eq!(written["routeKey"], other["routeKey"]);

    let again = write("{}").unwrap_err().to_string();
    assert!(again.contains("post-courses-copy.json"), "{again}");
    let refused = write("{").unwrap_err().to_string();
    assert!(refused.contains("not JSON"), "{refused}");
    let unknown = event_file::write(root.path(), "GET", "/courses/7/copy", None);
    let unknown = unknown.unwrap_err().to_string();
    assert!(unknown.contains("GET /courses/7/copy"), "{unknown}");
}

#[tokio::test]
async fn written_event_is_answered_by_its_function() {
    let source = "functions/committees/src/lib.rs";
    let text = fs::read_to_string(format!("{ROOT}/{source}")).unwrap();
    let root = repository(&[(source, &text)]);
    let file = event_file::write(root.path(), "GET", "/committees?limit=1", None).unwrap();
    let event = read(root.path(), &file);
    let world = World::new().await;
    let answer = LambdaAnswer::to(world.edge(), event).await;
    assert_eq!(answer.status_code, 200, "{answer:?}");
}

#[test]
fn check_names_each_missing_part_of_an_endpoint() {
    let document =
        "openapi: 3.1.0\npaths:\n  /courses:\n    get:\n      tags: [x]\ninfo:\n  /no:\n    put:\n";
    let event = r#"{"rawPath":"/api/v1/old","requestContext":{"http":{"method":"GET"}}}"#;
    let root = repository(&[
        ("functions/courses/src/lib.rs", SOURCE),
        ("infra/api/openapi.yaml", document),
        ("infra/template.yaml", "Resources:\n  Courses:\n"),
        ("tests/api/matrix.rs", ""),
        ("events/courses/old.json", event),
    ]);
    let route = "POST /courses/{courseId}/copy";
    assert_eq!(
        endpoints::missing(root.path()).unwrap(),
        [
            "events/courses/old.json: no route of courses".to_owned(),
            "GET /courses: no route in functions/*/src/lib.rs".to_owned(),
            format!("{route}: no operation in infra/api/openapi.yaml"),
            format!("{route}: no row of COSTS in shared/store/src/keys/costs.rs"),
            format!("{route}: no event in events/courses/"),
            format!("{route}: no row of endpoints() in tests/api/matrix.rs"),
            format!("{route}: no tests/api/courses/copy.rs"),
            format!("{route}: no event of courses in infra/template.yaml"),
        ]
    );
}
