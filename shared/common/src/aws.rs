//! What everything on AWS is reached with: region, credentials and one HTTP client.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4::SigningParams,
};
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_http_client::{
    Connector,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::{
    behavior_version::BehaviorVersion,
    http::{HttpConnector, HttpConnectorSettings, SharedHttpConnector, http_client_fn},
};
use aws_smithy_types::{body::SdkBody, byte_stream::ByteStream};
use aws_types::{
    SdkConfig,
    region::Region,
    sdk_config::{SharedCredentialsProvider, TimeoutConfig},
};
use bytes::Bytes;
use domain::Instant;

use crate::{
    BadSetting,
    settings::{Lookup, required, url},
};

/// A connection that takes longer is given up.
const CONNECT: Duration = Duration::from_millis(500);
/// What is behind two of these, one after the other, must fit into five seconds.
const ATTEMPT: Duration = Duration::from_millis(900);
const OPERATION: Duration = Duration::from_millis(1900);

/// Region, credentials and one HTTP client, from the variables that Lambda sets: `AWS_REGION`, the
/// credentials, and `AWS_ENDPOINT_URL` and `SSL_CERT_FILE` where somebody set those. There is no
/// aws-config behind it, which would link a second TLS stack and look for what is not there.
pub(crate) struct Aws {
    region: String,
    endpoint: Option<String>,
    credentials: Credentials,
    connector: SharedHttpConnector,
}

impl Aws {
    /// What `lookup` says.
    pub(crate) fn new(lookup: Lookup<'_>) -> Result<Self, BadSetting> {
        let session_token = lookup("AWS_SESSION_TOKEN").filter(|token| !token.is_empty());
        let (key, secret) = (required(lookup, "AWS_ACCESS_KEY_ID")?, required(lookup, "AWS_SECRET_ACCESS_KEY")?);
        let endpoint = url(lookup, "AWS_ENDPOINT_URL")?;
        Ok(Self {
            region: required(lookup, "AWS_REGION")?,
            credentials: Credentials::new(key, secret, session_token, None, "environment"),
            connector: connector(endpoint.as_deref(), lookup)?,
            endpoint,
        })
    }

    /// The same for SDK clients, which all share the one HTTP client.
    pub(crate) fn sdk(&self) -> SdkConfig {
        let connector = self.connector.clone();
        let timeouts = TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT).operation_timeout(OPERATION);
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

    /// One signed call of a service that speaks JSON 1.1, for which its SDK crate would be the
    /// largest part of the build: the body of a 200, else why there is none.
    pub(crate) async fn call(&self, service: &str, target: &str, body: String, now: Instant) -> Result<Bytes, String> {
        let endpoint = self.endpoint.clone().unwrap_or_else(|| format!("https://{service}.{}.amazonaws.com", self.region));
        let mut request = http::Request::post(format!("{}/", endpoint.trim_end_matches('/')))
            .header("content-type", "application/x-amz-json-1.1")
            .header("x-amz-target", target)
            .body(SdkBody::from(body.clone()))
            .map_err(|error| error.to_string())?;
        self.sign(&mut request, service, body.as_bytes(), now)?;
        let request = request.try_into().map_err(|error| format!("{error}"))?;
        let answered = async {
            let answer = self.connector.call(request).await.map_err(|error| format!("no answer: {error}"))?;
            let status = answer.status().as_u16();
            let body = ByteStream::new(answer.into_body()).collect().await.map_err(|error| error.to_string())?;
            if status == 200 { Ok(body.into_bytes()) } else { Err(format!("status {status}")) }
        };
        tokio::time::timeout(OPERATION, answered).await.map_err(|_| "no answer in time".to_owned())?
    }

    /// Signature Version 4
    /// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>).
    fn sign(&self, request: &mut http::Request<SdkBody>, service: &str, body: &[u8], now: Instant) -> Result<(), String> {
        let identity = self.credentials.clone().into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(std::time::SystemTime::from(now.timestamp()))
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| error.to_string())?
            .into();
        let uri = request.uri().to_string();
        let headers = request.headers().iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()));
        let signable = SignableRequest::new("POST", &uri, headers, SignableBody::Bytes(body)).map_err(|error| error.to_string())?;
        let (instructions, _) = sign(signable, &params).map_err(|error| error.to_string())?.into_parts();
        instructions.apply_to_request_http1x(request);
        Ok(())
    }
}

/// Plain for an endpoint on this machine, else TLS by ring, for aws-lc spends 22 ms of CPU on its
/// first handshake, with the roots of one PEM bundle, which takes a fifth of the time that a folder
/// of roots does.
fn connector(endpoint: Option<&str>, lookup: Lookup<'_>) -> Result<SharedHttpConnector, BadSetting> {
    let settings = HttpConnectorSettings::builder().connect_timeout(CONNECT).build();
    let builder = Connector::builder().connector_settings(settings).sleep_impl(TokioSleep::new());
    if endpoint.is_some_and(|url| url.starts_with("http://")) {
        return Ok(SharedHttpConnector::new(builder.build_http()));
    }
    /// Where Amazon Linux 2023 keeps its roots.
    const BUNDLE: &str = "/etc/pki/tls/certs/ca-bundle.crt";
    let bundle = lookup("SSL_CERT_FILE").unwrap_or_else(|| BUNDLE.to_owned());
    let roots =
        std::fs::read(bundle).map_err(|error| BadSetting::new("SSL_CERT_FILE", format!("names a file that cannot be read: {error}")))?;
    let trust = TrustStore::empty().with_pem_certificate(roots);
    let context = TlsContext::builder().with_trust_store(trust).build();
    let context = context.map_err(|error| BadSetting::new("SSL_CERT_FILE", format!("holds no certificates: {error}")))?;
    Ok(SharedHttpConnector::new(builder.tls_provider(Provider::rustls(CryptoMode::Ring)).tls_context(context).build()))
}
