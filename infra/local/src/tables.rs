//! DynamoDB's wire protocol in front of the embedded store: JSON 1.0, the operation in a header.

use bytes::Bytes;
use dynoxide::{Database, errors::DynoxideError};
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

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
    match answered {
        Ok(json) => response(StatusCode::OK, json),
        Err(error) => response(StatusCode::from_u16(error.status_code()).unwrap_or(StatusCode::BAD_REQUEST), error.to_json()),
    }
}

fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, DynoxideError> {
    serde_json::from_slice(body).map_err(|error| DynoxideError::ValidationException(error.to_string()))
}

fn write(answer: &impl serde::Serialize) -> Result<String, DynoxideError> {
    serde_json::to_string(answer).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

pub(crate) fn response(status: StatusCode, json: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(json.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
    response
}
