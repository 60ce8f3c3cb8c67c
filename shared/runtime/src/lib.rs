//! What every function needs to start: settings, keys, clock, logs, and the AWS SDK configuration with one HTTP client.
//!
//! [`ConfigError`] stops the start, [`Error`] fails an invocation.

use std::{error, fmt, iter::successors, time::Duration};

use aws_credential_types::Credentials;
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_http_client::{
    Connector,
    tls::{TlsContext, TrustStore},
};
use aws_smithy_runtime_api::client::{
    behavior_version::BehaviorVersion,
    http::{HttpConnector, HttpConnectorSettings, SharedHttpConnector, http_client_fn},
    orchestrator::HttpResponse,
    result::SdkError,
};
use aws_smithy_types::{
    body::SdkBody, byte_stream::ByteStream, error::metadata::ProvideErrorMetadata,
};
use aws_types::{
    SdkConfig,
    region::Region,
    sdk_config::{SharedCredentialsProvider, TimeoutConfig},
};
use bytes::Bytes;
use http::{Request, Response};

mod clock;
mod connections;
#[cfg(feature = "lambda")]
mod events;
mod keys;
mod logs;
#[cfg(feature = "ssm")]
mod parameters;
mod settings;
mod signing;
mod startup;

pub use clock::Clock;
use connections::{Connections, Transport};
#[cfg(feature = "lambda")]
pub use events::serve_events;
pub use keys::{Key, Keys};
pub use logs::{log_as_json, log_for_people};
#[cfg(feature = "ssm")]
pub use parameters::parameters;
pub use settings::{ConfigError, LOOPBACK, Settings};
pub use startup::Startup;

/// An error that stops a function or fails an invocation.
pub type Error = Box<dyn error::Error + Send + Sync>;

/// Time-out of opening a connection.
const CONNECT: Duration = Duration::from_millis(500);
/// Time-outs of SDK calls. A request that makes two calls in sequence must finish within five seconds.
const ATTEMPT: Duration = Duration::from_millis(900);
const OPERATION: Duration = Duration::from_millis(1900);

/// The SDK configuration, from the variables that Lambda sets: `AWS_REGION` and the credentials, and optionally
/// `AWS_ENDPOINT_URL` and `SSL_CERT_FILE`. aws-config is not used: it links a second TLS stack and looks for
/// configuration files that Lambda does not have.
#[derive(Clone)]
pub struct Aws {
    config: SdkConfig,
    credentials: Credentials,
    connector: SharedHttpConnector,
    bundle: Option<String>,
}

/// A service did not respond, or asked for a later retry. Contains the cause in one line.
#[derive(Debug)]
pub struct Unavailable(pub String);

impl fmt::Display for Unavailable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a service is unavailable: {}", self.0)
    }
}

impl error::Error for Unavailable {}

impl Aws {
    /// Reads the configuration from `settings`.
    ///
    /// # Errors
    /// When one of the variables is missing or invalid, or the certificates cannot be read.
    pub fn new(settings: &Settings) -> Result<Self, ConfigError> {
        let (key, secret) =
            (settings.required("AWS_ACCESS_KEY_ID")?, settings.required("AWS_SECRET_ACCESS_KEY")?);
        let region = Region::new(settings.required("AWS_REGION")?.to_owned());
        let session_token = settings.optional("AWS_SESSION_TOKEN").map(str::to_owned);
        let credentials = Credentials::new(key, secret, session_token, None, "environment");
        let endpoint = settings.url("AWS_ENDPOINT_URL")?;
        let bundle = settings.optional("SSL_CERT_FILE").map(str::to_owned);
        let transport = transport(endpoint, bundle.as_deref())?;
        let connections = Connections::new(transport, Clock::default());
        let connector = SharedHttpConnector::new(connections);
        let shared = connector.clone();
        let timeouts = TimeoutConfig::builder()
            .operation_attempt_timeout(ATTEMPT)
            .operation_timeout(OPERATION);
        let mut config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::v2026_01_12())
            .region(region)
            .credentials_provider(SharedCredentialsProvider::new(credentials.clone()))
            .sleep_impl(TokioSleep::new())
            .timeout_config(timeouts.build())
            .http_client(http_client_fn(move |_, _| shared.clone()));
        config.set_endpoint_url(endpoint.map(|url| url.trim_end_matches('/').to_owned()));
        Ok(Self { config: config.build(), credentials, connector, bundle })
    }

    /// The configuration for SDK clients, all of which share one HTTP client.
    pub const fn sdk(&self) -> &SdkConfig {
        &self.config
    }

    /// The region of the function.
    pub fn region(&self) -> &str {
        self.config.region().map(Region::as_ref).unwrap_or_default()
    }

    /// The URL of all services, without a final slash, in place of those of AWS.
    pub fn endpoint(&self) -> Option<&str> {
        self.config.endpoint_url()
    }

    /// The credentials, to sign POST policies of S3, which the SDK does not support.
    pub const fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The root certificates in PEM for hosts other than AWS: those of `SSL_CERT_FILE`, else of the system.
    ///
    /// # Errors
    /// When the certificate file cannot be read.
    pub fn roots(&self) -> Result<Vec<u8>, ConfigError> {
        read(self.bundle.as_deref().unwrap_or(SYSTEM_ROOTS))
    }

    /// Sends `request` once, without a signature or retries, and reads the whole response within `timeout`.
    ///
    /// # Errors
    /// The reason why there is no complete response: one sentence without a full stop.
    pub async fn fetch(
        &self,
        request: Request<Bytes>,
        timeout: Duration,
    ) -> Result<Response<Bytes>, String> {
        let request = request.map(SdkBody::from).try_into();
        let request = request.map_err(|error| format!("the request cannot be sent: {error}"))?;
        let exchange = async {
            let response = self.connector.call(request).await.map_err(|error| chain(&error))?;
            let response = response.try_into_http1x().map_err(|error| chain(&error))?;
            let (parts, body) = response.into_parts();
            let body =
                ByteStream::new(body).collect().await.map_err(|error| chain(&error))?.into_bytes();
            Ok(Response::from_parts(parts, body))
        };
        tokio::time::timeout(timeout, exchange)
            .await
            .unwrap_or_else(|_| Err("no response within the time-out".to_owned()))
    }
}

