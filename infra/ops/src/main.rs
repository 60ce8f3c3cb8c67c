//! `cargo ops reseal`, `cargo ops dead-letters`: see the README.

use std::process::ExitCode;

use common::{Clock, Setup, log_for_people};

#[tokio::main]
async fn main() -> ExitCode {
    log_for_people();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["reseal"] => reseal().await,
        ["dead-letters"] => dead_letters().await,
        ["dead-letters", "replay"] => replay(None).await,
        ["dead-letters", "replay", pk] => replay(Some(pk)).await,
        _ => Err("There are `cargo ops reseal` and `cargo ops dead-letters`, which may be followed by `replay` and a key.".to_owned()),
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
    let setup = setup()?;
    let resealed = ops::reseal(&setup).await.map_err(|failure| format!("Re-sealing stopped: {failure:?}."))?;
    Ok(format!("{} secrets were sealed anew; {} could not be opened.", resealed.done, resealed.unreadable))
}

async fn dead_letters() -> Result<String, String> {
    let dead = ops::dead_letters(&setup()?).await.map_err(|fault| fault.to_string())?;
    let lines = dead.iter().map(|letter| format!("{}  since {}  {}\n", letter.pk, letter.since, letter.cause));
    Ok(format!("{}{} dead letters.", lines.collect::<String>(), dead.len()))
}

async fn replay(pk: Option<&str>) -> Result<String, String> {
    let revived = ops::replay(&setup()?, pk).await.map_err(|fault| fault.to_string())?;
    Ok(format!("{revived} dead letters are tried again."))
}

fn setup() -> Result<Setup, String> {
    Setup::of_settings(&environment, Clock::default()).map_err(|problem| problem.to_string())
}

#[expect(clippy::disallowed_methods, reason = "the operator's program reads its own environment, once")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[expect(clippy::print_stdout, reason = "this is what an operator at a terminal reads")]
fn say(sentence: &str) {
    println!("{sentence}");
}
