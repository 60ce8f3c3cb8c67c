//! The OpenAPI document as the API reference shows it: shorter than the file that tests validate responses against, and
//! with examples that succeed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde_json::Value as Json;
use serde_yaml_ng::{Mapping, Value};

/// The document without what hides the rest; read once.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../api/openapi.yaml");
    let mut document: Value = serde_yaml_ng::from_str(text).unwrap_or_default();
    move_headers_to_guide(&mut document);
    let parameters = document["components"]["parameters"].clone();
    for_each_path(&mut document, |path| move_to_operations(path, &parameters));
    for_each_operation(&mut document, |operation| {
        remove_guards(operation);
        move_forms_to_end(operation);
    });
    document
});

const METHODS: [&str; 4] = ["get", "post", "put", "delete"];
/// Begins the section on headers, which is appended to the guide.
const HEADERS: &str = "\n## Response headers\n\nMost responses have these headers. An operation lists only the others.\n\n";

/// Values for the examples of operations.
#[derive(Default)]
pub(crate) struct Examples {
    /// Of parameters with this name, in all operations.
    pub(crate) parameters: Json,
    /// Of parameters of one operation: by `operationId`, then by name.
    pub(crate) of_operations: Json,
    /// Fields of bodies, by `operationId`; other fields of the body's example stay.
    pub(crate) bodies: Json,
}

/// The document with the values of `examples`; `null` in them leaves the document's own example. `accounts` can be
/// signed in to on the page.
///
/// # Errors
/// When the document is not JSON, for example because of a key that is not a string.
pub(crate) fn render(examples: &Examples, accounts: &Json) -> serde_json::Result<Vec<u8>> {
    let mut document = DOCUMENT.clone();
    for_each_operation(&mut document, |operation| {
        let id = text(operation.get("operationId")).to_owned();
        let parameters = operation.get_mut("parameters").and_then(Value::as_sequence_mut);
        for parameter in parameters.into_iter().flatten() {
            let name = text(parameter.get("name"));
            let of_operation = &examples.of_operations[id.as_str()][name];
            let value =
                if of_operation.is_null() { &examples.parameters[name] } else { of_operation };
            if parameter["required"] == Value::Bool(true) && !value.is_null() {
                parameter["example"] = yaml(value);
            }
        }
        let fields = examples.bodies[id.as_str()].as_object();
        for (name, value) in fields.into_iter().flatten() {
            for_each_body(operation, |body| {
                if !value.is_null() {
                    body.insert(name.as_str().into(), yaml(value));
                }
            });
        }
    });
    if let Some(document) = document.as_mapping_mut() {
        document.insert("x-accounts".into(), yaml(accounts));
    }
    serde_json::to_vec(&document)
}

/// Describes the headers of `x-headers` once, at the end of the guide, and removes them from all responses.
fn move_headers_to_guide(document: &mut Value) {
    let sets = document.as_mapping_mut().and_then(|document| document.shift_remove("x-headers"));
    let described = document["components"]["headers"].clone();
    let mut headers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let sets = sets.as_ref().and_then(Value::as_mapping);
    let headers_of = |set: &Value| set.as_mapping().cloned().unwrap_or_default();
    for (name, header) in sets.into_iter().flat_map(Mapping::values).flat_map(headers_of) {
        let component = described.get(last_of_reference(&header));
        let description = component.map(describe).unwrap_or_default();
        headers.entry(text(Some(&name)).to_owned()).or_default().insert(description);
    }
    let list: String = headers
        .iter()
        .map(|(name, descriptions)| {
            let descriptions: Vec<&str> = descriptions.iter().map(String::as_str).collect();
            format!("- `{name}`: {}\n", descriptions.join(" Or: "))
        })
        .collect();
    let guide = format!("{}{HEADERS}{list}", text(document["info"].get("description")));
    document["info"]["description"] = guide.into();

    let strip = |response: &mut Value| {
        let own = response.get_mut("headers");
        if let Some(own) = own.and_then(Value::as_mapping_mut) {
            own.retain(|name, _| !headers.contains_key(text(Some(name))));
        }
    };
    let common = document["components"].get_mut("responses");
    let common = common.and_then(Value::as_mapping_mut);
    common.into_iter().flat_map(Mapping::values_mut).for_each(strip);
    for_each_operation(document, |operation| {
        let responses = operation.get_mut("responses");
        let responses = responses.and_then(Value::as_mapping_mut);
        responses.into_iter().flat_map(Mapping::values_mut).for_each(strip);
    });
}

/// The description of a header in one line, with its fixed value.
fn describe(header: &Value) -> String {
    let description = text(header.get("description"));
    let description: Vec<&str> = description.split_whitespace().collect();
    let fixed = header.get("schema").and_then(|schema| schema.get("const"));
    let fixed = fixed.and_then(|value| serde_json::to_string(value).ok());
    let fixed = fixed.map(|value| format!(" `{}`", value.trim_matches('"')));
    format!("{}{}", description.join(" "), fixed.unwrap_or_default())
}

/// Moves parameters and servers of a path to its operations: an operation gets examples of its own, and Scalar's
/// requests ignore the servers of paths.
fn move_to_operations(path: &mut Mapping, components: &Value) {
    let parameters = path.shift_remove("parameters").unwrap_or_default();
    let servers = path.shift_remove("servers");
    for (_, operation) in path.iter_mut().filter(|(name, _)| is_method(name)) {
        let own = operation.get("parameters").cloned().unwrap_or_default();
        let all = [&parameters, &own].into_iter().filter_map(Value::as_sequence).flatten();
        let all: Vec<Value> = all
            .map(|parameter| {
                let component = components.get(last_of_reference(parameter));
                component.unwrap_or(parameter).clone()
            })
            .collect();
        let Some(operation) = operation.as_mapping_mut() else {
            continue;
        };
        if !all.is_empty() {
            operation.insert("parameters".into(), all.into());
        }
        if let Some(servers) = &servers {
            operation.insert("servers".into(), servers.clone());
        }
    }
}

