//! Request bodies: read as an object exactly if they are one without duplicate keys; every error has a code.

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, Request},
    response::IntoResponse,
};
use common::{
    ApiError, Fields, FromFields, Input, InvalidField, InvalidValue, flag, integer, phone, secret,
    text, text_or_empty,
};
use domain::{Email, Instant, Line, Price};
use futures_util::FutureExt;
use serde_json::Value;

fn read_price(literal: &str) -> Result<Price, InvalidValue> {
    literal.parse().map_err(InvalidValue::of::<Price>)
}

/// One field of each kind that endpoints read, with a one-letter name.
#[derive(Debug)]
struct Everything;

impl FromFields<()> for Everything {
    fn from_fields(fields: &mut Fields, (): &()) -> Result<Self, InvalidField> {
        let price = fields.exact_number("p", read_price);
        let line = fields.nullable("l", text::<Line<20>>);
        let objects = fields.objects_or_texts("o", 3, Some("l"), |fields| {
            let line = fields.required("l", text::<Line<20>>);
            let price = fields.exact_number("p", read_price);
            let inner = fields.objects("o", 2, |fields| fields.optional("b", flag));
            line.and(price).and(inner)
        });
        let texts = fields.texts::<Email>("t", None, 100);
        let whole = fields.optional("n", integer(1..=100_u32));
        let at = fields.optional("a", text::<Instant>);
        let word = fields.optional("s", secret);
        let maybe = fields.optional("m", text_or_empty::<Line<9>>);
        let number = phone(fields);
        assert!(whole.ok().flatten().is_none_or(|number| (1..=100).contains(&number)));
        let _ = (price?, line?, objects?, texts?, whole?, at?, word?, maybe?, number?);
        Ok(Self)
    }
}

pub(crate) fn run(input: &[u8]) {
    // The oracle would read an object with this key as what its text says.
    if String::from_utf8_lossy(input).contains("$serde_json") {
        return;
    }
    let request = Request::builder()
        .header("content-type", "application/json")
        .body(Body::from(input.to_vec()));
    let read = Input::<Everything>::from_request(request.expect("a request"), &())
        .now_or_never()
        .expect("a body in memory is ready at once");
    let code = read.err().map(code_of);
    let is_invalid = code.as_deref() == Some("INVALID_JSON_MESSAGE");
    if input.len() > <Everything as FromFields<()>>::MAX_BYTES {
        assert_eq!(code.as_deref(), Some("PAYLOAD_TOO_LARGE_MESSAGE"));
    } else {
        let is_object = is_strict_object(input);
        assert_eq!(is_invalid, !is_object, "{code:?} for {:?}", String::from_utf8_lossy(input));
    }
}

/// The code of a client error; reading a body causes no other error.
fn code_of(error: ApiError) -> String {
    let response = error.into_response();
    assert!(response.status().is_client_error());
    let body = to_bytes(response.into_body(), usize::MAX)
        .now_or_never()
        .expect("it is in memory")
        .expect("it is complete");
    let body: Value = serde_json::from_slice(&body).expect("the envelope is JSON");
    body["message"]["RESPONSE_CODE"].as_str().expect("an error has a code").to_owned()
}

/// Whether `body` is empty or an object without duplicate keys at any depth, with or without a byte order mark.
fn is_strict_object(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let value = serde_json::from_slice::<Value>(body);
    // A parsed object has one of several equal keys, and its text has a colon for each.
    body.is_empty() || value.is_ok_and(|value| value.is_object() && entries(&value) == colons(body))
}

/// The number of entries of all objects in `value`.
fn entries(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(entries).sum(),
        Value::Object(object) => object.len() + object.values().map(entries).sum::<usize>(),
        _ => 0,
    }
}

/// The number of colons outside the strings of the JSON `text`.
fn colons(text: &[u8]) -> usize {
    let (mut count, mut is_string, mut bytes) = (0, false, text.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_string = !is_string,
            b'\\' => drop(bytes.next()),
            b':' if !is_string => count += 1,
            _ => {}
        }
    }
    count
}
