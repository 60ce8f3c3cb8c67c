//! The processes of the service: this program, started as another role, killed and started again.

use std::{net::Ipv4Addr, process::Stdio, time::Duration};

use bench::error as trouble;
use common::Clock;
use dispatcher::Dispatcher;
use local::{Trouble, delivery, front, home::LocalSettings, house};
use tokio::{
    io::AsyncWriteExt,
    net::TcpListener,
    process::{Child, Command},
};

/// The word by which this program starts itself as the functions that answer.
pub(crate) const EDGE: &str = "edge";
/// The same as the one that sends.
pub(crate) const DISPATCHER: &str = "dispatcher";
/// The setting that tells an edge where to listen.
const PORT: &str = "BENCH_PORT";

/// A process that is started again whenever it was killed.
pub(crate) struct Process {
    pub(crate) role: &'static str,
    settings: LocalSettings,
    child: Child,
    /// By how many milliseconds its clock is wrong.
    pub(crate) offset: i64,
}

impl Process {
    /// Starts `role` with `settings`; an edge listens on `port`.
    pub(crate) fn start(
        role: &'static str,
        settings: &LocalSettings,
        port: u16,
    ) -> Result<Self, Trouble> {
        let mut settings = settings.clone();
        settings.set(PORT, port.to_string());
        let child = spawn(role, &settings)?;
        Ok(Self {
            role,
            settings,
            child,
            offset: 0,
        })
    }

    /// Kills it (`kill -9`) and starts it again; its clock is right then.
    pub(crate) async fn kill(&mut self) -> Result<(), Trouble> {
        self.child.kill().await.map_err(trouble)?;
        self.child = spawn(self.role, &self.settings)?;
        self.offset = 0;
        Ok(())
    }

    /// Moves its clock by `milliseconds`.
    pub(crate) async fn step(&mut self, milliseconds: i64) -> Result<(), Trouble> {
        let Some(words) = self.child.stdin.as_mut() else {
            return Err(Trouble::new("A process does not listen."));
        };
        words
            .write_all(format!("{milliseconds}\n").as_bytes())
            .await
            .map_err(trouble)?;
        self.offset += milliseconds;
        Ok(())
    }
}

fn spawn(role: &str, settings: &LocalSettings) -> Result<Child, Trouble> {
    let program = std::env::current_exe().map_err(trouble)?;
    let mut command = Command::new(program);
    command
        .arg(role)
        .env_clear()
        .envs(settings.iter())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .kill_on_drop(true);
    command.spawn().map_err(trouble)
}

/// All functions behind one front door, until this process is killed.
pub(crate) async fn edge() -> Result<(), Trouble> {
    let settings = LocalSettings::of_environment();
    let clock = followed();
    let edge = house(&settings.setup(clock)?)?;
    let port: u16 = settings
        .get(PORT)
        .and_then(|port| port.parse().ok())
        .ok_or_else(|| Trouble::new("There is no port."))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .map_err(trouble)?;
    front::serve(listener, edge, None).await;
    Ok(())
}

/// A dispatcher that sweeps until it is killed.
pub(crate) async fn dispatch() -> Result<(), Trouble> {
    let dispatcher = Dispatcher::new(&LocalSettings::of_environment().setup(followed())?)?;
    loop {
        delivery::sweep(&dispatcher).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// A clock that is moved by as many milliseconds as each line says that comes in. Where no more can come, whoever
/// started this process is gone, and so is it.
fn followed() -> Clock {
    let clock = Clock::default();
    let moved = clock.clone();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let step: i64 = line.trim().parse().unwrap_or(0);
            let by = Duration::from_millis(step.unsigned_abs());
            if step > 0 {
                moved.advance(by)
            } else {
                moved.step_back(by)
            }
        }
        std::process::exit(0);
    });
    clock
}
