//! Thousands of messages and fifty violent ends.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use bench::{say, trouble};
use local::{
    Trouble,
    chance::Chance,
    faults::{Fault, Mode, Service},
};
use store::keys::BULK_DUE;
use tokio::time::{Instant, sleep};

use crate::stage::{DISPATCHER, Stage};

const KILLS: usize = 50;
/// Dispatchers at once.
const BESIDE: usize = 3;
/// Longer than a claim, a refusal's longest wait and a tenth of all.
const PATIENCE: Duration = Duration::from_secs(1800);

pub(crate) async fn run(seed: u64, messages: usize) -> Result<(), Trouble> {
    let settings = [
        ("SMS_RATE_PER_SECOND", "400"),
        ("SMS_CLAIM_SECONDS", "20"),
        ("SMS_PER_USER_DAY", "100000"),
        ("SMS_PER_COMMITTEE_DAY", "100000"),
    ];
    let stage = Stage::new(&settings).await?;
    let mut chance = Chance::new(seed);
    stage.accept(messages).await?;
    let start = Instant::now();
    let mut dispatchers = (0..BESIDE)
        .map(|_| stage.start(DISPATCHER))
        .collect::<Result<Vec<_>, _>>()?;
    let (mut killed, mut struck, mut next_kill) = (0, [0_usize; 2], Instant::now());
    let (mut seen, mut looked) = (0, Instant::now());
    loop {
        // One in ten asks is refused before it is taken, one in ten meets silence after.
        let asked = stage.cloud.recorder().texts_taken() + struck[0];
        if asked >= seen + 5 {
            seen = asked;
            let which = (struck[0] + struck[1]) % 2;
            let mode = [Mode::Refuse, Mode::Silent][which];
            stage
                .cloud
                .faults()
                .set(BTreeMap::from([(Service::Sns, Fault::new(mode).times(1))]));
            struck[which] += 1;
        }
        if killed < KILLS && Instant::now() >= next_kill {
            let at = usize::try_from(chance.below(BESIDE as u64)).unwrap_or(0);
            if let Some(dispatcher) = dispatchers.get_mut(at) {
                dispatcher.kill().await.map_err(trouble)?;
                *dispatcher = stage.start(DISPATCHER)?;
            }
            killed += 1;
            next_kill = Instant::now() + Duration::from_millis(100 + chance.below(1400));
        }
        if looked.elapsed() > Duration::from_secs(2) {
            looked = Instant::now();
            let later = stage.setup.clock.now().after(PATIENCE);
            let is_done = stage.setup.store.due(BULK_DUE, later, 1).await?.is_empty();
            if (is_done && killed == KILLS) || start.elapsed() > PATIENCE {
                break;
            }
        }
        sleep(Duration::from_millis(1)).await;
    }
    drop(dispatchers);
    report(&stage, seed, messages, killed, struck, start.elapsed()).await
}

async fn report(
    stage: &Stage,
    seed: u64,
    messages: usize,
    killed: usize,
    struck: [usize; 2],
    took: Duration,
) -> Result<(), Trouble> {
    let mut came: HashMap<String, usize> = HashMap::new();
    for text in stage.cloud.recorder().texts() {
        *came
            .entry(text["to"].as_str().unwrap_or_default().to_owned())
            .or_default() += 1;
    }
    let statuses = stage.statuses().await?;
    let count = |wanted: &str, times: usize| {
        statuses
            .iter()
            .filter(|(to, status)| {
                *status == wanted && came.get(*to).copied().unwrap_or(0) == times
            })
            .count()
    };
    let twice = came.values().filter(|times| **times > 1).count();
    say(&format!(
        "\nseed {seed}: {messages} messages, {killed} kills, {} refusals, {} silences, {:.0} s\n",
        struck[0],
        struck[1],
        took.as_secs_f64()
    ));
    say("| status | came once | did not come |\n|---|---|---|");
    for status in ["SENT", "UNKNOWN", "FAILED", "QUEUED", "SENDING"] {
        say(&format!(
            "| {status} | {} | {} |",
            count(status, 1),
            count(status, 0)
        ));
    }
    say(&format!(
        "| lost | {} | |\n| came twice | {twice} | |",
        messages - statuses.len()
    ));
    let is_good = twice == 0
        && statuses.len() == messages
        && count("SENT", 0) == 0
        && count("FAILED", 1) == 0;
    if is_good
        && statuses
            .values()
            .all(|status| ["SENT", "UNKNOWN", "FAILED"].contains(&status.as_str()))
    {
        Ok(())
    } else {
        Err(Trouble::new(
            "A message was lost, sent twice, or told wrongly.",
        ))
    }
}