/// The cause of a failed SDK call in one line: status and error code, or why there was no response. The service's error
/// message is left out, because it may quote the request.
pub fn cause<E>(error: &SdkError<E, HttpResponse>) -> String
where
    E: error::Error + ProvideErrorMetadata + 'static,
{
    match error {
        SdkError::ServiceError(context) => {
            let code = context.err().code().unwrap_or("without an error code");
            format!("status {} {code}", context.raw().status().as_u16())
        }
        _ => chain(error),
    }
}

/// Whether `error` means that the connection was not opened, so that nothing of the request was sent.
pub fn is_connect_error(error: &(dyn error::Error + 'static)) -> bool {
    successors(Some(error), |&error| error.source())
        .filter_map(|error| error.downcast_ref::<hyper_util::client::legacy::Error>())
        .any(hyper_util::client::legacy::Error::is_connect)
}

/// The messages of `error` and its sources in one line.
pub fn chain(error: &(dyn error::Error + 'static)) -> String {
    let messages = successors(Some(error), |&error| error.source()).map(ToString::to_string);
    messages.collect::<Vec<_>>().join(": ")
}

/// The public root certificates of Amazon Linux 2023.
const SYSTEM_ROOTS: &str = "/etc/pki/tls/certs/ca-bundle.crt";
/// The roots of Amazon Trust Services, which sign the certificates of all public AWS endpoints
/// (<https://www.amazontrust.com/repository/>). None expires before 2037.
const AMAZON_ROOTS: &[u8] = include_bytes!("amazon-roots.pem");

fn read(bundle: &str) -> Result<Vec<u8>, ConfigError> {
    std::fs::read(bundle).map_err(|error| {
        ConfigError::new("SSL_CERT_FILE", format!("names a file that cannot be read: {error}"))
    })
}

/// Plain HTTP for a local endpoint, else TLS by ring: aws-lc needs 22 ms of CPU for its first handshake. Unless
/// `bundle` names a file, only Amazon's roots are trusted: that is safer, and reading the 140 public roots took a third
/// of a start.
fn transport(endpoint: Option<&str>, bundle: Option<&str>) -> Result<Transport, ConfigError> {
    let settings = HttpConnectorSettings::builder().connect_timeout(CONNECT).build();
    let builder = Connector::builder().connector_settings(settings).sleep_impl(TokioSleep::new());
    if endpoint.is_some_and(|url| url.starts_with("http://")) {
        return Ok(Transport { builder, tls: None });
    }
    let roots = bundle.map_or_else(|| Ok(AMAZON_ROOTS.to_vec()), read)?;
    let trust = TrustStore::empty().with_pem_certificate(roots);
    let context = TlsContext::builder().with_trust_store(trust).build().map_err(|error| {
        ConfigError::new("SSL_CERT_FILE", format!("holds no certificates: {error}"))
    })?;
    Ok(Transport { builder, tls: Some(context) })
}

#[cfg(test)]
mod tests;
