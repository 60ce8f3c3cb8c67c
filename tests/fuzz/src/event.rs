//! Whole requests, from the gateway's event to the answer, through every function: an answer is whole, never a fault,
//! and nobody without a token does what takes one.
//!
//! An input is the JSON of an event, or a request as HTTP writes it: method and path, headers, an empty line, the body.
//! `$ADMIN` and `$MEMBER` in it are the tokens of those two.

use common::{Message, ErrorCode};
use data_encoding::BASE64;
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
        return is_whole(&answer);
    }
    let Some(request) = Request::read(input) else {
        return;
    };
    let Some(answer) = STAGE.answer(&request.event().to_string()) else {
        return;
    };
    is_whole(&answer);
    let is_anybodys = [
        "/health",
        "/committees",
        "/auth",
        "/users",
        "/otp",
        "/files/public",
    ];
    let path = request.target.strip_prefix("/api/v1").unwrap_or_default();
    let is_stranger = !request
        .headers
        .iter()
        .any(|(_, value)| STAGE.is_signed_in(value));
    let does_something = (200..300).contains(&answer.status_code) && request.method != "OPTIONS";
    if is_stranger
        && does_something
        && !request.target.starts_with("/media/")
        && !request.target.starts_with("/health")
    {
        let lies_open = is_anybodys.iter().any(|start| path.starts_with(start))
            || request.target.starts_with("/api/dev");
        assert!(
            lies_open,
            "a stranger got {} for {} {}",
            answer.status_code, request.method, request.target
        );
    }
}

/// A request as it is written in inputs.
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
        Some(Self {
            method,
            target,
            headers,
            body,
        })
    }

    pub(crate) fn event(&self) -> Value {
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let (body, is_encoded) = text(self.body).map_or_else(
            || (BASE64.encode(self.body), true),
            |body| (body.to_owned(), false),
        );
        // Of two with one name the last counts, as in an object of the gateway's.
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

/// Whatever was asked, this is an answer of ours.
pub(crate) fn is_whole(answer: &Answer) {
    let status = answer.status_code;
    assert!((200..500).contains(&status), "{answer:?}");
    assert!(
        answer.body.len() < 6_000_000 && answer.headers.contains_key("x-request-id"),
        "{answer:?}"
    );
    if answer
        .headers
        .get("content-type")
        .is_none_or(|kind| !kind.starts_with("application/json"))
        || answer.body.is_empty()
    {
        return;
    }
    let told: Value = serde_json::from_str(&answer.body).expect("the body is JSON");
    assert_eq!(told["code"], status, "{}", answer.body);
    if status >= 400 {
        let code = told["message"]["RESPONSE_CODE"]
            .as_str()
            .expect("a refusal has a code");
        assert!(
            ErrorCode::ALL.iter().any(|refusal| refusal.code() == code),
            "{code}"
        );
    } else if let Some(code) = told["message"]["RESPONSE_CODE"].as_str() {
        assert!(
            Message::ALL.iter().any(|message| message.code() == code),
            "{code}"
        );
    }
}
