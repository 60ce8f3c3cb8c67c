//! What everything on AWS is reached with: region, credentials and one HTTP client.
//!
//! DynamoDB alone is reached through its SDK crate. Of SSM, SNS, SES and S3 the service needs an
//! operation or two, each a signed HTTP request of a few lines, while their crates together would
//! be most of the build and a third of a binary.

use std::{fmt, time::Duration};

use aws_credential_types::Credentials;
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_http_client::{
    Connector,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::{
    behavior_version::BehaviorVersion,
    http::{HttpConnector, HttpConnectorSettings, SharedHttpConnector, http_client_fn},
    result::ConnectorError,
};
use aws_smithy_types::{body::SdkBody, byte_stream::ByteStream};
use aws_types::{
    SdkConfig,
    region::Region,
    sdk_config::{SharedCredentialsProvider, TimeoutConfig},
};
use bytes::Bytes;
use domain::Instant;
use http::{HeaderMap, Request, StatusCode, header};

mod clock;
#[cfg(feature = "lambda")]
mod events;
mod keys;
mod logs;
mod settings;
mod signing;
mod startup;

pub use clock::Clock;
#[cfg(feature = "lambda")]
pub use events::serve_events;
pub use keys::{Key, Keys, parameters};
pub use logs::{log_as_json, log_for_people};
pub use settings::{BadSetting, Settings};
pub use startup::Startup;

/// Why a function cannot start, or an invocation failed.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A connection that takes longer is given up.
const CONNECT: Duration = Duration::from_millis(500);
/// What is behind two of these, one after the other, must fit into five seconds.
const ATTEMPT: Duration = Duration::from_millis(900);
const OPERATION: Duration = Duration::from_millis(1900);

/// Region, credentials and one HTTP client, from the variables that Lambda sets: `AWS_REGION`, the
/// credentials, and `AWS_ENDPOINT_URL` and `SSL_CERT_FILE` where somebody set those. There is no
/// aws-config behind it, which would link a second TLS stack and look for what is not there.
#[derive(Clone)]
pub struct Aws {
    region: String,
    endpoint: Option<String>,
    credentials: Credentials,
    connector: SharedHttpConnector,
    bundle: Option<String>,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, whole.
    pub body: Bytes,
}

/// Why nothing came back. What was asked for may have been done, unless it never left.
#[derive(Debug)]
pub enum NoAnswer {
    /// The connection was never opened: nothing was done.
    NeverSent(String),
    /// The request left, or may have: nobody knows.
    Lost(String),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverSent(cause) => write!(out, "the request was never sent: {cause}"),
            Self::Lost(cause) => write!(out, "no answer came: {cause}"),
        }
    }
}

impl std::error::Error for NoAnswer {}

/// A service did not do what was asked. Nothing in it is for clients.
#[derive(Debug)]
pub enum Fault {
    /// No answer, or one that says to come back later.
    Unavailable(String),
    /// We asked for something that makes no sense.
    Broken(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(cause) => write!(out, "a service is out of reach: {cause}"),
            Self::Broken(cause) => write!(out, "a service refused or surprised us: {cause}"),
        }
    }
}

impl std::error::Error for Fault {}

impl From<NoAnswer> for Fault {
    fn from(problem: NoAnswer) -> Self {
        Self::Unavailable(problem.to_string())
    }
}

impl Aws {
    /// What `settings` say.
    ///
    /// # Errors
    /// The first setting that is missing or makes no sense.
    pub fn new(settings: &Settings) -> Result<Self, BadSetting> {
        let (key, secret) = (
            settings.required("AWS_ACCESS_KEY_ID")?,
            settings.required("AWS_SECRET_ACCESS_KEY")?,
        );
        let session_token = settings.optional("AWS_SESSION_TOKEN").map(str::to_owned);
        let endpoint = settings.url("AWS_ENDPOINT_URL")?;
        let bundle = settings.optional("SSL_CERT_FILE").map(str::to_owned);
        Ok(Self {
            region: settings.required("AWS_REGION")?.to_owned(),
            credentials: Credentials::new(key, secret, session_token, None, "environment"),
            connector: connector(endpoint, bundle.as_deref())?,
            endpoint: endpoint.map(|url| url.trim_end_matches('/').to_owned()),
            bundle,
        })
    }

