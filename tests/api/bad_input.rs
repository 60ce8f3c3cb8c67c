//! Bad input, derived from the OpenAPI document: for each field of a request body and each query parameter, the values
//! that its schema forbids. A field or an operation that is added to the document is tested without a change here.

use std::collections::BTreeSet;

use common::Message;
use domain::Profile;
use http::Method;
use serde_json::{Map, Value, json};
use tests::{Answer, Document, PASSWORD, Person, World};

type Exception = (&'static str, &'static str, &'static str, &'static str, &'static str);

/// Cases whose answer the schema does not imply: operation, field, mistake (empty: any), the code instead (empty: the
/// value is accepted), and the reason.
const EXCEPTIONS: [Exception; 20] = [
    ("DELETE /otp", "code", "null", REQUIRED, "counts as absent"),
    ("DELETE /otp", "recoveryCode", "null", REQUIRED, "counts as absent"),
    ("DELETE /otp", "password", "null", REQUIRED, "counts as absent"),
    ("DELETE /users/{userId}", "password", "null", REQUIRED, "counts as absent"),
    ("GET /audit", "userID", "", "", "an unknown person has no entries"),
    ("GET /auth/passwordless", "code", "", NO_SESSION, "a sign-in without a code"),
    ("GET /sms", "committeeID", "", "", "ignored without scope=committee"),
    ("GET /sms/bulk", "committeeID", "", "", "ignored without scope=committee"),
    ("POST /otp/verify", "recoveryCode", "null", REQUIRED, "counts as absent"),
    ("POST /otp/verify", "currentCode", "null", REQUIRED, "counts as absent"),
    ("POST /sms/bulk", "recipients[0].to", "absent", "SMS_BULK_ACCEPTED_MESSAGE", REJECTED),
    ("POST /sms/bulk", "recipients[0].to", "null", "SMS_BULK_ACCEPTED_MESSAGE", REJECTED),
    ("POST /sms/bulk", "recipients[0].to", "empty", "SMS_BULK_ACCEPTED_MESSAGE", REJECTED),
    ("POST /sms/single", "to", "null", REQUIRED, "a field that is there is the number"),
    ("POST /users/reset-password", "newPassword", "short", CODE_FIRST, "judged after the code"),
    ("POST /users/reset-password", "newPassword", "long", CODE_FIRST, "judged after the code"),
    ("PUT /courses/questions/{courseId}/{questionId}", "options", "empty", "", "none"),
    ("PUT /registrations/{courseId}/{userId}", "note", "", UNREGISTERED, "read for writers only"),
    ("PUT /team/{userId}", "permissions[0]", "", TYPE, "reported for the whole set"),
    ("PUT /users/{userId}", "password", "null", REQUIRED, "counts as absent"),
];
const CODE_FIRST: &str = "RESET_CODE_INVALID_MESSAGE";
const NO_SESSION: &str = "BAD_AUTH_COMBINATION_MESSAGE";
const UNREGISTERED: &str = "REGISTRATION_NOT_FOUND_MESSAGE";
const REJECTED: &str = "its recipient alone is rejected";
const EMAIL_INVALID: &str = "EMAIL_INVALID_MESSAGE";
const FORMAT: &str = "FIELD_FORMAT_MESSAGE";
const LENGTH: &str = "FIELD_LENGTH_MESSAGE";
const TOO_SHORT: &str = "PASSWORD_TOO_SHORT_MESSAGE";
const REQUIRED: &str = "FIELD_REQUIRED_MESSAGE";
const TYPE: &str = "FIELD_TYPE_MESSAGE";
const VALUE: &str = "FIELD_VALUE_MESSAGE";

type Schema = Map<String, Value>;

/// A request with one mistake.
struct Case {
    field: String,
    mistake: &'static str,
    code: String,
    /// The schema of the field.
    schema: Schema,
    body: Value,
    query: String,
}

/// `schema` with its references resolved. Of alternatives, what one of them allows is allowed.
fn resolved(schema: &Value) -> Schema {
    let mut own = schema.as_object().unwrap().clone();
    if let Some(Value::String(reference)) = own.remove("$ref") {
        let mut target = resolved(Document::get().root().pointer(&reference[1..]).unwrap());
        target.extend(own);
        return target;
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = own.remove(keyword) else { continue };
        let alternatives: Vec<Schema> = alternatives.iter().map(resolved).collect();
        let required: Vec<_> = alternatives.iter().map(|one| texts(one, "required")).collect();
        own.insert("alternatives".to_owned(), json!(required));
        let merged = alternatives.into_iter().reduce(either).unwrap();
        own.extend(merged);
    }
    own
}

/// What `one` or `other` allows.
fn either(mut one: Schema, other: Schema) -> Schema {
    let common = &texts(&one, "required") & &texts(&other, "required");
    let all = |keyword| &texts(&one, keyword) | &texts(&other, keyword);
    for (keyword, list) in [("required", common), ("type", all("type")), ("format", all("format"))]
    {
        if !list.is_empty() {
            one.insert(keyword.to_owned(), json!(list));
        }
    }
    for (keyword, value) in other {
        match (one.get_mut(&keyword), value) {
            (Some(Value::Object(properties)), Value::Object(more)) if keyword == "properties" => {
                properties.extend(more);
            }
            (Some(_), _) => {}
            (None, value) => {
                one.insert(keyword, value);
            }
        }
    }
    one
}

/// The texts of a keyword whose value is one text or a list.
fn texts(schema: &Schema, keyword: &str) -> BTreeSet<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match schema.get(keyword) {
        Some(Value::Array(list)) => list.iter().filter_map(text).collect(),
        value => value.and_then(text).into_iter().collect(),
    }
}

