//! The tables of the embedded store, and DynamoDB's wire protocol: JSON 1.0, with the operation in a header.

use bytes::Bytes;
use dynoxide::{Database, errors::DynoxideError};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use store::keys::{IndexSchema, TableSchema};

use crate::{LocalError, REFUSED};

/// Creates `table` if it does not exist, and adds indexes that an older data folder lacks.
pub(crate) fn make(database: &Database, table: &TableSchema) -> Result<(), LocalError> {
    let failed =
        |error| LocalError::new(format!("The table {} cannot be created: {error}.", table.name));
    let existing = database.get_table_metadata(table.name).map_err(failed)?;
    if existing.is_none() {
        database.create_table(request(create_table_request(table))?).map_err(failed)?;
        let ttl = json!({ "TableName": table.name, "TimeToLiveSpecification": { "AttributeName": "ttl", "Enabled": true } });
        database.update_time_to_live(request(ttl)?).map_err(failed)?;
        return Ok(());
    }
    let described =
        database.describe_table(request(json!({ "TableName": table.name }))?).map_err(failed)?;
    let described =
        serde_json::to_string(&described).map_err(|error| LocalError::new(error.to_string()))?;
    for missing in table
        .indexes
        .iter()
        .filter(|index| !described.contains(&format!("\"IndexName\":\"{}\"", index.name)))
    {
        let update = json!({
            "TableName": table.name,
            "AttributeDefinitions": definitions(table.indexes),
            "GlobalSecondaryIndexUpdates": [{ "Create": index(missing) }],
        });
        database.update_table(request(update)?).map_err(failed)?;
    }
    Ok(())
}

/// The body of the CreateTable request for `table`.
pub fn create_table_request(table: &TableSchema) -> Value {
    let mut create = json!({
        "TableName": table.name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" }],
        "AttributeDefinitions": definitions(table.indexes),
    });
    if !table.indexes.is_empty() {
        create["GlobalSecondaryIndexes"] = table.indexes.iter().map(index).collect();
    }
    if table.has_stream {
        create["StreamSpecification"] =
            json!({ "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" });
    }
    create
}

fn definitions(indexes: &[IndexSchema]) -> Vec<Value> {
    let keys = indexes.iter().flat_map(|index| [(index.pk, "S"), index.sk]);
    let all = [("pk", "S"), ("sk", "S")].into_iter().chain(keys);
    all.map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind })).collect()
}

fn index(index: &IndexSchema) -> Value {
    let projection = match index.projected {
        [] => json!({ "ProjectionType": "KEYS_ONLY" }),
        projected => json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": projected }),
    };
    json!({
        "IndexName": index.name,
        "KeySchema": [{ "AttributeName": index.pk, "KeyType": "HASH" }, { "AttributeName": index.sk.0, "KeyType": "RANGE" }],
        "Projection": projection,
    })
}

/// `request` in the type of the embedded store.
pub(crate) fn request<T: serde::de::DeserializeOwned>(request: Value) -> Result<T, LocalError> {
    serde_json::from_value(request).map_err(|error| {
        LocalError::new(format!("The embedded store does not know this request: {error}."))
    })
}

