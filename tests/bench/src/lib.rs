//! Shared parts of the benchmarks and of `tests/chaos`: processes, samples and tables.
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure fails")]

use std::{error::Error, fs, path::Path, process::Stdio, time::Duration};

use dev::{
    delivery::{self, Consumers},
    home::LocalSettings,
};
use hdrhistogram::Histogram;
use runtime::Clock;
use tokio::{
    process::{Child, Command},
    time::sleep,
};

/// The result type of the benchmarks.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The largest sample, an hour in nanoseconds.
const HOUR: u64 = 3_600_000_000_000;

/// Measured values, kept to three significant digits.
pub struct Samples(Histogram<u64>);

impl Default for Samples {
    fn default() -> Self {
        Self(Histogram::new_with_max(HOUR, 3).expect("the bounds are valid"))
    }
}

impl Samples {
    /// Adds `value`.
    pub fn record(&mut self, value: u64) {
        self.0.saturating_record(value);
    }

    /// Adds `duration`, in nanoseconds.
    pub fn record_time(&mut self, duration: Duration) {
        self.record(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// The value that `share` (0 to 1) of the samples do not exceed; 0 without samples.
    pub fn quantile(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64
    }

    /// The quantile of durations, in milliseconds.
    pub fn milliseconds(&self, share: f64) -> f64 {
        self.quantile(share) / 1e6
    }
}

/// A table in Markdown: the first column is text, the others are numbers.
pub fn table<Row: AsRef<[String]>>(heads: &[&str], rows: impl IntoIterator<Item = Row>) -> String {
    let rule = format!("|---|{}", "--:|".repeat(heads.len() - 1));
    let mut lines = vec![format!("| {} |", heads.join(" | ")), rule];
    lines.extend(rows.into_iter().map(|row| format!("| {} |", row.as_ref().join(" | "))));
    lines.join("\n") + "\n"
}

/// Writes the page `name.md` into `tests/bench`.
pub fn write_page(name: &str, markdown: &str) -> Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    Ok(fs::write(file.with_extension("md"), markdown)?)
}

/// Starts this program again as `role`, with `settings` as its environment; killed when dropped.
pub fn start_role(role: &str, settings: &LocalSettings) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(role).env_clear().envs(settings.iter());
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    Ok(command.kill_on_drop(true).spawn()?)
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
