//! `cargo chaos-faults [SEED [COUNT]]`: two dozen virtual users use the whole service while COUNT faults are injected;
//! then every promise is checked against the store and the API.
//!
//! This process contains the cloud with its tables in a file, the users and the fault injector. The service runs in
//! separate processes, two edges and two with dispatcher and worker, which are killed (`kill -9`) and whose clocks are moved. The seed
//! determines the actions and the faults; the timing is real, so two runs with one seed are similar, not equal.

mod account;
mod administration;
mod check;
mod client;
mod courses;
mod deployment;
mod expected;
mod fault_injector;
mod files;
mod messages;
mod processes;
mod promise;
mod registration;
mod run;
mod tables;
mod virtual_user;
mod workload;

use std::time::Duration;

use bench::{Result, error, process};

/// Faults of a run without arguments.
const FAULTS: u64 = 10_000;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = process::runtime(&arguments, &[processes::EDGE, processes::BACKGROUND])?;
    runtime.block_on(run(&arguments))
}

async fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => run::run(1, FAULTS).await,
        [processes::EDGE] => processes::serve_edge().await,
        [processes::BACKGROUND] => {
            process::sweep_forever(processes::moved_clock(), Duration::from_secs(1)).await
        }
        [seed] => run::run(number(seed)?, FAULTS).await,
        [seed, faults] => run::run(number(seed)?, number(faults)?).await,
        _ => Err(error("usage: cargo chaos-faults [SEED [COUNT]]")),
    }
}

fn number(text: &str) -> Result<u64> {
    let malformed = |_| error(format!("{text} is not a whole number."));
    text.parse().map_err(malformed)
}
