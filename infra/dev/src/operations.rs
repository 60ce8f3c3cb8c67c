//! The operations of the OpenAPI document, each with the request that its examples describe.

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use cloud::LocalError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_yaml_ng::{Mapping, Value as Yaml};

use crate::{
    FUNCTIONS,
    examples::{self, ErrorSchemas},
    schemas::{extend_all, name_required},
};

/// The part of the OpenAPI document that functions share.
const SHARED: &str = include_str!("../../api/openapi.yaml");

/// What [`document`] returns, as JSON; null if it fails.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    document().ok().and_then(|document| serde_json::to_value(document).ok()).unwrap_or_default()
});

/// The OpenAPI document, or the part of it in one file.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Document {
    /// `info` and the other fields.
    #[serde(flatten)]
    pub fields: Mapping,
    /// The path items.
    #[serde(default)]
    pub paths: Mapping,
    /// The components of each kind, such as `schemas`.
    #[serde(default)]
    pub components: BTreeMap<String, Mapping>,
}

/// The OpenAPI document: `infra/api/openapi.yaml` and the `openapi.yaml` of each function, with what they leave out:
/// the headers of `x-headers` and the examples of each response, and parts of schemas.
///
/// # Errors
/// When a file is malformed, or two have the same path or component.
pub fn document() -> Result<Document, LocalError> {
    let functions =
        FUNCTIONS.map(|(name, _, text)| (format!("functions/{name}/openapi.yaml"), text));
    let mut document =
        merged([("infra/api/openapi.yaml".to_owned(), SHARED)].into_iter().chain(functions))?;
    let items = document.paths.values_mut();
    items
        .chain(document.components.values_mut().flat_map(Mapping::values_mut))
        .for_each(name_required);
    extend_all(document.components.entry("schemas".to_owned()).or_default())?;
    let headers = document.fields.shift_remove("x-headers").unwrap_or_default();
    let answers = examples::answers()?;
    let base = document.components.get("schemas").and_then(|all| all.get("ErrorResponse"));
    let base = base.cloned().unwrap_or_default();
    let mut schemas = ErrorSchemas::new(base);
    let responses = document.components.entry("responses".to_owned()).or_default();
    let names_used_in = |paths: &Mapping| {
        let paths = serde_json::to_string(paths).unwrap_or_default();
        move |name: &str| paths.contains(&format!("\"#/components/responses/{name}\""))
    };
    let was_used = names_used_in(&document.paths);
    let items = document.paths.values_mut().filter_map(Yaml::as_mapping_mut);
    for operation in items.flat_map(Mapping::values_mut).filter_map(Yaml::as_mapping_mut) {
        examples::distribute(operation, responses)?;
    }
    // Responses that were copied into all of their operations go.
    let is_used = names_used_in(&document.paths);
    responses.retain(|name, _| name.as_str().is_some_and(|name| is_used(name) || !was_used(name)));
    for (name, response) in responses {
        if let (Some(name), Yaml::Mapping(response)) = (name.as_str(), response) {
            complete(response, &headers, name, &mut schemas)?;
        }
    }
    let items = document.paths.values_mut().filter_map(Yaml::as_mapping_mut);
    for operation in items.flat_map(Mapping::values_mut) {
        let id = operation.get("operationId").and_then(Yaml::as_str).unwrap_or_default().to_owned();
        let Some(Yaml::Mapping(responses)) = operation.get_mut("responses") else { continue };
        for (status, response) in responses {
            let (Some(status), Yaml::Mapping(response)) = (status.as_str(), response) else {
                continue;
            };
            complete(response, &headers, &format!("{id}{status}"), &mut schemas)?;
            examples::add_answers(&id, status, response, &answers);
        }
    }
    document.components.entry("schemas".to_owned()).or_default().extend(schemas.schemas);
    Ok(document)
}

/// Adds to `response`, which is called `name`, the examples and the schema of its errors and, unless it names them itself,
/// `headers`.
fn complete(
    response: &mut Mapping,
    headers: &Yaml,
    name: &str,
    schemas: &mut ErrorSchemas,
) -> Result<(), LocalError> {
    if response.contains_key("$ref") {
        return Ok(());
    }
    response.shift_remove("x-abstract");
    examples::add_errors(response, name, schemas)?;
    let is_limited = response.shift_remove("x-unlimited").is_none();
    let groups = ["all"].into_iter().chain(is_limited.then_some("limited"));
    let groups = groups.filter_map(|group| headers.get(group)?.as_mapping());
    let mut all: Mapping = groups.flatten().map(|(name, at)| (name.clone(), at.clone())).collect();
    if !response.contains_key("content") {
        all.shift_remove("Content-Length");
    }
    let own = response.shift_remove("headers");
    all.extend(own.and_then(|own| own.as_mapping().cloned()).unwrap_or_default());
    response.insert("headers".into(), all.into());
    Ok(())
}

