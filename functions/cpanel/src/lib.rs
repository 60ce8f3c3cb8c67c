//! The hosting account: its subdomains, domains and databases. Empty of it is kept here; each request asks
//! the panel itself, unless the breaker says that it is no use.

mod db;
mod domains;
mod gate;
mod own;
mod subdomain;

use axum::{Router, routing::get};
use common::Routes;
use cpanel_client::{Panel, Patience};
use domain::subdomain::RootDomain;
use runtime::{ConfigError, Key};
use store::{Setup, Store};

use own::Own;

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::CpanelToken];

/// What this function can do.
#[derive(Clone)]
pub(crate) struct Cpanel {
    store: Store,
    /// None where no place is set.
    panel: Option<Panel>,
    /// The only domains below which subdomains are made; none: all of the account's.
    root_domains: Vec<RootDomain>,
    own: Own,
}

/// Every URL of this function.
///
/// # Errors
/// When a setting or a key is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    routes_with(setup, Patience::default())
}

/// The same with another patience than an operator's.
///
/// # Errors
/// When a setting or a key is missing or malformed.
pub fn routes_with(setup: &Setup, patience: Patience) -> Result<Routes, ConfigError> {
    let cpanel = Cpanel {
        store: setup.store.clone(),
        panel: panel(setup, patience)?,
        root_domains: setup.settings.list(
            "CPANEL_ROOT_DOMAINS",
            "",
            "must be domains such as example.org, separated by commas",
        )?,
        own: Own::default(),
    };
    Ok(Routes::new(
        Router::new()
            .route(
                "/cpanel/subdomain",
                get(subdomain::list).post(subdomain::create),
            )
            .route("/cpanel/domains", get(domains::show))
            .route("/cpanel/db", get(db::list))
            .with_state(cpanel),
    )
    .no_store(&["/cpanel"]))
}

fn panel(setup: &Setup, patience: Patience) -> Result<Option<Panel>, ConfigError> {
    let Some(url) = setup.settings.url("CPANEL_URL")? else {
        return Ok(None);
    };
    Panel::new(
        url,
        setup.settings.required("CPANEL_USER")?,
        &setup.keys.secret(Key::CpanelToken)?,
        || setup.aws.roots(),
        patience,
    )
    .map(Some)
}
