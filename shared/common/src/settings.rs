//! Settings: environment variables, read once, checked at start. A bad one stops the start with a
//! sentence that names it.

use std::{str::FromStr, time::Duration};

use domain::sms::SenderId;
use domain::subdomain::RootDomain;
use runtime::{BadSetting, Lookup, required, url};
use store::SmsQuota;

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
    /// `MESSAGE_INTERVAL_SECONDS`: how long nobody gets a second code of a kind; 60.
    pub message_interval: Duration,
    /// `PUBLIC_URL`: where the front end lives, without a slash at the end; links in mails begin with it.
    pub public_url: Option<String>,
    /// `MAIL_FROM`: who mails are from.
    pub mail_from: String,
    /// `SMS_CLAIM_SECONDS`: a message that a dispatcher has held for so long is lost to it; 300.
    pub claim: Duration,
    /// `SMS_COUNTRY_CODES`: calling codes of the countries that are written to; 216.
    pub sms_country_codes: Vec<u16>,
    /// `SMS_SENDER_IDS`: the names that a phone may show instead of a number; none.
    pub sms_sender_ids: Vec<SenderId>,
    /// `SMS_PER_USER_DAY`, `SMS_PER_COMMITTEE_DAY`: messages that are accepted in a day; 2,000 and 10,000.
    pub sms_quota: SmsQuota,
    /// `SMS_RATE_PER_SECOND`: how many text messages leave in a second, over all processes; 10.
    pub sms_rate: u64,
    /// `FILE_MAX_BYTES`: no file is longer; 100,000,000.
    pub file_max_bytes: u64,
    /// `FILE_QUOTA_BYTES`: what one person's files may take together; 1,000,000,000.
    pub file_quota_bytes: u64,
    /// `FILES_BUCKET`: where files and images lie.
    pub files_bucket: Option<String>,
    /// `EDGE`: whether a content network stands in front of the gateway, which names whoever calls; `off`.
    pub has_edge: bool,
    /// `CANARY_URL`: what the canary calls, with the prefix.
    pub canary_url: Option<String>,
    /// `CPANEL_URL`: where the hosting account's panel is, without which there is none.
    pub cpanel_url: Option<String>,
    /// `CPANEL_USER`: the account's name there.
    pub cpanel_user: Option<String>,
    /// `CPANEL_ROOT_DOMAINS`: the only domains below which subdomains are made; none named: all of the account's.
    pub cpanel_root_domains: Vec<RootDomain>,
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

/// Reads the process's environment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
#[cfg(feature = "lambda")]
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
        let days = |name, default| {
            number(lookup, name, default)
                .map(|days| Duration::from_secs(days.saturating_mul(86_400)))
        };
        let length = |name, default| {
            number(lookup, name, default)
                .map(|length| usize::try_from(length).unwrap_or(usize::MAX))
        };
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
            message_interval: seconds("MESSAGE_INTERVAL_SECONDS", 60)?,
            public_url: url(lookup, "PUBLIC_URL")?.map(|url| url.trim_end_matches('/').to_owned()),
            mail_from: lookup("MAIL_FROM")
                .unwrap_or_else(|| "Halqa <no-reply@example.org>".to_owned()),
            claim: seconds("SMS_CLAIM_SECONDS", 300)?,
            sms_country_codes: country_codes(lookup)?,
            sms_sender_ids: sender_ids(lookup)?,
            sms_quota: SmsQuota {
                per_user: number(lookup, "SMS_PER_USER_DAY", 2_000)?,
                per_committee: number(lookup, "SMS_PER_COMMITTEE_DAY", 10_000)?,
            },
            sms_rate: number(lookup, "SMS_RATE_PER_SECOND", 10)?,
            file_max_bytes: number(lookup, "FILE_MAX_BYTES", 100_000_000)?,
            file_quota_bytes: number(lookup, "FILE_QUOTA_BYTES", 1_000_000_000)?,
            files_bucket: lookup("FILES_BUCKET").filter(|bucket| !bucket.is_empty()),
            canary_url: url(lookup, "CANARY_URL")?,
            has_edge: has_edge(lookup)?,
            cpanel_url: url(lookup, "CPANEL_URL")?,
            cpanel_user: lookup("CPANEL_USER").filter(|user| !user.is_empty()),
            cpanel_root_domains: root_domains(lookup)?,
        })
    }
}

