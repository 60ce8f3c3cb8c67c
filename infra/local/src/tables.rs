//! DynamoDB's wire protocol in front of the embedded store: JSON 1.0, the operation in a header.

use bytes::Bytes;
use dynoxide::{Database, errors::DynoxideError};
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use serde_json::{Value, json};

/// What the store answers to `operation`. The store runs on this thread: it takes a fraction of a
/// millisecond.
pub(crate) fn answer(database: &Database, operation: &str, body: &Bytes) -> Response<Full<Bytes>> {
    macro_rules! run {
        ($($name:literal $call:ident,)*) => {
            match operation {
                $($name => read(body).and_then(|request| database.$call(request)).and_then(|answer| write(&answer)),)*
                _ => Err(DynoxideError::ValidationException(format!("{operation} is not served here"))),
            }
        };
    }
    let answered = run! {
        "BatchGetItem" batch_get_item,
        "BatchWriteItem" batch_write_item,
        "DeleteItem" delete_item,
        "DescribeTable" describe_table,
        "GetItem" get_item,
        "PutItem" put_item,
        "Query" query,
        "TransactGetItems" transact_get_items,
        "TransactWriteItems" transact_write_items,
        "UpdateItem" update_item,
    };
    told(answered)
}

/// What the store answers to a BatchGetItem of which it gets to the first key alone
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>).
pub(crate) fn first_of_batch(database: &Database, body: &Bytes) -> Response<Full<Bytes>> {
    let mut asked: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut left = asked["RequestItems"].take();
    let tables = left.as_object_mut().into_iter().flatten();
    let first = tables.filter_map(|(table, keys)| {
        let mut wanted = keys.clone();
        wanted["Keys"] = json!([keys["Keys"].as_array_mut()?.pop()?]);
        Some((table.clone(), wanted))
    });
    asked["RequestItems"] = first.take(1).collect();
    if let Some(tables) = left.as_object_mut() {
        tables.retain(|_, keys| keys["Keys"].as_array().is_some_and(|keys| !keys.is_empty()));
    }
    let answered =
        read(asked.to_string().as_bytes()).and_then(|request| database.batch_get_item(request));
    told(answered.and_then(|answer| {
        let mut answer = serde_json::to_value(answer)
            .map_err(|error| DynoxideError::InternalServerError(error.to_string()))?;
        answer["UnprocessedKeys"] = left;
        write(&answer)
    }))
}

fn told(answered: Result<String, DynoxideError>) -> Response<Full<Bytes>> {
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
    let mut response = Response::new(Full::new(json.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/x-amz-json-1.0"),
    );
    response
}
