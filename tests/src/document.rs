//! The OpenAPI document, and the validation of responses against it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use common::ErrorCode;
use dev::operations::{Operation, operations};
use http::Method;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::Answer;

/// The prefixes of all operations but `/media`.
const PREFIXES: [&str; 2] = ["/api/v1/", "/api/dev/"];

/// What `cargo dev document` prints.
pub struct Document {
    root: Value,
    /// `root` with closed schemas: clients must accept fields, and values of enums, that they do not know, but the tests must
    /// notice those that the document does not have.
    closed: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Document {
    /// The parsed document.
    pub fn get() -> &'static Self {
        static DOCUMENT: OnceLock<Document> = OnceLock::new();
        DOCUMENT.get_or_init(|| {
            let document = dev::operations::document().expect("the document can be assembled");
            let root = serde_json::to_value(document).expect("the document is JSON");
            let mut closed = root.clone();
            close(&mut closed);
            Self { root, closed, validators: Mutex::default() }
        })
    }

    /// The document as JSON.
    pub const fn root(&self) -> &Value {
        &self.root
    }

    /// All operations, such as `GET /committees/{committeeId}`.
    pub fn operations(&self) -> Vec<String> {
        let name = |one: Operation| format!("{} {}", one.method, one.path);
        operations().into_iter().map(name).collect()
    }

    /// Asserts that status, headers and body of `answer` are documented for the operation.
    pub(crate) fn check(&self, method: &Method, path: &str, answer: &Answer) {
        if method == Method::OPTIONS {
            return;
        }
        let template = self.template(path);
        let method_name =
            if method == Method::HEAD { "get".to_owned() } else { method.as_str().to_lowercase() };
        let operation =
            template.as_ref().map(|template| format!("/paths/{}/{method_name}", escaped(template)));
        let response = operation
            .as_ref()
            .map(|operation| format!("{operation}/responses/{}", answer.status))
            .and_then(|pointer| self.resolved(&pointer));
        let Some(response) = response else {
            // Responses of the edge, which stand for no operation: an unknown path or method, a path without a prefix, and
            // HEAD of a GET that changes something.
            let is_known =
                operation.is_some_and(|operation| self.root.pointer(&operation).is_some());
            let is_prefixed = PREFIXES.iter().any(|prefix| path.starts_with(prefix));
            let shared: &[u16] = match template {
                Some(_) if is_known && is_prefixed && method == Method::HEAD => &[405],
                Some(_) if is_known && is_prefixed => &[],
                Some(_) if !is_known => &[405, 429],
                _ => &[404, 405, 429],
            };
            assert!(
                shared.contains(&answer.status),
                "{method} {path}: status {} is not in the document: {answer:?}",
                answer.status
            );
            return self.check_body(method, path, "/components/schemas/ErrorResponse", answer);
        };
        self.check_headers(method, path, &response, answer);
        match self.root.pointer(&format!("{response}/content")) {
            Some(content) if content.get("application/json").is_some() => {
                // No route, although the path looks like one: an empty id, or a prefix that is turned off.
                let has_no_route = answer.status == 404
                    && method != Method::HEAD
                    && answer.code() == ErrorCode::NotFound.code();
                let schema = if has_no_route {
                    "/components/schemas/ErrorResponse".to_owned()
                } else {
                    format!("{response}/content/application~1json/schema")
                };
                self.check_body(method, path, &schema, answer);
                if answer.status < 300 && method != Method::HEAD {
                    check_code(method, path, &content["application/json"], &answer.code());
                }
            }
            Some(_) => {}
            None => {
                let is_bare =
                    answer.body.is_empty() && !answer.headers.contains_key("content-type");
                assert!(
                    is_bare,
                    "{method} {path}: status {} is documented without content: {answer:?}",
                    answer.status
                );
            }
        }
    }

    /// The path template in the document that matches `path`; one with fewer parameters is preferred.
    pub fn template(&self, path: &str) -> Option<String> {
        let path = path.split('?').next().unwrap_or_default();
        let path = path.strip_suffix('/').unwrap_or(path);
        // Without the prefix, but with the slash that follows it.
        let prefix = PREFIXES.iter().find(|prefix| path.starts_with(*prefix));
        let path = prefix.map_or(path, |prefix| &path[prefix.len() - 1..]);
        let fits = |template: &&String| {
            let (template, path): (Vec<&str>, Vec<&str>) =
                (template.split('/').collect(), path.split('/').collect());
            template.len() == path.len()
                && template
                    .iter()
                    .zip(&path)
                    .all(|(part, given)| part.starts_with('{') || part == given)
        };
        let paths = self.root["paths"].as_object()?;
        paths.keys().filter(fits).min_by_key(|template| template.matches('{').count()).cloned()
    }

