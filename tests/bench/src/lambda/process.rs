//! Runs a function on its own core, and reads its CPU time, page faults and memory.

use std::{
    fs,
    ops::Range,
    path::Path,
    process::{Child, Command, Stdio},
    sync::LazyLock,
    time::Duration,
};

use bench::{Result, error, process};
use nix::{
    sched::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_getcpuclockid},
    unistd::Pid,
};

/// The process of a function, killed on drop.
pub(crate) struct Process {
    child: Child,
    clock: ClockId,
}

impl Process {
    /// Starts `path` with `environment` on the last core.
    pub(crate) fn start(path: &Path, environment: &[(String, String)]) -> Result<Self> {
        let mut command = Command::new(path);
        command.env_clear().envs(environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        keep_to(*CORES - 1..*CORES)?;
        let child = command.spawn();
        leave_last_core()?;
        let child = child.map_err(error)?;
        let id = i32::try_from(child.id()).map_err(error)?;
        let clock = clock_getcpuclockid(Pid::from_raw(id)).map_err(error)?;
        Ok(Self { child, clock })
    }

    /// CPU time of all its threads so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        Ok(self.clock.now().map_err(error)?.into())
    }

    /// Minor and major page faults so far: fields 10 and 12 of `/proc/<pid>/stat` (proc_pid_stat(5)).
    pub(crate) fn page_faults(&self) -> Result<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).map_err(error)?;
        // The second field, the name, may contain spaces and ends with the last bracket.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let numbers: Vec<u64> = fields.map(|field| field.parse().unwrap_or(0)).collect();
        Ok(numbers[7] + numbers[9])
    }

    /// Its peak memory so far, in MB.
    pub(crate) fn peak_memory(&self) -> Result<f64> {
        Ok(process::memory(self.child.id())?.peak)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number of cores, read before `leave_last_core` reduces it.
static CORES: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// Restricts this process to all cores but the last, on which the measured functions run.
pub(crate) fn leave_last_core() -> Result<()> {
    keep_to(0..(*CORES - 1).max(1))
}

fn keep_to(cores: Range<usize>) -> Result<()> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(core).map_err(error)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set).map_err(error)
}
