//! What accepting a thousand takes.

use std::time::{Duration, Instant};

use bench::{process::Process, say, trouble};
use common::{Edge, Spent};
use local::{Trouble, home::LocalSettings};
use runtime::Clock;
use serde_json::json;

use crate::stage::{Stage, ask};

/// The word by which this program starts itself as the function.
pub(crate) const FUNCTION: &str = "function";
/// The setting that tells it whom to call as.
const TOKEN: &str = "BENCH_TOKEN";
const CALLS: u32 = 10;

pub(crate) async fn run() -> Result<(), Trouble> {
    let quotas = [
        ("SMS_PER_USER_DAY", "1000000"),
        ("SMS_PER_COMMITTEE_DAY", "1000000"),
    ];
    let mut stage = Stage::new(&quotas).await?;
    stage.give(TOKEN);
    let ended = stage.start(FUNCTION)?.wait().await.map_err(trouble)?;
    if ended.success() {
        Ok(())
    } else {
        Err(Trouble::new("The function has failed."))
    }
}

/// The function alone, in a process of its own.
pub(crate) async fn function() -> Result<(), Trouble> {
    let settings = LocalSettings::of_environment();
    let (setup, token) = (
        settings.setup(Clock::default())?,
        settings.get(TOKEN).unwrap_or_default(),
    );
    let edge = Edge::new(&setup, sms::routes(&setup)?)?;
    let peak = || {
        Process::of(std::process::id())
            .memory()
            .map(|memory| memory.peak)
    };
    let before = peak()?;
    let texts: Vec<_> =
        (0..1000).map(|number| json!({ "to": format!("+216201{number:05}"), "variables": { "name": format!("Amel {number}") } })).collect();
    let numbers: Vec<String> = (0..1000)
        .map(|number| format!("+216201{number:05}"))
        .collect();
    say(
        "| POST /sms/bulk, 1,000 recipients | p50 ms | longest ms | round trips | read units | write units |\n|---|---|---|---|---|---|",
    );
    for (what, body) in [
        (
            "one text",
            json!({ "recipients": numbers, "message": "Bonjour" }),
        ),
        (
            "a name in each",
            json!({ "recipients": texts, "message": "Bonjour {{name}}" }),
        ),
    ] {
        let (body, mut took) = (body.to_string(), Vec::new());
        let mut cost = None;
        for _ in 0..CALLS {
            let start = Instant::now();
            let answer = ask(&edge, "POST", "/sms/bulk", &token, &body).await?;
            took.push(start.elapsed());
            cost = answer.extensions().get::<Spent>().map(|Spent(cost)| *cost);
            if !answer.status().is_success() {
                return Err(Trouble::new(
                    String::from_utf8_lossy(answer.body()).into_owned(),
                ));
            }
        }
        took.sort();
        let cost = cost.ok_or_else(|| Trouble::new("Nothing was spent."))?;
        let milliseconds = |at: usize| took.get(at).map_or(0.0, Duration::as_secs_f64) * 1000.0;
        let (median, longest) = (milliseconds(took.len() / 2), milliseconds(took.len() - 1));
        say(&format!(
            "| {what} | {median:.0} | {longest:.0} | {} | {} | {} |",
            cost.round_trips, cost.reads, cost.writes
        ));
    }
    say(&format!(
        "\nmost memory of the process: {:.0} MB, {before:.0} MB before the first call",
        peak()?
    ));
    Ok(())
}
