//! Settings that are missing or make no sense, told in a sentence.

use std::fmt;

/// A setting that is missing or makes no sense. Names the setting and never its value.
#[derive(Clone, PartialEq, Eq)]
pub struct BadSetting {
    name: String,
    problem: String,
}

impl BadSetting {
    /// The setting `name` has `problem`, which reads on after the name: "must be …".
    pub fn new(name: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self {
            name: name.into(),
            problem: problem.to_string(),
        }
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
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The setting `name`, which must be there; empty is not there.
///
/// # Errors
/// When it is missing.
pub fn required(lookup: Lookup<'_>, name: &str) -> Result<String, BadSetting> {
    lookup(name)
        .filter(|value| !value.trim().is_empty())
        .ok_or_else(|| BadSetting::new(name, "is missing"))
}

/// The URL that the setting `name` holds, if it is set: https, unless it points at this machine.
///
/// # Errors
/// When it is no such URL.
pub fn url(lookup: Lookup<'_>, name: &str) -> Result<Option<String>, BadSetting> {
    let Some(url) = lookup(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let host = url
        .strip_prefix("http://")
        .map(|rest| rest.split(['/', ':']).next().unwrap_or_default());
    match host {
        Some("127.0.0.1" | "localhost") => Ok(Some(url)),
        None if url.starts_with("https://") => Ok(Some(url)),
        _ => Err(BadSetting::new(
            name,
            "must be an https URL, or an http URL on 127.0.0.1 or localhost",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(
                url(&|_| Some(value.to_owned()), "AWS_ENDPOINT_URL").is_ok(),
                taken,
                "{value}"
            );
        }
    }
}
