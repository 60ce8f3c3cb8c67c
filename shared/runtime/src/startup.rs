//! What every function starts with.

#[cfg(feature = "ssm")]
use crate::Key;
use crate::{Aws, Clock, ConfigError, Keys, Settings};

/// Settings, AWS, keys and clock of one process. Cloning shares them.
#[derive(Clone)]
pub struct Startup {
    /// What everything is set to.
    pub settings: Settings,
    /// What everything on AWS is reached with.
    pub aws: Aws,
    /// The keys that this process may have.
    pub keys: Keys,
    /// The clock.
    pub clock: Clock,
}

impl Startup {
    /// Takes the keys from `settings` themselves, as a process outside Lambda does.
    ///
    /// # Errors
    /// A setting of AWS that is missing or makes no sense.
    pub fn of_settings(settings: Settings, clock: Clock) -> Result<Self, ConfigError> {
        Ok(Self {
            aws: Aws::new(&settings)?,
            keys: Keys::from_settings(&settings),
            settings,
            clock,
        })
    }

    /// Reads `keys` from SSM, where the settings name a path there, else from the settings.
    ///
    /// # Errors
    /// The first setting or key that is missing or makes no sense.
    #[cfg(feature = "ssm")]
    pub async fn read(settings: Settings, keys: &[Key]) -> Result<Self, ConfigError> {
        let (aws, clock) = (Aws::new(&settings)?, Clock::default());
        let keys = Keys::read(keys, &aws, &settings).await?;
        Ok(Self {
            settings,
            aws,
            keys,
            clock,
        })
    }
}
