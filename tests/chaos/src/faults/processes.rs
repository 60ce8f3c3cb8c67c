//! The processes of the service: this program in another role, killed and restarted.

use std::{net::Ipv4Addr, process::Stdio, time::Duration};

use bench::{Result, error, process::start_role};
use dev::{edge, front, home::LocalSettings};
use runtime::Clock;
use tokio::{io::AsyncWriteExt, net::TcpListener, process::Child};

/// The roles: all functions behind one edge, and dispatcher and worker.
pub(crate) const EDGE: &str = "edge";
pub(crate) const BACKGROUND: &str = "background";
/// The setting with the port of an edge.
const PORT: &str = "CHAOS_PORT";

/// A process that is restarted after every kill.
pub(crate) struct Process {
    pub(crate) role: &'static str,
    settings: LocalSettings,
    child: Child,
    /// The offset of its clock in milliseconds.
    pub(crate) offset: i64,
}

impl Process {
    /// Starts `role` with `settings`; an edge listens on `port`.
    pub(crate) fn start(role: &'static str, settings: &LocalSettings, port: u16) -> Result<Self> {
        let mut settings = settings.clone();
        settings.set(PORT, port.to_string());
        Ok(Self { role, child: start_role(role, &settings, Stdio::null())?, settings, offset: 0 })
    }

    /// Kills it (`kill -9`) and restarts it with a correct clock.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.child.kill().await.map_err(error)?;
        self.child = start_role(self.role, &self.settings, Stdio::null())?;
        self.offset = 0;
        Ok(())
    }

    /// Moves its clock by `milliseconds`.
    pub(crate) async fn move_clock(&mut self, milliseconds: i64) -> Result<()> {
        let input = self.child.stdin.as_mut();
        let input = input.ok_or_else(|| error("A process has no standard input."))?;
        let line = format!("{milliseconds}\n");
        input.write_all(line.as_bytes()).await.map_err(error)?;
        self.offset += milliseconds;
        Ok(())
    }
}

/// Serves all functions behind one edge, until this process is killed.
pub(crate) async fn serve_edge() -> Result<()> {
    let settings = LocalSettings::of_environment();
    let edge = edge(&settings.setup(moved_clock())?)?;
    let port: u16 = settings.get(PORT).unwrap_or_default().parse().map_err(error)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    front::serve(listener.map_err(error)?, edge, None).await;
    Ok(())
}

/// A clock that each line of the standard input moves by that number of milliseconds. The process exits at the end of
/// the input, because its parent has ended.
pub(crate) fn moved_clock() -> Clock {
    let clock = Clock::default();
    let moved = clock.clone();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(std::io::Result::ok) {
            let milliseconds: i64 = line.trim().parse().unwrap_or(0);
            let by = Duration::from_millis(milliseconds.unsigned_abs());
            if milliseconds > 0 { moved.advance(by) } else { moved.step_back(by) }
        }
        std::process::exit(0);
    });
    clock
}
