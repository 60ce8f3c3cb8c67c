//! The remote client of a request.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use domain::{agent::Agent, login_activity::Location};
use http::{HeaderMap, header, request::Parts};
use store::StoreError;

use crate::ApiError;

/// IP address, network, user agent and location of the remote client.
#[derive(Debug, Clone)]
pub struct Client {
    /// The IP address.
    pub ip: IpAddr,
    /// The network by which requests are limited: the IPv4 address, or the IPv6 /64.
    pub network: String,
    /// Browser, operating system and device from `User-Agent`.
    pub agent: Agent,
    /// The location, if a content network in front of the gateway sends it; otherwise empty.
    pub place: Location,
}

impl Client {
    pub(crate) fn new(ip: IpAddr, headers: &HeaderMap) -> Self {
        let ip = ip.to_canonical();
        let network = match ip {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        };
        let agent = headers
            .get(header::USER_AGENT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        Self { ip, network, agent: Agent::of(agent), place: Location::default() }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(parts
            .extensions
            .get()
            .cloned()
            .ok_or_else(|| StoreError::Unexpected("the edge has set no client".to_owned()))?)
    }
}