/// The fields that are required beside the field `name`.
fn needed_beside(schema: &Schema, name: &str) -> BTreeSet<String> {
    let dependent = schema.get("dependentRequired").and_then(Value::as_object);
    dependent.map(|dependent| texts(dependent, name)).unwrap_or_default()
}

/// The mistakes in a value of `schema`, each with a value and the code of the answer. `None` is an absent value.
fn mistakes(schema: &Schema, is_required: bool) -> Vec<(&'static str, Option<Value>, String)> {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let length = |keyword: &str| schema.get(keyword).and_then(Value::as_u64).map(|n| n as usize);
    let (types, formats) = (texts(schema, "type"), texts(schema, "format"));
    let (is_password, is_enum) = (formats.contains("password"), schema.contains_key("enum"));
    let allows = |text: &str| {
        let schema = json!({ "pattern": schema.get("pattern").unwrap_or(&json!("")) });
        jsonschema::draft202012::is_valid(&schema, &json!(text))
    };
    let named = schema.get("x-error").and_then(Value::as_str);
    let named = named.or_else(|| formats.contains("email").then_some(EMAIL_INVALID));
    // Texts without a bound are not told from wrong ones, such as codes.
    let is_bound = length("maxLength").is_some() || !formats.is_empty();
    let is_line = is_bound && !is_password && !is_enum;
    let mut mistakes = Vec::new();
    let mut general = |mistake, value, code: &str| mistakes.push((mistake, value, code.to_owned()));
    if is_required {
        general("absent", None, REQUIRED);
        general("null", Some(Value::Null), REQUIRED);
    }
    for (kind, value) in [
        ("null", Value::Null),
        ("boolean", json!(true)),
        ("number", json!(1.5)),
        ("string", json!("x")),
        ("array", json!([])),
        ("object", json!({})),
    ] {
        let is_told = kind == "null" && is_required;
        if !(types.is_empty() || types.contains(kind) || is_told) {
            general(if kind == "null" { "null" } else { "type" }, Some(value), TYPE);
        }
    }
    let is_needed = is_required || length("minLength").is_some_and(|min| min > 0);
    if types.contains("string") && is_needed {
        general("empty", Some(json!("")), REQUIRED);
        if is_line && allows(" ") && named.is_none_or(|code| code == EMAIL_INVALID) {
            general("blank", Some(json!("  ")), REQUIRED);
        }
    }
    if length("minItems").is_some_and(|min| min > 0) {
        general("empty", Some(json!([])), REQUIRED);
    }
    let mut broken =
        |mistake, value, code: &str| general(mistake, Some(value), named.unwrap_or(code));
    if types.contains("string") {
        let letter = if allows("a") { "a" } else { "1" };
        if let Some(min) = length("minLength").filter(|min| *min > 1) {
            broken(
                "short",
                json!(letter.repeat(min - 1)),
                if is_password { TOO_SHORT } else { LENGTH },
            );
        }
        // A present password that is too long is a wrong password, not an invalid field.
        let is_new = !is_password || length("minLength").is_some_and(|min| min > 1);
        if let Some(max) = length("maxLength").filter(|_| is_new) {
            broken("long", json!(letter.repeat(max + 1)), LENGTH);
        }
        if is_enum {
            broken("value", json!("?"), VALUE);
        } else if is_line {
            broken("control", json!("a\u{0}b"), FORMAT);
            let text = ["?", "/"].into_iter().find(|text| !allows(text));
            if let Some(text) = text.or(Some("?").filter(|_| !formats.is_empty())) {
                broken("format", json!(text), FORMAT);
            }
        }
    }
    let bounds = [("low", number("minimum"), -1.0), ("high", number("maximum"), 1.0)];
    for (mistake, bound, beyond) in bounds {
        let Some(value) = bound.map(|bound| bound + beyond) else { continue };
        let is_whole = value.fract() == 0.0;
        broken(mistake, if is_whole { json!(value as i64) } else { json!(value) }, VALUE);
    }
    if let Some(max) = length("maxItems") {
        broken("long", json!(vec!["x"; max + 1]), LENGTH);
    }
    mistakes
}

