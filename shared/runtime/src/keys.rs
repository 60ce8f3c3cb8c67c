//! Keys and secrets: from SSM Parameter Store on AWS, read once per start; elsewhere from the environment.

use std::{collections::HashMap, fmt::Display, str::FromStr};

use secrecy::{ExposeSecret, SecretString};

#[cfg(feature = "ssm")]
use crate::{Aws, parameters};
use crate::{ConfigError, Settings};

domain::codes! {
    /// The name of a key, or of a list of keys separated by commas, and its setting. Of a list that encrypts, the first key
    /// encrypts and all decrypt.
    Key {
        /// The seed that signs tokens. Only for functions that sign people in.
        TokenSigning "TOKEN_SIGNING_KEY"
        /// The public keys that verify tokens. Not secret.
        TokenPublic "TOKEN_PUBLIC_KEYS"
        /// Encrypt secrets at rest.
        Sealing "SEALING_KEYS"
        /// Encrypt paging cursors.
        Cursor "CURSOR_KEYS"
        /// Encrypt messages in the outbox. Separate, so that the dispatcher can decrypt nothing else.
        Outbox "OUTBOX_KEYS"
        /// The secrets by which the content network in front of the gateway authenticates. Read unless `EDGE` is `off`; by
        /// the canary always.
        Edge "EDGE_SECRETS"
        /// The API token of the hosting account's cPanel. Optional: a deployment may have no cPanel.
        CpanelToken "CPANEL_TOKEN"
        /// The address and password of the canary's account.
        Canary "CANARY_SIGN_IN"
    }
}

impl Key {
    /// The name of the SSM parameter for a function whose `KEYS_PATH` is `path`, `/halqa/<stage>/<function>`. Keys that
    /// functions share are in `/halqa/<stage>/public` and `/halqa/<stage>/edge`.
    pub fn parameter(self, path: &str) -> String {
        let stage = path.rsplit_once('/').map_or(path, |(stage, _)| stage);
        match self {
            Self::TokenPublic => format!("{stage}/public/{}", self.code()),
            Self::Edge => format!("{stage}/edge/{}", self.code()),
            _ => format!("{path}/{}", self.code()),
        }
    }
}

/// The keys of this process.
#[derive(Clone)]
pub struct Keys(HashMap<&'static str, SecretString>);

impl Keys {
    /// Takes all keys that are set in `settings`.
    pub fn from_settings(settings: &Settings) -> Self {
        let key_in_settings = |key: &Key| {
            let value = settings.optional(key.code())?;
            Some((key.code(), SecretString::from(value)))
        };
        Self(Key::ALL.iter().filter_map(key_in_settings).collect())
    }

    /// Reads the keys `wanted` from SSM below the setting `KEYS_PATH`, in one request; from `settings` when `KEYS_PATH`
    /// is not set.
    ///
    /// # Errors
    /// When SSM cannot be read, or a key other than [`Key::CpanelToken`] is not there.
    #[cfg(feature = "ssm")]
    pub async fn read(wanted: &[Key], aws: &Aws, settings: &Settings) -> Result<Self, ConfigError> {
        let Some(path) = settings.optional("KEYS_PATH") else {
            return Ok(Self::from_settings(settings));
        };
        let names: Vec<String> =
            wanted.iter().map(|key| key.parameter(path.trim_end_matches('/'))).collect();
        let unreadable = |problem| {
            ConfigError::new(
                "KEYS_PATH",
                format!("could not be read from SSM, below {path}: {problem}"),
            )
        };
        let mut found = parameters(&aws.ssm(), &names).await.map_err(unreadable)?;
        let mut keys = HashMap::new();
        for (key, name) in wanted.iter().zip(names) {
            match found.remove(&name) {
                Some(value) => drop(keys.insert(key.code(), value)),
                None if *key == Key::CpanelToken => {}
                None => return Err(ConfigError::new(&name, "is not in SSM")),
            }
        }
        Ok(Self(keys))
    }

    /// The key or list of keys `key`, parsed as `T`.
    ///
    /// # Errors
    /// When it is missing or `T` cannot parse it. `T`'s error must not contain the key.
    pub fn parse<T: FromStr<Err: Display>>(&self, key: Key) -> Result<T, ConfigError> {
        let text =
            self.0.get(key.code()).ok_or_else(|| ConfigError::new(key.code(), "is missing"))?;
        text.expose_secret()
            .parse()
            .map_err(|problem| ConfigError::new(key.code(), format!("is {problem}")))
    }

    /// The secret `key` as text, without surrounding white space such as the line end of a file.
    ///
    /// # Errors
    /// When it is missing or empty.
    pub fn secret(&self, key: Key) -> Result<SecretString, ConfigError> {
        let setting = key.code();
        let secret = self
            .0
            .get(setting)
            .map(|secret| secret.expose_secret().trim())
            .filter(|secret| !secret.is_empty());
        secret.map(SecretString::from).ok_or_else(|| ConfigError::new(setting, "is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_parameter_is_per_function_or_shared_when_public() {
        let [own, shared] =
            [Key::Sealing, Key::TokenPublic].map(|key| key.parameter("/halqa/prod/auth"));
        assert_eq!(own, "/halqa/prod/auth/SEALING_KEYS");
        assert_eq!(shared, "/halqa/prod/public/TOKEN_PUBLIC_KEYS");
    }
}
