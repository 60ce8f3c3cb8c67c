//! How often the conditions of writes held and failed, in all clouds of this process, and how often a read returned an item
//! whose time was over. A condition that never fails is not needed, or no test sees that it is missing.
//!
//! A condition expression is counted in parts, so that each part is known by itself: those that `AND` connects, with those
//! inside `OR` distributed over it. A part has *failed* if it was the only one of the whole request: only then does the
//! outcome depend on it.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use domain::Instant;
use dynoxide::Database;
use http::Response;
use http_body_util::Full;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::keys::{ITEMS, ItemKind};

use crate::{strict::item_key::ItemKey, tables};

/// How often something held and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How often it held; of reads, how many items were returned whose time was not over.
    pub held: u64,
    /// How often it alone failed; of reads, how many items were returned whose time was over.
    pub failed: u64,
}

/// A condition: where it stands, the operation, the whole condition expression and the part of it.
pub type Condition = [String; 4];

static IS_ON: AtomicBool = AtomicBool::new(false);
static COUNTS: Mutex<BTreeMap<Condition, Count>> = Mutex::new(BTreeMap::new());

/// Counts from now on, in all clouds of this process: by default nothing is counted.
pub fn turn_on() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// The counts of this process so far.
pub fn counts() -> Vec<(Condition, Count)> {
    lock().iter().map(|(condition, count)| (condition.clone(), *count)).collect()
}

fn lock() -> MutexGuard<'static, BTreeMap<Condition, Count>> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count(condition: Condition, has_held: bool) {
    let mut counts = lock();
    let count = counts.entry(condition).or_default();
    *(if has_held { &mut count.held } else { &mut count.failed }) += 1;
}

/// A part of the condition of one write.
struct Part<'a> {
    write: &'a Value,
    action: &'a str,
    text: String,
}

impl Part<'_> {
    /// An update is known by its expression, which is that of one method of the store; other writes, and updates of the
    /// fields that have changed, by the kind of item. Without numbers of placeholders, and parts that differ in them alone.
    fn condition(&self) -> Condition {
        let without_numbers = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
        let update = self.write["UpdateExpression"].as_str();
        let place = match update.filter(|update| !update.contains("#p")) {
            Some(update) => without_numbers(update),
            None => kind_of(&ItemKey::of_part(self.write)).to_owned(),
        };
        let whole = self.write["ConditionExpression"].as_str().unwrap_or_default();
        let mut whole: Vec<String> =
            parts_of(whole).iter().map(|one| without_numbers(one)).collect();
        whole.dedup();
        [place, self.action.to_owned(), whole.join(" AND "), without_numbers(&self.text)]
    }
}

/// The response to `operation`, whose conditions are counted.
pub(crate) fn answer(database: &Database, operation: &str, body: &Bytes) -> Response<Full<Bytes>> {
    let response = tables::execute(database, operation, body);
    count_write(database, operation, body, response.status().is_success());
    response
}

/// Counts the conditions of a write that was executed. Those of one that has failed are evaluated one by one.
fn count_write(database: &Database, operation: &str, body: &[u8], is_written: bool) {
    const NAME: &[u8] = b"\"ConditionExpression\"";
    if !IS_ON.load(Ordering::Relaxed) || !body.windows(NAME.len()).any(|part| part == NAME) {
        return;
    }
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let single = [(operation, &request)];
    let transaction = request["TransactItems"].as_array().into_iter().flatten();
    let transaction = transaction.filter_map(Value::as_object).flatten();
    let writes = single.into_iter().chain(transaction.map(|(action, write)| (&**action, write)));
    let parts = writes.flat_map(|(action, write)| {
        let condition = write["ConditionExpression"].as_str();
        let parts = condition.map(parts_of).unwrap_or_default();
        parts.into_iter().map(move |text| Part { write, action, text })
    });
    if is_written {
        parts.for_each(|part| count(part.condition(), true));
        return;
    }
    let mut failed = parts.filter(|part| fails(database, part.write, &part.text));
    if let (Some(only), None) = (failed.next(), failed.next()) {
        count(only.condition(), false);
    }
}

/// Counts the items in the response to a read that have a time of their own, by whether it is over at `now`.
pub(crate) fn count_read(operation: &str, response: &[u8], now: Instant) {
    const TTL: &[u8] = b"\"ttl\"";
    let is_read = ["Query", "GetItem", "BatchGetItem", "TransactGetItems"].contains(&operation);
    let has_items = || response.windows(TTL.len()).any(|part| part == TTL);
    if IS_ON.load(Ordering::Relaxed) && is_read && has_items() {
        let response: Value = serde_json::from_slice(response).unwrap_or_default();
        count_items(&response, now);
    }
}

/// Counts the condition in the header `name` of a request to S3.
pub(crate) fn count_file(verb: &str, name: &str, has_held: bool) {
    if IS_ON.load(Ordering::Relaxed) {
        count(["object", verb, name, name].map(str::to_owned), has_held);
    }
}

