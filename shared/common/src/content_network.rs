//! Reads the client's address and location from CloudFront's headers
//! (<https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/adding-cloudfront-headers.html>), if a
//! content network stands in front of the gateway. Any client can send these headers, so they are ignored unless the
//! request contains a secret header that only the content network knows.

use std::net::{IpAddr, SocketAddr};

use domain::login_activity::Location;
use http::HeaderMap;
use identity::NamedKeys;
use percent_encoding::percent_decode;
use runtime::{ConfigError, Key, Settings};
use store::Setup;

use crate::Client;

/// The header with the secret. CloudFront rejects custom origin headers that begin with `x-edge-`
/// (<https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/add-origin-custom-headers.html>).
const SECRET_HEADER: &str = "x-halqa-edge";

/// Characters of a country, region or city name; longer values are ignored.
const MAX_NAME: usize = 128;

/// The content network in front of the gateway.
pub(crate) struct ContentNetwork {
    /// Empty when there is no content network.
    secrets: NamedKeys,
    is_required: bool,
}

impl ContentNetwork {
    /// Reads the setting `EDGE`, and `EDGE_SECRETS` unless it is `off`.
    ///
    /// # Errors
    /// When one of them is invalid, or the secrets are missing.
    pub(crate) fn new(setup: &Setup) -> Result<Self, ConfigError> {
        Ok(Self {
            secrets: if has_content_network(&setup.settings)? {
                setup.keys.parse(Key::Edge)?
            } else {
                NamedKeys::default()
            },
            is_required: setup.settings.optional("EDGE") == Some("on"),
        })
    }

    /// Whether a request with `headers` is answered: one that goes around the content network, and so around its
    /// firewall, is refused while `EDGE` is `on`.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        !self.is_required || self.has_valid_secret(headers)
    }

    /// The client: at the address in CloudFront's headers if the secret is valid, else at `ip`, the gateway's peer.
    pub(crate) fn client(&self, ip: IpAddr, headers: &HeaderMap) -> Client {
        let viewer_ip = || text(headers, "cloudfront-viewer-address").as_deref().and_then(address);
        let Some(ip) = viewer_ip().filter(|_| self.has_valid_secret(headers)) else {
            return Client::new(ip, headers);
        };
        let degrees = |name, most: f64| {
            text(headers, name)?.parse().ok().filter(|degrees: &f64| degrees.abs() <= most)
        };
        Client {
            place: Location {
                country_code: text(headers, "cloudfront-viewer-country"),
                country: text(headers, "cloudfront-viewer-country-name"),
                region: text(headers, "cloudfront-viewer-country-region-name"),
                city: text(headers, "cloudfront-viewer-city"),
                lat: degrees("cloudfront-viewer-latitude", 90.0),
                lon: degrees("cloudfront-viewer-longitude", 180.0),
                ..Location::default()
            },
            ..Client::new(ip, headers)
        }
    }

    fn has_valid_secret(&self, headers: &HeaderMap) -> bool {
        headers.get(SECRET_HEADER).is_some_and(|secret| self.secrets.contains(secret.as_bytes()))
    }
}

/// The header `name`, percent-decoded: CloudFront encodes characters outside ASCII. Checked, because headers that
/// CloudFront does not set may come from the viewer.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = percent_decode(headers.get(name)?.as_bytes()).decode_utf8().ok()?;
    let is_name =
        (1..=MAX_NAME).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    is_name.then(|| text.into_owned())
}

/// The address in `address:port`; CloudFront writes IPv6 addresses without brackets.
fn address(text: &str) -> Option<IpAddr> {
    let with_brackets = text.parse::<SocketAddr>().map(|address| address.ip()).ok();
    with_brackets.or_else(|| text.rsplit_once(':')?.0.parse().ok())
}

/// Whether a content network in front of the gateway sends the client's address with a secret: `EDGE` is `on`, or
/// `optional` while the name of the service moves to the content network or away from it.
pub(crate) fn has_content_network(settings: &Settings) -> Result<bool, ConfigError> {
    match settings.optional("EDGE") {
        Some("on" | "optional") => Ok(true),
        None | Some("off") => Ok(false),
        Some(_) => Err(ConfigError::new("EDGE", "must be on, optional or off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewer_address_with_port_gives_the_ip() {
        for (text, expected) in [
            ("198.51.100.10:46532", Some("198.51.100.10")),
            ("2001:db8:85a3::8a2e:370:7334:46532", Some("2001:db8:85a3::8a2e:370:7334")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("198.51.100.10", None),
            ("", None),
        ] {
            assert_eq!(address(text).map(|ip| ip.to_string()).as_deref(), expected, "{text}");
        }
    }
}
