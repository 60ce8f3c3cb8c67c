//! The service in this process: the embedded cloud, all functions behind one edge, one administrator.

use std::net::Ipv4Addr;

use bytes::Bytes;
use cloud::Cloud;
use common::{Edge, RequestCost};
use dev::{edge, home, home::LocalSettings};
use http::{Request, header};
use runtime::Clock;
use serde_json::{Value, json};
use store::{Cost, Setup};
use tempfile::TempDir;

use crate::{Result, error};

/// The administrator's address.
pub const EMAIL: &str = "admin@example.org";
/// The administrator's password; the event `auth/login` has the same.
pub const PASSWORD: &str = "local-admin-passphrase";

/// Where the tables are kept.
#[derive(Clone, Copy)]
pub enum Tables {
    /// In memory. Every write reads the whole stream: only for runs of few writes.
    Memory,
    /// In a file of the temporary folder.
    File,
}

/// A running service with a signed-in administrator.
pub struct LocalService {
    /// The embedded cloud.
    pub cloud: Cloud,
    /// The environment of its processes.
    pub settings: LocalSettings,
    /// The settings, clock and store of its functions.
    pub setup: Setup,
    /// The edge in front of all functions.
    pub edge: Edge,
    /// The administrator's access token.
    pub token: String,
    /// The data folder, deleted on drop.
    pub folder: TempDir,
}

impl LocalService {
    /// Starts the service with new keys; `settings` override its defaults.
    pub async fn start(tables: Tables, settings: &[(&str, &str)]) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(error)?;
        let cloud = match tables {
            Tables::Memory => Cloud::in_memory(folder.path()).await?,
            Tables::File => Cloud::in_folder(folder.path()).await?,
        };
        let mut all = LocalSettings::default();
        all.with_new_keys().find(&cloud);
        all.set("PUBLIC_URL", "http://localhost");
        all.set("RATE_LIMIT", "4000000000");
        for (name, value) in settings {
            all.set(name, *value);
        }
        let setup = all.setup(Clock::default())?;
        home::bootstrap(&setup, EMAIL, &PASSWORD.into()).await?;
        let edge = edge(&setup)?;
        let body = json!({ "email": EMAIL, "password": PASSWORD });
        let login = call(&edge, "POST", "/auth/login", "", &body).await?;
        let token = text(&login.body["user"]["token"]);
        Ok(Self { cloud, settings: all, setup, edge, token, folder })
    }

    /// Sends a request as the administrator; any status but 2xx is an error.
    pub async fn call(&self, method: &str, path: &str, body: &Value) -> Result<Answer> {
        call(&self.edge, method, path, &self.token, body).await
    }
}

/// A successful response.
pub struct Answer {
    /// Its body.
    pub body: Value,
    /// The cost in the store, if it was used.
    pub cost: Option<Cost>,
}

/// Sends a request to `edge` in this process; any status but 2xx is an error.
pub async fn call(
    edge: &Edge,
    method: &str,
    path: &str,
    token: &str,
    body: &Value,
) -> Result<Answer> {
    let request = request(method, path, token, body)?;
    let response = edge.answer(request, Ipv4Addr::LOCALHOST.into()).await;
    if !response.status().is_success() {
        let body = String::from_utf8_lossy(response.body());
        return Err(error(format!("{method} {path} returned {body}")));
    }
    Ok(Answer {
        body: serde_json::from_slice(response.body()).map_err(error)?,
        cost: response.extensions().get().map(|RequestCost(cost)| *cost),
    })
}

fn request(method: &str, path: &str, token: &str, body: &Value) -> Result<Request<Bytes>> {
    let mut request = Request::builder().method(method).uri(format!("/api/v1{path}"));
    if !token.is_empty() {
        request = request.header(header::AUTHORIZATION, token);
    }
    request.body(body_bytes(body)).map_err(error)
}

/// `body` as JSON; empty for null.
pub fn body_bytes(body: &Value) -> Bytes {
    if body.is_null() {
        return Bytes::new();
    }
    body.to_string().into()
}

/// The string in `value`, or an empty one.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