fn count_items(value: &Value, now: Instant) {
    if value["ttl"].is_object() {
        let kind = kind_of(&ItemKey::of(&Value::Null, value));
        // Such as those with which an operator tries the policies.
        if kind == UNKNOWN {
            return;
        }
        count([kind, "read", "time", "time"].map(str::to_owned), now < end_of(value));
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| count_items(item, now)),
        Value::Object(fields) => fields.values().for_each(|field| count_items(field, now)),
        _ => {}
    }
}

/// When the time of `item` is over, by its own attributes: DynamoDB deletes it some time after its `ttl`.
fn end_of(item: &Value) -> Instant {
    let number = |name: &str| item[name]["N"].as_str().and_then(|number| number.parse().ok());
    let expires_at = item["expiresAt"]["S"].as_str().and_then(|time| time.parse().ok());
    let end = expires_at.or_else(|| number("exp").map(Instant::from_unix_milliseconds));
    let ttl = || number("ttl").unwrap_or_default().saturating_mul(1_000);
    end.unwrap_or_else(|| Instant::from_unix_milliseconds(ttl()))
}

/// The kind of items that are none of the service.
const UNKNOWN: &str = "unknown";

/// The name of the kind of the item at `key`.
fn kind_of(key: &ItemKey) -> &'static str {
    let fits = |pattern: &str, text: &str| match pattern.split_once('{') {
        Some((start, _)) => text.starts_with(start),
        None => text == pattern,
    };
    let is_kind = |kind: &&ItemKind| fits(kind.pk, &key.pk) && fits(kind.sk, &key.sk);
    ITEMS.iter().find(is_kind).map_or(UNKNOWN, |kind| kind.name)
}

/// Whether `condition` fails for the item that `write` names, evaluated in a transaction that checks it alone.
pub(crate) fn fails(database: &Database, write: &Value, condition: &str) -> bool {
    let mut check = json!({ "TableName": write["TableName"], "ConditionExpression": condition });
    check["Key"] = ItemKey::of_part(write).attributes();
    // DynamoDB rejects names and values that no expression uses.
    for field in ["ExpressionAttributeNames", "ExpressionAttributeValues"] {
        let all = write[field].as_object().into_iter().flatten();
        let used: Map<String, Value> = all
            .filter(|(name, _)| is_used(condition, name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if !used.is_empty() {
            check[field] = used.into();
        }
    }
    let body = json!({ "TransactItems": [{ "ConditionCheck": check }] });
    let body = Bytes::from(body.to_string());
    !tables::execute(database, "TransactWriteItems", &body).status().is_success()
}

/// Whether the placeholder `name` is a word of `expression`.
fn is_used(expression: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_#:".contains(letter);
    expression.split(|letter| !is_part(letter)).any(|word| word == name)
}

/// The parts of `expression` that must all hold.
fn parts_of(expression: &str) -> Vec<String> {
    let (or, and) = (split(expression, " OR "), split(expression, " AND "));
    match (or.as_slice(), and.as_slice()) {
        ([_], [one]) => match one.strip_prefix('(').and_then(|one| one.strip_suffix(')')) {
            Some(inner) => parts_of(inner),
            None => vec![(*one).to_owned()],
        },
        ([_], parts) => parts.iter().flat_map(|part| parts_of(part)).collect(),
        (alternatives, _) => {
            let alternatives = alternatives.iter().map(|alternative| parts_of(alternative));
            let all = alternatives.reduce(|left, right| {
                let both = |left: &String| {
                    let both = right.iter().map(|right| format!("{left} OR {right}"));
                    both.collect::<Vec<_>>()
                };
                left.iter().flat_map(both).collect()
            });
            all.unwrap_or_default()
        }
    }
}

/// `expression` at each `separator` outside parentheses.
fn split<'a>(expression: &'a str, separator: &str) -> Vec<&'a str> {
    let is_outside = |start: usize| {
        let before = &expression[..start];
        before.matches('(').count() == before.matches(')').count()
    };
    let ends = expression.match_indices(separator).map(|(start, _)| start);
    let mut parts = Vec::new();
    let mut start = 0;
    for end in ends.filter(|end| is_outside(*end)) {
        parts.push(&expression[start..end]);
        start = end + separator.len();
    }
    parts.push(&expression[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expression_is_split_into_parts_that_must_hold() {
        let cases = [
            ("a = :b", vec!["a = :b"]),
            ("a AND size(b) < :c", vec!["a", "size(b) < :c"]),
            ("(a OR b) AND c", vec!["a OR b", "c"]),
            ("a OR (b AND (c OR d))", vec!["a OR b", "a OR c OR d"]),
            ("(a AND b) OR c", vec!["a OR c", "b OR c"]),
            ("not_exists(a) AND (b)", vec!["not_exists(a)", "b"]),
            ("a AND b OR c", vec!["a OR c", "b OR c"]),
        ];
        for (expression, parts) in cases {
            assert_eq!(parts_of(expression), parts);
        }
    }
}
