//! The service itself: `cargo dev seed` in a process of its own, on a data folder of its own.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
    time::Duration,
};

use bench::{
    load::{Client, request},
    process::Process,
    trouble,
};
use local::{Trouble, home::LocalSettings};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::sleep,
};

/// The administrator of the data folder.
pub(crate) const ADMIN: (&str, &str) = ("admin@example.org", "sept grenadiers en fleur");
/// How often is looked whether it is ready, and how many times: it may have to be built.
const LOOK: (Duration, u32) = (Duration::from_millis(200), 6000);

/// A running service. It ends with this value.
pub(crate) struct Service {
    /// Where it is.
    pub(crate) address: SocketAddr,
    /// What runs there.
    pub(crate) process: Process,
    folder: TempDir,
    _child: Child,
}

impl Service {
    /// Starts the service of this tree, or the one in the folder `BINARIES`, and waits until it is ready.
    ///
    /// # Errors
    /// When it cannot be built or started.
    pub(crate) async fn start() -> Result<Self, Trouble> {
        let folder = tempfile::tempdir().map_err(trouble)?;
        // Nobody else is given this port so soon.
        let free =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let address = free.map_err(trouble)?;
        let log = File::create(log(folder.path())).map_err(trouble)?;
        let mut command = command();
        command
            .env("PORT", address.port().to_string())
            .env("DATA_DIR", folder.path().join("data"))
            .env("LOCAL_ADMIN_EMAIL", ADMIN.0)
            .env("LOCAL_ADMIN_PASSWORD", ADMIN.1)
            // No client is to be told that he asks too often.
            .envs([
                ("RATE_LIMIT", "4000000000"),
                ("REGISTER_PER_HOUR", "4000000000"),
            ])
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(trouble)?)
            .stderr(log)
            .kill_on_drop(true);
        let mut child = command
            .spawn()
            .map_err(|error| Trouble::new(format!("The service cannot be started: {error}.")))?;
        let process = ready(&mut child, address)
            .await
            .map_err(|trouble| Trouble::new(format!("{trouble}\n{}", end(folder.path()))))?;
        Ok(Self {
            address,
            process,
            folder,
            _child: child,
        })
    }

    /// The warnings and errors in its log, the last ten.
    pub(crate) fn complaints(&self) -> String {
        let text = fs::read_to_string(log(self.folder.path())).unwrap_or_default();
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("WARN") || line.contains("ERROR"))
            .collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }
}

/// What starts it. `cargo run` becomes what it runs, so the one to end is the child in both cases.
fn command() -> Command {
    let settings = LocalSettings::of_environment();
    let mut command = match settings.get("BINARIES") {
        Some(folder) => Command::new(Path::new(&folder).join("local")),
        None => {
            let mut command =
                Command::new(settings.get("CARGO").unwrap_or_else(|| "cargo".to_owned()));
            command.args(["run", "--profile", "measure", "--package", "local", "--"]);
            command
        }
    };
    command.arg("seed");
    command
}

/// Waits until it answers, and asks it which process it is.
async fn ready(child: &mut Child, address: SocketAddr) -> Result<Process, Trouble> {
    let client = Client::new(0);
    for _ in 0..LOOK.1 {
        if let Some(status) = child.try_wait().map_err(trouble)? {
            return Err(Trouble::new(format!("The service has ended: {status}.")));
        }
        if let Ok(answer) = client
            .send(request(address, "GET", "/_local/state", "", "")?)
            .await
        {
            let state: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let id = state["about"]["processId"]
                .as_u64()
                .and_then(|id| u32::try_from(id).ok());
            return id
                .map(Process::of)
                .ok_or_else(|| Trouble::new("The service does not say which process it is."));
        }
        sleep(LOOK.0).await;
    }
    Err(Trouble::new("The service does not become ready."))
}

fn log(folder: &Path) -> std::path::PathBuf {
    folder.join("service.log")
}

/// The last lines that it wrote.
fn end(folder: &Path) -> String {
    let text = fs::read_to_string(log(folder)).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
