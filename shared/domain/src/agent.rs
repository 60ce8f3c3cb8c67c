//! What a User-Agent header says, in the words of a list that a person reads to find out whether
//! it was himself. Not a fingerprint: only the families that such a person would name.

use serde::{Deserialize, Serialize};

/// Browser, system and kind of device, each `unknown` when the header does not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// `Chrome`, `Firefox`, `Safari`, `curl` …
    pub browser: String,
    /// `Windows`, `Android`, `iOS` …
    pub os: String,
    /// `desktop`, `mobile` or `tablet`.
    pub device: String,
}

/// Marks in the header and what they mean; the first that is found counts, for a browser names
/// those that it descends from too.
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
    /// What `header` says.
    pub fn of(header: &str) -> Self {
        let find = |marks: &[(&str, &'static str)]| {
            marks
                .iter()
                .find(|(mark, _)| header.contains(mark))
                .map_or("unknown", |(_, name)| name)
                .to_owned()
        };
        Self {
            browser: find(&BROWSERS),
            os: find(&SYSTEMS),
            device: find(&DEVICES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_told_in_three_words() {
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
            let agent = Agent::of(header);
            assert_eq!(
                format!("{} {} {}", agent.browser, agent.os, agent.device),
                expected,
                "{header}"
            );
        }
    }
}
