//! Shared parts of the benchmarks and of the runs in `tests/chaos`: the service in this process, samples and output.

pub mod process;
pub mod service;
pub mod sms;

use std::{fmt::Display, fs, path::Path, time::Duration};

use hdrhistogram::Histogram;

pub use cloud::LocalError as Error;

/// The result type of the benchmarks.
pub type Result<T> = std::result::Result<T, Error>;

/// An [`Error`] with the text of `cause`.
pub fn error(cause: impl Display) -> Error {
    Error::new(cause.to_string())
}

/// The largest sample, an hour in nanoseconds.
const HOUR: u64 = 3_600_000_000_000;

/// Measured values, kept to three significant digits.
pub struct Samples(Histogram<u64>);

impl Samples {
    /// No samples.
    pub fn new() -> Result<Self> {
        Histogram::new_with_max(HOUR, 3).map(Self).map_err(error)
    }

    /// Adds `value`.
    pub fn record(&mut self, value: u64) {
        self.0.saturating_record(value);
    }

    /// Adds `duration`, in nanoseconds.
    pub fn record_time(&mut self, duration: Duration) {
        self.record(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// The number of samples.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The value that `share` (0 to 1) of the samples do not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64
    }

    /// The quantile of durations, in milliseconds.
    pub fn milliseconds(&self, share: f64) -> f64 {
        self.quantile(share) / 1e6
    }
}

/// `number` with a comma every three digits.
pub fn thousands(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", thousands(number / 1000), number % 1000)
}

/// Prints `line` to the standard output.
#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
pub fn print(line: impl Display) {
    println!("{line}");
}

/// Writes the page `name.md` into `tests/bench`.
pub fn write_page(name: &str, markdown: &str) -> Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::write(file.with_extension("md"), markdown).map_err(error)
}
