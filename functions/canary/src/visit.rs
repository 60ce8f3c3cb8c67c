//! A minimal HTTP client of the service.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use runtime::{Aws, ConfigError, Key, Keys};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::{SignIn, versions::Versions};

/// Time-out of one request, cold start included.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The header by which the content network authenticates to the functions. CloudFront replaces the value that a client
/// sends
/// (<https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/add-origin-custom-headers.html>).
const EDGE_HEADER: &str = "x-halqa-edge";

/// A client of the service, with headers. Clones share the connections.
#[derive(Clone)]
pub struct Visitor {
    aws: Aws,
    target: Target,
    headers: HeaderMap,
}

#[derive(Clone)]
enum Target {
    /// The URL of the service, which ends with the API prefix.
    Url(String),
    /// Versions of the functions, without a gateway.
    Versions(Arc<Versions>),
}

/// The response of one request.
pub struct HttpResponse {
    call: String,
    response: Response<Bytes>,
}

impl Visitor {
    /// An anonymous client. `url` ends with the API prefix: `https://api.example.org/api/v1`.
    pub fn new(aws: Aws, url: String) -> Self {
        Self {
            aws,
            target: Target::Url(url.trim_end_matches('/').to_owned()),
            headers: HeaderMap::new(),
        }
    }

    /// An anonymous client of `versions`.
    pub(crate) fn of_versions(aws: Aws, versions: Arc<Versions>) -> Self {
        Self { aws, target: Target::Versions(versions), headers: HeaderMap::new() }
    }

    /// The same client with the first of `EDGE_SECRETS`, without which the functions refuse every request while `EDGE`
    /// is on.
    ///
    /// # Errors
    /// When it is missing, or no valid header value.
    pub fn with_edge_secret(self, keys: &Keys) -> Result<Self, ConfigError> {
        let secrets = keys.secret(Key::Edge)?;
        let first = secrets.expose_secret().split(',').next().unwrap_or_default();
        self.with(EDGE_HEADER, first.trim())
            .map_err(|_| ConfigError::new("EDGE_SECRETS", "cannot be sent in a header"))
    }

    /// The same client without the API prefix, for paths such as those of avatars.
    pub fn outside_prefix(&self) -> Self {
        let mut outside = self.clone();
        if let Target::Url(url) = &mut outside.target
            && let Some(end) = url.rfind("/api/")
        {
            url.truncate(end);
        }
        outside
    }

    /// The same client with one more header. Secrets are marked as sensitive.
    ///
    /// # Errors
    /// When `value` is no valid header value.
    pub fn with(mut self, name: &'static str, value: &str) -> Result<Self, String> {
        let mut value =
            HeaderValue::try_from(value).map_err(|_| format!("{name} cannot be sent"))?;
        value.set_sensitive(["authorization", EDGE_HEADER].contains(&name));
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Signs in, and returns the client with the access token.
    ///
    /// # Errors
    /// When the sign-in fails or requires a one-time password.
    pub async fn signed_in(self, account: &SignIn) -> Result<Self, String> {
        let credentials =
            json!({ "email": account.email, "password": account.password.expose_secret() });
        let response = self.post("/auth/login", &credentials).await?;
        response.expect_status(200)?;
        let token = response.json()["user"]["token"]
            .as_str()
            .ok_or("POST /auth/login returned no token")?
            .to_owned();
        self.with("authorization", &token)
    }

    /// Sends GET `path`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn get(&self, path: &str) -> Result<HttpResponse, String> {
        self.call(Method::GET, path, None).await
    }

    /// Sends POST `path` with `body` as JSON.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn post(&self, path: &str, body: &Value) -> Result<HttpResponse, String> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Sends a request to `path`, which begins with a slash, with `body` as JSON if there is one.
    ///
    /// # Errors
    /// The reason why there is no complete response, in one sentence that begins with method and path.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<HttpResponse, String> {
        let call = format!("{method} {path}");
        let mut headers = self.headers.clone();
        if body.is_some() {
            let json = HeaderValue::from_static("application/json");
            headers.insert(header::CONTENT_TYPE, json);
        }
        let url = match &self.target {
            Target::Url(url) => url.as_str(),
            Target::Versions(_) => "/api/v1",
        };
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{url}{path}"))
            .body(body)
            .map_err(|error| format!("{call} cannot be sent: {error}"))?;
        *request.headers_mut() = headers;
        let response = match &self.target {
            Target::Url(_) => self.aws.fetch(request, TIMEOUT).await,
            Target::Versions(versions) => versions.answer(&request).await,
        };
        let response = response.map_err(|problem| format!("{call}: {problem}"))?;
        Ok(HttpResponse { call, response })
    }
}

impl HttpResponse {
    /// Fails unless the status is `status`.
    ///
    /// # Errors
    /// A sentence with the actual status and `RESPONSE_CODE`.
    pub fn expect_status(&self, status: u16) -> Result<(), String> {
        let actual = self.response.status().as_u16();
        if actual == status {
            Ok(())
        } else {
            Err(format!("{} answered {actual} ({}) instead of {status}", self.call, self.code()))
        }
    }

    /// The `RESPONSE_CODE`; `no code` without one.
    pub fn code(&self) -> String {
        self.json()["message"]["RESPONSE_CODE"].as_str().unwrap_or("no code").to_owned()
    }

    /// The body as JSON; null when it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(self.response.body()).unwrap_or_default()
    }

    /// The header `name`; `None` when it is absent or not visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }
}
