//! One day from its morning to its evening, and what is told of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bench::{error as trouble, print as say};
use dispatcher::Dispatcher;
use local::{Trouble, delivery};

use crate::{
    actor::Actor,
    check::{self, Finding},
    children::EDGE,
    stage::Stage,
    tables::Tables,
    weather::{Struck, Weather},
};

/// The sweeper's clock is moved on by so much until nothing is due, so many times at most.
const STEP: Duration = Duration::from_secs(600);
const STEPS: u32 = 80;

pub(crate) async fn run(seed: u64, faults: u64) -> Result<(), Trouble> {
    let start = Instant::now();
    let stage = Stage::new().await?;
    let people = stage.people(seed).await?;
    let mut weather = Weather::new(&stage, seed)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let acting: Vec<_> = people
        .into_iter()
        .map(|person| tokio::spawn(person.act(Arc::clone(&is_over))))
        .collect();
    let began = Instant::now();
    weather.rage(&stage, faults).await?;
    is_over.store(true, Ordering::Relaxed);
    let mut people = Vec::new();
    for person in acting {
        people.push(person.await.map_err(trouble)?);
    }
    let raged = began.elapsed();
    let struck = weather.struck(&stage);
    let steps = calm(&stage, &mut weather).await?;
    let findings = check::all(&stage, &struck, &mut people).await?;
    tell(&stage, seed, &struck, &people, &findings);
    let (raged, all) = (raged.as_secs(), start.elapsed().as_secs());
    say(&format!(
        "\nseed {seed}: {raged} s of bad weather, {steps} sweeps afterwards, {all} s in all"
    ));
    let survived: u64 = struck.values().sum();
    let is_good = findings
        .iter()
        .all(|finding| finding.looked_at > 0 && finding.broken.is_empty());
    match (is_good, survived >= faults) {
        (true, true) => Ok(()),
        (true, false) => Err(Trouble::new(format!("Only {survived} faults struck."))),
        (false, _) => Err(Trouble::new("A promise was broken.")),
    }
}

/// The clocks are right again, no process is killed any more, and what is due is done: how many sweeps it took.
async fn calm(stage: &Stage, weather: &mut Weather) -> Result<u32, Trouble> {
    // One dispatcher, here, does what is left: nobody else holds a message or a place in the row.
    weather.processes.retain(|process| process.role == EDGE);
    // New processes remember nothing. Their clocks are ahead of every one that ever signed a token.
    for process in &mut weather.processes {
        process.kill().await?;
        process.step(120_000).await?;
    }
    let dispatcher = Dispatcher::new(&stage.setup)?;
    while delivery::bring(&stage.cloud, &dispatcher).await? > 0 {}
    for steps in 1..=STEPS {
        stage.setup.clock.advance(STEP);
        delivery::sweep(&dispatcher).await?;
        if Tables::read(&stage.cloud)?
            .items
            .iter()
            .all(|item| item["duePk"].is_null())
        {
            return Ok(steps);
        }
    }
    Ok(STEPS)
}

fn tell(stage: &Stage, seed: u64, struck: &Struck, people: &[Actor], findings: &[Finding]) {
    say(&format!(
        "\n{} people, seed {seed}\n\n| survived | times |\n|---|---|",
        people.len()
    ));
    for (kind, times) in struck {
        say(&format!("| {kind} | {times} |"));
    }
    say(&format!(
        "| **all** | **{}** |",
        struck.values().sum::<u64>()
    ));
    let seen = stage.service.seen();
    say("\n| requests answered | |\n|---|---|");
    for class in 2..=5 {
        let count: u64 = seen
            .statuses
            .range(class * 100..(class + 1) * 100)
            .map(|(_, count)| count)
            .sum();
        let each: Vec<String> = seen
            .statuses
            .range(class * 100..(class + 1) * 100)
            .map(|(status, count)| format!("{status}: {count}"))
            .collect();
        say(&format!("| {class}xx | {count} ({}) |", each.join(", ")));
    }
    say(&format!("| not answered | {} |", seen.unanswered));
    say("\n| promise | looked at | broken |\n|---|---|---|");
    for Finding {
        promise,
        looked_at,
        broken,
    } in findings
    {
        say(&format!("| {promise} | {looked_at} | {} |", broken.len()));
    }
    for Finding {
        promise, broken, ..
    } in findings
    {
        for one in broken.iter().take(5) {
            say(&format!("\nbroken: {promise}: {one}"));
        }
    }
}
