//! A client of the edge that sends requests to the service in this process.

use std::net::Ipv4Addr;

use bytes::Bytes;
use common::Edge;
use http::{Method, Request, header};
use serde_json::{Value, json};

use super::text;
use cloud::LocalError;

/// Another address of this machine, so that these requests do not use up the limits of 127.0.0.1.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// The browser that the sign-ins name.
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";

/// A client of the edge; without a sign-in `token` is empty.
#[derive(Clone)]
pub(crate) struct Client {
    edge: Edge,
    token: String,
}

impl Client {
    /// A client without a sign-in.
    pub(crate) const fn new(edge: Edge) -> Self {
        Self { edge, token: String::new() }
    }

    /// Sends a request and returns the body; 4xx and 5xx are errors.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Value,
    ) -> Result<Value, LocalError> {
        let endpoint = format!("{method} {path}");
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, BROWSER);
        if !self.token.is_empty() {
            request = request.header(header::AUTHORIZATION, self.token.as_str());
        }
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let request = request.body(body).map_err(|error| {
            LocalError::new(format!("{endpoint} is not a valid request: {error}."))
        })?;
        // On the heap: the pages of a debug build would need more than the stack of a thread.
        let answer = Box::pin(self.edge.answer(request, ADDRESS.into())).await;
        let (status, body): (_, Value) =
            (answer.status(), serde_json::from_slice(answer.body()).unwrap_or_default());
        if status.is_client_error() || status.is_server_error() {
            let (code, errors) = (
                text(&body["message"]["RESPONSE_CODE"]),
                body["errors"].as_array().into_iter().flatten(),
            );
            let fields: String = errors
                .map(|error| {
                    format!(", {} {}", text(&error["field"]), text(&error["RESPONSE_CODE"]))
                })
                .collect();
            return Err(LocalError::new(format!(
                "{endpoint} responded with {} {code}{fields}.",
                status.as_u16()
            )));
        }
        Ok(body)
    }

    /// As [`send`](Self::send), with `GET`.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, LocalError> {
        self.send(Method::GET, path, Value::Null).await
    }

    /// This client with the token of an account that signs in with a password only.
    pub(crate) async fn signed_in(&self, email: &str, password: &str) -> Result<Self, LocalError> {
        let answer = self
            .send(Method::POST, "/auth/login", json!({ "email": email, "password": password }))
            .await?;
        let token = answer["user"]["token"]
            .as_str()
            .ok_or_else(|| LocalError::new("POST /auth/login asks for a one-time password."))?;
        Ok(Self { edge: self.edge.clone(), token: token.to_owned() })
    }
}