    /// The roots of the world, in PEM, for what is reached and is not AWS: those of `SSL_CERT_FILE`, else Lambda's.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn roots(&self) -> Result<Vec<u8>, BadSetting> {
        read(self.bundle.as_deref().unwrap_or(BUNDLE))
    }

    /// The same for SDK clients, which all share the one HTTP client.
    pub fn sdk(&self) -> SdkConfig {
        let connector = self.connector.clone();
        let timeouts = TimeoutConfig::builder()
            .operation_attempt_timeout(ATTEMPT)
            .operation_timeout(OPERATION);
        let mut config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::v2026_01_12())
            .region(Region::new(self.region.clone()))
            .credentials_provider(SharedCredentialsProvider::new(self.credentials.clone()))
            .sleep_impl(TokioSleep::new())
            .timeout_config(timeouts.build())
            .http_client(http_client_fn(move |_, _| connector.clone()));
        config.set_endpoint_url(self.endpoint.clone());
        config.build()
    }

    /// The base URL of the service whose hosts are called `name` there, such as `sns`
    /// (<https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html>).
    pub fn url(&self, name: &str) -> String {
        self.endpoint
            .clone()
            .unwrap_or_else(|| format!("https://{name}.{}.amazonaws.com", self.region))
    }

    /// The base URL of the objects of `bucket`: its own host on AWS, a first segment elsewhere.
    pub fn bucket_url(&self, bucket: &str) -> String {
        match &self.endpoint {
            Some(endpoint) => format!("{endpoint}/{bucket}"),
            None => format!("https://{bucket}.s3.{}.amazonaws.com", self.region),
        }
    }

    /// Signs `request` for `service`, sends it once and reads the answer, in `patience` at most.
    ///
    /// # Errors
    /// When no answer came, with what is known of the request.
    pub async fn send(
        &self,
        service: &str,
        mut request: Request<Bytes>,
        patience: Duration,
        now: Instant,
    ) -> Result<Answer, NoAnswer> {
        self.sign(&mut request, service, now)
            .map_err(NoAnswer::NeverSent)?;
        self.fetch(request, patience).await
    }

    /// Sends `request` once as it is, to whom it names, and reads the answer, in `patience` at most.
    ///
    /// # Errors
    /// When no answer came, with what is known of the request.
    pub async fn fetch(
        &self,
        request: Request<Bytes>,
        patience: Duration,
    ) -> Result<Answer, NoAnswer> {
        let request = request
            .map(SdkBody::from)
            .try_into()
            .map_err(|error| NoAnswer::NeverSent(format!("{error}")))?;
        let answered = async {
            let answer = self.connector.call(request).await.map_err(no_answer)?;
            let status = StatusCode::from_u16(answer.status().as_u16())
                .map_err(|error| NoAnswer::Lost(error.to_string()))?;
            let headers = answer
                .headers()
                .iter()
                .filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)))
                .collect();
            let body = ByteStream::new(answer.into_body())
                .collect()
                .await
                .map_err(|error| NoAnswer::Lost(error.to_string()))?;
            Ok(Answer {
                status,
                headers,
                body: body.into_bytes(),
            })
        };
        tokio::time::timeout(patience, answered)
            .await
            .map_err(|_| NoAnswer::Lost("it took too long".to_owned()))?
    }

    /// One signed call of a service that speaks JSON 1.1, in two seconds: the body of a 200, else
    /// why there is none.
    ///
    /// # Errors
    /// One sentence.
    pub async fn call(
        &self,
        service: &str,
        target: &str,
        body: String,
        now: Instant,
    ) -> Result<Bytes, String> {
        let request = Request::post(format!("{}/", self.url(service)))
            .header(header::CONTENT_TYPE, "application/x-amz-json-1.1")
            .header("x-amz-target", target)
            .body(Bytes::from(body))
            .map_err(|error| error.to_string())?;
        let answer = self
            .send(service, request, OPERATION, now)
            .await
            .map_err(|problem| problem.to_string())?;
        if answer.status == StatusCode::OK {
            Ok(answer.body)
        } else {
            Err(format!(
                "status {} {}",
                answer.status.as_u16(),
                name(&answer.body)
            ))
        }
    }
}

