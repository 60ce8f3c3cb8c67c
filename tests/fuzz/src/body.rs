//! Request bodies: read as an object exactly if a second JSON reader accepts them; every error has a code.

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, Request},
    response::IntoResponse,
};
use common::{
    ApiError, Fields, FromFields, Input, flag, integer, phone, secret, text, text_or_empty,
};
use domain::{Email, Instant, Line, Price};
use futures_util::FutureExt;
use serde_json::Value;

use crate::json::is_strict_object;

/// One field of each kind that endpoints read, with a one-letter name.
#[derive(Debug)]
struct Everything;

impl FromFields<()> for Everything {
    fn from_fields(fields: &mut Fields, (): &()) -> Option<Self> {
        let price = fields.exact_number::<Price>("p");
        let line = fields.nullable("l", text::<Line<20>>);
        let objects = fields.objects_or_texts("o", 3, Some("l"), |fields| {
            let line = fields.required("l", text::<Line<20>>);
            let price = fields.exact_number::<Price>("p");
            let inner = fields.objects("o", 2, |fields| fields.optional("b", flag));
            line.and(price).and(inner)
        });
        let texts = fields.texts::<Email>("t");
        let whole = fields.optional("n", integer(1..=100_u32));
        let at = fields.optional("a", text::<Instant>);
        let word = fields.optional("s", secret);
        let maybe = fields.optional("m", text_or_empty::<Line<9>>);
        let number = phone(fields);
        assert!(whole.flatten().is_none_or(|number| (1..=100).contains(&number)));
        price
            .and(line)
            .and(objects)
            .and(texts)
            .and(whole)
            .and(at)
            .and(word)
            .and(maybe)
            .and(number)
            .map(|_| Self)
    }
}

pub(crate) fn run(input: &[u8]) {
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
    } else if let Some(is_object) = is_strict_object(input) {
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
