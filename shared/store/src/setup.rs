//! The start of a function that uses the tables.

#[cfg(feature = "ssm")]
use runtime::Key;
use runtime::{Aws, Clock, ConfigError, Keys, Settings, Startup};

use crate::Store;

/// Connections that one request uses concurrently: for the rate limit and for the caller.
#[cfg(feature = "ssm")]
const CONNECTIONS: usize = 2;

/// The settings, clients and keys that a function's state is built from. Clones share them.
#[derive(Clone)]
pub struct Setup {
    /// The settings of the function.
    pub settings: Settings,
    /// The SDK configuration for all AWS clients.
    pub aws: Aws,
    /// The client of the tables.
    pub store: Store,
    /// The secret keys of the function.
    pub keys: Keys,
    /// The source of the current time.
    pub clock: Clock,
}

impl Setup {
    /// Reads `keys` from SSM and concurrently opens as many connections to the tables as one request uses.
    ///
    /// # Errors
    /// The first setting or key that is missing or invalid.
    #[cfg(feature = "ssm")]
    pub async fn start(settings: Settings, keys: &[Key]) -> Result<Self, ConfigError> {
        let (aws, clock) = (Aws::new(&settings)?, Clock::default());
        let store = Store::from_settings(&aws, &settings)?;
        let (keys, ()) =
            tokio::join!(Keys::read(keys, &aws, &settings), store.open_connections(CONNECTIONS));
        Ok(Self { keys: keys?, settings, aws, store, clock })
    }

    /// Adds the client of the tables to `startup`. Opens no connection.
    ///
    /// # Errors
    /// `RECORDS_TABLE` or `TRANSIENT_TABLE` is not set.
    pub fn new(startup: Startup) -> Result<Self, ConfigError> {
        let Startup { settings, aws, keys, clock } = startup;
        Ok(Self { store: Store::from_settings(&aws, &settings)?, settings, aws, keys, clock })
    }
}

impl Store {
    fn from_settings(aws: &Aws, settings: &Settings) -> Result<Self, ConfigError> {
        Ok(Self::new(
            aws.sdk(),
            settings.required("RECORDS_TABLE")?.to_owned(),
            settings.required("TRANSIENT_TABLE")?.to_owned(),
        ))
    }
}