/// The name of the error that `body` tells of, such as `AccessDeniedException`; its sentence may say more than a
/// log should.
fn name(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let named = text
        .split_once("\"__type\"")
        .and_then(|(_, rest)| rest.split('"').nth(1));
    named
        .and_then(|name| name.rsplit('#').next())
        .unwrap_or("without a name")
        .to_owned()
}

/// Only a connection that could not be opened proves that nothing left.
fn no_answer(error: ConnectorError) -> NoAnswer {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        if cause
            .downcast_ref::<hyper_util::client::legacy::Error>()
            .is_some_and(hyper_util::client::legacy::Error::is_connect)
        {
            return NoAnswer::NeverSent(cause.to_string());
        }
        source = cause.source();
    }
    NoAnswer::Lost(error.to_string())
}

/// Where Amazon Linux 2023 keeps the roots of the world.
const BUNDLE: &str = "/etc/pki/tls/certs/ca-bundle.crt";
/// The roots of Amazon Trust Services, which AWS has all its public endpoints signed by
/// (<https://www.amazontrust.com/repository/>). None ends before 2037.
const AMAZON: &[u8] = include_bytes!("amazon-roots.pem");

fn read(bundle: &str) -> Result<Vec<u8>, BadSetting> {
    std::fs::read(bundle).map_err(|error| {
        BadSetting::new(
            "SSL_CERT_FILE",
            format!("names a file that cannot be read: {error}"),
        )
    })
}

/// Plain for an endpoint on this machine, else TLS by ring, for aws-lc spends 22 ms of CPU on its first handshake.
/// AWS's own roots are trusted and no others, unless `bundle` names a file: that is safer, and to read the 140 roots
/// of the world took a third of a start.
fn connector(
    endpoint: Option<&str>,
    bundle: Option<&str>,
) -> Result<SharedHttpConnector, BadSetting> {
    let settings = HttpConnectorSettings::builder()
        .connect_timeout(CONNECT)
        .build();
    let builder = Connector::builder()
        .connector_settings(settings)
        .sleep_impl(TokioSleep::new());
    if endpoint.is_some_and(|url| url.starts_with("http://")) {
        return Ok(SharedHttpConnector::new(builder.build_http()));
    }
    let roots = bundle.map_or_else(|| Ok(AMAZON.to_vec()), read)?;
    let trust = TrustStore::empty().with_pem_certificate(roots);
    let context = TlsContext::builder().with_trust_store(trust).build();
    let context = context.map_err(|error| {
        BadSetting::new("SSL_CERT_FILE", format!("holds no certificates: {error}"))
    })?;
    Ok(SharedHttpConnector::new(
        builder
            .tls_provider(Provider::rustls(CryptoMode::Ring))
            .tls_context(context)
            .build(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_trusted_where_nobody_says_otherwise_can_be_read() {
        let lookup = |name: &str| match name {
            "AWS_REGION" => Some("eu-south-1".to_owned()),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("x".to_owned()),
            _ => None,
        };
        assert!(Aws::new(&lookup).is_ok());
        assert_eq!(
            String::from_utf8_lossy(AMAZON)
                .matches("BEGIN CERTIFICATE")
                .count(),
            5
        );
    }
}
