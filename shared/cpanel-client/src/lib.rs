//! A hosting account, reached by cPanel's UAPI (<https://api.docs.cpanel.net/cpanel/introduction>). Each call is
//! one request that is never repeated here; what went wrong is told in kinds, and the function decides.

mod answer;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use data_encoding::HEXLOWER;
use domain::subdomain::{Domains, Label, RootDomain};
use reqwest::{
    Client, StatusCode,
    header::{AUTHORIZATION, HeaderValue},
    redirect, retry,
};
use runtime::ConfigError;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};
use url::Url;

pub use answer::{Database, Engine};

/// No answer is longer.
const MAX_ANSWER: usize = 1_000_000;
/// So many requests are under way at once, for one process: the panel counts an account's processes.
const AT_ONCE: usize = 2;
/// For so long after the token was refused here nobody tries it but who is to find out whether it works again,
/// whatever others know.
const GRACE: Duration = Duration::from_secs(15 * 60);

/// How long is waited.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For everything that one request of a client asks of the panel.
    pub whole: Duration,
    /// Beyond that, to find out what became of a change whose answer did not come.
    pub again: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            whole: Duration::from_secs(15),
            again: Duration::from_secs(5),
        }
    }
}

/// Why the panel did not do what was asked. Nothing in it is for clients, and none of it is secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelError {
    /// It does not take our user and token.
    Auth(u16),
    /// No connection could be opened: nothing was asked.
    Unreachable(String),
    /// Nothing was asked: others were before us, and the time is over or the token was refused meanwhile.
    NotSent,
    /// The request left, or may have, and the connection ended without an answer.
    ConnectionLost(String),
    /// The same, and no answer came in time.
    TimedOut,
    /// The same, in the little time that others before us had left.
    TimedOutWaiting,
    /// It says no. Why, it says in the language of the account.
    Refused(String),
    /// It answered something that makes no sense, or is too long.
    Malformed(String),
}

impl fmt::Display for PanelError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auth(status) => write!(out, "cPanel refuses user and token with status {status}"),
            Self::Unreachable(cause) => write!(out, "cPanel cannot be reached: {cause}"),
            Self::NotSent => out.write_str("cPanel was not asked: others are before us"),
            Self::ConnectionLost(cause) => write!(
                out,
                "cPanel ended the connection without an answer: {cause}"
            ),
            Self::TimedOutWaiting => {
                out.write_str("cPanel did not answer in the little time that was left")
            }
            Self::TimedOut => out.write_str("cPanel did not answer in time"),
            Self::Refused(cause) => write!(out, "cPanel says no: {cause}"),
            Self::Malformed(cause) => write!(out, "cPanel's answer makes no sense: {cause}"),
        }
    }
}

impl std::error::Error for PanelError {}

/// The time that one request of a client has.
#[derive(Debug, Clone, Copy)]
pub struct Visit {
    begun: Instant,
    ends: Instant,
    is_trial: bool,
}

/// A hosting account. Cloning shares the connections.
#[derive(Clone)]
pub struct Panel {
    client: Client,
    base: Url,
    /// `cpanel USER:TOKEN`
    credentials: Arc<SecretString>,
    fingerprint: String,
    patience: Patience,
    places: Arc<Semaphore>,
    /// When the token was refused here, and has not worked since, so that who is on his way does not try it, too.
    refused: Arc<Mutex<Option<Instant>>>,
}

