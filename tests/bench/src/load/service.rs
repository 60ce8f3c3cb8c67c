//! `cargo dev seed` as a process of its own, on a data folder of its own.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
    time::Duration,
};

use bench::{Result, error, service::EMAIL, service::PASSWORD};
use local::home::LocalSettings;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::sleep,
};

use crate::client::Client;

/// How often to ask whether it is ready, and how many times: it may have to be built.
const READY: (Duration, u32) = (Duration::from_millis(200), 6000);

/// The running service, ended when this is dropped.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    /// Its process id.
    pub(crate) process: u32,
    folder: TempDir,
    _child: Child,
}

impl Service {
    /// Starts the binary in the folder `BINARIES`, or builds it with cargo, and waits until it is ready.
    pub(crate) async fn start() -> Result<Self> {
        let folder = tempfile::tempdir().map_err(error)?;
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let address = free.and_then(|free| free.local_addr()).map_err(error)?;
        let log = File::create(folder.path().join("service.log")).map_err(error)?;
        let mut child = command()
            .env("PORT", address.port().to_string())
            .env("DATA_DIR", folder.path().join("data"))
            .env("LOCAL_ADMIN_EMAIL", EMAIL)
            .env("LOCAL_ADMIN_PASSWORD", PASSWORD)
            .env("RATE_LIMIT", "4000000000")
            .env("REGISTER_PER_HOUR", "4000000000")
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(error)?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(error)?;
        let process = wait_until_ready(&mut child, address).await?;
        Ok(Self {
            address,
            process,
            folder,
            _child: child,
        })
    }

    /// The last warnings and errors that it logged.
    pub(crate) fn log_end(&self) -> String {
        let text = fs::read_to_string(self.folder.path().join("service.log")).unwrap_or_default();
        let is_problem = |line: &&str| line.contains("WARN") || line.contains("ERROR");
        let lines: Vec<&str> = text.lines().filter(is_problem).collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }
}

fn command() -> Command {
    let environment = LocalSettings::of_environment();
    let mut command = match environment.get("BINARIES") {
        Some(folder) => Command::new(Path::new(&folder).join("local")),
        None => {
            let mut cargo = Command::new(environment.get("CARGO").unwrap_or("cargo".to_owned()));
            cargo.args(["run", "--profile", "measure", "--package", "local", "--"]);
            cargo
        }
    };
    command.arg("seed");
    command
}

/// Waits until it answers, and returns the process id that it reports.
async fn wait_until_ready(child: &mut Child, address: SocketAddr) -> Result<u32> {
    let client = Client::new(0, address, String::new());
    for _ in 0..READY.1 {
        if let Some(status) = child.try_wait().map_err(error)? {
            return Err(error(format!("the service ended: {status}")));
        }
        if let Ok(state) = client.request("GET", "/_local/state", &Value::Null).await {
            let id = state["about"]["processId"].as_u64();
            return u32::try_from(id.unwrap_or_default()).map_err(error);
        }
        sleep(READY.0).await;
    }
    Err(error("the service does not become ready"))
}
