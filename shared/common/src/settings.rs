//! Settings: environment variables, read once, checked at start. A bad one stops the start with a
//! sentence that names it.

use std::{fmt, str::FromStr, time::Duration};

/// What everything is set to.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `RECORDS_TABLE`: the table of what stays.
    pub records_table: String,
    /// `TRANSIENT_TABLE`: the table of what has a short life.
    pub transient_table: String,
    /// `API_PREFIXES`: below which paths the interface is served; `/api/v1,/api/dev`.
    pub api_prefixes: Vec<String>,
    /// `POWERED_BY`: the operator's text in `x-powered-by`; `Halqa`.
    pub powered_by: String,
    /// `RATE_LIMIT`: requests per window of the public limit; 100.
    pub rate_limit: u64,
    /// `RATE_WINDOW_SECONDS`: the window's length; 60.
    pub rate_window: Duration,
    /// `REGISTRATION`: `open`, `approval` or `closed`; `open`.
    pub registration: Registration,
    /// `REGISTER_PER_HOUR`: registrations per network and hour; 60.
    pub register_per_hour: u64,
    /// `PASSWORD_MIN_LENGTH`: 8.
    pub password_min_length: usize,
    /// `PASSWORD_MIN_LENGTH_ADMIN`: for SA and CA without one-time passwords; 15.
    pub password_min_length_admin: usize,
    /// `ACCESS_TOKEN_SECONDS`: 43200.
    pub access_token: Duration,
    /// `ACCESS_TOKEN_SECONDS_STRICT`: for SA, CA and everyone with one-time passwords; 14400.
    pub access_token_strict: Duration,
    /// `SESSION_DAYS`: 30.
    pub session: Duration,
    /// `SESSION_DAYS_STRICT`: 7.
    pub session_strict: Duration,
}

/// Who may open an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// Anybody; the mailbox proves the person.
    Open,
    /// Anybody; an administrator proves the person.
    Approval,
    /// Nobody.
    Closed,
}

impl FromStr for Registration {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "open" => Ok(Self::Open),
            "approval" => Ok(Self::Approval),
            "closed" => Ok(Self::Closed),
            _ => Err("must be open, approval or closed"),
        }
    }
}

/// A setting that is missing or makes no sense. Names the setting and never its value.
#[derive(Clone, PartialEq, Eq)]
pub struct BadSetting {
    name: String,
    problem: String,
}

impl BadSetting {
    /// The setting `name` has `problem`, which reads on after the name: "must be …".
    pub fn new(name: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self { name: name.into(), problem: problem.to_string() }
    }
}

impl fmt::Display for BadSetting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "The setting {} {}.", self.name, self.problem)
    }
}

/// The same sentence: it is what a `main` that returns this prints.
impl fmt::Debug for BadSetting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl std::error::Error for BadSetting {}

/// Where settings are looked up: the environment, or a test's own table.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads the process's environment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Settings {
    /// The settings that `lookup` gives.
    ///
    /// # Errors
    /// The first one that is missing or makes no sense.
    pub fn read(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, BadSetting> {
        let seconds = |name, default| number(lookup, name, default).map(Duration::from_secs);
        let days = |name, default| number(lookup, name, default).map(|days| Duration::from_secs(days.saturating_mul(86_400)));
        let length = |name, default| number(lookup, name, default).map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        Ok(Self {
            records_table: required(lookup, "RECORDS_TABLE")?,
            transient_table: required(lookup, "TRANSIENT_TABLE")?,
            api_prefixes: prefixes(lookup)?,
            powered_by: powered_by(lookup)?,
            rate_limit: number(lookup, "RATE_LIMIT", 100)?,
            rate_window: seconds("RATE_WINDOW_SECONDS", 60)?,
            registration: registration(lookup)?,
            register_per_hour: number(lookup, "REGISTER_PER_HOUR", 60)?,
            password_min_length: length("PASSWORD_MIN_LENGTH", 8)?,
            password_min_length_admin: length("PASSWORD_MIN_LENGTH_ADMIN", 15)?,
            access_token: seconds("ACCESS_TOKEN_SECONDS", 43_200)?,
            access_token_strict: seconds("ACCESS_TOKEN_SECONDS_STRICT", 14_400)?,
            session: days("SESSION_DAYS", 30)?,
            session_strict: days("SESSION_DAYS_STRICT", 7)?,
        })
    }
}

