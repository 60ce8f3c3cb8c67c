//! The paths before every route, such as `/api/v1`.

use runtime::{ConfigError, Settings};

use crate::Routes;

/// Setting `API_PREFIXES`.
pub(crate) struct Prefixes(Vec<String>);

impl Prefixes {
    pub(crate) fn of(settings: &Settings) -> Result<Self, ConfigError> {
        let problem = "must be paths such as /api/v1, separated by commas";
        let prefixes: Vec<String> = settings.list("API_PREFIXES", "/api/v1,/api/dev", problem)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_".contains(&byte);
        let is_valid = |prefix: &String| {
            prefix.len() > 1
                && prefix.starts_with('/')
                && !prefix.ends_with('/')
                && prefix.bytes().all(is_plain)
        };
        if !prefixes.is_empty() && prefixes.iter().all(is_valid) {
            Ok(Self(prefixes))
        } else {
            Err(ConfigError::new("API_PREFIXES", problem))
        }
    }

    /// `path` without prefix and trailing slash; `None` when the prefix is missing, or present although the route in
    /// `routes` has none.
    pub(crate) fn strip(&self, path: &str, routes: &Routes) -> Option<String> {
        let path = normalized(path);
        let path = path.strip_suffix('/').unwrap_or(&path);
        let after_prefix = |prefix: &String| {
            path.strip_prefix(prefix.as_str())
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match self.0.iter().find_map(after_prefix) {
            Some(rest) => Some(rest).filter(|rest| !rest.is_empty() && !routes.is_unprefixed(rest)),
            None => {
                Some(path).filter(|path| routes.is_unprefixed(path) || routes.is_unlimited(path))
            }
        }
        .map(str::to_owned)
    }
}

/// `path` without escapes of unreserved characters, as the gateway passes it on: `%63ommittees` becomes `committees`
/// (RFC 3986 §6.2.2.2).
fn normalized(path: &str) -> String {
    let mut parts = path.split('%');
    let mut normalized = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let unreserved = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        match byte.filter(unreserved) {
            Some(byte) => {
                normalized.push(byte.into());
                normalized.push_str(&part[2..]);
            }
            None => {
                normalized.push('%');
                normalized.push_str(part);
            }
        }
    }
    normalized
}
