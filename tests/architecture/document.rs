//! Compares the OpenAPI document with the code.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use common::{ErrorCode, Message};
use domain::Language;
use http::StatusCode;
use serde_json::{Value, json};
use tests::Document;

use crate::{effects, read, routes};

#[test]
fn get_documents_304_unless_it_has_effects() {
    let effects = effects();
    assert!(!effects.is_empty());
    for (path, item) in Document::get().root()["paths"].as_object().unwrap() {
        let Some(get) = item.get("get") else { continue };
        assert_eq!(
            get["responses"].get("304").is_none(),
            effects.contains(path.as_str()),
            "GET {path}"
        );
    }
}

/// Adds to `found` the components that `value` refers to, directly or through others, as `/components/<kind>/<name>`.
fn reach(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                let pointer = reference.trim_start_matches('#');
                if found.insert(pointer.to_owned()) {
                    reach(Document::get().root().pointer(pointer).unwrap(), found);
                }
            }
            object.values().for_each(|value| reach(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| reach(value, found)),
        _ => {}
    }
}

#[test]
fn function_has_the_operations_and_components_that_it_alone_uses() {
    let root = Document::get().root();
    let mut paths: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let routes = routes();
    for (function, route) in &routes {
        paths.entry(function).or_default().insert(route.path);
    }
    let mut users: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (function, paths) in &paths {
        let mut found = BTreeSet::new();
        paths.iter().for_each(|path| reach(&root["paths"][path], &mut found));
        found.into_iter().for_each(|component| users.entry(component).or_default().push(function));
    }
    for (function, paths) in paths {
        let text = read(&format!("functions/{function}/openapi.yaml"));
        let part: Value = serde_yaml_ng::from_str(&text).unwrap();
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&part["paths"]), Vec::from_iter(paths), "{function}");
        let kinds = part["components"].as_object().into_iter().flatten();
        let own = kinds.flat_map(|(kind, all)| {
            let all = all.as_object().unwrap().iter();
            // Abstract schemas are extended alone, and a response is copied into operations with codes of their own.
            let is_shown = |(name, one): &(&String, &Value)| {
                one.get("x-abstract").is_none()
                    && (kind != "responses" || root["components"][kind].get(name).is_some())
            };
            let shown = all.filter(is_shown);
            shown.map(|(name, _)| format!("/components/{kind}/{name}")).collect::<Vec<_>>()
        });
        // The schemas of error responses are assembled: no file has them.
        let is_written = |component: &str| !component.ends_with("Response");
        let expected = users
            .iter()
            .filter(|(component, users)| **users == [function] && is_written(component));
        let expected: Vec<&String> = expected.map(|(component, _)| component).collect();
        assert_eq!(Vec::from_iter(own.collect::<BTreeSet<_>>().iter()), expected, "{function}");
    }
}

/// Every `{RESPONSE_CODE, RESPONSE_TEXT}` in `value`.
fn pairs(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            let text = |name: &str| object.get(name)?.as_str().map(str::to_owned);
            found.extend(text("RESPONSE_CODE").zip(text("RESPONSE_TEXT")));
            object.values().for_each(|value| pairs(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| pairs(value, found)),
        _ => {}
    }
}

#[test]
fn document_examples_have_the_codes_and_texts_of_the_service() {
    let text = |one: &ErrorCode| match one.status() {
        // The examples of these say how long to wait.
        StatusCode::TOO_MANY_REQUESTS => {
            one.text_with_wait(Duration::from_secs(42), Language::French)
        }
        _ => one.text(Language::French).to_owned(),
    };
    let refusals = ErrorCode::ALL.iter().map(|one| (one.code(), text(one)));
    let successes =
        Message::ALL.iter().map(|one| (one.code(), one.text(Language::French).to_owned()));
    let table: BTreeMap<&str, String> = refusals.chain(successes).collect();
    let mut examples = Vec::new();
    pairs(Document::get().root(), &mut examples);
    assert!(examples.len() > 20);
    examples.retain(|(code, text)| table.get(code.as_str()) != Some(text));
    assert!(examples.is_empty(), "not in the service: {examples:#?}");
}

#[test]
fn every_message_code_is_in_the_document() {
    let text = Document::get().root().to_string();
    for message in Message::ALL {
        assert!(text.contains(message.code()), "{} is not in the document", message.code());
    }
}

#[test]
fn schemas_are_open_and_tests_refuse_unknown_fields() {
    let text = Document::get().root().to_string();
    let is_closed = text.contains("\"additionalProperties\":false");
    assert!(!is_closed, "a client could not accept a new field");
    let mut health = json!({ "code": 200, "version": "1.0.0" });
    assert_eq!(Document::get().errors("/components/schemas/Health", &health), [""; 0]);
    health["unknown"] = json!(true);
    assert_eq!(Document::get().errors("/components/schemas/Health", &health).len(), 1);
}
