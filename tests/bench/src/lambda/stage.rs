//! The embedded cloud behind TLS, with the demonstration data and somebody who is signed in, and what functions are
//! told of it.

use std::{fs, net::Ipv4Addr, path::PathBuf};

use bench::trouble;
use bytes::Bytes;
use common::{Clock, Key};
use http::{Request, header};
use local::{Trouble, cloud::Cloud, home, home::LocalSettings, house, seed};
use serde_json::{Value, json};
use store::Store;
use tempfile::TempDir;

use crate::{ROOT, tls::Front};

/// Whom the event `login` is of.
const EMAIL: &str = "admin@example.org";
const PASSWORD: &str = "local-admin-passphrase";
/// Where `auth` finds its keys when it asks SSM.
const KEYS_PATH: &str = "/halqa/bench/auth";

pub(crate) struct Stage {
    pub(crate) cloud: Cloud,
    _front: Front,
    /// Reached without TLS.
    pub(crate) store: Store,
    settings: LocalSettings,
    token: String,
    _folder: TempDir,
}

impl Stage {
    pub(crate) async fn new() -> Result<Self, Trouble> {
        let folder = tempfile::tempdir().map_err(trouble)?;
        let cloud = Cloud::in_memory(folder.path()).await?;
        let mut settings = LocalSettings::default();
        settings
            .with_new_keys()
            .find(&cloud)
            .set("PUBLIC_URL", "http://127.0.0.1")
            .set("CANARY_URL", "http://127.0.0.1")
            .set("RATE_LIMIT", "4000000000");
        let setup = settings.setup(Clock::default())?;
        home::found(&setup, EMAIL, &PASSWORD.into()).await?;
        seed::fill(&settings, Clock::default(), EMAIL, PASSWORD).await?;
        for key in auth::KEYS.iter().chain([&Key::Edge]) {
            let parameter = key.parameter(KEYS_PATH);
            let name = parameter.rsplit('/').next().unwrap_or_default();
            cloud.put_parameter(&parameter, &settings.get(name).unwrap_or_default());
        }
        let plain = settings.get("AWS_ENDPOINT_URL").unwrap_or_default();
        let front = Front::open(
            plain
                .trim_start_matches("http://")
                .parse()
                .map_err(trouble)?,
        )
        .await?;
        settings
            .set("AWS_ENDPOINT_URL", front.endpoint.clone())
            .set("SSL_CERT_FILE", front.bundle.display().to_string());

        let credentials = json!({ "email": EMAIL, "password": PASSWORD }).to_string();
        let request = Request::post("/api/v1/auth/login")
            .body(Bytes::from(credentials))
            .map_err(trouble)?;
        let answer = house(&setup)?
            .answer(request, Ipv4Addr::LOCALHOST.into())
            .await;
        let token = answer
            .headers()
            .get(header::AUTHORIZATION)
            .and_then(|token| token.to_str().ok());
        let token = token
            .ok_or_else(|| Trouble::new("The administrator is not let in."))?
            .to_owned();
        Ok(Self {
            cloud,
            _front: front,
            store: setup.store,
            settings,
            token,
            _folder: folder,
        })
    }

    /// The settings of every function of ours.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        self.settings
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The same with keys in SSM.
    pub(crate) fn environment_with_parameters(&self) -> Vec<(String, String)> {
        self.with("KEYS_PATH", KEYS_PATH)
    }

    fn with(&self, name: &str, value: &str) -> Vec<(String, String)> {
        let mut settings = self.settings.clone();
        settings.set(name, value.to_owned());
        settings
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The event of `file` below `events`, of the administrator . Lists are asked for
    /// their first page.
    pub(crate) fn event(&self, file: &str) -> Result<Bytes, Trouble> {
        let path = PathBuf::from(ROOT)
            .join("events")
            .join(file)
            .with_extension("json");
        let text = fs::read_to_string(&path).map_err(|error| {
            Trouble::new(format!("{} cannot be read: {error}.", path.display()))
        })?;
        let mut event: Value = serde_json::from_str(&text).map_err(trouble)?;
        event["rawQueryString"] = "".into();
        if let Some(authorization) = event.pointer_mut("/headers/authorization") {
            *authorization = self.token.clone().into();
        }
        Ok(event.to_string().into())
    }
}
