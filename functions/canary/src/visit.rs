//! A client of the service, as small as a client can be.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use runtime::Aws;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::SignIn;

/// No step takes longer, a cold start included.
const PATIENCE: Duration = Duration::from_secs(10);

/// Somebody who calls the service at its URL. Cloning shares the connections.
#[derive(Clone)]
pub struct Visitor {
    aws: Aws,
    url: String,
    headers: HeaderMap,
}

/// What one call brought.
pub struct Reply {
    call: String,
    response: Response<Bytes>,
}

impl Visitor {
    /// A stranger at `url`, which ends in the prefix: `https://api.example.org/api/v1`.
    pub fn new(aws: Aws, url: String) -> Self {
        Self {
            aws,
            url: url.trim_end_matches('/').to_owned(),
            headers: HeaderMap::new(),
        }
    }

    /// The same without the prefix, where pictures are.
    pub fn outside_prefix(&self) -> Self {
        let root = self
            .url
            .rsplit_once("/api/")
            .map_or(self.url.as_str(), |(root, _)| root);
        Self {
            url: root.to_owned(),
            ..self.clone()
        }
    }

    /// The same with one header more.
    ///
    /// # Errors
    /// When it is none.
    pub fn with(mut self, name: &'static str, value: &str) -> Result<Self, String> {
        let mut value =
            HeaderValue::try_from(value).map_err(|_| format!("{name} cannot be sent"))?;
        value.set_sensitive(name == "authorization");
        self.headers.insert(name, value);
        Ok(self)
    }

    /// The same, signed in.
    ///
    /// # Errors
    /// When the sign-in is refused, wants a one-time password, or brings no token.
    pub async fn signed_in(self, who: &SignIn) -> Result<Self, String> {
        let wish = json!({ "email": who.email, "password": who.password.expose_secret() });
        let reply = self.post("/auth/login", &wish).await?;
        reply.must_be(200)?;
        let token = reply.json()["user"]["token"]
            .as_str()
            .ok_or("POST /auth/login brought no token")?
            .to_owned();
        self.with("authorization", &token)
    }

    /// Asks for `path`; `/health` stands outside the prefix, too.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn get(&self, path: &str) -> Result<Reply, String> {
        self.call(Method::GET, path, None).await
    }

    /// Sends `body` to `path`.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Reply, String> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Calls `path`, which begins with a slash.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, String> {
        let call = format!("{method} {path}");
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.clone());
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = body
            .map(|body| Bytes::from(body.to_string()))
            .unwrap_or_default();
        let request = request
            .body(body)
            .map_err(|error| format!("{call} cannot be asked: {error}"))?;
        let response = self
            .aws
            .fetch(request, PATIENCE)
            .await
            .map_err(|problem| format!("{call}: {problem}"))?;
        Ok(Reply { call, response })
    }
}

impl Reply {
    /// Checks the status.
    ///
    /// # Errors
    /// When it is another one, with the code that stands in the body.
    pub fn must_be(&self, status: u16) -> Result<(), String> {
        let got = self.response.status().as_u16();
        let code = self.json()["message"]["RESPONSE_CODE"]
            .as_str()
            .unwrap_or("no code")
            .to_owned();
        if got == status {
            Ok(())
        } else {
            Err(format!(
                "{} answered {got} ({code}) instead of {status}",
                self.call
            ))
        }
    }

    /// The body; null when it is no JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(self.response.body()).unwrap_or_default()
    }

    /// The header `name`, if it is there and a text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    }
}