/// Adds the cases of the value at `pointer` in `body`, which errors call `field`, and of the values in it.
fn value_cases(
    schema: &Value,
    is_required: bool,
    body: &Value,
    (pointer, field): (&str, &str),
    cases: &mut Vec<Case>,
) {
    let schema = resolved(schema);
    for (mistake, value, code) in mistakes(&schema, is_required) {
        cases.push(Case {
            field: field.to_owned(),
            mistake,
            code,
            schema: schema.clone(),
            body: changed(body, pointer, value),
            query: String::new(),
        });
    }
    let present = body.pointer(pointer);
    if let (Some(items), Some(list)) = (schema.get("items"), present.and_then(Value::as_array)) {
        let item = resolved(items);
        let place = (&*format!("{pointer}/0"), &*format!("{field}[0]"));
        let mut element = item.clone();
        // They may be in other elements.
        element.remove("properties");
        value_cases(&Value::Object(element), false, body, place, cases);
        property_cases(&item, body, cases, |name| {
            let index = list.iter().position(|item| item.get(name).is_some());
            let index = index.or_else(|| list.iter().position(Value::is_object)).unwrap_or(0);
            (format!("{pointer}/{index}"), format!("{field}[{index}]."))
        });
    } else if present.is_some_and(Value::is_object) {
        property_cases(&schema, body, cases, |_| (pointer.to_owned(), format!("{field}.")));
    }
}

/// Adds the cases of the properties of an object; `place` returns its pointer and the prefix of its fields.
fn property_cases(
    schema: &Schema,
    body: &Value,
    cases: &mut Vec<Case>,
    place: impl Fn(&str) -> (String, String),
) {
    let required = texts(schema, "required");
    for (name, property) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let (pointer, prefix) = place(name);
        let (pointer, field) = (format!("{pointer}/{name}"), format!("{prefix}{name}"));
        value_cases(property, required.contains(name), body, (&pointer, &field), cases);
    }
}

/// `body` with `value` at `pointer`, or without it.
fn changed(body: &Value, pointer: &str, value: Option<Value>) -> Value {
    let mut body = body.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let former = body.pointer(pointer).cloned();
    let text = value.as_ref().and_then(Value::as_str).filter(|text| !text.is_empty());
    if let (Some(text), Some(confirmation)) = (text, body.get_mut("confirmPassword")) {
        // It follows what it confirms.
        if former.as_ref() == Some(confirmation) && name != "confirmPassword" {
            *confirmation = json!(text);
        }
    }
    match (body.pointer_mut(parent).unwrap(), value) {
        (Value::Object(object), Some(value)) => drop(object.insert(name.to_owned(), value)),
        (Value::Object(object), None) => drop(object.remove(name)),
        (Value::Array(list), value) => list[name.parse::<usize>().unwrap()] = value.unwrap(),
        (other, _) => panic!("{pointer} is in {other}"),
    }
    body
}

