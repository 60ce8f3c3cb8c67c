//! Keys: from SSM Parameter Store on AWS, read once per start; from the environment elsewhere.

use std::{collections::HashMap, fmt::Display, str::FromStr};

use secrecy::{ExposeSecret, SecretString};

#[cfg(feature = "ssm")]
use crate::{Aws, parameters};
use crate::{ConfigError, Settings};

/// A key, or a list of keys, separated by commas, that a function asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// `TOKEN_SIGNING_KEY`: the seed that signs tokens. Only where people sign in.
    TokenSigning,
    /// `TOKEN_PUBLIC_KEYS`: the public keys whose tokens are good. No secret.
    TokenPublic,
    /// `SEALING_KEYS`: what secrets at rest are sealed with; the first seals.
    Sealing,
    /// `CURSOR_KEYS`: what cursors are sealed with; the first seals.
    Cursor,
    /// `OUTBOX_KEYS`: what messages wait under; the first seals. Its own key, so that what sends them
    /// can open nothing else.
    Outbox,
    /// `EDGE_SECRETS`: what the content network in front of the gateway shows. Asked for where `EDGE` is on.
    Edge,
    /// `CPANEL_TOKEN`: what opens the hosting account's panel. It may be missing, as the panel may.
    CpanelToken,
    /// `CANARY_SIGN_IN`: the address and the password that the canary signs in with.
    Canary,
}

impl Key {
    const ALL: [Self; 8] = [
        Self::TokenSigning,
        Self::TokenPublic,
        Self::Sealing,
        Self::Cursor,
        Self::Outbox,
        Self::Edge,
        Self::CpanelToken,
        Self::Canary,
    ];

    const fn setting(self) -> &'static str {
        match self {
            Self::TokenSigning => "TOKEN_SIGNING_KEY",
            Self::TokenPublic => "TOKEN_PUBLIC_KEYS",
            Self::Sealing => "SEALING_KEYS",
            Self::Cursor => "CURSOR_KEYS",
            Self::Outbox => "OUTBOX_KEYS",
            Self::Edge => "EDGE_SECRETS",
            Self::CpanelToken => "CPANEL_TOKEN",
            Self::Canary => "CANARY_SIGN_IN",
        }
    }

    /// The parameter below `KEYS_PATH`, `/halqa/<stage>/<function>`; what is public, or the same for all, stands
    /// beside the functions, in `/halqa/<stage>/public` and `/halqa/<stage>/edge`.
    pub fn parameter(self, path: &str) -> String {
        let stage = path.rsplit_once('/').map_or(path, |(stage, _)| stage);
        match self {
            Self::TokenPublic => format!("{stage}/public/{}", self.setting()),
            Self::Edge => format!("{stage}/edge/{}", self.setting()),
            _ => format!("{path}/{}", self.setting()),
        }
    }
}

/// The keys that this process may have.
#[derive(Clone)]
pub struct Keys(HashMap<&'static str, SecretString>);

impl Keys {
    /// The keys that stand in settings.
    pub fn from_settings(settings: &Settings) -> Self {
        let key_in_settings = |key: Key| {
            let value = settings.optional(key.setting())?;
            Some((key.setting(), SecretString::from(value)))
        };
        Self(Key::ALL.into_iter().filter_map(key_in_settings).collect())
    }

    /// `wanted` from SSM below the path that the setting `KEYS_PATH` names, in one request; from the settings
    /// themselves when there is no such path.
    #[cfg(feature = "ssm")]
    pub async fn read(wanted: &[Key], aws: &Aws, settings: &Settings) -> Result<Self, ConfigError> {
        let Some(path) = settings.optional("KEYS_PATH") else {
            return Ok(Self::from_settings(settings));
        };
        let names: Vec<String> = wanted
            .iter()
            .map(|key| key.parameter(path.trim_end_matches('/')))
            .collect();
        let unreadable = |problem| {
            ConfigError::new(
                "KEYS_PATH",
                format!("could not be read from SSM, below {path}: {problem}"),
            )
        };
        let mut there = parameters(&aws.ssm(), &names).await.map_err(unreadable)?;
        let mut keys = HashMap::new();
        for (key, name) in wanted.iter().zip(names) {
            match there.remove(&name) {
                Some(found) => drop(keys.insert(key.setting(), found)),
                None if *key == Key::CpanelToken => {}
                None => return Err(ConfigError::new(&name, "is not in SSM")),
            }
        }
        Ok(Self(keys))
    }

    /// The key, or the list of keys, `key` as `T` reads it.
    ///
    /// # Errors
    /// When it is missing, or `T` refuses it; `T`'s error never shows the key.
    pub fn parse<T: FromStr<Err: Display>>(&self, key: Key) -> Result<T, ConfigError> {
        let text = self
            .0
            .get(key.setting())
            .ok_or_else(|| ConfigError::new(key.setting(), "is missing"))?;
        text.expose_secret()
            .parse()
            .map_err(|problem| ConfigError::new(key.setting(), format!("is {problem}")))
    }

    /// The secret `key` as it stands, without the line end that a file may have left there.
    ///
    /// # Errors
    /// When it is missing or empty.
    pub fn secret(&self, key: Key) -> Result<SecretString, ConfigError> {
        let setting = key.setting();
        let secret = self
            .0
            .get(setting)
            .map(|secret| secret.expose_secret().trim())
            .filter(|secret| !secret.is_empty());
        secret
            .map(SecretString::from)
            .ok_or_else(|| ConfigError::new(setting, "is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_has_a_path_of_its_own_and_shares_what_is_public() {
        assert_eq!(
            Key::Sealing.parameter("/halqa/prod/auth"),
            "/halqa/prod/auth/SEALING_KEYS"
        );
        assert_eq!(
            Key::TokenPublic.parameter("/halqa/prod/auth"),
            "/halqa/prod/public/TOKEN_PUBLIC_KEYS"
        );
    }
}
