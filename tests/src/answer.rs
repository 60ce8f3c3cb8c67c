//! What came back.

use bytes::Bytes;
use common::{ErrorCode, Message, Spent};
use http::{HeaderMap, Response};
use serde_json::Value;
use store::Cost;

/// An answer, whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// What it cost.
    pub cost: Cost,
}

impl Answer {
    pub(crate) fn new(response: Response<Bytes>) -> Self {
        let cost = response
            .extensions()
            .get::<Spent>()
            .map_or_else(Cost::default, |spent| spent.0);
        let (parts, body) = response.into_parts();
        Self {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
            cost,
        }
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// `RESPONSE_CODE`.
    pub fn code(&self) -> String {
        self.json()["message"]["RESPONSE_CODE"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The value of the header `name`, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// Checks that this is a read's success and gives its body.
    #[track_caller]
    pub fn shows(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// Checks that this tells `message` and gives its body.
    #[track_caller]
    pub fn tells(&self, message: Message) -> Value {
        assert_eq!(
            (self.status, self.code().as_str()),
            (message.status().as_u16(), message.code()),
            "{self:?}"
        );
        self.json()
    }

    /// Checks that this refuses for `refusal`.
    #[track_caller]
    pub fn refuses(&self, refusal: ErrorCode) {
        let json = self.json();
        assert_eq!(
            (self.status, self.code().as_str()),
            (refusal.status().as_u16(), refusal.code()),
            "{self:?}"
        );
        assert_eq!(json["message"]["RESPONSE_TEXT"], refusal.text());
        assert_eq!(json["code"], self.status);
    }

    /// Checks that this refuses `field`, alone, for `refusal`.
    #[track_caller]
    pub fn refuses_field(&self, field: &str, refusal: ErrorCode) {
        self.refuses(refusal);
        assert_eq!(
            self.errors(),
            [(field.to_owned(), refusal.code().to_owned())],
            "{self:?}"
        );
    }

    /// The fields that this refuses, with their codes.
    pub fn errors(&self) -> Vec<(String, String)> {
        let json = self.json();
        let errors = json["errors"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        errors
            .iter()
            .map(|error| (text(&error["field"]), text(&error["RESPONSE_CODE"])))
            .collect()
    }
}
