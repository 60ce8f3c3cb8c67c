//! Responses and the assertions on them.

use std::time::Duration;

use bytes::Bytes;
use cloud::strict::Units;
use common::{ErrorCode, Message};
use domain::Language;
use http::{HeaderMap, Response};
use serde_json::Value;
use store::Requests;

/// The requests to the tables that a request made, and what DynamoDB bills if nothing else ran meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// The longest chain of sequential requests.
    pub round_trips: u32,
    /// All requests, sequential or concurrent.
    pub requests: u32,
    /// Consumed read units.
    pub reads: f64,
    /// Consumed write units, plus one for each failed write.
    pub writes: f64,
}

/// A complete response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    /// The raw body.
    pub body: Bytes,
    /// The cost of the request in the store.
    pub cost: Cost,
    /// The time that it took.
    pub took: Duration,
}

/// Asserts that `object` has the members `expected`; it may have more.
#[track_caller]
pub fn expect_fields(object: &Value, expected: Value) {
    let Value::Object(expected) = expected else { panic!("{expected} is no object") };
    for (name, value) in expected {
        assert_eq!(object[&name], value, "{name} of {object}");
    }
}

/// The text `name` of each element of `list`.
#[track_caller]
pub fn texts_of(list: &Value, name: &str) -> Vec<String> {
    let items = list.as_array().unwrap_or_else(|| panic!("{list} is no list")).iter();
    let text = |item: &Value| item[name].as_str().map(str::to_owned);
    items.map(|item| text(item).unwrap_or_else(|| panic!("no text {name} in {item}"))).collect()
}

impl Answer {
    pub(crate) fn new(response: Response<Bytes>, units: Units, took: Duration) -> Self {
        let Requests { round_trips, requests } =
            response.extensions().get().copied().unwrap_or_default();
        let Units { reads, writes } = units;
        let cost = Cost { round_trips, requests, reads, writes };
        let (parts, body) = response.into_parts();
        Self { status: parts.status.as_u16(), headers: parts.headers, body, cost, took }
    }

    /// The body as JSON; panics if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }

    /// The `RESPONSE_CODE` of the envelope; empty if there is none.
    pub fn code(&self) -> String {
        self.json()["message"]["RESPONSE_CODE"].as_str().unwrap_or_default().to_owned()
    }

    /// Whether a client would repeat the request: a 503, or `CONFLICT_MESSAGE`.
    pub(crate) fn is_to_be_repeated(&self) -> bool {
        self.status == 503 || self.status == 409 && self.code() == ErrorCode::Conflict.code()
    }

    /// The value of the header `name`; empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Asserts status 200 and returns the body. Every response has a code that the document shows for its status.
    #[track_caller]
    pub fn expect_ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// Asserts status 201 and returns the body.
    #[track_caller]
    pub fn expect_created(&self) -> Value {
        assert_eq!(self.status, 201, "{self:?}");
        self.json()
    }

    /// Asserts the status and code of `message` and returns the body.
    #[track_caller]
    pub fn expect_success(&self, message: Message) -> Value {
        assert_eq!(
            (self.status, self.code().as_str()),
            (message.status().as_u16(), message.code()),
            "{self:?}"
        );
        self.json()
    }

    /// Asserts the status, code and text of `error_code`; that of a 429 says how long to wait, as `Retry-After`.
    #[track_caller]
    pub fn expect_error(&self, error_code: ErrorCode) {
        let json = self.json();
        assert_eq!(
            (self.status, self.code().as_str()),
            (error_code.status().as_u16(), error_code.code()),
            "{self:?}"
        );
        let text = match self.header("retry-after").parse() {
            Ok(seconds) if self.status == 429 => {
                error_code.text_with_wait(Duration::from_secs(seconds), Language::French)
            }
            _ => error_code.text(Language::French).to_owned(),
        };
        assert_eq!(json["message"]["RESPONSE_TEXT"], text);
        assert_eq!(json["code"], self.status);
    }

    /// Asserts the 401 for which there are many reasons and one response.
    #[track_caller]
    pub fn expect_unauthorized(&self) {
        self.expect_error(ErrorCode::BadAuthCombination);
    }

    /// Asserts an error of `field` alone with `error_code`, in the envelope and in `errors`.
    #[track_caller]
    pub fn expect_field_error(&self, field: &str, error_code: ErrorCode) {
        self.expect_error(error_code);
        assert_eq!(self.errors(), [(field.to_owned(), error_code.code().to_owned())], "{self:?}");
    }

    /// The fields in `errors` with their codes.
    pub fn errors(&self) -> Vec<(String, String)> {
        let json = self.json();
        let errors = json["errors"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        errors.iter().map(|error| (text(&error["field"]), text(&error["RESPONSE_CODE"]))).collect()
    }
}
