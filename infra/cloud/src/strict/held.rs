//! Conflicts of transactions that are in progress
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling>).

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use dynoxide::Database;
use http::Response;
use http_body_util::Full;
use serde_json::{Map, Value, json};

use crate::{
    strict::item_key::{ItemKey, parts},
    tables,
};

/// The items of the TransactWriteItems requests in progress. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct HeldItems(Arc<Mutex<BTreeSet<ItemKey>>>);

/// Holds the items of one request until it is dropped.
pub(crate) struct Hold {
    held: HeldItems,
    items: Vec<ItemKey>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut held = self.held.lock();
        for item in &self.items {
            held.remove(item);
        }
    }
}

impl HeldItems {
    /// Which of `items` are held, if any is.
    pub(crate) fn conflicts(&self, items: &[ItemKey]) -> Option<Vec<bool>> {
        conflicts(&self.lock(), items)
    }

    /// Holds `items`; fails with those that another request holds.
    pub(crate) fn hold(&self, items: Vec<ItemKey>) -> Result<Hold, Vec<bool>> {
        let mut held = self.lock();
        if let Some(conflicts) = conflicts(&held, &items) {
            return Err(conflicts);
        }
        held.extend(items.iter().cloned());
        let held = self.clone();
        Ok(Hold { held, items })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<ItemKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn conflicts(held: &BTreeSet<ItemKey>, items: &[ItemKey]) -> Option<Vec<bool>> {
    let conflicts: Vec<bool> = items.iter().map(|item| held.contains(item)).collect();
    conflicts.contains(&true).then_some(conflicts)
}

/// The response to a plain write of an item that a transaction holds.
pub(crate) fn conflict() -> Response<Full<Bytes>> {
    tables::dynamodb_error("TransactionConflictException", json!({}))
}

/// The response to a transaction with `conflicts`. The other parts have the reason that they have without them: their
/// condition fails, or `None`.
pub(crate) fn cancelled(
    conflicts: &[bool],
    database: &Database,
    request: &Value,
) -> Response<Full<Bytes>> {
    let reasons = conflicts.iter().zip(parts(request)).map(|(conflict, part)| {
        let code = match conflict {
            true => "TransactionConflict",
            false if is_condition_failed(database, part) => "ConditionalCheckFailed",
            false => "None",
        };
        json!({ "Code": code })
    });
    let reasons: Vec<Value> = reasons.collect();
    tables::dynamodb_error(
        "TransactionCanceledException",
        json!({ "CancellationReasons": reasons }),
    )
}

/// Evaluates the condition of `part` in a transaction that checks it alone.
fn is_condition_failed(database: &Database, part: &Value) -> bool {
    let Some(condition) = part["ConditionExpression"].as_str() else {
        return false;
    };
    let mut check = json!({ "TableName": part["TableName"], "ConditionExpression": condition });
    check["Key"] = if part["Key"].is_null() {
        json!({ "pk": part["Item"]["pk"], "sk": part["Item"]["sk"] })
    } else {
        part["Key"].clone()
    };
    // DynamoDB rejects names and values that no expression uses.
    for field in ["ExpressionAttributeNames", "ExpressionAttributeValues"] {
        let all = part[field].as_object().into_iter().flatten();
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
    !tables::answer(database, "TransactWriteItems", &body).status().is_success()
}

/// Whether the placeholder `name` is a word of `expression`.
fn is_used(expression: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_#:".contains(letter);
    expression.split(|letter| !is_part(letter)).any(|word| word == name)
}
