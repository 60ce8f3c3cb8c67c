//! The response of a function to Lambda.

use std::collections::BTreeMap;

use common::{Edge, answer_event};
use lambda_runtime::{Context, LambdaEvent};
use serde::Deserialize;
use serde_json::Value;

/// The response to an event of an API Gateway HTTP API
/// (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>).
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LambdaAnswer {
    /// The HTTP status code.
    pub status_code: u16,
    /// Each header once, with its values joined.
    pub headers: BTreeMap<String, String>,
    /// The body: text or base64.
    #[serde(default)]
    pub body: String,
    /// Whether the body is base64.
    pub is_base64_encoded: bool,
}

impl LambdaAnswer {
    /// The response of `edge` to `event`.
    ///
    /// # Panics
    /// If `event` is not an event of an HTTP API.
    pub async fn to(edge: &Edge, event: Value) -> Self {
        let event = serde_json::from_value(event).expect("the event can be parsed");
        let Ok(answer) = answer_event(edge, LambdaEvent::new(event, Context::default())).await;
        let answer = serde_json::to_value(answer).expect("the response is JSON");
        serde_json::from_value(answer).expect("the response has all fields")
    }
}
