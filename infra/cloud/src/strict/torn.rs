//! Reads of several items, in two parts with a pause between them.

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::{
    strict::{StrictTables, Strictness},
    tables,
};

impl StrictTables {
    pub(crate) async fn torn(
        &self,
        strictness: Strictness,
        operation: &str,
        request: &Value,
    ) -> Response<Full<Bytes>> {
        let parts = match operation {
            "BatchGetItem" => self.batch(strictness, request).await,
            _ => self.query(strictness, request).await,
        };
        // A single item is never torn, and the store's own response reports an invalid request.
        parts.unwrap_or_else(|| self.read(strictness, operation, request))
    }

    /// Reads the first of the keys and, after a pause, the others, starting with a random table.
    async fn batch(
        &self,
        strictness: Strictness,
        request: &Value,
    ) -> Option<Response<Full<Bytes>>> {
        let mut first = request.clone();
        let mut second = request.clone();
        let tables = request["RequestItems"].as_object()?;
        let count: usize = tables.values().map(|table| keys(table).len()).sum();
        if count < 2 {
            return None;
        }
        let taken = 1 + usize::try_from(self.random(count as u64 - 1)).ok()?;
        let mut left = taken;
        for (name, table) in tables {
            let keys = keys(table);
            let (early, late) = keys.split_at(left.min(keys.len()));
            left -= early.len();
            for (part, keys) in [(&mut first, early), (&mut second, late)] {
                let wanted = part["RequestItems"].as_object_mut()?;
                if keys.is_empty() {
                    wanted.remove(name);
                } else {
                    wanted.get_mut(name)?["Keys"] = json!(keys);
                }
            }
        }
        // The order in which DynamoDB reads the items is not defined.
        if self.random(2) == 1 {
            std::mem::swap(&mut first, &mut second);
        }
        let mut answer = self.part(strictness, "BatchGetItem", &first).await?;
        self.pause(strictness.torn_ms).await;
        let later = self.part(strictness, "BatchGetItem", &second).await?;
        for (table, items) in later["Responses"].as_object()? {
            extend(&mut answer["Responses"][table], items);
        }
        add_units(&mut answer["ConsumedCapacity"], &later["ConsumedCapacity"]);
        Some(tables::response(http::StatusCode::OK, answer.to_string()))
    }

    /// Reads the first of the items and, after a pause, the others of the page.
    async fn query(
        &self,
        strictness: Strictness,
        request: &Value,
    ) -> Option<Response<Full<Bytes>>> {
        // How many items a page of at most 1 MB has, and its units, which are rounded up once. The count alone, because the
        // items of such a page, read twice, take longer than a client waits; a query that selects attributes has no count.
        let mut counting = request.clone();
        if request["ProjectionExpression"].is_null() {
            counting["Select"] = json!("COUNT");
        }
        let mut whole = self.part(strictness, "Query", &counting).await?;
        let count = whole["ScannedCount"].as_u64()?;
        if count < 2 {
            return None;
        }
        let taken = 1 + self.random(count - 1);
        let mut first = request.clone();
        first["Limit"] = json!(taken);
        let mut answer = self.part(strictness, "Query", &first).await?;
        let next = answer["LastEvaluatedKey"].take();
        if next.is_null() {
            return None;
        }
        self.pause(strictness.torn_ms).await;
        let mut second = request.clone();
        second["ExclusiveStartKey"] = next;
        if !whole["LastEvaluatedKey"].is_null() {
            second["Limit"] = json!(count - taken);
        } else if let Some(limit) = request["Limit"].as_u64() {
            second["Limit"] = json!(limit - taken);
        }
        let mut later = self.part(strictness, "Query", &second).await?;
        extend(&mut answer["Items"], &later["Items"]);
        for field in ["Count", "ScannedCount"] {
            answer[field] = json!(answer[field].as_u64()? + later[field].as_u64()?);
        }
        match later["LastEvaluatedKey"].take() {
            Value::Null => drop(answer.as_object_mut()?.remove("LastEvaluatedKey")),
            key => answer["LastEvaluatedKey"] = key,
        }
        answer["ConsumedCapacity"] = whole["ConsumedCapacity"].take();
        Some(tables::response(http::StatusCode::OK, answer.to_string()))
    }

    /// The response to a part of a read; `None` if it is an error.
    async fn part(
        &self,
        strictness: Strictness,
        operation: &str,
        request: &Value,
    ) -> Option<Value> {
        let response = self.read(strictness, operation, request);
        if !response.status().is_success() {
            return None;
        }
        let body = response.into_body().collect().await.ok()?.to_bytes();
        serde_json::from_slice(&body).ok()
    }

    fn random(&self, bound: u64) -> u64 {
        self.state().random.below(bound)
    }
}

fn keys(table: &Value) -> &[Value] {
    table["Keys"].as_array().map_or(&[], Vec::as_slice)
}

/// Appends the array `more` to `list`, which may be absent.
fn extend(list: &mut Value, more: &Value) {
    if list.is_null() {
        *list = json!([]);
    }
    if let (Some(list), Some(more)) = (list.as_array_mut(), more.as_array()) {
        list.extend(more.iter().cloned());
    }
}

/// Adds the consumed units of each table.
fn add_units(units: &mut Value, more: &Value) {
    let Some(list) = units.as_array_mut() else {
        return;
    };
    for table in more.as_array().into_iter().flatten() {
        let known = list.iter_mut().find(|known| known["TableName"] == table["TableName"]);
        match known {
            Some(known) => {
                let sum = |value: &Value| value["CapacityUnits"].as_f64().unwrap_or_default();
                known["CapacityUnits"] = json!(sum(known) + sum(table));
            }
            None => list.push(table.clone()),
        }
    }
}
