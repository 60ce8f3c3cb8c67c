//! Certificates: public verification, their pages, and revocation. `registrations` issues them.

mod my_certificates;
pub mod page;
mod revoke;
mod verify;

use common::{Cursors, Routes};
use domain::Zone;
use identity::outbox::OutboxSealer;
use runtime::{ConfigError, Key};
use store::{Setup, Store};

/// The keys that `certificates` reads at start.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor, Key::Outbox];

/// The tables, the keys and the settings that the handlers use.
#[derive(Clone)]
pub(crate) struct Certificates {
    store: Store,
    cursors: Cursors,
    outbox: OutboxSealer,
    /// The time zone of the dates on a page.
    zone: Zone,
    /// The URL of the front end, without a trailing slash.
    public_url: String,
}

/// The routes below `/certificates`.
///
/// # Errors
/// When a setting or key is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let settings = &setup.settings;
    let certificates = Certificates {
        store: setup.store.clone(),
        cursors: setup.keys.parse(Key::Cursor)?,
        outbox: setup.keys.parse(Key::Outbox)?,
        zone: settings.parse("TIME_ZONE", "Africa/Tunis")?,
        public_url: settings.required_url("PUBLIC_URL")?.trim_end_matches('/').to_owned(),
    };
    Ok(Routes::default()
        .get("/certificates/my-certificates", my_certificates::list)
        .get("/certificates/{code}", verify::show)
        .get("/certificates/{code}/pdf", verify::pdf)
        .post("/certificates/{code}/revoke", revoke::revoke)
        .no_store("/certificates/my-certificates")
        .with_state(certificates))
}