/// Removes examples that would make a request conditional or repeated: of optional parameters, and the version in
/// bodies.
fn remove_guards(operation: &mut Mapping) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_sequence_mut);
    for parameter in parameters.into_iter().flatten() {
        let is_required = parameter.get("required") == Some(&Value::Bool(true));
        if let Some(parameter) = parameter.as_mapping_mut().filter(|_| !is_required) {
            parameter.shift_remove("example");
            parameter.shift_remove("examples");
        }
    }
    for_each_body(operation, |body| {
        body.shift_remove("version");
    });
}

/// Moves multipart forms behind other content types: Scalar selects the first, and the page can fill in a picture, but
/// not a form.
fn move_forms_to_end(operation: &mut Mapping) {
    const FORM: &str = "multipart/form-data";
    let content = operation
        .get_mut("requestBody")
        .and_then(|body| body.get_mut("content"))
        .and_then(Value::as_mapping_mut);
    if let Some(content) = content
        && let Some(form) = content.shift_remove(FORM)
    {
        content.insert(FORM.into(), form);
    }
}

fn for_each_path(document: &mut Value, change: impl FnMut(&mut Mapping)) {
    let paths = document.get_mut("paths").and_then(Value::as_mapping_mut);
    let paths = paths.into_iter().flat_map(Mapping::values_mut);
    paths.filter_map(Value::as_mapping_mut).for_each(change);
}

fn for_each_operation(document: &mut Value, mut change: impl FnMut(&mut Mapping)) {
    for_each_path(document, |path| {
        let operations = path.iter_mut().filter(|(name, _)| is_method(name));
        operations.filter_map(|(_, operation)| operation.as_mapping_mut()).for_each(&mut change);
    });
}

/// Calls `change` with every example of a JSON body of `operation`.
fn for_each_body(operation: &mut Mapping, mut change: impl FnMut(&mut Mapping)) {
    let Some(media) = operation
        .get_mut("requestBody")
        .and_then(|body| body.get_mut("content"))
        .and_then(|content| content.get_mut("application/json"))
        .and_then(Value::as_mapping_mut)
    else {
        return;
    };
    if let Some(body) = media.get_mut("example").and_then(Value::as_mapping_mut) {
        change(body);
    }
    let named = media.get_mut("examples").and_then(Value::as_mapping_mut);
    for example in named.into_iter().flat_map(Mapping::values_mut) {
        if let Some(body) = example.get_mut("value").and_then(Value::as_mapping_mut) {
            change(body);
        }
    }
}

fn is_method(name: &Value) -> bool {
    METHODS.contains(&text(Some(name)))
}

/// The name of the component that `value` refers to; empty if it is no reference.
fn last_of_reference(value: &Value) -> &str {
    let reference = text(value.get("$ref"));
    reference.rsplit('/').next().unwrap_or_default()
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

fn yaml(value: &Json) -> Value {
    serde_yaml_ng::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(examples: &Examples) -> Json {
        let bytes = render(examples, &json!([{ "email": "admin@example.org" }])).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn shown_document_describes_response_headers_once() {
        let document = rendered(&Examples::default());
        let login = &document["paths"]["/auth/login"]["post"]["responses"]["200"];
        assert!(login["headers"].get("X-Request-Id").is_none(), "{login}");
        let guide = document["info"]["description"].as_str().unwrap();
        assert_eq!(guide.matches("- `X-Request-Id`: ").count(), 1);
        assert!(document.get("x-headers").is_none());
    }

    #[test]
    fn guards_and_optional_filters_have_no_example() {
        let document = rendered(&Examples::default());
        let replace = &document["paths"]["/courses/{courseId}"]["put"];
        for parameter in replace["parameters"].as_array().unwrap() {
            let is_required = parameter["required"] == true;
            assert_eq!(parameter.get("example").is_some(), is_required, "{parameter}");
        }
        let body = &replace["requestBody"]["content"]["application/json"]["example"];
        assert!(body.get("courseTitle").is_some() && body.get("version").is_none());
    }

    #[test]
    fn examples_are_replaced_by_operation_then_by_parameter_name() {
        let document = rendered(&Examples {
            parameters: json!({ "courseId": "any" }),
            of_operations: json!({ "publishCourse": { "courseId": "draft" } }),
            bodies: json!({ "login": { "email": "admin@example.org", "password": null } }),
        });
        let example = |path: &str, method: &str| {
            document["paths"][path][method]["parameters"][0]["example"].clone()
        };
        assert_eq!(example("/courses/{courseId}/publish", "post"), "draft");
        assert_eq!(example("/courses/{courseId}/publish", "get"), "any");
        let login = &document["paths"]["/auth/login"]["post"]["requestBody"]["content"];
        let login = &login["application/json"]["example"];
        assert_eq!(login["email"], "admin@example.org");
        assert_eq!(login["password"], "trois oliviers au soleil");
        assert_eq!(document["x-accounts"][0]["email"], "admin@example.org");
    }

    #[test]
    fn servers_of_a_path_become_those_of_its_operations() {
        let document = rendered(&Examples::default());
        let servers = &document["paths"]["/media/{key}"]["get"]["servers"];
        assert_eq!(servers[0]["url"], "/");
    }
}
