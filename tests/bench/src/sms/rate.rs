//! What arrives in each second when eight dispatchers share a rate.

use std::time::Duration;

use bench::{say, trouble};
use dispatcher::Dispatcher;
use domain::Instant;
use local::{Trouble, delivery};
use serde_json::json;
use tokio::time::sleep;

use crate::stage::{DISPATCHER, Stage};

const RATE: usize = 20;
const DISPATCHERS: usize = 8;
const SECONDS: usize = 30;

pub(crate) async fn run() -> Result<(), Trouble> {
    let stage = Stage::new(&[("SMS_RATE_PER_SECOND", &RATE.to_string())]).await?;
    stage.reach_admin_at("216", "98123456").await?;
    stage.accept(RATE * (SECONDS + 10)).await?;
    let dispatchers = (0..DISPATCHERS)
        .map(|_| stage.start(DISPATCHER))
        .collect::<Result<Vec<_>, _>>()?;
    let stream = tokio::spawn(bring(stage.cloud.clone(), Dispatcher::new(&stage.setup)?));
    sleep(Duration::from_secs(SECONDS as u64 / 2)).await;
    let asked = stage.setup.clock.now().unix_milliseconds();
    stage
        .post(
            "/auth/passwordless",
            json!({ "email": "admin@example.org", "sendMethode": "sms" }),
        )
        .await?;
    sleep(Duration::from_secs(SECONDS as u64 / 2 + 5)).await;
    drop(dispatchers);
    stream.abort();

    let texts = stage.cloud.recorder().texts();
    let at = |text: &serde_json::Value| {
        text["at"]
            .as_str()
            .and_then(|at| at.parse::<Instant>().ok())
            .map(Instant::unix_milliseconds)
    };
    let mut times: Vec<i64> = texts.iter().filter_map(at).collect();
    times.sort_unstable();
    let first = times
        .first()
        .copied()
        .ok_or_else(|| Trouble::new("Nothing was sent."))?;
    let within = |from: i64, milliseconds: i64| {
        times
            .iter()
            .filter(|time| (from..from + milliseconds).contains(*time))
            .count()
    };
    let most = times
        .iter()
        .map(|time| within(*time, 1000))
        .max()
        .unwrap_or(0);
    let sent = within(first + 1000, SECONDS as i64 * 1000);
    let code = texts
        .iter()
        .find(|text| text["to"] == "+21698123456")
        .and_then(at)
        .ok_or_else(|| trouble("The code did not come."))?;
    say(&format!(
        "\n{DISPATCHERS} dispatchers, {RATE} a second, {SECONDS} s\n\n| | |\n|---|---|"
    ));
    say(&format!(
        "| most in any second | {most} (at most {}) |",
        RATE + 1
    ));
    say(&format!(
        "| of the rate over {SECONDS} s | {:.1} % (at least 90) |",
        100.0 * sent as f64 / (RATE * SECONDS) as f64
    ));
    say(&format!(
        "| a code meanwhile | {} ms (at most 2000) |",
        code - asked
    ));
    Ok(())
}

async fn bring(cloud: local::cloud::Cloud, dispatcher: Dispatcher) {
    loop {
        // What could not be brought is for the sweepers.
        let _ = delivery::bring(&cloud, &dispatcher).await;
        sleep(Duration::from_millis(50)).await;
    }
}
