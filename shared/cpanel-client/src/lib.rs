//! A client for a hosting account through cPanel's UAPI (<https://api.docs.cpanel.net/cpanel/introduction>).
//!
//! Requests are never retried here: the caller decides by the kind of [`PanelError`].

mod answer;
mod error;

use std::{fmt, sync::Arc, time::Duration};

use data_encoding::HEXLOWER;
use domain::subdomain::{Domains, Label, RootDomain};
use reqwest::{
    Client, StatusCode,
    header::{AUTHORIZATION, HeaderValue},
    redirect, retry,
};
use runtime::{ConfigError, LOOPBACK, chain};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, timeout_at};
use url::Url;

pub use answer::{Database, Engine};
pub use error::PanelError;

/// The largest response body, in bytes.
const MAX_BODY: usize = 1_000_000;

/// The time-outs of a [`Panel`].
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For opening a connection.
    pub connect: Duration,
    /// For all panel requests of one client request.
    pub whole: Duration,
    /// Additional time to find out the outcome of a change whose response did not arrive.
    pub again: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            whole: Duration::from_secs(15),
            again: Duration::from_secs(5),
        }
    }
}

/// A client for one hosting account. Clones share the connections.
#[derive(Clone)]
pub struct Panel {
    client: Client,
    base: Url,
    fingerprint: String,
    timeouts: Timeouts,
}

