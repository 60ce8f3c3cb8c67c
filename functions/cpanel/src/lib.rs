//! The hosting account: its subdomains, domains and databases. Nothing of it is stored: each request calls the
//! panel, unless it refused the token recently.

mod db;
mod domains;
mod panel_session;
mod subdomain;

use common::Routes;
use cpanel_client::{Panel, Timeouts};
use domain::subdomain::RootDomain;
use runtime::{ConfigError, Key};
use store::{Setup, Store};

/// The keys that `cpanel` reads at start.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::CpanelToken];

/// The panel and the tables that the handlers use.
#[derive(Clone)]
pub(crate) struct Cpanel {
    store: Store,
    /// `None` when `CPANEL_URL` is not set.
    panel: Option<Panel>,
    /// The domains below which subdomains may be created; empty: all domains of the account.
    root_domains: Vec<RootDomain>,
}

/// The routes below `/cpanel`.
///
/// # Errors
/// When a `CPANEL_` setting or the token is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    routes_with(setup, Timeouts::default())
}

/// As [`routes`], with other time-outs than the default.
///
/// # Errors
/// As [`routes`].
pub fn routes_with(setup: &Setup, timeouts: Timeouts) -> Result<Routes, ConfigError> {
    let cpanel = Cpanel {
        store: setup.store.clone(),
        panel: panel(setup, timeouts)?,
        root_domains: setup.settings.list(
            "CPANEL_ROOT_DOMAINS",
            "",
            "must be domains such as example.org, separated by commas",
        )?,
    };
    Ok(Routes::default()
        .get("/cpanel/subdomain", subdomain::list)
        .post("/cpanel/subdomain", subdomain::create)
        .get("/cpanel/domains", domains::show)
        .get("/cpanel/db", db::list)
        .no_store("/cpanel")
        .with_state(cpanel))
}

fn panel(setup: &Setup, timeouts: Timeouts) -> Result<Option<Panel>, ConfigError> {
    let Some(url) = setup.settings.url("CPANEL_URL")? else {
        return Ok(None);
    };
    Panel::new(
        url,
        setup.settings.required("CPANEL_USER")?,
        &setup.keys.secret(Key::CpanelToken)?,
        || setup.aws.roots(),
        timeouts,
    )
    .map(Some)
}
