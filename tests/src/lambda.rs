//! What a function gives back to Lambda.

use std::collections::BTreeMap;

use common::{Edge, answer_event};
use lambda_runtime::{Context, LambdaEvent};
use serde::Deserialize;
use serde_json::Value;

/// The answer to an event of a gateway
/// (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>).
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LambdaAnswer {
    /// The status.
    pub status_code: u16,
    /// The headers, each name once.
    pub headers: BTreeMap<String, String>,
    /// The body, in base64 when it is no text.
    #[serde(default)]
    pub body: String,
    /// Whether it is.
    pub is_base64_encoded: bool,
}

impl LambdaAnswer {
    /// The answer of `edge` to `event`.
    ///
    /// # Panics
    /// When the event cannot be read at all, or the answer is none.
    pub async fn to(edge: &Edge, event: Value) -> Self {
        let event = serde_json::from_value(event).expect("an event has a method and an address");
        let Ok(answer) = answer_event(edge, LambdaEvent::new(event, Context::default())).await;
        let answer = serde_json::to_value(answer).expect("an answer is JSON");
        serde_json::from_value(answer).expect("an answer has its fields")
    }
}
