//! Gateway events through all functions: every response is complete and never a 5xx, and routes that need a token
//! reject requests without one.
//!
//! An input is the JSON of an event, or method and path, header lines, an empty line and the body. `$ADMIN` and
//! `$MEMBER` in it are replaced by the tokens of these two people.

use std::sync::LazyLock;

use common::{ErrorCode, Message};
use data_encoding::BASE64;
use dev::operations::{Operation, operations};
use serde_json::{Value, json};

use crate::{
    stage::{Answer, STAGE},
    text,
};

pub(crate) fn run(input: &[u8]) {
    if input.starts_with(b"{") {
        let Some(event) = text(input) else { return };
        let Some(answer) = STAGE.answer(event) else {
            return;
        };
        return assert_complete(&answer);
    }
    let Some(request) = Request::read(input) else {
        return;
    };
    let Some(answer) = STAGE.answer(&request.event().to_string()) else {
        return;
    };
    assert_complete(&answer);
    let is_anonymous = !request.headers.iter().any(|(_, value)| STAGE.is_signed_in(value));
    let succeeded = (200..300).contains(&answer.status_code) && request.method != "OPTIONS";
    assert!(
        !(is_anonymous && succeeded) || is_public(request.method, request.target),
        "{} without a token for {} {}",
        answer.status_code,
        request.method,
        request.target
    );
}

/// Whether the operation of a request is public in the document (`x-access: public`).
fn is_public(method: &str, target: &str) -> bool {
    static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(operations);
    let method = if method == "HEAD" { "GET" } else { method };
    let path = target.split('?').next().unwrap_or_default();
    let path = path.strip_prefix("/api/v1").or(path.strip_prefix("/api/dev")).unwrap_or(path);
    let path: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    let fits = |operation: &&Operation| {
        let template: Vec<&str> = operation.path.split('/').collect();
        let mut segments = template.iter().zip(&path);
        operation.method == method
            && template.len() == path.len()
            && segments.all(|(part, given)| part.starts_with('{') || part == given)
    };
    // Of two that fit, the one with fewer parameters is called.
    let called = OPERATIONS.iter().filter(fits).min_by_key(|one| one.path.matches('{').count());
    called.is_some_and(|operation| operation.access == "public")
}

/// A request in the text form of inputs.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    pub(crate) headers: Vec<(&'a str, &'a str)>,
    pub(crate) body: &'a [u8],
}

impl<'a> Request<'a> {
    fn read(input: &'a [u8]) -> Option<Self> {
        let end = input.windows(2).position(|two| two == b"\n\n");
        let (head, body) = end.map_or((input, &b""[..]), |end| (&input[..end], &input[end + 2..]));
        let mut lines = text(head)?.split('\n');
        let (method, target) = lines.next()?.split_once(' ')?;
        let headers = lines.filter_map(|line| line.split_once(": ")).collect();
        Some(Self { method, target, headers, body })
    }

    pub(crate) fn event(&self) -> Value {
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let (body, is_encoded) = text(self.body)
            .map_or_else(|| (BASE64.encode(self.body), true), |body| (body.to_owned(), false));
        // The last of several headers with the same name counts, as in a JSON object.
        let headers: serde_json::Map<String, Value> = self
            .headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), Value::from(*value)))
            .collect();
        json!({
            "rawPath": path, "rawQueryString": query, "headers": headers, "body": body, "isBase64Encoded": is_encoded,
            "requestContext": { "http": { "method": self.method, "sourceIp": "203.0.113.7" } },
        })
    }
}

/// Checks that the response has the envelope of the service: status, request id, known code.
pub(crate) fn assert_complete(answer: &Answer) {
    let status = answer.status_code;
    assert!((200..500).contains(&status), "{answer:?}");
    assert!(
        answer.body.len() < 6_000_000 && answer.headers.contains_key("x-request-id"),
        "{answer:?}"
    );
    if answer.headers.get("content-type").is_none_or(|kind| !kind.starts_with("application/json"))
        || answer.body.is_empty()
    {
        return;
    }
    let body: Value = serde_json::from_str(&answer.body).expect("the body is JSON");
    assert_eq!(body["code"], status, "{}", answer.body);
    if status >= 400 {
        let code = body["message"]["RESPONSE_CODE"].as_str().expect("an error has a code");
        assert!(ErrorCode::ALL.iter().any(|error| error.code() == code), "{code}");
    } else if let Some(code) = body["message"]["RESPONSE_CODE"].as_str() {
        assert!(Message::ALL.iter().any(|message| message.code() == code), "{code}");
    }
}