/// A whole number from 1 up.
fn number(lookup: Lookup<'_>, name: &str, default: u64) -> Result<u64, BadSetting> {
    let Some(text) = lookup(name) else {
        return Ok(default);
    };
    let number = text
        .trim()
        .parse()
        .ok()
        .filter(|number| (1..=9_000_000_000_000_000).contains(number));
    number.ok_or_else(|| BadSetting::new(name, "must be a whole number from 1 to 9000000000000000"))
}

fn prefixes(lookup: Lookup<'_>) -> Result<Vec<String>, BadSetting> {
    let text = lookup("API_PREFIXES").unwrap_or_else(|| "/api/v1,/api/dev".to_owned());
    let prefixes: Vec<String> = text
        .split(',')
        .map(|prefix| prefix.trim().to_owned())
        .collect();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_".contains(&byte);
    let sensible = |prefix: &String| {
        prefix.len() > 1
            && prefix.starts_with('/')
            && !prefix.ends_with('/')
            && prefix.bytes().all(plain)
    };
    if prefixes.iter().all(sensible) {
        Ok(prefixes)
    } else {
        Err(BadSetting::new(
            "API_PREFIXES",
            "must be paths such as /api/v1, separated by commas",
        ))
    }
}

/// The values of the list `name`, each as its type reads it; none for the empty text.
fn list<T: FromStr>(
    lookup: Lookup<'_>,
    name: &str,
    default: &str,
    problem: &str,
) -> Result<Vec<T>, BadSetting> {
    let text = lookup(name).unwrap_or_else(|| default.to_owned());
    let values = text
        .split(',')
        .map(str::trim)
        .filter(|_| !text.trim().is_empty());
    values
        .map(|value| value.parse().map_err(|_| BadSetting::new(name, problem)))
        .collect()
}

fn country_codes(lookup: Lookup<'_>) -> Result<Vec<u16>, BadSetting> {
    let problem = "must be calling codes such as 216, separated by commas";
    let codes: Vec<u16> = list(lookup, "SMS_COUNTRY_CODES", "216", problem)?;
    let sensible = !codes.is_empty() && codes.iter().all(|code| (1..=999).contains(code));
    if sensible {
        Ok(codes)
    } else {
        Err(BadSetting::new("SMS_COUNTRY_CODES", problem))
    }
}

fn sender_ids(lookup: Lookup<'_>) -> Result<Vec<SenderId>, BadSetting> {
    let problem =
        "must be names of 1 to 11 letters and digits, one letter at least, separated by commas";
    list(lookup, "SMS_SENDER_IDS", "", problem)
}

fn powered_by(lookup: Lookup<'_>) -> Result<String, BadSetting> {
    let text = lookup("POWERED_BY").unwrap_or_else(|| "Halqa".to_owned());
    let visible = |byte: u8| (0x20..0x7f).contains(&byte);
    if text.bytes().all(visible) {
        Ok(text)
    } else {
        Err(BadSetting::new(
            "POWERED_BY",
            "must be visible ASCII, for it stands in a header",
        ))
    }
}

fn registration(lookup: Lookup<'_>) -> Result<Registration, BadSetting> {
    let text = lookup("REGISTRATION").unwrap_or_else(|| "open".to_owned());
    text.parse()
        .map_err(|problem| BadSetting::new("REGISTRATION", problem))
}

fn has_edge(lookup: Lookup<'_>) -> Result<bool, BadSetting> {
    match lookup("EDGE").as_deref() {
        Some("on") => Ok(true),
        None | Some("off") => Ok(false),
        Some(_) => Err(BadSetting::new("EDGE", "must be on or off")),
    }
}

fn root_domains(lookup: Lookup<'_>) -> Result<Vec<RootDomain>, BadSetting> {
    list(
        lookup,
        "CPANEL_ROOT_DOMAINS",
        "",
        "must be domains such as example.org, separated by commas",
    )
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
            ("SMS_COUNTRY_CODES", "Tunisie"),
            ("SMS_COUNTRY_CODES", ""),
            ("SMS_SENDER_IDS", "Halqa,Federation12"),
            ("SMS_RATE_PER_SECOND", "0"),
            ("EDGE", "yes"),
            ("CPANEL_URL", "http://cpanel.example.org:2083"),
            ("CPANEL_ROOT_DOMAINS", "example.org,"),
            ("CPANEL_ROOT_DOMAINS", "example"),
        ] {
            let problem = Settings::read(&with(name, value))
                .map(|_| ())
                .unwrap_err()
                .to_string();
            assert!(
                problem.starts_with(&format!("The setting {name} ")),
                "{problem}"
            );
        }
    }
}