/// An operation of the document with its cases.
struct Operation {
    method: Method,
    path: String,
    /// The examples of its body; `[null]` without one.
    examples: Vec<Value>,
    /// The required query parameters.
    query: Vec<(String, String)>,
    cases: Vec<Case>,
}

impl Operation {
    fn new(name: &str, committee: &str) -> Self {
        let (method, path) = name.split_once(' ').unwrap();
        let root = Document::get().root();
        let operation = &root["paths"][path][method.to_lowercase()];
        let mut this = Self {
            method: method.parse().unwrap(),
            path: path.to_owned(),
            examples: vec![Value::Null],
            query: Vec::new(),
            cases: Vec::new(),
        };
        let json = &operation["requestBody"]["content"]["application/json"];
        if json.is_object() {
            let several = json["examples"].as_object();
            let several = several.map(|all| all.values().map(|one| one["value"].clone()).collect());
            this.examples = several.unwrap_or_else(|| vec![json["example"].clone()]);
            // These values of the examples are unknown here; what is confirmed is a new password.
            let known =
                [("committeeID", committee), ("password", PASSWORD), ("oldPassword", PASSWORD)];
            for example in &mut this.examples {
                // The questions of the example are those of another course.
                if let Some(answers) = example.get_mut("answers") {
                    *answers = json!({});
                }
                for (field, value) in known {
                    let is_new = field == "password" && example.get("confirmPassword").is_some();
                    if let Some(unknown) = example.get_mut(field).filter(|_| !is_new) {
                        *unknown = json!(value);
                    }
                }
            }
            this.add_body_cases(&resolved(&json["schema"]));
        }
        let parameters = [&root["paths"][path]["parameters"], &operation["parameters"]];
        let parameters: Vec<Schema> =
            parameters.into_iter().filter_map(Value::as_array).flatten().map(resolved).collect();
        this.add_query_cases(&parameters);
        this
    }

    /// The example that says most about `name`, with it and what the document requires beside it.
    fn example(&self, schema: &Schema, name: &str) -> Value {
        let length = |example: &&Value| example.get(name).map(|value| value.to_string().len());
        let mut example = self.examples.iter().max_by_key(length).unwrap().clone();
        let alternatives = schema.get("alternatives").and_then(Value::as_array);
        let requires = |alternative: &&Value, name: &str| {
            alternative.as_array().unwrap().iter().any(|required| required == name)
        };
        let chosen = alternatives.into_iter().flatten().find(|one| requires(one, name));
        if let Some(chosen) = chosen.filter(|_| example.get(name).is_none()) {
            let is_in_any =
                |field: &str| alternatives.unwrap().iter().any(|one| requires(&one, field));
            let example = example.as_object_mut().unwrap();
            example.retain(|field, _| requires(&chosen, field) || !is_in_any(field));
        }
        for name in needed_beside(schema, name).iter().map(String::as_str).chain([name]) {
            let known = resolved(&schema["properties"][name]).remove("examples");
            if let Some(value) = known.filter(|_| example.get(name).is_none()) {
                example[name] = value[0].clone();
            }
        }
        example
    }

    fn add_body_cases(&mut self, schema: &Schema) {
        for (name, property) in schema["properties"].as_object().unwrap() {
            let example = self.example(schema, name);
            let is_required = texts(schema, "required").contains(name);
            let place = (&*format!("/{name}"), &**name);
            value_cases(property, is_required, &example, place, &mut self.cases);
            for needed in needed_beside(schema, name) {
                self.cases.push(Case {
                    mistake: "alone",
                    code: REQUIRED.to_owned(),
                    schema: resolved(&schema["properties"][&needed]),
                    body: changed(&example, &format!("/{needed}"), None),
                    query: String::new(),
                    field: needed,
                });
            }
        }
    }

