//! Extracts the query parameters.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;
use serde_json::{Map, Value};

/// The decoded query parameters. Unknown names are ignored; of a repeated name the first value counts.
#[derive(Debug, Clone, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// The first value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn into_object(self) -> Map<String, Value> {
        // Reversed, so that the first of repeated values is inserted last and remains.
        self.0.into_iter().rev().map(|(name, value)| (name, Value::String(value))).collect()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
    }
}
