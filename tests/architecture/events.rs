//! Compares the sample events and the API test files with the routes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{files, routes};

#[test]
fn every_route_has_a_sample_event_and_every_event_a_route() {
    let routes = routes();
    let mut met = BTreeSet::new();
    for (file, text) in files("events", ".json") {
        let event: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        if file.starts_with("events/dispatcher/") {
            continue;
        }
        assert_eq!(event["version"], "2.0", "{file}");
        if file.starts_with("events/odd/") {
            continue;
        }
        let path = event["rawPath"].as_str().unwrap();
        let path = path.strip_prefix("/api/v1").unwrap_or(path);
        let method = event["requestContext"]["http"]["method"].as_str().unwrap();
        let fits = |route: &str| {
            let (method_then, template) = route.split_once(' ').unwrap();
            let (template, path): (Vec<&str>, Vec<&str>) =
                (template.split('/').collect(), path.split('/').collect());
            method == method_then
                && template.len() == path.len()
                && template
                    .iter()
                    .zip(&path)
                    .all(|(part, given)| part.starts_with('{') || part == given)
        };
        let route = routes
            .iter()
            .filter(|(_, route)| fits(route))
            .min_by_key(|(_, route)| route.matches('{').count());
        let (function, route) = route.unwrap_or_else(|| panic!("{file} matches no route"));
        assert_eq!(
            file.split('/').nth(1),
            Some(function.as_str()),
            "{file} belongs to {function}"
        );
        met.insert(route.clone());
    }
    assert_eq!(met, routes.into_iter().map(|(_, route)| route).collect());
}

#[test]
fn every_url_has_a_test_file_of_the_same_path() {
    let tested: BTreeSet<String> = files("tests/api", ".rs")
        .into_iter()
        .map(|(file, _)| file)
        .collect();
    for (function, route) in routes() {
        if function == "fallback" {
            continue;
        }
        let (method, path) = route.split_once(' ').unwrap();
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let file = match (method, segments.as_slice()) {
            ("DELETE", ["auth", "sessions", _]) => "auth/sessions".to_owned(),
            ("DELETE", ["otp"]) => "otp/disable".to_owned(),
            ("DELETE", ["users", _]) => "users/erase".to_owned(),
            ("DELETE", ["courses", _]) => "courses/archive".to_owned(),
            ("DELETE", ["files", _]) => "files/remove".to_owned(),
            (_, ["sms", "bulk", _]) => "sms/batch".to_owned(),
            (_, ["sms", "opt-outs", _]) => "sms/opt_out".to_owned(),
            (_, ["courses", "questions", _]) => "courses/questions".to_owned(),
            (_, ["courses", "questions", _, _]) => "courses/question".to_owned(),
            (_, ["files", "public", _]) => "files/public".to_owned(),
            (_, ["audit"]) => "users/audit".to_owned(),
            (_, ["media", _]) => "files/media".to_owned(),
            (_, ["users", "user-status", _]) => "users/user_status".to_owned(),
            (_, [noun, id, word]) if id.starts_with('{') => {
                format!("{noun}/{}", word.replace('-', "_"))
            }
            ("GET", [noun, id]) if id.starts_with('{') => format!("{noun}/show"),
            ("PUT", [noun, id]) if id.starts_with('{') => format!("{noun}/change"),
            ("POST", [noun]) => format!("{noun}/create"),
            ("GET", [noun]) => format!("{noun}/list"),
            (_, [noun, word]) => format!("{noun}/{}", word.replace('-', "_")),
            _ => panic!("no file name rule for {route}"),
        };
        assert!(
            tested.contains(&format!("tests/api/{file}.rs")),
            "{route} has no tests/api/{file}.rs"
        );
    }
}