    fn add_query_cases(&mut self, parameters: &[Schema]) {
        let queries: Vec<&Schema> =
            parameters.iter().filter(|parameter| parameter["in"] == "query").collect();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let is_required = |parameter: &&&Schema| parameter.get("required") == Some(&json!(true));
        let required = queries.iter().filter(is_required);
        self.query = required.map(|it| (text(&it["name"]), text(&it["example"]))).collect();
        for parameter in &queries {
            let (name, schema) = (text(&parameter["name"]), resolved(&parameter["schema"]));
            let others: Vec<_> =
                self.query.iter().filter(|(other, _)| *other != name).cloned().collect();
            let flags = texts(&schema, "type").contains("boolean");
            let flags = flags.then(|| ("value", Some(json!("?")), VALUE.to_owned()));
            let mistakes = mistakes(&schema, is_required(&parameter)).into_iter().chain(flags);
            for (mistake, value, code) in mistakes {
                if mistake == "type" || mistake == "null" {
                    // All values in a query are texts.
                    continue;
                }
                let value = value.map(|value| (name.clone(), text(&value)));
                let pairs = others.iter().cloned().chain(value);
                self.cases.push(Case {
                    field: name.clone(),
                    mistake,
                    code,
                    schema: schema.clone(),
                    body: self.examples[0].clone(),
                    query: encoded(pairs),
                });
            }
        }
    }

    async fn send(&self, person: &Person, path: &str, query: &str, body: &Value) -> Answer {
        let bytes = if body.is_null() { String::new() } else { body.to_string() };
        let path = format!("/api/v1{path}?{query}");
        person.json().send(self.method.clone(), &path, bytes.into()).await
    }
}

fn encoded(pairs: impl Iterator<Item = (String, String)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

impl Case {
    /// How `answer` differs from what the document implies.
    fn difference(&self, exception: Option<&Exception>, answer: &Answer) -> Option<String> {
        let code = exception.map_or(&*self.code, |(_, _, _, code, _)| code);
        if code.is_empty() {
            return (answer.status >= 300).then(|| "the value is refused".to_owned());
        }
        let stands_alone = code == "OTP_INVALID_MESSAGE" || code.ends_with("_NOT_FOUND_MESSAGE");
        if stands_alone || exception.is_some() {
            return (answer.code() != code).then(|| format!("not {code}"));
        }
        let expected = vec![(self.field.clone(), code.to_owned())];
        if (answer.status, &*answer.code()) != (400, code) || answer.errors() != expected {
            return Some(format!("not 400 {code}"));
        }
        self.missing(code, &answer.json()["errors"][0])
            .map(|name| format!("`{name}` is not what the document implies"))
    }

    /// The member of `error` that does not say what would be valid, with `code`.
    fn missing(&self, code: &str, error: &Value) -> Option<&'static str> {
        let keyword =
            |names: [&str; 3]| names.iter().find_map(|name| self.schema.get(*name).cloned());
        let min = keyword(["minimum", "minLength", "minItems"]);
        let max = keyword(["maximum", "maxLength", "maxItems"]);
        let is_flag = texts(&self.schema, "type").contains("boolean");
        let listed = self.schema.get("enum").and_then(Value::as_array);
        let allowed = match listed {
            Some(values) => Some(values.iter().filter(|value| !value.is_null()).cloned().collect()),
            None => is_flag.then(|| json!(["true", "false"])),
        };
        let is_general = code.starts_with("FIELD_") || code == TOO_SHORT;
        let is_bounds = is_general && ["short", "long", "low", "high"].contains(&self.mistake);
        let is_value = self.mistake == "value";
        let text = error["RESPONSE_TEXT"].as_str().unwrap();
        for (name, implied, is_needed) in
            [("min", min, is_bounds), ("max", max, is_bounds), ("allowed", allowed, is_value)]
        {
            let told = error.get(name);
            // The texts of fields that may be empty have one character or more.
            let is_told = told == implied.as_ref()
                || (name == "min" && implied.is_none() && told == Some(&json!(1)));
            if !is_told && (is_needed || (told.is_some() && name != "allowed")) {
                return Some(name);
            }
            let implied = implied.filter(|_| is_needed && is_general);
            if implied.is_some_and(|implied| !names(text, &implied)) {
                return Some("RESPONSE_TEXT");
            }
        }
        let formats = texts(&self.schema, "format");
        let is_format = ["control", "format"].contains(&self.mistake);
        let fits = match error.get("format").and_then(Value::as_str) {
            Some(format) => formats.contains(format),
            None => !is_format || formats.is_empty(),
        };
        (!fits).then_some("format")
    }
}

