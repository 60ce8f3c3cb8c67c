//! The remote client of a request.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use domain::{agent::Agent, login_activity::Location, network};
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
    /// The IPv6 /48, which is limited as well.
    pub site: Option<String>,
    /// Browser, operating system and device from `User-Agent`.
    pub agent: Agent,
    /// The location, if a content network in front of the gateway sends it; otherwise empty.
    pub place: Location,
}

impl Client {
    pub(crate) fn new(ip: IpAddr, headers: &HeaderMap) -> Self {
        let ip = ip.to_canonical();
        let agent = headers
            .get(header::USER_AGENT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        Self {
            ip,
            network: network::network(ip),
            site: network::site(ip),
            agent: Agent::of(agent),
            place: Location::default(),
        }
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
