//! What a function is given when it starts.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_ssm::config::BehaviorVersion;
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};
use aws_types::{
    SdkConfig,
    region::Region,
    sdk_config::{SharedCredentialsProvider, SharedHttpClient, TimeoutConfig},
};
use store::Store;

use crate::{
    BadSetting, Clock, Key, Keys, Settings,
    settings::{Lookup, environment, required, url},
};

/// Connections that one request uses side by side: limit, session, user, committee.
const CONNECTIONS: usize = 4;

/// Everything that routes are made of.
#[derive(Clone)]
pub struct Setup {
    /// What everything is set to.
    pub settings: Settings,
    /// The tables.
    pub store: Store,
    /// The keys that this process may have.
    pub keys: Keys,
    /// The clock.
    pub clock: Clock,
}

impl Setup {
    /// Reads the environment, fetches `keys` and opens connections, side by side.
    pub(crate) async fn of_environment(keys: &[Key]) -> Result<Self, BadSetting> {
        let settings = Settings::read(&environment)?;
        let sdk = sdk(&environment)?;
        let store = Store::new(&sdk, settings.records_table.clone(), settings.transient_table.clone());
        let (keys, ()) = tokio::join!(Keys::read(keys, &sdk, &environment), store.open_connections(CONNECTIONS));
        Ok(Self { settings, store, keys: keys?, clock: Clock::default() })
    }

    /// The same from `lookup` alone: keys stand among the settings, and nothing is opened yet.
    ///
    /// # Errors
    /// The first setting that is missing or makes no sense.
    pub fn of_settings(lookup: &dyn Fn(&str) -> Option<String>, clock: Clock) -> Result<Self, BadSetting> {
        let settings = Settings::read(lookup)?;
        let store = Store::new(&sdk(lookup)?, settings.records_table.clone(), settings.transient_table.clone());
        Ok(Self { settings, store, keys: Keys::from_settings(lookup), clock })
    }
}

/// The SDK's configuration, from the variables that Lambda sets: `AWS_REGION`, the credentials, and
/// `AWS_ENDPOINT_URL` and `SSL_CERT_FILE` where somebody set those. There is no aws-config behind
/// it, which would link a second TLS stack and look for what is not there; TLS is by ring, for
/// aws-lc spends 22 ms of CPU on its first handshake.
fn sdk(lookup: Lookup<'_>) -> Result<SdkConfig, BadSetting> {
    let credentials = Credentials::new(
        required(lookup, "AWS_ACCESS_KEY_ID")?,
        required(lookup, "AWS_SECRET_ACCESS_KEY")?,
        lookup("AWS_SESSION_TOKEN").filter(|token| !token.is_empty()),
        None,
        "environment",
    );
    let endpoint = url(lookup, "AWS_ENDPOINT_URL")?;
    // No answer of the tables takes longer; what is behind one of these must fit into five seconds.
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_millis(500))
        .operation_attempt_timeout(Duration::from_millis(900))
        .operation_timeout(Duration::from_millis(1900));
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new(required(lookup, "AWS_REGION")?))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .sleep_impl(TokioSleep::new())
        .timeout_config(timeouts.build())
        .http_client(http_client(endpoint.as_deref(), lookup)?);
    config.set_endpoint_url(endpoint);
    Ok(config.build())
}

/// One client for all services: plain for an endpoint on this machine, else TLS with the roots of
/// one PEM bundle, which takes a fifth of the time that a folder of roots does.
fn http_client(endpoint: Option<&str>, lookup: Lookup<'_>) -> Result<SharedHttpClient, BadSetting> {
    if endpoint.is_some_and(|url| url.starts_with("http://")) {
        return Ok(Builder::new().build_http());
    }
    /// Where Amazon Linux 2023 keeps its roots.
    const BUNDLE: &str = "/etc/pki/tls/certs/ca-bundle.crt";
    let bundle = lookup("SSL_CERT_FILE").unwrap_or_else(|| BUNDLE.to_owned());
    let roots =
        std::fs::read(bundle).map_err(|error| BadSetting::new("SSL_CERT_FILE", format!("names a file that cannot be read: {error}")))?;
    let trust = TrustStore::empty().with_pem_certificate(roots);
    let context = TlsContext::builder().with_trust_store(trust).build();
    let context = context.map_err(|error| BadSetting::new("SSL_CERT_FILE", format!("holds no certificates: {error}")))?;
    Ok(Builder::new().tls_provider(Provider::rustls(CryptoMode::Ring)).tls_context(context).build_https())
}
