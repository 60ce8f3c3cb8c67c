//! The examples of responses in the OpenAPI document. Those of errors follow from the table of codes; those of successes are
//! answers of the service with the demonstration data.

use std::{collections::HashSet, time::Duration};

use common::ErrorCode;
use domain::Language;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_yaml_ng::{Mapping, Value as Yaml, from_str, from_value, to_value};

use cloud::LocalError;

/// Answers of the service: each under `<operation> <status>`, followed by the name of the example if the response has several.
/// A test writes them.
const ANSWERS: &str = include_str!("../../api/examples.json");

/// How long the examples of 429 say to wait.
const EXAMPLE_WAIT: Duration = Duration::from_secs(42);

/// The keyword of enums that can become longer, which clients must expect
/// (<https://opensource.zalando.com/restful-api-guidelines/#112>).
const OPEN_ENUM: &str = "x-extensible-enum";

/// The codes of all operations whose fields can be invalid.
const OF_FIELDS: [ErrorCode; 7] = [
    ErrorCode::InvalidJson,
    ErrorCode::Validation,
    ErrorCode::FieldRequired,
    ErrorCode::FieldType,
    ErrorCode::FieldLength,
    ErrorCode::FieldFormat,
    ErrorCode::FieldValue,
];

/// What an error response can be: an entry of `x-errors`, under its code. Text alone is the summary.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorExample {
    summary: Option<String>,
    /// The status of the response, if it is not that of the code: such as 400 when a field names an object that does not exist.
    status: Option<u16>,
    /// The invalid fields, each with its code, or with `code` and the bounds of the field.
    #[serde(default)]
    fields: Mapping,
    /// Further fields of the body.
    #[serde(default)]
    data: Mapping,
}

/// The body of an error.
#[derive(Serialize)]
struct Body {
    code: u16,
    message: Mapping,
    #[serde(flatten)]
    data: Mapping,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Mapping>,
}

/// [`ANSWERS`] by their names.
///
/// # Errors
/// When the file is malformed.
pub(crate) fn answers() -> Result<Mapping, LocalError> {
    from_str(ANSWERS)
        .map_err(|error| LocalError::new(format!("examples.json is malformed: {error}.")))
}

/// Moves each code of `x-errors` of `operation` to the response with its status. A response that refers to one of `shared` is
/// replaced by a copy first.
///
/// # Errors
/// When a code is unknown, or there is no response with its status.
pub(crate) fn distribute(operation: &mut Mapping, shared: &Mapping) -> Result<(), LocalError> {
    let Some(Yaml::Mapping(errors)) = operation.shift_remove("x-errors") else { return Ok(()) };
    let id = operation.get("operationId").and_then(Yaml::as_str).unwrap_or_default().to_owned();
    for (code, example) in errors {
        let own = example.get("status").and_then(Yaml::as_u64);
        let status = own.unwrap_or(known(&code)?.status().as_u16().into()).to_string();
        let response = operation.get_mut("responses").and_then(|all| all.get_mut(&status));
        let missing = || LocalError::new(format!("{id} has no response {status} for {code:?}."));
        let response = response.ok_or_else(missing)?;
        let named = response.get("$ref").and_then(Yaml::as_str);
        if let Some(name) = named.and_then(|path| path.rsplit('/').next()) {
            *response = shared.get(name).cloned().unwrap_or_default();
        }
        let Yaml::Mapping(response) = response else { return Err(missing()) };
        let all = response.entry("x-errors".into()).or_insert_with(|| Mapping::new().into());
        if let Yaml::Mapping(all) = all {
            all.insert(code, example);
        }
    }
    Ok(())
}

/// The schemas of error responses: that of all errors, with the codes of the response alone.
pub(crate) struct ErrorSchemas {
    base: Yaml,
    /// The schemas made so far, by name.
    pub(crate) schemas: Mapping,
}

impl ErrorSchemas {
    pub(crate) fn new(base: Yaml) -> Self {
        Self { base, schemas: Mapping::new() }
    }

    /// Makes the schema with `codes` of the response `response`, and returns its name. Responses with the same single code share
    /// a schema, which is named after the code.
    ///
    /// # Errors
    /// When another schema has the name.
    fn add(&mut self, codes: Vec<Yaml>, response: &str) -> Result<String, LocalError> {
        let name = match codes.as_slice() {
            [Yaml::String(code)] => pascal_case(code.trim_end_matches("_MESSAGE")),
            _ => response.to_owned(),
        };
        let name = format!("{name}Response");
        let schema = with_codes(&self.base, codes);
        match self.schemas.insert(name.clone().into(), schema.clone()) {
            Some(other) if other != schema => {
                Err(LocalError::new(format!("Two schemas are called {name}.")))
            }
            _ => Ok(name),
        }
    }
}

/// `COURSE_NOT_FOUND` as `CourseNotFound`.
fn pascal_case(code: &str) -> String {
    let words = code.split('_').filter_map(|word| word.split_at_checked(1));
    words.map(|(first, rest)| format!("{first}{}", rest.to_lowercase())).collect()
}

