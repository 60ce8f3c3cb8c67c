//! The state that every process starts with.

#[cfg(feature = "ssm")]
use crate::Key;
use crate::{Aws, Clock, ConfigError, Keys, Settings};

/// Settings, AWS configuration, keys and clock of one process.
#[derive(Clone)]
pub struct Startup {
    /// The settings of the process.
    pub settings: Settings,
    /// The SDK configuration and HTTP client.
    pub aws: Aws,
    /// The keys that were read.
    pub keys: Keys,
    /// The clock of the process.
    pub clock: Clock,
}

impl Startup {
    /// Takes the keys from `settings`, for processes outside Lambda.
    ///
    /// # Errors
    /// As [`Aws::new`].
    pub fn of_settings(settings: Settings, clock: Clock) -> Result<Self, ConfigError> {
        Ok(Self {
            aws: Aws::new(&settings)?,
            keys: Keys::from_settings(&settings),
            settings,
            clock,
        })
    }

    /// Reads `keys` as [`Keys::read`] does.
    ///
    /// # Errors
    /// As [`Aws::new`] and [`Keys::read`].
    #[cfg(feature = "ssm")]
    pub async fn read(settings: Settings, keys: &[Key]) -> Result<Self, ConfigError> {
        let (aws, clock) = (Aws::new(&settings)?, Clock::default());
        let keys = Keys::read(keys, &aws, &settings).await?;
        Ok(Self { settings, aws, keys, clock })
    }
}
