//! `cargo bench-faults`: two dozen people at work on the whole service while everything goes wrong that the
//! embedded cloud can do wrong; then everything that was promised is held against the store. A seed may follow,
//! and the number of faults that are to be survived.
//!
//! This process is the cloud, on a file, which nobody kills, the people and the weather. The service runs in processes of
//! its own, two that answer and two that send, and these are killed (`kill -9`) and have their clocks moved.
//! What people do, what goes wrong and in which order comes from the seed; when exactly it meets is up to the
//! processes, so a second run with the same seed is a day of the same kind and not the same day.

mod account;
mod actor;
mod check;
mod children;
mod client;
mod courses;
mod directing;
mod files;
mod joining;
mod known;
mod messages;
mod report;
mod stage;
mod tables;
mod weather;

use bench::error as trouble;
use local::Trouble;
use tokio::runtime::Builder;

/// So many faults are survived when nobody says otherwise.
const FAULTS: u64 = 10_000;

fn main() -> Result<(), Trouble> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // What this program starts of itself runs as it does on Lambda, on one thread.
    let is_on_lambda =
        [children::EDGE, children::DISPATCHER].contains(&words.first().map_or("", String::as_str));
    let mut runtime = if is_on_lambda {
        Builder::new_current_thread()
    } else {
        Builder::new_multi_thread()
    };
    runtime
        .enable_all()
        .build()
        .map_err(trouble)?
        .block_on(run(&words))
}

async fn run(words: &[String]) -> Result<(), Trouble> {
    match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => report::run(1, FAULTS).await,
        [children::EDGE] => children::edge().await,
        [children::DISPATCHER] => children::dispatch().await,
        [seed] => report::run(number(seed)?, FAULTS).await,
        [seed, faults] => report::run(number(seed)?, number(faults)?).await,
        _ => Err(Trouble::new(
            "`cargo bench-faults` may be followed by a seed and a number of faults.",
        )),
    }
}

fn number(text: &str) -> Result<u64, Trouble> {
    text.parse()
        .map_err(|_| Trouble::new(format!("{text} is no whole number.")))
}
