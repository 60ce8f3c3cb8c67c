//! A cloud in memory, which nobody kills, with a person who may send, and dispatchers beside it.

use std::{collections::HashMap, net::Ipv4Addr, process::Stdio, time::Duration};

use bench::trouble;
use bytes::Bytes;
use common::{Edge};
use dispatcher::Dispatcher;
use http::{Request, Response, header};
use local::{Trouble, cloud::Cloud, delivery, home, home::LocalSettings, house};
use runtime::Clock;
use serde_json::{Value, json};
use store::Setup;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// The word by which this program starts itself as a dispatcher.
pub(crate) const DISPATCHER: &str = "dispatcher";

const EMAIL: &str = "admin@example.org";
const PASSWORD: &str = "sept grenadiers en fleur";

pub(crate) struct Stage {
    pub(crate) cloud: Cloud,
    pub(crate) setup: Setup,
    pub(crate) token: String,
    settings: LocalSettings,
    edge: Edge,
    _folder: TempDir,
}

impl Stage {
    pub(crate) async fn new(settings: &[(&str, &str)]) -> Result<Self, Trouble> {
        let folder = tempfile::tempdir().map_err(trouble)?;
        let cloud = Cloud::in_memory(folder.path()).await?;
        let mut all = LocalSettings::default();
        all.with_new_keys()
            .find(&cloud)
            .set("PUBLIC_URL", "http://127.0.0.1")
            .set("RATE_LIMIT", "4000000000");
        for (name, value) in settings {
            all.set(name, *value);
        }
        let setup = all.setup(Clock::default())?;
        home::found(&setup, EMAIL, &PASSWORD.into()).await?;
        let edge = house(&setup)?;
        let mut stage = Self {
            cloud,
            setup,
            token: String::new(),
            settings: all,
            edge,
            _folder: folder,
        };
        let signed_in = stage
            .post(
                "/auth/login",
                json!({ "email": EMAIL, "password": PASSWORD }),
            )
            .await?;
        stage.token = signed_in["user"]["token"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        Ok(stage)
    }

    /// The answer to a POST, which succeeds.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Result<Value, Trouble> {
        let answer = ask(&self.edge, "POST", path, &self.token, &body.to_string()).await?;
        let told = serde_json::from_slice(answer.body()).unwrap_or_default();
        if answer.status().is_success() {
            Ok(told)
        } else {
            Err(Trouble::new(format!("{path} answered {told}")))
        }
    }

    /// Accepts a batch to `count` numbers and has it become messages.
    pub(crate) async fn accept(&self, count: usize) -> Result<(), Trouble> {
        let dispatcher = Dispatcher::new(&self.setup)?;
        let numbers: Vec<String> = (0..count)
            .map(|number| format!("+21620{number:06}"))
            .collect();
        for some in numbers.chunks(1000) {
            self.post(
                "/sms/bulk",
                json!({ "recipients": some, "message": "Bonjour" }),
            )
            .await?;
        }
        while delivery::bring(&self.cloud, &dispatcher).await? > 0 {}
        Ok(())
    }

    /// Starts this program as `role`, with the settings of this stage.
    pub(crate) fn start(&self, role: &str) -> Result<Child, Trouble> {
        let mut command = Command::new(std::env::current_exe().map_err(trouble)?);
        command
            .arg(role)
            .envs(self.settings.iter())
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        command.spawn().map_err(trouble)
    }

    /// Has the administrator be reached at this number.
    pub(crate) async fn reach_admin_at(&self, code: &str, number: &str) -> Result<(), Trouble> {
        let store = &self.setup.store;
        let admin = store
            .user(self.admin().await?)
            .await?
            .ok_or_else(|| Trouble::new("There is no administrator."))?;
        let phone =
            domain::Phone::parse(code, number).map_err(|_| Trouble::new("That is no number."))?;
        let reached = domain::user::User {
            phone,
            is_phone_verified: true,
            ..admin.clone()
        };
        let mut change = store.transaction();
        change.change_user(&admin, &reached);
        let _ = change.commit().await?;
        Ok(())
    }

    /// Gives what this stage starts the administrator's token as the setting `name`.
    pub(crate) fn give(&mut self, name: &str) {
        self.settings.set(name, self.token.clone());
    }

    /// How far the messages have come: number to status.
    pub(crate) async fn statuses(&self) -> Result<HashMap<String, String>, Trouble> {
        let mut statuses = HashMap::new();
        for batch in self
            .setup
            .store
            .batches_of(self.admin().await?, None, 100)
            .await?
            .items
        {
            for sms in self
                .setup
                .store
                .sms_of_batch(batch.batch_id, None, 1000)
                .await?
                .items
            {
                let status = serde_json::to_value(sms.status).map_err(trouble)?;
                statuses.insert(
                    sms.to.to_string(),
                    status.as_str().unwrap_or_default().to_owned(),
                );
            }
        }
        Ok(statuses)
    }

    async fn admin(&self) -> Result<domain::UserId, Trouble> {
        let email = EMAIL
            .parse()
            .map_err(|_| Trouble::new("The administrator has no address."))?;
        let owner = self.setup.store.email_owner(&email).await?;
        Ok(owner
            .ok_or_else(|| Trouble::new("There is no administrator."))?
            .user_id)
    }
}

/// One request without a network.
pub(crate) async fn ask(
    edge: &Edge,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> Result<Response<Bytes>, Trouble> {
    let request = Request::builder()
        .method(method)
        .uri(format!("/api/v1{path}"));
    let request = if token.is_empty() {
        request
    } else {
        request.header(header::AUTHORIZATION, token)
    };
    let request = request
        .body(Bytes::from(body.to_owned()))
        .map_err(trouble)?;
    Ok(edge.answer(request, Ipv4Addr::LOCALHOST.into()).await)
}

/// A dispatcher that sweeps until it is killed.
pub(crate) async fn dispatch() -> Result<(), Trouble> {
    let dispatcher = Dispatcher::new(&LocalSettings::of_environment().setup(Clock::default())?)?;
    loop {
        delivery::sweep(&dispatcher).await?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
