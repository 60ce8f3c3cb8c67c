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
use serde_json::{Value, json};

use crate::{
    conditions::fails,
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
        let code = if *conflict {
            "TransactionConflict"
        } else if is_condition_failed(database, part) {
            "ConditionalCheckFailed"
        } else {
            "None"
        };
        json!({ "Code": code })
    });
    let reasons: Vec<Value> = reasons.collect();
    tables::dynamodb_error(
        "TransactionCanceledException",
        json!({ "CancellationReasons": reasons }),
    )
}

/// Whether `part` has a condition that fails.
fn is_condition_failed(database: &Database, part: &Value) -> bool {
    part["ConditionExpression"].as_str().is_some_and(|condition| fails(database, part, condition))
}