    /// `pointer`, or the target of the `$ref` that stands there.
    fn resolved(&self, pointer: &str) -> Option<String> {
        let found = self.root.pointer(pointer)?;
        match found["$ref"].as_str() {
            Some(reference) => Some(reference.trim_start_matches('#').to_owned()),
            None => Some(pointer.to_owned()),
        }
    }

    fn check_body(&self, method: &Method, path: &str, pointer: &str, answer: &Answer) {
        if method == Method::HEAD {
            assert!(answer.body.is_empty(), "{method} {path}: a response to HEAD has no body");
            return;
        }
        let json = answer.json();
        assert_eq!(json["code"], answer.status, "{method} {path}: code equals the status");
        self.validate(pointer, &json, &format!("{method} {path}: {json}"));
    }

    fn check_headers(&self, method: &Method, path: &str, response: &str, answer: &Answer) {
        let Some(headers) =
            self.root.pointer(&format!("{response}/headers")).and_then(Value::as_object)
        else {
            return;
        };
        for name in headers.keys() {
            let pointer =
                self.resolved(&format!("{response}/headers/{}", escaped(name))).expect("a header");
            let header = self.root.pointer(&pointer).expect("a header");
            let Some(value) = answer.headers.get(name.as_str()) else {
                assert_ne!(
                    header["required"], true,
                    "{method} {path}: {} without {name}",
                    answer.status
                );
                continue;
            };
            let text = value.to_str().expect("visible text");
            let schema = self.resolved(&format!("{pointer}/schema")).expect("a schema");
            let value = match self.root.pointer(&schema).and_then(|schema| schema["type"].as_str())
            {
                Some("integer" | "number" | "boolean") => {
                    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
                }
                _ => json!(text),
            };
            self.validate(&schema, &value, &format!("{method} {path}: header {name}: {text}"));
        }
    }

    fn validate(&self, pointer: &str, value: &Value, what: &str) {
        let errors = self.errors(pointer, value);
        assert!(errors.is_empty(), "differs from the document: {errors:?} in {what}");
    }

    /// How `value` differs from the schema at `pointer`, for example `/components/schemas/Health`. A field that the
    /// schema does not name is a difference.
    pub fn errors(&self, pointer: &str, value: &Value) -> Vec<String> {
        let validator = {
            let mut known = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
            let make = || {
                let reference = pointer.replace('{', "%7B").replace('}', "%7D");
                let mut schema = json!({ "$ref": format!("#{reference}") });
                schema
                    .as_object_mut()
                    .expect("an object")
                    .extend(self.closed.as_object().expect("an object").clone());
                Arc::new(
                    jsonschema::draft202012::new(&schema)
                        .expect("the schemas of the document are valid"),
                )
            };
            Arc::clone(known.entry(pointer.to_owned()).or_insert_with(make))
        };
        validator
            .iter_errors(value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect()
    }
}

/// Asserts that the examples of `media` have the code of a success, if they have any and are not just written.
#[expect(clippy::disallowed_methods, reason = "says that the examples are written")]
fn check_code(method: &Method, path: &str, media: &Value, code: &str) {
    if std::env::var_os("UPDATE").is_some() {
        return;
    }
    let several = media["examples"].as_object().into_iter().flatten();
    let examples = several.map(|(_, example)| &example["value"]).chain(media.get("example"));
    let codes: Vec<&str> =
        examples.filter_map(|example| example["message"]["RESPONSE_CODE"].as_str()).collect();
    assert!(
        codes.is_empty() || codes.contains(&code),
        "{method} {path}: {code} is not in {codes:?}"
    );
}

/// Forbids fields that the document does not name in each object schema that names some, and values that an enum does not
/// have yet.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            keywords.values_mut().for_each(close);
            if let Some(values) = keywords.remove("x-extensible-enum") {
                keywords.insert("enum".to_owned(), values);
            }
            if keywords.get("properties").is_some_and(Value::is_object) {
                keywords.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn escaped(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}