/// The document whose parts are `files`: name and text.
fn merged<'a>(files: impl Iterator<Item = (String, &'a str)>) -> Result<Document, LocalError> {
    const PATHS: &str = "paths";
    let (mut document, mut origins) = (Document::default(), HashMap::new());
    for (file, text) in files {
        let part: Document = serde_yaml_ng::from_str(text)
            .map_err(|error| LocalError::new(format!("{file} is malformed: {error}.")))?;
        document.fields.extend(part.fields);
        // Paths are treated as one more kind of component.
        for (kind, entries) in part.components.into_iter().chain([(PATHS.to_owned(), part.paths)]) {
            for name in entries.keys().filter_map(Yaml::as_str) {
                let place = format!("{kind} {name}");
                if let Some(other) = origins.insert(place.clone(), file.clone()) {
                    return Err(LocalError::new(format!("{other} and {file} both have {place}.")));
                }
            }
            document.components.entry(kind).or_default().extend(entries);
        }
    }
    document.paths = document.components.remove(PATHS).unwrap_or_default();
    Ok(document)
}

/// An operation and its example.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The `operationId`.
    pub id: String,
    /// The method in upper case.
    pub method: String,
    /// The path as in the document, such as `/courses/{courseId}`.
    pub path: String,
    /// The value of `x-access`: who may call the operation.
    pub access: String,
    /// The path of the example, with the query of its required parameters.
    pub target: String,
    /// The same with the query of all parameters that have an example.
    pub whole_target: String,
    /// The example of the JSON body, if there is one.
    pub body: Option<Value>,
    /// The first content type of the body, if the operation takes one.
    pub content_type: Option<String>,
}

/// All operations, in the order of the document.
pub fn operations() -> Vec<Operation> {
    let paths = DOCUMENT["paths"].as_object();
    let items = paths.into_iter().flatten().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        let methods =
            methods.filter(|(name, _)| ["get", "put", "post", "delete"].contains(&name.as_str()));
        methods.map(move |(method, operation)| read(path, item, method, operation))
    });
    items.collect()
}

fn read(path: &str, item: &Value, method: &str, operation: &Value) -> Operation {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut target = path.to_owned();
    let (mut required, mut whole) = (String::new(), String::new());
    for parameter in
        [item, operation].into_iter().filter_map(|of| of["parameters"].as_array()).flatten()
    {
        let parameter = resolved(parameter);
        let name = text(&parameter["name"]);
        let example = example_of(parameter).unwrap_or(&parameter["schema"]["example"]);
        let example = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
        match parameter["in"].as_str() {
            Some("path") => target = target.replace(&format!("{{{name}}}"), &example),
            Some("query") if example != "null" => {
                let pair: String = form_urlencoded::byte_serialize(example.as_bytes()).collect();
                let pair = format!("&{name}={pair}");
                whole.push_str(&pair);
                if parameter["required"] == true {
                    required.push_str(&pair);
                }
            }
            _ => {}
        }
    }
    let whole_target = format!("{target}{}", whole.replacen('&', "?", 1));
    target.push_str(&required.replacen('&', "?", 1));
    let content = resolved(&operation["requestBody"])["content"].as_object();
    Operation {
        id: text(&operation["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        access: text(&operation["x-access"]),
        target,
        whole_target,
        body: content.and_then(|content| example_of(content.get("application/json")?)).cloned(),
        content_type: content.and_then(|content| content.keys().next().cloned()),
    }
}

/// The `example` of a parameter or media type, or the first of its `examples`.
fn example_of(of: &Value) -> Option<&Value> {
    let named = || of["examples"].as_object()?.values().next()?.get("value");
    of.get("example").or_else(named)
}

/// What `value` refers to, or `value` itself.
pub fn resolved(value: &Value) -> &Value {
    let reference = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    reference.and_then(|pointer| DOCUMENT.pointer(pointer)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(first: &str, second: &str) -> String {
        let files = [("a".to_owned(), first), ("b".to_owned(), second)];
        merged(files.into_iter()).unwrap_err().to_string()
    }

    #[test]
    fn path_or_component_in_two_files_is_an_error_that_names_both() {
        let path = "paths: { /health: {} }";
        assert_eq!(error_of(path, path), "a and b both have paths /health.");
        let schema = "components: { schemas: { Health: {} } }";
        assert_eq!(error_of(schema, schema), "a and b both have schemas Health.");
    }
}
