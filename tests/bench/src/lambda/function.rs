//! Starts a function on its own core, calls it with an event, and measures both.

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::LazyLock,
    time::Duration,
};

use bench::{Result, Samples};
use bytes::Bytes;
use cloud::runtime_api::RuntimeApi;
use nix::{
    sched::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_getcpuclockid},
    unistd::Pid,
};
use serde_json::Value;

/// A function, an event, and their measurements.
#[derive(Default)]
pub(crate) struct Case {
    pub(crate) function: String,
    /// The name of the event; empty without one, when only the start is measured.
    pub(crate) event_name: String,
    pub(crate) path: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) event: Bytes,
    pub(crate) start_cpu: Samples,
    pub(crate) start_faults: Samples,
    pub(crate) first: Samples,
    pub(crate) warm: Samples,
    pub(crate) call_cpu: Samples,
    /// The peak of the last round, in MB.
    pub(crate) memory: f64,
}

impl Case {
    pub(crate) fn name(&self) -> String {
        let event = if self.event.is_empty() { "start alone" } else { &self.event_name };
        format!("{}, {event}", self.function)
    }

    /// Starts the function, and waits until it requests its first event.
    async fn start(&self) -> Result<(Process, RuntimeApi)> {
        let mut api = RuntimeApi::open().await?;
        let mut environment = self.environment.clone();
        environment.push(("AWS_LAMBDA_RUNTIME_API".to_owned(), api.address.to_string()));
        let names =
            "FUNCTION_NAME FUNCTION_VERSION FUNCTION_MEMORY_SIZE LOG_GROUP_NAME LOG_STREAM_NAME";
        let named = |name| (format!("AWS_LAMBDA_{name}"), "128".to_owned());
        environment.extend(names.split(' ').map(named));
        let process = Process::start(&self.path, &environment)?;
        api.wait_for_next().await?;
        Ok((process, api))
    }

    /// Measures a new process and `calls` of it, of sign-ins a fifteenth, because they hash a password.
    pub(crate) async fn measure_round(&mut self, calls: u32) -> Result<()> {
        let (process, mut api) = self.start().await?;
        self.start_cpu.record_time(process.cpu()?);
        self.start_faults.record(process.page_faults()?);
        if !self.event.is_empty() {
            self.first.record_time(call(&mut api, &self.event).await?);
            let calls = if self.event_name == "login" { calls / 15 } else { calls };
            let before = process.cpu()?;
            for _ in 0..calls {
                self.warm.record_time(call(&mut api, &self.event).await?);
            }
            self.call_cpu.record_time((process.cpu()? - before) / calls);
        }
        self.memory = process.peak_memory()?;
        Ok(())
    }
}

/// Calls the function, and returns how long it took; a status other than 200 is an error.
async fn call(api: &mut RuntimeApi, event: &Bytes) -> Result<Duration> {
    let (took, answer) = api.call(event).await?;
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
    if answer["statusCode"].as_u64().is_some_and(|status| status != 200) {
        return Err(format!("the function returned {answer}").into());
    }
    api.wait_for_next().await?;
    Ok(took)
}

/// The process of a function, killed on drop.
struct Process {
    child: Child,
    clock: ClockId,
}

impl Process {
    /// Starts `path` with `environment` on the last core.
    fn start(path: &Path, environment: &[(String, String)]) -> Result<Self> {
        let mut command = Command::new(path);
        command.env_clear().envs(environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        keep_to(*CORES - 1..*CORES)?;
        let child = command.spawn();
        leave_last_core()?;
        let child = child?;
        let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(child.id())?))?;
        Ok(Self { child, clock })
    }

    /// CPU time of all its threads so far.
    fn cpu(&self) -> Result<Duration> {
        Ok(self.clock.now()?.into())
    }

    /// Minor and major page faults so far: fields 10 and 12 of `/proc/<pid>/stat` (proc_pid_stat(5)).
    fn page_faults(&self) -> Result<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The second field, the name, may contain spaces and ends with the last bracket.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let numbers: Vec<u64> = fields.map(|field| field.parse().unwrap_or(0)).collect();
        Ok(numbers[7] + numbers[9])
    }

    /// Its peak memory so far (`VmHWM`, proc_pid_status(5)), in MB.
    fn peak_memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes: f64 = line.unwrap_or_default().trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes * 1024.0 / 1e6)
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
        set.set(core)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}
