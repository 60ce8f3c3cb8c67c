//! Reads browser, operating system and kind of device from a User-Agent header.
//!
//! The result is shown to account owners in their list of sign-ins. It is not a fingerprint: only common product names
//! are recognised.

use serde::{Deserialize, Serialize};

/// Browser, operating system and kind of device; each is `unknown` if the header does not contain it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// `Chrome`, `Firefox`, `Safari`, `curl` …
    pub browser: String,
    /// `Windows`, `Android`, `iOS` …
    pub os: String,
    /// `desktop`, `mobile` or `tablet`.
    pub device: String,
}

/// Pattern and name. The first match counts: browsers also list the products that they are compatible with, such as
/// `Chrome/130 Safari/537 Edg/130`.
const BROWSERS: [(&str, &str); 14] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("YaBrowser/", "Yandex"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Version/", "Safari"),
    ("PostmanRuntime/", "Postman"),
    ("okhttp/", "okhttp"),
    ("Dart/", "Dart"),
    ("python", "Python"),
    ("curl/", "curl"),
];
const SYSTEMS: [(&str, &str); 8] = [
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
    ("okhttp/", "Android"),
];
const DEVICES: [(&str, &str); 9] = [
    ("iPad", "tablet"),
    ("Tablet", "tablet"),
    ("Mobi", "mobile"),
    ("iPhone", "mobile"),
    ("Android", "tablet"),
    ("Windows", "desktop"),
    ("Mac OS X", "desktop"),
    ("CrOS", "desktop"),
    ("X11", "desktop"),
];

impl Agent {
    /// Parses the value of a User-Agent header.
    pub fn of(header: &str) -> Self {
        let find = |patterns: &[(&str, &'static str)]| {
            patterns
                .iter()
                .find(|(pattern, _)| header.contains(pattern))
                .map_or("unknown", |(_, name)| name)
                .to_owned()
        };
        Self { browser: find(&BROWSERS), os: find(&SYSTEMS), device: find(&DEVICES) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agent_common_headers_are_recognised() {
        for (header, expected) in [
            ("", "unknown unknown unknown"),
            ("curl/8.5.0", "curl unknown unknown"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
                "Chrome Windows desktop",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0",
                "Edge Windows desktop",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
                "Safari iOS mobile",
            ),
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
                "Chrome Android mobile",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
                "Firefox Linux desktop",
            ),
        ] {
            let Agent { browser, os, device } = Agent::of(header);
            assert_eq!(format!("{browser} {os} {device}"), expected, "{header}");
        }
    }
}
