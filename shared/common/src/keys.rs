//! Keys: from SSM Parameter Store on AWS, read once per start; from the environment elsewhere.

use std::{collections::HashMap, str::FromStr};

use identity::{
    NamedKey,
    sealing::Sealer,
    token::{PublicKey, Signer, Verifier},
};
use runtime::BadSetting;
#[cfg(feature = "lambda")]
use runtime::{Aws, Lookup, parameters};
use secrecy::{ExposeSecret, SecretString};

use crate::Cursors;

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
    pub fn from_settings(lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        Self(
            Key::ALL
                .into_iter()
                .filter_map(|key| Some((key.setting(), lookup(key.setting())?.into())))
                .collect(),
        )
    }

    /// `wanted` from SSM below the path that the setting `KEYS_PATH` names, in one request; from the settings
    /// themselves when there is no such path.
    #[cfg(feature = "lambda")]
    pub(crate) async fn read(
        wanted: &[Key],
        aws: &Aws,
        lookup: Lookup<'_>,
    ) -> Result<Self, BadSetting> {
        let Some(path) = lookup("KEYS_PATH").filter(|path| !path.is_empty()) else {
            return Ok(Self::from_settings(lookup));
        };
        let names: Vec<String> = wanted
            .iter()
            .map(|key| key.parameter(path.trim_end_matches('/')))
            .collect();
        let unreadable = |problem| {
            BadSetting::new(
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
                None => return Err(BadSetting::new(&name, "is not in SSM")),
            }
        }
        Ok(Self(keys))
    }

    /// What signs tokens.
    ///
    /// # Errors
    /// When the key is missing or malformed, as with all of these.
    pub fn signer(&self) -> Result<Signer, BadSetting> {
        let setting = Key::TokenSigning.setting();
        let keys: Vec<NamedKey> = self.list(setting)?;
        let [key] = keys.as_slice() else {
            return Err(BadSetting::new(setting, "must be one key"));
        };
        Ok(Signer::new(key))
    }

    /// What checks tokens.
    ///
    /// # Errors
    /// When the keys are missing or malformed.
    pub fn verifier(&self) -> Result<Verifier, BadSetting> {
        Ok(Verifier::new(
            &self.list::<PublicKey>(Key::TokenPublic.setting())?,
        ))
    }

    /// What seals secrets.
    ///
    /// # Errors
    /// When the keys are missing or malformed.
    pub fn sealer(&self) -> Result<Sealer, BadSetting> {
        self.sealer_under(Key::Sealing.setting())
    }

    /// What makes cursors.
    ///
    /// # Errors
    /// When the keys are missing or malformed.
    pub fn cursors(&self) -> Result<Cursors, BadSetting> {
        self.sealer_under(Key::Cursor.setting()).map(Cursors::new)
    }

    /// What messages are sealed with while they wait.
    ///
    /// # Errors
    /// When the keys are missing or malformed.
    pub fn outbox(&self) -> Result<Sealer, BadSetting> {
        self.sealer_under(Key::Outbox.setting())
    }

    /// What the content network in front of the gateway may show.
    ///
    /// # Errors
    /// When the keys are missing or malformed.
    pub(crate) fn edge(&self) -> Result<Vec<NamedKey>, BadSetting> {
        self.list(Key::Edge.setting())
    }

    /// What opens the hosting account's panel.
    ///
    /// # Errors
    /// When it is missing.
    pub fn cpanel_token(&self) -> Result<SecretString, BadSetting> {
        self.secret(Key::CpanelToken)
    }

    /// What the canary signs in with.
    ///
    /// # Errors
    /// When it is missing.
    pub fn canary(&self) -> Result<SecretString, BadSetting> {
        self.secret(Key::Canary)
    }

    fn secret(&self, key: Key) -> Result<SecretString, BadSetting> {
        let setting = key.setting();
        // Whoever puts it there from a file may have put the end of its line there, too.
        let secret = self
            .0
            .get(setting)
            .map(|secret| secret.expose_secret().trim())
            .filter(|secret| !secret.is_empty());
        secret
            .map(SecretString::from)
            .ok_or_else(|| BadSetting::new(setting, "is missing"))
    }

    fn sealer_under(&self, setting: &'static str) -> Result<Sealer, BadSetting> {
        Sealer::new(self.list(setting)?).ok_or_else(|| BadSetting::new(setting, "is missing"))
    }

    fn list<T: FromStr<Err = identity::MalformedKey>>(
        &self,
        setting: &'static str,
    ) -> Result<Vec<T>, BadSetting> {
        let text = self
            .0
            .get(setting)
            .ok_or_else(|| BadSetting::new(setting, "is missing"))?;
        let keys: Result<_, _> = text.expose_secret().split(',').map(str::parse).collect();
        keys.map_err(|problem| BadSetting::new(setting, format!("is {problem}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_malformed_key_is_named_and_not_shown() {
        let signing = NamedKey::generate("2026-11").to_setting();
        let keys = |value: Option<&str>| Keys::from_settings(&|_| value.map(str::to_owned));
        assert!(keys(Some(&signing)).signer().is_ok());
        for value in [
            None,
            Some(""),
            Some("k:short"),
            Some(&*format!("{signing},{signing}")),
        ] {
            let problem = keys(value).signer().map(|_| ()).unwrap_err().to_string();
            assert!(
                problem.starts_with("The setting TOKEN_SIGNING_KEY ")
                    && !problem.contains(&signing),
                "{problem}"
            );
        }
    }

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
