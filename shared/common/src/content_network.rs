//! The content network in front of the gateway, where there is one: CloudFront sends a secret header, and with
//! it the address and the place of whoever called it
//! (<https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/adding-cloudfront-headers.html>). Without
//! the secret such headers are anybody's, and count for nothing.

use std::net::{IpAddr, SocketAddr};

use domain::login_activity::Location;
use http::HeaderMap;
use identity::NamedKeys;
use percent_encoding::percent_decode;

use crate::Client;

/// CloudFront adds no header of an origin's own that begins with `x-edge-`
/// (<https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/add-origin-custom-headers.html>).
const PROOF: &str = "x-halqa-edge";

/// No name of a place is longer.
const LONGEST: usize = 128;

/// The keys by which the network proves itself; none where there is no network.
pub(crate) struct ContentNetwork(pub(crate) NamedKeys);

impl ContentNetwork {
    /// Who calls: `ip` by the gateway's word, or whom the network names.
    pub(crate) fn client(&self, ip: IpAddr, headers: &HeaderMap) -> Client {
        let named = || {
            text(headers, "cloudfront-viewer-address")
                .as_deref()
                .and_then(address)
        };
        let Some(ip) = named().filter(|_| self.has_proved_itself(headers)) else {
            return Client::new(ip, headers);
        };
        let degrees = |name, most: f64| {
            text(headers, name)?
                .parse()
                .ok()
                .filter(|degrees: &f64| degrees.abs() <= most)
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

    fn has_proved_itself(&self, headers: &HeaderMap) -> bool {
        headers
            .get(PROOF)
            .is_some_and(|shown| self.0.contains(shown.as_bytes()))
    }
}

/// What the header says, if it may be a name: letters beyond ASCII come percent-encoded, and what the network does not
/// know may be what the viewer says.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = percent_decode(headers.get(name)?.as_bytes())
        .decode_utf8()
        .ok()?;
    let is_name =
        (1..=LONGEST).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    is_name.then(|| text.into_owned())
}

/// The address without its port, which stands behind a colon after IPv6 too, without brackets.
fn address(text: &str) -> Option<IpAddr> {
    let with_brackets = text.parse::<SocketAddr>().map(|address| address.ip()).ok();
    with_brackets.or_else(|| text.rsplit_once(':')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_stands_in_front_of_its_port() {
        for (text, address_then) in [
            ("198.51.100.10:46532", Some("198.51.100.10")),
            (
                "2001:db8:85a3::8a2e:370:7334:46532",
                Some("2001:db8:85a3::8a2e:370:7334"),
            ),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("198.51.100.10", None),
            ("", None),
        ] {
            assert_eq!(
                address(text).map(|ip| ip.to_string()).as_deref(),
                address_then,
                "{text}"
            );
        }
    }
}
