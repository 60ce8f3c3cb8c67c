//! What a function that uses the tables starts with.

#[cfg(feature = "ssm")]
use runtime::Key;
use runtime::{Aws, Clock, ConfigError, Keys, Settings, Startup};

use crate::Store;

/// Connections that one request uses side by side: for the limit, and for the caller.
#[cfg(feature = "ssm")]
const CONNECTIONS: usize = 2;

/// Everything that routes are made of. Cloning shares it.
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
    /// What a function starts with: fetches `keys` from SSM and, side by side, opens as many connections to
    /// the tables as one request uses.
    ///
    /// # Errors
    /// The first setting or key that is missing or makes no sense.
    #[cfg(feature = "ssm")]
    pub async fn start(settings: Settings, keys: &[Key]) -> Result<Self, ConfigError> {
        let (aws, clock) = (Aws::new(&settings)?, Clock::default());
        let store = Store::of_settings(&aws, &settings)?;
        let (keys, ()) = tokio::join!(
            Keys::read(keys, &aws, &settings),
            store.open_connections(CONNECTIONS)
        );
        Ok(Self {
            keys: keys?,
            settings,
            aws,
            store,
            clock,
        })
    }

    /// Adds the tables to `startup`. No connection is opened yet.
    ///
    /// # Errors
    /// When a table is not named.
    pub fn new(startup: Startup) -> Result<Self, ConfigError> {
        let Startup {
            settings,
            aws,
            keys,
            clock,
        } = startup;
        Ok(Self {
            store: Store::of_settings(&aws, &settings)?,
            settings,
            aws,
            keys,
            clock,
        })
    }
}

impl Store {
    /// The tables that `RECORDS_TABLE` and `TRANSIENT_TABLE` name.
    fn of_settings(aws: &Aws, settings: &Settings) -> Result<Self, ConfigError> {
        Ok(Self::new(
            aws.sdk(),
            settings.required("RECORDS_TABLE")?.to_owned(),
            settings.required("TRANSIENT_TABLE")?.to_owned(),
        ))
    }
}