impl Panel {
    /// The account of `user` at `base`, such as `https://cpanel.example.org:2083`. `roots` are read, in PEM, for
    /// a place that is not on this machine.
    ///
    /// # Errors
    /// A setting that makes no sense, by its name.
    pub fn new(
        base: &str,
        user: &str,
        token: &SecretString,
        roots: impl FnOnce() -> Result<Vec<u8>, ConfigError>,
        patience: Patience,
    ) -> Result<Self, ConfigError> {
        let base = place(base)?;
        let is_plain = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b':')
        };
        if !is_plain(user) {
            return Err(ConfigError::new(
                "CPANEL_USER",
                "must be a name in visible ASCII without a colon",
            ));
        }
        if !is_plain(token.expose_secret()) {
            return Err(ConfigError::new(
                "CPANEL_TOKEN",
                "must be a token in visible ASCII",
            ));
        }
        let builder = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .user_agent("Halqa")
            .connect_timeout(patience.connect)
            // A connection that was kept while the process stood still would lose the next request.
            .pool_max_idle_per_host(0);
        // Without a TLS of our own reqwest looks for one that is not linked.
        let roots = if base.scheme() == "https" {
            roots()?
        } else {
            Vec::new()
        };
        let client = builder.tls_backend_preconfigured(tls(&roots)?).build();
        let client = client
            .map_err(|error| ConfigError::new("CPANEL_URL", format!("cannot be used: {error}")))?;
        let credentials = SecretString::from(format!("cpanel {user}:{}", token.expose_secret()));
        let fingerprint = HEXLOWER.encode(&Sha256::digest(format!(
            "{base}\0{}",
            credentials.expose_secret()
        )));
        Ok(Self {
            client,
            base,
            credentials: Arc::new(credentials),
            fingerprint,
            patience,
            places: Arc::new(Semaphore::new(AT_ONCE)),
            refused: Arc::default(),
        })
    }

    /// What tells this place, user and token from all others, and says nothing of them.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The time of a request that came at `begun`.
    pub fn visit(&self, begun: Instant) -> Visit {
        Visit {
            begun,
            ends: begun + self.patience.whole,
            is_trial: false,
        }
    }

    /// The same of one who is to find out whether the token works again.
    pub fn trial(&self, begun: Instant) -> Visit {
        Visit {
            is_trial: true,
            ..self.visit(begun)
        }
    }

    /// A little more of it.
    pub fn visit_again(&self, visit: Visit) -> Visit {
        Visit {
            ends: visit.ends.max(Instant::now() + self.patience.again),
            ..visit
        }
    }

    /// The domains of the account
    /// (<https://api.docs.cpanel.net/specifications/cpanel.openapi/domain-information/list_domains>).
    ///
    /// # Errors
    /// Why there is no answer; `Malformed` also for an account without a main domain, which is a broken one.
    pub async fn domains(&self, visit: Visit) -> Result<Domains, PanelError> {
        answer::domains(self.call("DomainInfo", "list_domains", &[], visit).await?)
    }

    /// The databases of the account: MySQL's, and PostgreSQL's where that is installed. The latter's module is
    /// missing elsewhere, which is told as any error_code is
    /// (<https://api.docs.cpanel.net/openapi/cpanel/operation/Postgresql-list_databases>).
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn databases(&self, visit: Visit) -> Result<Vec<Database>, PanelError> {
        let list = |module| self.call(module, "list_databases", &[], visit);
        let (mysql, postgresql) = tokio::join!(list("Mysql"), list("Postgresql"));
        // A refused token matters more than what the other was told.
        let postgresql = match postgresql {
            Err(refused @ PanelError::Auth(_)) => return Err(refused),
            Err(PanelError::Refused(_)) => Ok(serde_json::Value::Null),
            answered => answered,
        };
        let mut all = answer::databases(Engine::Mysql, mysql?)?;
        all.extend(answer::databases(Engine::Postgresql, postgresql?)?);
        Ok(all)
    }

    /// Makes the subdomain `label` below `root`
    /// (<https://api.docs.cpanel.net/openapi/cpanel/operation/addsubdomain>).
    ///
    /// # Errors
    /// Why it was not made; after `Lost`, `TimedOut` and `Malformed` it may have been.
    pub async fn add_subdomain(
        &self,
        label: &Label,
        root: &RootDomain,
        visit: Visit,
    ) -> Result<(), PanelError> {
        let parameters = [("domain", label.as_str()), ("rootdomain", root.as_str())];
        self.call("SubDomain", "addsubdomain", &parameters, visit)
            .await
            .map(|_| ())
    }

    /// One request, when there is a place for it: the `data` of its answer.
    async fn call(
        &self,
        module: &str,
        function: &str,
        parameters: &[(&str, &str)],
        visit: Visit,
    ) -> Result<serde_json::Value, PanelError> {
        let place = timeout_at(visit.ends, self.places.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(PanelError::NotSent);
        };
        let refused = || *self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if !visit.is_trial && refused().is_some_and(|refused| visit.begun < refused + GRACE) {
            return Err(PanelError::NotSent);
        }
        // Others were before us. What is asked now and not answered would be nobody's error, and unknown.
        let left = visit.ends.saturating_duration_since(Instant::now());
        if left < self.patience.whole / 5 {
            return Err(PanelError::NotSent);
        }
        let mut url = self.base.clone();
        url.set_path(&format!("/execute/{module}/{function}"));
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        let answered = timeout_at(visit.ends, self.ask(url)).await;
        let answered = answered.unwrap_or(Err(if left < self.patience.whole / 4 {
            PanelError::TimedOutWaiting
        } else {
            PanelError::TimedOut
        }));
        match &answered {
            Ok(_) => *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = None,
            Err(PanelError::Auth(_)) => {
                *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now())
            }
            Err(_) => {}
        }
        answer::data(&answered?)
    }

    /// The body of a 200.
    async fn ask(&self, url: Url) -> Result<Vec<u8>, PanelError> {
        let credentials = HeaderValue::try_from(self.credentials.expose_secret());
        let mut credentials = credentials.map_err(|_| {
            PanelError::Unreachable("the credentials fit into no header".to_owned())
        })?;
        credentials.set_sensitive(true);
        let request = self.client.get(url).header(AUTHORIZATION, credentials);
        let mut response = request.send().await.map_err(error)?;
        match response.status() {
            StatusCode::OK => {}
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                return Err(PanelError::Auth(status.as_u16()));
            }
            status => return Err(PanelError::Malformed(format!("status {}", status.as_u16()))),
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(error)? {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(PanelError::Malformed(format!(
                    "it is longer than {MAX_ANSWER} bytes"
                )));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Only a connection that could not be opened proves that nothing left.
fn error(error: reqwest::Error) -> PanelError {
    let (is_connect, is_timeout) = (error.is_connect(), error.is_timeout());
    let error = error.without_url();
    let mut cause = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(deeper) = source {
        cause = format!("{cause}: {deeper}");
        source = deeper.source();
    }
    match (is_connect, is_timeout) {
        (true, _) => PanelError::Unreachable(cause),
        (false, true) => PanelError::TimedOut,
        (false, false) => PanelError::ConnectionLost(cause),
    }
}

/// Scheme, host and port, and nothing else; https, but for this machine.
fn place(base: &str) -> Result<Url, ConfigError> {
    let bad = || {
        ConfigError::new(
            "CPANEL_URL",
            "must be an https URL of host and port alone, or an http URL on 127.0.0.1 or localhost",
        )
    };
    let url: Url = base.parse().map_err(|_| bad())?;
    let is_bare = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let is_local = ["127.0.0.1", "localhost"].contains(&url.host_str().unwrap_or_default());
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_local);
    if is_bare && is_safe && url.path() == "/" {
        Ok(url)
    } else {
        Err(bad())
    }
}

/// TLS by ring that trusts `roots`.
fn tls(roots: &[u8]) -> Result<ClientConfig, ConfigError> {
    let bad = |problem: &dyn fmt::Display| {
        ConfigError::new("SSL_CERT_FILE", format!("holds no certificates: {problem}"))
    };
    let mut store = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(roots) {
        // Bundles hold roots that nothing can read any more.
        store.add_parsable_certificates([root.map_err(|error| bad(&error))?]);
    }
    if store.is_empty() && !roots.is_empty() {
        return Err(bad(&"none can be read"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions();
    Ok(config
        .map_err(|error| bad(&error))?
        .with_root_certificates(store)
        .with_no_client_auth())
}

#[cfg(test)]
mod tests;