/// Replaces `x-errors` of `response`, which is called `name`, by examples. Unless the response has a schema, it gets that of
/// its codes.
///
/// # Errors
/// When an entry is malformed or its code unknown.
pub(crate) fn add_errors(
    response: &mut Mapping,
    name: &str,
    schemas: &mut ErrorSchemas,
) -> Result<(), LocalError> {
    let Some(errors) = response.shift_remove("x-errors") else { return Ok(()) };
    let malformed =
        |error: serde_yaml_ng::Error| LocalError::new(format!("x-errors is malformed: {error}."));
    let (mut examples, mut has_fields) = (Mapping::new(), false);
    for (code, example) in from_value::<Mapping>(errors).map_err(malformed)? {
        let example = match example {
            Yaml::Null => ErrorExample::default(),
            Yaml::String(summary) => {
                ErrorExample { summary: Some(summary), ..ErrorExample::default() }
            }
            whole => from_value(whole).map_err(malformed)?,
        };
        has_fields |= !example.fields.is_empty()
            && status(known(&code)?, &example) == StatusCode::BAD_REQUEST;
        let mut shown = Mapping::new();
        if let Some(summary) = &example.summary {
            shown.insert("summary".into(), summary.clone().into());
        }
        shown.insert("value".into(), to_value(body(&code, example)?).map_err(malformed)?);
        examples.insert(code, shown.into());
    }
    let mut codes: Vec<Yaml> = examples.keys().cloned().collect();
    if has_fields {
        codes.extend(OF_FIELDS.map(|code| Yaml::from(code.code())));
        let mut seen = HashSet::new();
        codes.retain(|code| seen.insert(code.clone()));
    }
    if !response.contains_key("content") {
        codes.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
        let schema = format!("#/components/schemas/{}", schemas.add(codes, name)?);
        let content = format!("{{ application/json: {{ schema: {{ $ref: '{schema}' }} }} }}");
        response.insert("content".into(), from_str(&content).map_err(malformed)?);
    }
    if let Some(Yaml::Mapping(media)) =
        response.get_mut("content").and_then(|content| content.get_mut("application/json"))
    {
        media.insert("examples".into(), examples.into());
    }
    Ok(())
}

/// The schema `base` of an error, whose code is one of `codes`, or another: an operation can get more.
fn with_codes(base: &Yaml, codes: Vec<Yaml>) -> Yaml {
    let mut schema = base.clone();
    let code = ["properties", "message", "properties", "RESPONSE_CODE"]
        .into_iter()
        .try_fold(&mut schema, |part, name| part.get_mut(name));
    if let Some(code) = code {
        let listed = [("type".into(), "string".into()), (OPEN_ENUM.into(), codes.into())];
        *code = Mapping::from_iter(listed).into();
    }
    schema
}

fn body(code: &Yaml, example: ErrorExample) -> Result<Body, LocalError> {
    let error = known(code)?;
    let (status, mut errors) = (status(error, &example), Vec::new());
    for (field, what) in example.fields {
        let (code, bounds) = match what {
            Yaml::Mapping(mut bounds) => (bounds.shift_remove("code").unwrap_or_default(), bounds),
            code => (code, Mapping::new()),
        };
        let mut element = Mapping::from_iter([("field".into(), field)]);
        element.extend(text(known(&code)?));
        element.extend(bounds);
        errors.push(element);
    }
    Ok(Body { code: status.as_u16(), message: text(error), data: example.data, errors })
}

fn status(error: ErrorCode, example: &ErrorExample) -> StatusCode {
    let own = example.status.and_then(|status| StatusCode::from_u16(status).ok());
    own.unwrap_or_else(|| error.status())
}

fn known(code: &Yaml) -> Result<ErrorCode, LocalError> {
    let found = ErrorCode::ALL.iter().find(|known| code.as_str() == Some(known.code()));
    found.copied().ok_or_else(|| LocalError::new(format!("The table of codes has no {code:?}.")))
}

fn text(code: ErrorCode) -> Mapping {
    let text = if code.status() == StatusCode::TOO_MANY_REQUESTS {
        code.text_with_wait(EXAMPLE_WAIT, Language::default())
    } else {
        code.text(Language::default()).to_owned()
    };
    Mapping::from_iter([
        ("RESPONSE_TEXT".into(), text.into()),
        ("RESPONSE_CODE".into(), code.code().into()),
    ])
}

/// Adds `answers` to the success responses with the status `status` of the operation `id`: under each of the names that
/// `examples` has, or as the only example.
pub(crate) fn add_answers(id: &str, status: &str, response: &mut Mapping, answers: &Mapping) {
    let media = response.get_mut("content").and_then(|content| content.get_mut("application/json"));
    let Some(media) = media.and_then(Yaml::as_mapping_mut) else { return };
    let Some(Yaml::Mapping(named)) = media.get_mut("examples") else {
        if let Some(answer) = answers.get(format!("{id} {status}")) {
            media.insert("example".into(), answer.clone());
        }
        return;
    };
    for (name, example) in named {
        let answer = answers.get(format!("{id} {status} {}", name.as_str().unwrap_or_default()));
        if let (Some(answer), Yaml::Mapping(example)) = (answer, example) {
            example.entry("value".into()).or_insert(answer.clone());
        }
    }
}
