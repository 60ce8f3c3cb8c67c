//! Requests to partitions that are throttled, and the units of all others.

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use store::keys::TABLES;

use crate::{
    strict::{
        StrictTables, Strictness,
        heat::{Partition, partitions, read_units},
        item_key::{ItemKey, of, parts},
    },
    tables,
};

impl StrictTables {
    /// Meters a request, and throttles it when one of its partitions has reached its bound. An index that is throttled
    /// throttles the writes of its table
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html>).
    pub(super) async fn metered(
        &self,
        strictness: Strictness,
        operation: &str,
        body: &Bytes,
        mut request: Value,
    ) -> Response<Full<Bytes>> {
        let items = of(operation, &request);
        let old: Vec<Value> = items.iter().map(|key| key.item(&self.database)).collect();
        let hot: Vec<bool> = match operation {
            "GetItem" => vec![self.is_hot(
                strictness,
                &[partition_of(&ItemKey::of(&request["TableName"], &request["Key"]))],
            )],
            "Query" => vec![self.is_hot(strictness, &[queried(&request)])],
            "PutItem" | "UpdateItem" | "DeleteItem" => {
                vec![self.is_write_hot(strictness, &request, &items, &old)]
            }
            _ => (items.iter().zip(&old).zip(parts(&request)))
                .map(|((key, old), part)| {
                    self.is_write_hot(
                        strictness,
                        part,
                        std::slice::from_ref(key),
                        std::slice::from_ref(old),
                    )
                })
                .collect(),
        };
        if hot.contains(&true) {
            return tables::throttled_at(operation, &hot);
        }
        let postponed = match operation {
            "BatchGetItem" => self.take_hot_keys(strictness, &mut request),
            _ => Value::Null,
        };
        let is_postponed = postponed.as_object().is_some_and(|left| !left.is_empty());
        let response = if is_postponed {
            let is_empty =
                |tables: &Value| tables.as_object().is_none_or(serde_json::Map::is_empty);
            if is_empty(&request["RequestItems"]) {
                return tables::throttled_at(operation, &[]);
            }
            let body = Bytes::from(request.to_string());
            self.respond(strictness, operation, &body, &request).await
        } else {
            self.respond(strictness, operation, body, &request).await
        };
        let (head, content) = response.into_parts();
        let mut content = content.collect().await.map(|all| all.to_bytes()).unwrap_or_default();
        self.meter(operation, &request, head.status.is_success(), &content, items, old);
        if is_postponed && let Ok(mut json) = serde_json::from_slice::<Value>(&content) {
            json["UnprocessedKeys"] = postponed;
            content = json.to_string().into();
        }
        Response::from_parts(head, Full::new(content))
    }

    fn meter(
        &self,
        operation: &str,
        request: &Value,
        is_success: bool,
        content: &Bytes,
        items: Vec<ItemKey>,
        old: Vec<Value>,
    ) {
        let mut read = Vec::new();
        let mut written = Vec::new();
        match operation {
            "GetItem" => {
                let key = ItemKey::of(&request["TableName"], &request["Key"]);
                let is_consistent = request["ConsistentRead"] == true;
                read.push((
                    partition_of(&key),
                    read_units(&key.item(&self.database), is_consistent),
                ));
            }
            "BatchGetItem" => {
                for (table, keys) in request["RequestItems"].as_object().into_iter().flatten() {
                    for key in keys["Keys"].as_array().into_iter().flatten() {
                        let key = ItemKey::of(&json!(table), key);
                        let units =
                            read_units(&key.item(&self.database), keys["ConsistentRead"] == true);
                        read.push((partition_of(&key), units));
                    }
                }
            }
            "TransactGetItems" => {
                for (key, image) in items.iter().zip(&old) {
                    read.push((partition_of(key), 2.0 * read_units(image, true)));
                }
            }
            "Query" => {
                let response: Value = serde_json::from_slice(content).unwrap_or_default();
                let units = response["ConsumedCapacity"]["CapacityUnits"].as_f64();
                read.push((queried(request), units.unwrap_or_default()));
            }
            _ => {
                let factor = if operation == "TransactWriteItems" { 2.0 } else { 1.0 };
                for (key, old) in items.into_iter().zip(old) {
                    // A write whose condition fails costs what the item has.
                    let new = if is_success { key.item(&self.database) } else { old.clone() };
                    written.push((key, old, new, factor));
                }
            }
        }
        let heat = &mut self.state().heat;
        for (partition, units) in read {
            heat.read(partition, units);
        }
        for (key, old, new, factor) in written {
            heat.wrote(&key, &old, &new, factor);
        }
    }

    /// Whether a partition that a write uses is hot: one of those of the item, or one that the request names.
    fn is_write_hot(
        &self,
        strictness: Strictness,
        part: &Value,
        items: &[ItemKey],
        old: &[Value],
    ) -> bool {
        let mut used: Vec<Partition> = items.iter().map(partition_of).collect();
        for (key, old) in items.iter().zip(old) {
            used.extend(partitions(&key.table, old));
            let values = part["ExpressionAttributeValues"].as_object().into_iter();
            let values = values.chain(part["Item"].as_object()).flatten();
            let texts = values.filter_map(|(_, value)| value["S"].as_str());
            let table = TABLES.iter().find(|table| table.name == key.table);
            let indexes = table.map_or(&[][..], |table| table.indexes);
            for text in texts {
                used.extend(indexes.iter().map(|index| (index.name.to_owned(), text.to_owned())));
            }
        }
        self.is_hot(strictness, &used)
    }

    fn is_hot(&self, strictness: Strictness, used: &[Partition]) -> bool {
        let state = self.state();
        let (reads, writes) = (strictness.hot_reads, strictness.hot_writes);
        used.iter().any(|partition| state.heat.is_hot(partition, reads, writes))
    }

    /// Removes the keys of hot partitions from a BatchGetItem and returns them, by table
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>).
    fn take_hot_keys(&self, strictness: Strictness, request: &mut Value) -> Value {
        let Some(tables) = request["RequestItems"].as_object_mut() else {
            return Value::Null;
        };
        let mut postponed = json!({});
        for (table, wanted) in tables.iter_mut() {
            let keys = wanted["Keys"].as_array_mut().map(std::mem::take).unwrap_or_default();
            let is_hot = |key: &Value| {
                self.is_hot(strictness, &[partition_of(&ItemKey::of(&json!(table), key))])
            };
            let (hot, cool): (Vec<Value>, Vec<Value>) = keys.into_iter().partition(is_hot);
            if !hot.is_empty() {
                postponed[table] = wanted.clone();
                postponed[table]["Keys"] = hot.into();
            }
            wanted["Keys"] = cool.into();
        }
        tables.retain(|_, wanted| wanted["Keys"].as_array().is_some_and(|keys| !keys.is_empty()));
        postponed
    }
}

fn partition_of(key: &ItemKey) -> Partition {
    (key.table.clone(), key.pk.clone())
}

/// The partition that a Query reads: the first value of its key condition is the partition key.
fn queried(request: &Value) -> Partition {
    let name = request["IndexName"].as_str().or(request["TableName"].as_str());
    let condition = request["KeyConditionExpression"].as_str().unwrap_or_default();
    let mut words = condition.split_whitespace();
    let placeholder = words.find(|word| word.starts_with(':')).unwrap_or_default();
    let key = request["ExpressionAttributeValues"][placeholder]["S"].as_str();
    (name.unwrap_or_default().to_owned(), key.unwrap_or_default().to_owned())
}
