//! Compares the OpenAPI document with the code.

use std::collections::BTreeMap;

use common::{ErrorCode, Message};
use domain::Language;
use serde_json::{Value, json};
use tests::Document;

use crate::effects;

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
    let refusals = ErrorCode::ALL.iter().map(|one| (one.code(), one.text(Language::French)));
    let table: BTreeMap<&str, &str> = refusals
        .chain(Message::ALL.iter().map(|one| (one.code(), one.text(Language::French))))
        .collect();
    let mut examples = Vec::new();
    pairs(Document::get().root(), &mut examples);
    assert!(examples.len() > 20);
    examples.retain(|(code, text)| table.get(code.as_str()) != Some(&text.as_str()));
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
    let text = include_str!("../../infra/api/openapi.yaml");
    assert!(!text.contains("additionalProperties: false"), "a client could not accept a new field");
    let mut health = json!({ "code": 200, "version": "1.0.0" });
    assert_eq!(Document::get().errors("/components/schemas/Health", &health), [""; 0]);
    health["unknown"] = json!(true);
    assert_eq!(Document::get().errors("/components/schemas/Health", &health).len(), 1);
}
