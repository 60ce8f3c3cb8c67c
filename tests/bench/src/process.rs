//! Starts the processes of a benchmark, and reads their memory (proc(5)).

use std::{fs, process::Stdio, time::Duration};

use dev::{
    delivery::{self, Consumers},
    home::LocalSettings,
};
use runtime::Clock;
use tokio::{
    process::{Child, Command},
    time::sleep,
};

use crate::{Result, error};

/// Memory in millions of bytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// In use now (`VmRSS`).
    pub resident: f64,
    /// The peak so far (`VmHWM`).
    pub peak: f64,
}

/// The memory of the process `id`.
pub fn memory(id: u32) -> Result<Memory> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).map_err(error)?;
    let megabytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.unwrap_or_default().trim().trim_end_matches(" kB");
        kilobytes.parse().unwrap_or(0.0) * 1024.0 / 1e6
    };
    Ok(Memory { resident: megabytes("VmRSS:"), peak: megabytes("VmHWM:") })
}

/// Starts this program again as `role`, with `settings` as its environment; killed when dropped.
pub fn start_role(role: &str, settings: &LocalSettings, stdout: Stdio) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe().map_err(error)?);
    command.arg(role).env_clear().envs(settings.iter());
    command.stdin(Stdio::piped()).stdout(stdout);
    command.kill_on_drop(true).spawn().map_err(error)
}

/// The async runtime for `arguments`: one thread, as on Lambda, if they name one of `roles`.
pub fn runtime(arguments: &[String], roles: &[&str]) -> Result<tokio::runtime::Runtime> {
    let first = arguments.first().map_or("", String::as_str);
    let mut builder = if roles.contains(&first) {
        tokio::runtime::Builder::new_current_thread()
    } else {
        tokio::runtime::Builder::new_multi_thread()
    };
    builder.enable_all().build().map_err(error)
}

/// Runs the sweeps of dispatcher and worker at this interval with the settings in the environment, until the process is
/// killed.
pub async fn sweep_forever(clock: Clock, every: Duration) -> Result<()> {
    let setup = LocalSettings::of_environment().setup(clock)?;
    let consumers = Consumers::new(&|_| Ok(setup.clone()))?;
    loop {
        delivery::sweep(&consumers).await?;
        sleep(every).await;
    }
}
