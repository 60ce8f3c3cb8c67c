//! The settings of the relying party.

use identity::passkeys::RelyingParty;
use runtime::{ConfigError, Settings};
use url::{Host, Url};

/// Reads `PASSKEY_RP_ID`, the domain to which passkeys are bound for ever, and `PASSKEY_ORIGINS`, the origins of the
/// pages and Android apps that may use them. Their defaults are the host and the origin of `PUBLIC_URL`; on this machine,
/// whose addresses are no domains, the host is `localhost`.
///
/// # Errors
/// When one of them is malformed, or the origin of a page is not of the domain or one below it
/// (<https://www.w3.org/TR/webauthn-3/#rp-id>).
pub(crate) fn relying_party(settings: &Settings) -> Result<RelyingParty, ConfigError> {
    let invalid = |_| ConfigError::new("PUBLIC_URL", "must be a URL");
    let mut public_url = Url::parse(settings.required_url("PUBLIC_URL")?).map_err(invalid)?;
    if public_url.scheme() == "http" {
        public_url.set_host(Some("localhost")).map_err(invalid)?;
    }
    let origins = settings.optional("PASSKEY_ORIGINS").unwrap_or(public_url.as_str()).split(',');
    let (apps, pages): (Vec<&str>, Vec<&str>) =
        origins.map(str::trim).partition(|origin| is_app(origin));
    let pages: Result<Vec<Url>, _> = pages.into_iter().map(Url::parse).collect();
    let problem = "must be URLs, or android:apk-key-hash: with the SHA-256 of an app's certificate";
    let pages = pages.map_err(|_| ConfigError::new("PASSKEY_ORIGINS", problem))?;
    let id = settings.optional("PASSKEY_RP_ID").or(public_url.host_str()).unwrap_or_default();
    let id = id.trim().to_ascii_lowercase();
    if !matches!(Host::parse(&id), Ok(Host::Domain(domain)) if domain == id) {
        let problem = "must be a domain in ASCII, which an IP address is not";
        return Err(ConfigError::new("PASSKEY_RP_ID", problem));
    }
    let is_of_domain = |host: &str| host == id || host.ends_with(&format!(".{id}"));
    let is_allowed = |url: &Url| {
        let host = url.host_str();
        let is_secure = url.scheme() == "https" || host == Some("localhost");
        is_secure && host.is_some_and(is_of_domain)
    };
    if !pages.iter().all(is_allowed) {
        let problem = "must be https URLs of the domain PASSKEY_RP_ID or of domains below it";
        return Err(ConfigError::new("PASSKEY_ORIGINS", problem));
    }
    let pages = pages.iter().map(|url| url.origin().ascii_serialization());
    Ok(RelyingParty::new(id, pages.chain(apps.into_iter().map(str::to_owned)).collect()))
}

/// Whether `origin` is that of an Android app: a SHA-256 in base64url
/// (<https://developer.android.com/identity/sign-in/credential-manager#verify-origin>).
fn is_app(origin: &str) -> bool {
    let hash = origin.strip_prefix("android:apk-key-hash:").unwrap_or_default();
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
    hash.len() == 43 && hash.bytes().all(is_letter)
}
