//! `cargo bench-lambda`: our release binaries as Lambda runs them, beside a function that does nothing.
//!
//! Each is started behind a Runtime API of its own, on a core of its own, with the embedded cloud behind TLS, in
//! rounds that take turns, so that a busy machine is busy for all. Read the ratios. Other functions than the usual may
//! be named, or `all`. What it prints it writes to `lambda.md` and `lambda.svg`, too, when nothing is named.

mod cast;
mod measure;
mod plot;
mod process;
mod runtime_api;
mod stage;
mod table;
mod tls;

use std::{fs, path::Path, time::Duration};

use bench::{say, trouble};
use identity::password::Hasher;
use local::Trouble;
use tokio::{runtime::Builder, time::Instant};

use measure::{Case, Figures};
use process::Share;
use stage::Stage;

/// The folder of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const ROUNDS: usize = 15;
/// Fewer with a share of a CPU: each takes as much longer.
const SHARE_ROUNDS: usize = 5;
/// What Lambda gives 256 MB of memory: a whole CPU is 1,769 MB
/// (<https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html>).
const SHARE: f64 = 0.145;

fn main() -> Result<(), Trouble> {
    process::leave_the_last_core()?;
    let functions: Vec<String> = std::env::args().skip(1).collect();
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(trouble)?
        .block_on(run(functions))
}

async fn run(named: Vec<String>) -> Result<(), Trouble> {
    let functions = match named
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => cast::USUAL.map(str::to_owned).to_vec(),
        ["all"] => all_functions()?,
        _ => named.clone(),
    };
    let stage = Stage::new().await?;
    let mut cases = vec![cast::floor(&stage)?];
    cases.extend(cast::ours(&stage, &functions)?);

    let mut figures: Vec<Figures> = cases.iter().map(|_| Figures::default()).collect();
    let mut hashes = Vec::new();
    for _ in 0..ROUNDS {
        for (case, figures) in cases.iter().zip(&mut figures) {
            measure::round(case, &stage, figures)
                .await
                .map_err(|trouble| of(case, &trouble))?;
        }
        hashes.extend(hash().await?);
    }
    for (case, figures) in cases.iter().zip(&mut figures) {
        measure::memory(case, figures)
            .await
            .map_err(|trouble| of(case, &trouble))?;
    }
    let share_rounds = Share::of(SHARE).map_or(0, |_| SHARE_ROUNDS);
    for _ in 0..share_rounds {
        for (case, figures) in cases.iter().zip(&mut figures) {
            measure::share_round(case, SHARE, figures)
                .await
                .map_err(|trouble| of(case, &trouble))?;
        }
    }

    let measured: Vec<(Case, Figures)> = cases.into_iter().zip(figures).collect();
    let page = table::page(&measured, table::median(&hashes));
    say(&page);
    if named.is_empty() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::write(here.join("lambda.md"), &page).map_err(trouble)?;
        fs::write(here.join("lambda.svg"), plot::svg(&measured)).map_err(trouble)?;
    }
    Ok(())
}

fn all_functions() -> Result<Vec<String>, Trouble> {
    let folders = fs::read_dir(Path::new(ROOT).join("functions")).map_err(trouble)?;
    let mut names: Vec<String> = folders
        .flatten()
        .filter_map(|folder| folder.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// A bare Argon2id, as often as a round signs in.
async fn hash() -> Result<Vec<Duration>, Trouble> {
    let (hasher, password) = (Hasher::default(), "local-admin-passphrase".into());
    let mut took = Vec::new();
    for _ in 0..10 {
        let start = Instant::now();
        hasher.hash(&password).await.map_err(trouble)?;
        took.push(start.elapsed());
    }
    Ok(took)
}

fn of(case: &Case, trouble: &Trouble) -> Trouble {
    Trouble::new(format!("{}: {trouble}", case.name))
}
