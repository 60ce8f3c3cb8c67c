//! A process on a core of its own, and what the kernel counts of it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::LazyLock,
    time::Duration,
};

use bench::{process, trouble};
use local::Trouble;
use nix::{
    sched::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_getcpuclockid},
    unistd::Pid,
};

/// What is started: a program, its arguments and everything in its environment.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
}

/// It is killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    clock: ClockId,
}

impl Process {
    /// Starts `program` on the last core, which this process leaves to it; in `share` from its first instruction, if
    /// there is one.
    pub(crate) fn start(program: &Program, share: Option<&Share>) -> Result<Self, Trouble> {
        let mut command = match share {
            None => Command::new(&program.path),
            Some(share) => {
                let mut command = Command::new("sh");
                command
                    .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
                    .arg(share.members())
                    .arg(&program.path);
                command
            }
        };
        command
            .args(&program.arguments)
            .env_clear()
            .envs(program.environment.iter().cloned());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        keep_to(*CORES - 1..*CORES)?;
        let started = command.spawn();
        leave_the_last_core()?;
        let child = started.map_err(|error| {
            Trouble::new(format!(
                "{} cannot be started: {error}.",
                program.path.display()
            ))
        })?;
        let clock = clock_getcpuclockid(pid(&child)?).map_err(trouble)?;
        Ok(Self { child, clock })
    }

    /// The CPU time of all its threads so far, user and system.
    pub(crate) fn cpu(&self) -> Result<Duration, Trouble> {
        Ok(self.clock.now().map_err(trouble)?.into())
    }

    /// Page faults so far, minor and major
    /// (<https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>, fields 10 and 12).
    pub(crate) fn page_faults(&self) -> Result<u64, Trouble> {
        let stat =
            fs::read_to_string(format!("/proc/{}/stat", self.child.id())).map_err(trouble)?;
        // The second field, the name, may hold anything and ends with the last bracket.
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .map_or("", |(_, rest)| rest)
            .split_whitespace()
            .collect();
        let field = |number: usize| {
            fields
                .get(number - 3)
                .and_then(|field| field.parse::<u64>().ok())
        };
        field(10)
            .zip(field(12))
            .map(|(minor, major)| minor + major)
            .ok_or_else(|| Trouble::new("The kernel counts no page faults."))
    }

    /// The most memory that it ever had at once, in millions of bytes.
    pub(crate) fn peak_memory(&self) -> Result<f64, Trouble> {
        Ok(process::Process::of(self.child.id()).memory()?.peak)
    }

    /// From now on it has `share` of a core.
    pub(crate) fn join(&self, share: &Share) -> Result<(), Trouble> {
        fs::write(share.members(), self.child.id().to_string()).map_err(trouble)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pid(child: &Child) -> Result<Pid, Trouble> {
    i32::try_from(child.id())
        .map(Pid::from_raw)
        .map_err(trouble)
}

/// How many cores this process was given. Read before any of them is given away.
static CORES: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// Leaves the last core to what is measured.
pub(crate) fn leave_the_last_core() -> Result<(), Trouble> {
    keep_to(0..(*CORES - 1).max(1))
}

/// Keeps this thread, and what it starts, to `cores`.
fn keep_to(cores: std::ops::Range<usize>) -> Result<(), Trouble> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(core).map_err(trouble)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set).map_err(trouble)
}

/// A share of a CPU, as Lambda gives it by memory; a control group.
pub(crate) struct Share(PathBuf);

/// Microseconds in which the share is counted, as on Lambda.
const PERIOD: f64 = 20_000.0;

impl Share {
    /// `None` where this user may make no control groups.
    pub(crate) fn of(cpu: f64) -> Option<Self> {
        let quota = (cpu * PERIOD).round();
        let name = format!("halqa-bench-{}", std::process::id());
        let (first, second) = (
            Path::new("/sys/fs/cgroup/cpu").join(&name),
            Path::new("/sys/fs/cgroup").join(&name),
        );
        if fs::create_dir(&first).is_ok() {
            let share = Self(first);
            let write =
                |file: &str, value: f64| fs::write(share.0.join(file), value.to_string()).ok();
            return write("cpu.cfs_period_us", PERIOD)
                .and(write("cpu.cfs_quota_us", quota))
                .map(|()| share);
        }
        fs::create_dir(&second).ok()?;
        let share = Self(second);
        fs::write(share.0.join("cpu.max"), format!("{quota} {PERIOD}"))
            .ok()
            .map(|()| share)
    }

    fn members(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