/// Replaces all items of `table` by `items`.
pub(crate) fn restore(database: &Database, table: &str, items: &[Value]) -> Result<(), LocalError> {
    let failed = |error: &dyn std::fmt::Display| LocalError::new(error.to_string());
    for item in self::items(database, table)? {
        let key = json!({ "pk": item["pk"], "sk": item["sk"] });
        let delete = request(json!({ "TableName": table, "Key": key }))?;
        database.delete_item(delete).map_err(|error| failed(&error))?;
    }
    for item in items {
        let put = request(json!({ "TableName": table, "Item": item }))?;
        database.put_item(put).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// All items of `table`, unordered.
pub(crate) fn items(database: &Database, table: &str) -> Result<Vec<Value>, LocalError> {
    let mut items = Vec::new();
    let mut wanted = json!({ "TableName": table });
    loop {
        let scan = database
            .scan(request(wanted.clone())?)
            .map_err(|error| LocalError::new(error.to_string()))?;
        let mut page =
            serde_json::to_value(scan).map_err(|error| LocalError::new(error.to_string()))?;
        items.extend(page["Items"].as_array_mut().map(std::mem::take).unwrap_or_default());
        wanted["ExclusiveStartKey"] = page["LastEvaluatedKey"].take();
        if wanted["ExclusiveStartKey"].is_null() {
            return Ok(items);
        }
    }
}

/// The item of `table` with the key attributes `key`; null when there is none.
pub(crate) fn item(database: &Database, table: &str, key: &Value) -> Value {
    let get = json!({ "TableName": table, "Key": key, "ConsistentRead": true });
    let found = request(get).ok().and_then(|get| {
        let found = database.get_item(get).ok()?;
        serde_json::to_value(found).ok()
    });
    found.map_or(Value::Null, |mut found| found["Item"].take())
}

/// The response to `operation`. The store runs on this thread: a request takes a fraction of a millisecond.
pub(crate) fn execute(database: &Database, operation: &str, body: &Bytes) -> Response<Full<Bytes>> {
    let answered = match operation {
        "BatchGetItem" => run(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => run(body, |request| database.batch_write_item(request)),
        "DeleteItem" => run(body, |request| database.delete_item(request)),
        "DescribeTable" => run(body, |request| database.describe_table(request)),
        "GetItem" => run(body, |request| database.get_item(request)),
        "PutItem" => run(body, |request| database.put_item(request)),
        "Query" => run(body, |request| database.query(request)),
        "TransactGetItems" => run(body, |request| database.transact_get_items(request)),
        "TransactWriteItems" => run(body, |request| database.transact_write_items(request)),
        "UpdateItem" => run(body, |request| database.update_item(request)),
        _ => Err(DynoxideError::ValidationException(format!("{operation} is not served here"))),
    };
    to_response(answered)
}

/// The response to a BatchGetItem of which only the first key is processed
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>).
pub(crate) fn first_of_batch(database: &Database, body: &Bytes) -> Response<Full<Bytes>> {
    let mut request_json: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut left = request_json["RequestItems"].take();
    let tables = left.as_object_mut().into_iter().flatten();
    let first = tables.filter_map(|(table, keys)| {
        let mut wanted = keys.clone();
        wanted["Keys"] = json!([keys["Keys"].as_array_mut()?.pop()?]);
        Some((table.clone(), wanted))
    });
    request_json["RequestItems"] = first.take(1).collect();
    if let Some(tables) = left.as_object_mut() {
        tables.retain(|_, keys| keys["Keys"].as_array().is_some_and(|keys| !keys.is_empty()));
    }
    let answered = read(request_json.to_string().as_bytes())
        .and_then(|request| database.batch_get_item(request));
    to_response(answered.and_then(|answer| {
        let mut answer = serde_json::to_value(answer)
            .map_err(|error| DynoxideError::InternalServerError(error.to_string()))?;
        answer["UnprocessedKeys"] = left;
        write(&answer)
    }))
}

fn run<T: serde::de::DeserializeOwned, A: serde::Serialize>(
    body: &[u8],
    call: impl FnOnce(T) -> Result<A, DynoxideError>,
) -> Result<String, DynoxideError> {
    write(&call(read(body)?)?)
}

fn to_response(answered: Result<String, DynoxideError>) -> Response<Full<Bytes>> {
    match answered {
        Ok(json) => response(StatusCode::OK, json),
        Err(error) => response(
            StatusCode::from_u16(error.status_code()).unwrap_or(StatusCode::BAD_REQUEST),
            error.to_json(),
        ),
    }
}

fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, DynoxideError> {
    serde_json::from_slice(body)
        .map_err(|error| DynoxideError::ValidationException(error.to_string()))
}

fn write(answer: &impl serde::Serialize) -> Result<String, DynoxideError> {
    serde_json::to_string(answer)
        .map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

pub(crate) fn response(status: StatusCode, json: String) -> Response<Full<Bytes>> {
    crate::response(status, "application/x-amz-json-1.0", json)
}

pub(crate) fn dynamodb_error(name: &str, mut body: Value) -> Response<Full<Bytes>> {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{name}").into();
    body["message"] = REFUSED.into();
    let status = match name {
        "InternalServerError" | "InternalFailure" => StatusCode::INTERNAL_SERVER_ERROR,
        "ServiceUnavailable" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    response(status, body.to_string())
}

/// Why DynamoDB throttles a table and a partition
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html>).
pub(crate) const TABLE_LIMIT: &str = "TableWriteMaxOnDemandThroughputExceeded";
pub(crate) const PARTITION_LIMIT: &str = "TableWriteKeyRangeThroughputExceeded";

/// Transactions report throttling per item, other requests as an exception with its `reason`.
pub(crate) fn throttled(operation: &str, body: &[u8], reason: &str) -> Response<Full<Bytes>> {
    if operation.starts_with("Transact") {
        cancelled(body, "ThrottlingError")
    } else {
        let reasons = json!([{ "reason": reason, "resource": "arn:aws:dynamodb:::table" }]);
        let content = json!({ "ThrottlingReasons": reasons });
        dynamodb_error("ProvisionedThroughputExceededException", content)
    }
}

/// Transactions report a conflict per item, single writes as an exception.
pub(crate) fn conflict(operation: &str, body: &[u8]) -> Response<Full<Bytes>> {
    if operation == "TransactWriteItems" {
        cancelled(body, "TransactionConflict")
    } else {
        dynamodb_error("TransactionConflictException", json!({}))
    }
}

/// The response to a transaction of which one part has the reason `code`, and the others none
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
fn cancelled(body: &[u8], code: &str) -> Response<Full<Bytes>> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let parts = body["TransactItems"].as_array().map_or(1, Vec::len);
    let reasons: Vec<Value> = (1..=parts)
        .map(|part| json!({ "Code": if part == parts { code } else { "None" } }))
        .collect();
    dynamodb_error("TransactionCanceledException", json!({ "CancellationReasons": reasons }))
}
