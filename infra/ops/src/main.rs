//! `cargo ops reseal`: see the README.

use std::process::ExitCode;

use common::{Clock, Setup, log_for_people};

#[tokio::main]
async fn main() -> ExitCode {
    log_for_people();
    let outcome = match std::env::args().nth(1).as_deref() {
        Some("reseal") => reseal().await,
        _ => Err("There is one command: `cargo ops reseal`.".to_owned()),
    };
    match outcome {
        Ok(sentence) => {
            say(&sentence);
            ExitCode::SUCCESS
        }
        Err(sentence) => {
            say(&sentence);
            ExitCode::FAILURE
        }
    }
}

async fn reseal() -> Result<String, String> {
    let setup = Setup::of_settings(&environment, Clock::default()).map_err(|problem| problem.to_string())?;
    let resealed = ops::reseal(&setup).await.map_err(|failure| format!("Re-sealing stopped: {failure:?}."))?;
    Ok(format!("{} secrets were sealed anew; {} could not be opened.", resealed.done, resealed.unreadable))
}

#[expect(clippy::disallowed_methods, reason = "the operator's program reads its own environment, once")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[expect(clippy::print_stdout, reason = "this is what an operator at a terminal reads")]
fn say(sentence: &str) {
    println!("{sentence}");
}
