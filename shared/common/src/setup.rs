//! What a function is given when it starts.

use runtime::{Aws, BadSetting};
use store::Store;

#[cfg(feature = "lambda")]
use crate::Key;
use crate::{Clock, Keys, Settings};

/// Everything that routes are made of.
#[derive(Clone)]
pub struct Setup {
    /// What everything is set to.
    pub settings: Settings,
    /// What everything on AWS is reached with.
    pub aws: Aws,
    /// The tables.
    pub store: Store,
    /// The keys that this process may have.
    pub keys: Keys,
    /// The clock.
    pub clock: Clock,
}

impl Setup {
    /// What a function starts with: reads its settings, then fetches `keys` from SSM and opens `connections` to
    /// the tables, side by side.
    ///
    /// # Errors
    /// The first setting or key that is missing or makes no sense.
    #[cfg(feature = "lambda")]
    pub async fn start(
        keys: &[Key],
        connections: usize,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, BadSetting> {
        let (settings, aws, clock) = (Settings::read(lookup)?, Aws::new(lookup)?, Clock::default());
        let store = store(&aws, &settings);
        let edge = settings.has_edge.then_some(&Key::Edge);
        let keys: Vec<Key> = keys.iter().chain(edge).copied().collect();
        let (keys, ()) = tokio::join!(
            Keys::read(&keys, &aws, lookup),
            store.open_connections(connections)
        );
        Ok(Self {
            settings,
            aws,
            store,
            keys: keys?,
            clock,
        })
    }

    /// The same from `lookup` alone: keys stand among the settings, and nothing is opened yet.
    ///
    /// # Errors
    /// The first setting that is missing or makes no sense.
    pub fn of_settings(
        lookup: &dyn Fn(&str) -> Option<String>,
        clock: Clock,
    ) -> Result<Self, BadSetting> {
        let (settings, aws) = (Settings::read(lookup)?, Aws::new(lookup)?);
        let store = store(&aws, &settings);
        Ok(Self {
            settings,
            aws,
            store,
            keys: Keys::from_settings(lookup),
            clock,
        })
    }
}

fn store(aws: &Aws, settings: &Settings) -> Store {
    Store::new(
        aws.sdk(),
        settings.records_table.clone(),
        settings.transient_table.clone(),
    )
}
