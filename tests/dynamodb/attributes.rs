//! Attribute values as JSON: `5`, `"text"`, `[…]`, `{…}`, sets as `{"SS": […]}`, and numbers that JSON changes as
//! `{"N": "1.50"}`.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Map, Value, json};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// The attributes of a JSON object; none for null.
pub(crate) fn item(attributes: &Value) -> Item {
    let attributes = attributes.as_object().into_iter().flatten();
    attributes.map(|(name, json)| (name.clone(), value(json))).collect()
}

fn value(json: &Value) -> AttributeValue {
    match json {
        Value::String(text) => AttributeValue::S(text.clone()),
        Value::Number(number) => AttributeValue::N(number.to_string()),
        Value::Bool(is_true) => AttributeValue::Bool(*is_true),
        Value::Null => AttributeValue::Null(true),
        Value::Array(values) => AttributeValue::L(values.iter().map(value).collect()),
        Value::Object(entries) => match (entries.get("N"), entries.get("SS")) {
            (Some(number), _) => AttributeValue::N(text(number)),
            (_, Some(set)) => {
                AttributeValue::Ss(set.as_array().unwrap().iter().map(text).collect())
            }
            _ => AttributeValue::M(item(json)),
        },
    }
}

fn text(json: &Value) -> String {
    json.as_str().unwrap().to_owned()
}

/// The reverse of [`item`], with the elements of sets in order.
pub(crate) fn json(item: &Item) -> Value {
    let entries = item.iter().map(|(name, value)| (name.clone(), json_of(value)));
    entries.collect::<Map<_, _>>().into()
}

fn json_of(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!(text),
        AttributeValue::N(digits) => {
            digits.parse::<i64>().map_or_else(|_| json!({ "N": digits }), Value::from)
        }
        AttributeValue::Bool(is_true) => json!(is_true),
        AttributeValue::L(values) => values.iter().map(json_of).collect(),
        AttributeValue::M(entries) => json(entries),
        AttributeValue::Ss(elements) => {
            let mut elements = elements.clone();
            elements.sort();
            json!({ "SS": elements })
        }
        _ => Value::Null,
    }
}

/// The expression attribute values of a JSON object such as `{":n": 5}`; DynamoDB refuses an empty map.
pub(crate) fn values(values: &Value) -> Option<Item> {
    Some(item(values)).filter(|values| !values.is_empty())
}

/// The expression attribute names of `expressions`: `#status` is the attribute `status`.
pub(crate) fn names(expressions: &str) -> Option<HashMap<String, String>> {
    let names: HashMap<String, String> = words(expressions)
        .filter_map(|word| Some((word.to_owned(), word.strip_prefix('#')?.to_owned())))
        .collect();
    Some(names).filter(|names| !names.is_empty())
}

/// The names, placeholders and keywords of `expression`.
pub(crate) fn words(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(|letter: char| !letter.is_alphanumeric() && !"#:_".contains(letter))
}
