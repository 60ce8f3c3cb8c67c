//! The items that a request names.

use dynoxide::Database;
use serde_json::{Value, json};

use crate::tables;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ItemKey {
    pub(crate) table: String,
    pub(crate) pk: String,
    pub(crate) sk: String,
}

impl ItemKey {
    pub(crate) fn of(table: &Value, item: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self { table: text(table), pk: text(&item["pk"]["S"]), sk: text(&item["sk"]["S"]) }
    }

    /// The item that a put, an update, a delete, a check or a get names.
    pub(crate) fn of_part(part: &Value) -> Self {
        let item = if part["Item"].is_null() { &part["Key"] } else { &part["Item"] };
        Self::of(&part["TableName"], item)
    }

    /// The present item at this key; null when there is none.
    pub(crate) fn item(&self, database: &Database) -> Value {
        tables::item(database, &self.table, &self.attributes())
    }

    /// The key attributes, in DynamoDB JSON.
    pub(crate) fn attributes(&self) -> Value {
        json!({ "pk": { "S": self.pk }, "sk": { "S": self.sk } })
    }
}

/// The items that a write, or a TransactGetItems, names, in the order of its parts.
pub(crate) fn of(operation: &str, request: &Value) -> Vec<ItemKey> {
    match operation {
        "PutItem" | "UpdateItem" | "DeleteItem" => vec![ItemKey::of_part(request)],
        "TransactWriteItems" | "TransactGetItems" => parts(request).map(ItemKey::of_part).collect(),
        "BatchWriteItem" => {
            let tables = request["RequestItems"].as_object().into_iter().flatten();
            let writes = tables.flat_map(|(table, writes)| {
                let writes = writes.as_array().into_iter().flatten();
                writes.map(move |write| (Value::from(table.as_str()), write))
            });
            writes
                .map(|(table, write)| {
                    let item =
                        write.pointer("/PutRequest/Item").unwrap_or(&write["DeleteRequest"]["Key"]);
                    ItemKey::of(&table, item)
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The parts of a transaction, such as the content of its `Put`.
pub(crate) fn parts(request: &Value) -> impl Iterator<Item = &Value> {
    let parts = request["TransactItems"].as_array().into_iter().flatten();
    parts.filter_map(|part| part.as_object()?.values().next())
}