/// The setting `name`, which must be there; empty is not there.
pub(crate) fn required(lookup: Lookup<'_>, name: &str) -> Result<String, BadSetting> {
    lookup(name).filter(|value| !value.trim().is_empty()).ok_or_else(|| BadSetting::new(name, "is missing"))
}

/// A URL, which must be https unless it points at this machine.
pub(crate) fn url(lookup: Lookup<'_>, name: &str) -> Result<Option<String>, BadSetting> {
    let Some(url) = lookup(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    let host = url.strip_prefix("http://").map(|rest| rest.split(['/', ':']).next().unwrap_or_default());
    match host {
        Some("127.0.0.1" | "localhost") => Ok(Some(url)),
        None if url.starts_with("https://") => Ok(Some(url)),
        _ => Err(BadSetting::new(name, "must be an https URL, or an http URL on 127.0.0.1 or localhost")),
    }
}

/// A whole number from 1 up.
fn number(lookup: Lookup<'_>, name: &str, default: u64) -> Result<u64, BadSetting> {
    let Some(text) = lookup(name) else { return Ok(default) };
    let number = text.trim().parse().ok().filter(|number| (1..=4_000_000_000).contains(number));
    number.ok_or_else(|| BadSetting::new(name, "must be a whole number from 1 to 4000000000"))
}

fn prefixes(lookup: Lookup<'_>) -> Result<Vec<String>, BadSetting> {
    let text = lookup("API_PREFIXES").unwrap_or_else(|| "/api/v1,/api/dev".to_owned());
    let prefixes: Vec<String> = text.split(',').map(|prefix| prefix.trim().to_owned()).collect();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_".contains(&byte);
    let sensible = |prefix: &String| prefix.len() > 1 && prefix.starts_with('/') && !prefix.ends_with('/') && prefix.bytes().all(plain);
    if prefixes.iter().all(sensible) {
        Ok(prefixes)
    } else {
        Err(BadSetting::new("API_PREFIXES", "must be paths such as /api/v1, separated by commas"))
    }
}

fn powered_by(lookup: Lookup<'_>) -> Result<String, BadSetting> {
    let text = lookup("POWERED_BY").unwrap_or_else(|| "Halqa".to_owned());
    let visible = |byte: u8| (0x20..0x7f).contains(&byte);
    if text.bytes().all(visible) {
        Ok(text)
    } else {
        Err(BadSetting::new("POWERED_BY", "must be visible ASCII, for it stands in a header"))
    }
}

fn registration(lookup: Lookup<'_>) -> Result<Registration, BadSetting> {
    let text = lookup("REGISTRATION").unwrap_or_else(|| "open".to_owned());
    text.parse().map_err(|problem| BadSetting::new("REGISTRATION", problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_setting_is_named() {
        let with = |name: &'static str, value: &'static str| {
            move |asked: &str| match asked {
                asked if asked == name => Some(value.to_owned()),
                "RECORDS_TABLE" | "TRANSIENT_TABLE" => Some("table".to_owned()),
                _ => None,
            }
        };
        assert!(Settings::read(&with("RATE_LIMIT", "1")).is_ok());
        for (name, value) in [
            ("RECORDS_TABLE", ""),
            ("TRANSIENT_TABLE", " "),
            ("RATE_LIMIT", "0"),
            ("RATE_LIMIT", "many"),
            ("RATE_WINDOW_SECONDS", "-1"),
            ("SESSION_DAYS", "1.5"),
            ("ACCESS_TOKEN_SECONDS", "99999999999999999999"),
            ("API_PREFIXES", "api"),
            ("API_PREFIXES", "/api/v1,"),
            ("POWERED_BY", "a\r\nb"),
            ("REGISTRATION", "maybe"),
        ] {
            let problem = Settings::read(&with(name, value)).map(|_| ()).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("The setting {name} ")), "{problem}");
        }
    }

    #[test]
    fn urls_are_https_but_on_this_machine() {
        for (value, taken) in [
            ("https://dynamodb.eu-west-3.amazonaws.com", true),
            ("http://127.0.0.1:8000", true),
            ("http://localhost:8000/x", true),
            ("http://127.0.0.1.example.org", false),
            ("http://example.org", false),
            ("ftp://localhost", false),
        ] {
            assert_eq!(url(&|_| Some(value.to_owned()), "AWS_ENDPOINT_URL").is_ok(), taken, "{value}");
        }
    }
}