/// Whether the French `text` contains the numbers or texts of `value`, whatever separates them.
fn names(text: &str, value: &Value) -> bool {
    let plain = |text: &str| text.chars().filter(|sign| sign.is_alphanumeric()).collect::<String>();
    plain(text).contains(&plain(&value.to_string()))
}

#[tokio::test]
async fn values_that_the_document_forbids_return_its_errors() {
    let world = World::with(&[("RATE_LIMIT", "1000000")]).await;
    let admin = world.admin().await;
    let course = admin.post("/courses", json!({ "courseTitle": "Soudure" })).await;
    let course = course.expect_success(Message::CourseCreated)["course"]["courseID"].clone();
    let question = json!({ "language": "FR", "question": "Âge ?", "questionType": "NUMBER" });
    let path_of_course = format!("/courses/questions/{}", course.as_str().unwrap());
    let question = admin.post(&path_of_course, json!({ "questions": [question] })).await;
    let question = question.expect_success(Message::QuestionsAdded)["questions"][0].clone();
    let other = world.unhashed_account(Profile::Member).await;
    let ids = [
        ("courseId", course.as_str().unwrap().to_owned()),
        ("questionId", question["questionID"].as_str().unwrap().to_owned()),
        ("committeeId", world.committee().to_string()),
        ("passkeyId", other.user_id.to_string()),
        ("number", "+21655000789".to_owned()),
    ];
    let (mut count, mut wrong, mut met) = (0, Vec::new(), BTreeSet::<&Exception>::new());
    let mut operations = Document::get().operations();
    // What is deleted or cancelled is needed before; later the course has required questions.
    operations.sort_by_key(|name| {
        let ends = name.starts_with("DELETE") || name.ends_with("/cancel-course");
        (ends, name != "POST /registrations/{courseId}")
    });
    for name in operations {
        let operation = Operation::new(&name, &world.committee().to_string());
        let takes_body = operation.examples != [Value::Null];
        if takes_body && operation.cases.is_empty() {
            wrong.push(format!("{name} has no cases"));
        }
        // Signed in again, because some operations end the session. The rules of administrators' passwords differ.
        let is_of_own_account = name.contains(" /users/{userId}")
            || name == "PUT /users/reset-password"
            || name == "DELETE /otp";
        let user = if is_of_own_account { world.member().await } else { admin.clone() };
        let user = user.user().clone();
        let of_user = if is_of_own_account { user.user_id } else { other.user_id };
        let path = operation.path.replace("{userId}", &of_user.to_string());
        let path =
            ids.iter().fold(path, |path, (name, id)| path.replace(&format!("{{{name}}}"), id));
        let caller = world.signed_in(user).await;
        let mut before = world.items("records");
        for case in &operation.cases {
            let answer = operation.send(&caller, &path, &case.query, &case.body).await;
            count += 1;
            if answer.status < 300 {
                before = world.items("records");
            }
            let exception = EXCEPTIONS.iter().find(|(operation, field, mistake, ..)| {
                (*operation, *field) == (name.as_str(), case.field.as_str())
                    && (mistake.is_empty() || *mistake == case.mistake)
            });
            met.extend(exception);
            if let Some(difference) = case.difference(exception, &answer) {
                let Case { field, mistake, .. } = case;
                let body = String::from_utf8_lossy(&answer.body).into_owned();
                wrong.push(format!("{name} {field} {mistake}: {difference}: {body}"));
            }
        }
        if world.items("records") != before {
            wrong.push(format!("{name}: a refused call has changed the store"));
        }
        let query = encoded(operation.query.iter().cloned());
        for example in &operation.examples {
            let answer = operation.send(&caller, &path, &query, example).await;
            if takes_body && answer.json().get("errors").is_some() {
                wrong.push(format!("{name}: the example is refused: {answer:?}"));
            }
        }
    }
    assert_eq!(met.len(), EXCEPTIONS.len(), "only {met:?} are met");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}
