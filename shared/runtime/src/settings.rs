//! Settings: environment variables, read and checked once at start. An invalid one stops the start with a sentence that
//! names it. Each crate and function reads its own settings where it uses them.

use std::{collections::HashMap, fmt, str::FromStr, sync::Arc, time::Duration};

use http::Uri;

/// The hosts that URLs of settings may name without TLS: this machine.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The settings of one process by name. Clones share them.
#[derive(Clone, Default)]
pub struct Settings(Arc<HashMap<String, String>>);

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Settings {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(settings: I) -> Self {
        let settings = settings.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self(Arc::new(settings.collect()))
    }
}

impl Settings {
    /// The environment of this process.
    #[expect(clippy::disallowed_methods, reason = "the only reader of the environment")]
    pub fn from_environment() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The value of `name`; `None` when it is not set or blank.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// The value of `name`.
    ///
    /// # Errors
    /// When it is not set or blank.
    pub fn required(&self, name: &str) -> Result<&str, ConfigError> {
        self.optional(name).ok_or_else(|| ConfigError::new(name, "is missing"))
    }

    /// The whole number `name`, 1 to 9·10¹⁵; `default` when it is not set.
    ///
    /// # Errors
    /// When it is not a number in this range.
    pub fn number(&self, name: &str, default: u64) -> Result<u64, ConfigError> {
        let Some(text) = self.0.get(name) else {
            return Ok(default);
        };
        let number =
            text.trim().parse().ok().filter(|number| (1..=9_000_000_000_000_000).contains(number));
        number.ok_or_else(|| {
            ConfigError::new(name, "must be a whole number from 1 to 9000000000000000")
        })
    }

    /// The duration `name` in seconds, at least 1; `default` seconds when it is not set.
    ///
    /// # Errors
    /// As [`number`](Self::number).
    pub fn seconds(&self, name: &str, default: u64) -> Result<Duration, ConfigError> {
        self.number(name, default).map(Duration::from_secs)
    }

    /// The duration `name` in days, at least 1; `default` days when it is not set.
    ///
    /// # Errors
    /// As [`number`](Self::number).
    pub fn days(&self, name: &str, default: u64) -> Result<Duration, ConfigError> {
        self.number(name, default).map(|days| Duration::from_secs(days.saturating_mul(86_400)))
    }

    /// The URL `name`, as [`url`](Self::url).
    ///
    /// # Errors
    /// When it is missing or invalid.
    pub fn required_url(&self, name: &str) -> Result<&str, ConfigError> {
        self.url(name)?.ok_or_else(|| ConfigError::new(name, "is missing"))
    }

    /// The URL `name`, if it is set: https, or http on this machine ([`LOOPBACK`]).
    ///
    /// # Errors
    /// When it is neither.
    pub fn url(&self, name: &str) -> Result<Option<&str>, ConfigError> {
        let Some(url) = self.optional(name) else {
            return Ok(None);
        };
        let parsed = url.parse::<Uri>().unwrap_or_default();
        match (parsed.scheme_str(), parsed.host()) {
            (Some("https"), Some(_)) => Ok(Some(url)),
            (Some("http"), Some(host)) if LOOPBACK.contains(&host) => Ok(Some(url)),
            _ => Err(ConfigError::new(
                name,
                "must be an https URL, or an http URL on localhost, 127.0.0.1 or [::1]",
            )),
        }
    }

    /// The value of `name`, or `default` when it is not set, parsed as `T`.
    ///
    /// # Errors
    /// The error of `T`, which continues a sentence after the name: "must be …".
    pub fn parse<T>(&self, name: &str, default: &str) -> Result<T, ConfigError>
    where
        T: FromStr<Err = &'static str>,
    {
        let value = self.0.get(name).map_or(default, String::as_str);
        value.parse().map_err(|problem| ConfigError::new(name, problem))
    }

    /// The comma-separated values of `name`, or of `default` when it is not set, each trimmed and parsed as `T`. Empty
    /// for the empty text.
    ///
    /// # Errors
    /// `problem` when `T` cannot parse one of them.
    pub fn list<T: FromStr>(
        &self,
        name: &str,
        default: &str,
        problem: &str,
    ) -> Result<Vec<T>, ConfigError> {
        let text = self.0.get(name).map_or(default, String::as_str);
        text.split(',')
            .map(str::trim)
            .filter(|_| !text.trim().is_empty())
            .map(|value| value.parse().map_err(|_| ConfigError::new(name, problem)))
            .collect()
    }
}

/// A missing or invalid setting. Contains the name of the setting, never its value.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError {
    name: String,
    problem: String,
}

impl ConfigError {
    /// An error of the setting `name`. `problem` continues a sentence after the name: "must be …".
    pub fn new(name: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self { name: name.into(), problem: problem.to_string() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "The setting {} {}.", self.name, self.problem)
    }
}

/// The same sentence as `Display`: a `main` that returns an error prints its `Debug` form.
impl fmt::Debug for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_setting_is_https_or_http_on_localhost() {
        for (value, valid) in [
            ("https://dynamodb.eu-west-3.amazonaws.com", true),
            ("http://127.0.0.1:8000", true),
            ("http://localhost:8000/x", true),
            ("http://[::1]:8123", true),
            ("http://[::1]/x", true),
            ("https://[2001:db8::1]:8123", true),
            ("http://[::2]:8123", false),
            ("http://localhost:8000@example.org", false),
            ("http://localhost.example.org", false),
            ("https://", false),
            ("http://127.0.0.1.example.org", false),
            ("http://example.org", false),
            ("ftp://localhost", false),
        ] {
            let settings = Settings::from_iter([("AWS_ENDPOINT_URL", value)]);
            assert_eq!(settings.url("AWS_ENDPOINT_URL").is_ok(), valid, "{value}");
        }
    }
}
