//! The networks from which attempts are counted.

use std::net::IpAddr;

/// The network of `ip`: its IPv4 address, or its IPv6 /64, which is the smallest that a subscriber gets
/// (<https://www.rfc-editor.org/rfc/rfc6177>).
pub fn network(ip: IpAddr) -> String {
    match ip.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

/// The IPv6 /48 of `ip`, all of which one subscriber may have; `None` for IPv4.
pub fn site(ip: IpAddr) -> Option<String> {
    match ip.to_canonical() {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            Some(format!("{a:x}:{b:x}:{c:x}::/48"))
        }
    }
}
