//! The environment that a command works on.

use std::{collections::HashMap, fs, path::Path, str::FromStr};

use secrecy::ExposeSecret;

use crate::Parameters;

/// An environment on AWS, or the local cloud of a running `cargo dev`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// `dev`, `staging` or `prod`: on AWS.
    Deployed(&'static str),
    /// `local`: found through the data folder of a running `cargo dev`.
    Local,
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "dev" => Ok(Self::Deployed("dev")),
            "staging" => Ok(Self::Deployed("staging")),
            "prod" => Ok(Self::Deployed("prod")),
            "local" => Ok(Self::Local),
            _ => Err(format!("There is no environment {text}: use dev, staging, prod or local.")),
        }
    }
}

/// The PEM files with the trusted roots of Debian, Fedora, Alpine and macOS.
const BUNDLES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The default data folder of `cargo dev`.
const LOCAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.local");

impl Stage {
    /// The SSM path of the keys of `function`.
    pub fn keys_path(self, function: &str) -> String {
        match self {
            Self::Deployed(stage) => format!("/halqa/{stage}/{function}"),
            Self::Local => format!("/halqa/local/{function}"),
        }
    }

    /// The tables that the stack uses, as settings: its own, or those that its parameters name. The template writes
    /// them to Parameter Store. Empty before the first deployment and for [`Stage::Local`].
    ///
    /// # Errors
    /// When SSM does not respond.
    pub async fn tables(self, parameters: &Parameters) -> Result<HashMap<String, String>, String> {
        if self == Self::Local {
            return Ok(HashMap::new());
        }
        let path = self.keys_path("stack");
        let settings = ["RECORDS_TABLE", "TRANSIENT_TABLE"];
        let names = settings.map(|setting| format!("{path}/{setting}"));
        let found = parameters.read(&names).await?;
        let named = settings.into_iter().zip(&names).filter_map(|(setting, name)| {
            let table = found.get(name)?.expose_secret();
            Some((setting.to_owned(), table.to_owned()))
        });
        Ok(named.collect())
    }

    /// The settings for this environment: `environment` with the names of the tables that a stack makes and, on AWS, the
    /// path of the keys of `function`.
    ///
    /// # Errors
    /// When no `cargo dev` is running for [`Stage::Local`].
    pub fn settings(
        self,
        mut environment: HashMap<String, String>,
        function: &str,
    ) -> Result<HashMap<String, String>, String> {
        if let Some(bundle) = BUNDLES.into_iter().find(|bundle| Path::new(bundle).exists()) {
            environment.entry("SSL_CERT_FILE".to_owned()).or_insert_with(|| bundle.to_owned());
        }
        match self {
            // The name of the environment takes precedence over variables that name other tables.
            Self::Deployed(stage) => {
                environment.insert("RECORDS_TABLE".to_owned(), format!("halqa-{stage}-records"));
                environment
                    .insert("TRANSIENT_TABLE".to_owned(), format!("halqa-{stage}-transient"));
                environment.insert("KEYS_PATH".to_owned(), self.keys_path(function));
            }
            Self::Local => {
                environment.remove("KEYS_PATH");
                let folder =
                    environment.get("DATA_DIR").cloned().unwrap_or_else(|| LOCAL.to_owned());
                let file = format!("{folder}/environment");
                let text = fs::read_to_string(&file).map_err(|_| {
                    format!("There is no {file}: `cargo dev` writes it while it runs.")
                })?;
                environment.extend(
                    text.lines()
                        .filter_map(|line| line.split_once('='))
                        .map(|(name, value)| (name.into(), value.trim_matches('\'').into())),
                );
            }
        }
        Ok(environment)
    }
}