impl Panel {
    /// A client for the account of `user` at `base`, such as `https://cpanel.example.org:2083`. `roots` reads the
    /// trusted root certificates in PEM; it is called only if `base` is an https URL.
    ///
    /// # Errors
    /// When a setting is invalid; the error names the setting, not its value.
    pub fn new(
        base: &str,
        user: &str,
        token: &SecretString,
        roots: impl FnOnce() -> Result<Vec<u8>, ConfigError>,
        timeouts: Timeouts,
    ) -> Result<Self, ConfigError> {
        let base = parse_base(base)?;
        let is_plain = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':')
        };
        if !is_plain(user) {
            return Err(ConfigError::new(
                "CPANEL_USER",
                "must be a name in visible ASCII without a colon",
            ));
        }
        let token = token.expose_secret();
        let credentials = format!("cpanel {user}:{token}");
        let authorization = HeaderValue::try_from(&credentials).ok().filter(|_| is_plain(token));
        let mut authorization = authorization
            .ok_or_else(|| ConfigError::new("CPANEL_TOKEN", "must be a token in visible ASCII"))?;
        authorization.set_sensitive(true);
        let builder = Client::builder()
            .default_headers([(AUTHORIZATION, authorization)].into_iter().collect())
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .user_agent("Halqa")
            .connect_timeout(timeouts.connect)
            // A connection that was idle while the process was frozen would lose the next request.
            .pool_max_idle_per_host(0);
        // Without a preconfigured TLS backend reqwest looks for one that is not linked.
        let roots = if base.scheme() == "https" { roots()? } else { Vec::new() };
        let client = builder.tls_backend_preconfigured(tls(&roots)?).build();
        let client = client
            .map_err(|error| ConfigError::new("CPANEL_URL", format!("cannot be used: {error}")))?;
        let fingerprint = HEXLOWER.encode(&Sha256::digest(format!("{base}\0{credentials}")));
        Ok(Self { client, base, fingerprint, timeouts })
    }

    /// The SHA-256 of URL, user and token in hexadecimal: identifies them without revealing them.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// When the responses to the panel requests of a client request that arrives now must be there.
    pub fn deadline(&self) -> Instant {
        Instant::now() + self.timeouts.whole
    }

    /// `deadline`, or [`Timeouts::again`] from now, if that is later.
    pub fn extended(&self, deadline: Instant) -> Instant {
        deadline.max(Instant::now() + self.timeouts.again)
    }

    /// The domains of the account
    /// (<https://api.docs.cpanel.net/specifications/cpanel.openapi/domain-information/list_domains>).
    ///
    /// # Errors
    /// [`PanelError::Malformed`] also when the account has no main domain, which every valid account has.
    pub async fn domains(&self, deadline: Instant) -> Result<Domains, PanelError> {
        answer::domains(self.call("DomainInfo", "list_domains", &[], deadline).await?)
    }

    /// The databases of the account: first MySQL's, then PostgreSQL's. Where PostgreSQL is not installed its
    /// module is missing, which cPanel reports like any other error
    /// (<https://api.docs.cpanel.net/openapi/cpanel/operation/Postgresql-list_databases>), so an error from it
    /// counts as an empty list.
    pub async fn databases(&self, deadline: Instant) -> Result<Vec<Database>, PanelError> {
        let list = |module| self.call(module, "list_databases", &[], deadline);
        let (mysql, postgresql) = tokio::join!(list("Mysql"), list("Postgresql"));
        // A refused token takes precedence over the result of the other request.
        let postgresql = match postgresql {
            Err(refused @ PanelError::Auth(_)) => return Err(refused),
            Err(PanelError::Refused(_)) => Ok(serde_json::Value::Null),
            answered => answered,
        };
        let mut all = answer::databases(Engine::Mysql, mysql?)?;
        all.extend(answer::databases(Engine::Postgresql, postgresql?)?);
        Ok(all)
    }

    /// Creates the subdomain `label` below `root`
    /// (<https://api.docs.cpanel.net/openapi/cpanel/operation/addsubdomain>).
    ///
    /// # Errors
    /// After `ConnectionLost`, `TimedOut` and `Malformed` the subdomain may have been created.
    pub async fn add_subdomain(
        &self,
        label: &Label,
        root: &RootDomain,
        deadline: Instant,
    ) -> Result<(), PanelError> {
        let parameters = [("domain", label.as_str()), ("rootdomain", root.as_str())];
        self.call("SubDomain", "addsubdomain", &parameters, deadline).await.map(|_| ())
    }

    /// Sends one request and returns the `data` of the response.
    async fn call(
        &self,
        module: &str,
        function: &str,
        parameters: &[(&str, &str)],
        deadline: Instant,
    ) -> Result<serde_json::Value, PanelError> {
        let mut url = self.base.clone();
        url.set_path(&format!("/execute/{module}/{function}"));
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        let answered = timeout_at(deadline, self.send(url)).await;
        answer::data(&answered.unwrap_or(Err(PanelError::TimedOut))?)
    }

    /// Sends one request and returns the body of a 200.
    async fn send(&self, url: Url) -> Result<Vec<u8>, PanelError> {
        let mut response = self.client.get(url).send().await.map_err(classify)?;
        match response.status() {
            StatusCode::OK => {}
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                return Err(PanelError::Auth(status.as_u16()));
            }
            status => return Err(PanelError::Malformed(format!("status {}", status.as_u16()))),
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(classify)? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(PanelError::Malformed(format!("it is longer than {MAX_BODY} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Only a connection that could not be opened proves that nothing was sent.
fn classify(error: reqwest::Error) -> PanelError {
    let error = error.without_url();
    match error {
        _ if error.is_connect() => PanelError::Unreachable(chain(&error)),
        _ if error.is_timeout() => PanelError::TimedOut,
        _ => PanelError::ConnectionLost(chain(&error)),
    }
}

/// Parses the URL: only scheme, host and port; https, or http on this machine.
fn parse_base(base: &str) -> Result<Url, ConfigError> {
    let invalid = || {
        ConfigError::new(
            "CPANEL_URL",
            "must be an https URL of host and port alone, or an http URL on localhost, 127.0.0.1 or [::1]",
        )
    };
    let url: Url = base.parse().map_err(|_| invalid())?;
    let is_bare = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let is_local = LOOPBACK.contains(&url.host_str().unwrap_or_default());
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_local);
    if is_bare && is_safe && url.path() == "/" { Ok(url) } else { Err(invalid()) }
}

/// A TLS configuration, with ring, that trusts `roots`.
fn tls(roots: &[u8]) -> Result<ClientConfig, ConfigError> {
    let invalid = |problem: &dyn fmt::Display| {
        ConfigError::new("SSL_CERT_FILE", format!("holds no certificates: {problem}"))
    };
    let mut store = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(roots) {
        // Bundles contain roots that cannot be parsed.
        store.add_parsable_certificates([root.map_err(|error| invalid(&error))?]);
    }
    if store.is_empty() && !roots.is_empty() {
        return Err(invalid(&"none can be read"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions();
    Ok(config.map_err(|error| invalid(&error))?.with_root_certificates(store).with_no_client_auth())
}

#[cfg(test)]
mod tests;
