//! `cargo chaos-faults [SEED [COUNT]]`: two dozen virtual users use the whole service while COUNT faults are injected;
//! then every promise is checked against the store and the API.
//!
//! This process contains the cloud with its tables in a file, the users and the fault injector. The service runs in
//! separate processes, two edges and two with dispatcher and worker, which are killed (`kill -9`) and whose clocks are moved.
//! The seed determines the actions and the faults; the timing is real, so two runs with one seed are similar, not equal.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a run that cannot go on fails, and a run prints its report"
)]

mod accounts;
mod attendance;
mod check;
mod client;
mod content;
mod history;
mod injector;
mod seats;
mod users;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bench::{Result, sweep_forever, table};
use dev::delivery;
use tests::World;

use crate::{
    check::{Promise, State},
    client::Service,
    injector::{BACKGROUND, EDGE, Injector},
};

/// After the faults, the clock is advanced in steps of this size until nothing is due, and the maximum number of steps.
const STEP: Duration = Duration::from_secs(600);
const STEPS: u32 = 80;
/// Work that is due later than this is not done at the end of a run.
pub(crate) const DAY: Duration = Duration::from_secs(86_400);
/// Quotas that some users reach.
const SMS_PER_USER: u64 = 1500;
const SMS_PER_COMMITTEE: u64 = 12_000;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [EDGE] => injector::serve_edge().await,
        [BACKGROUND] => sweep_forever(injector::moved_clock(), Duration::from_secs(1)).await,
        [] => run(1, 10_000).await,
        [seed] => run(seed.parse()?, 10_000).await,
        [seed, faults] => run(seed.parse()?, faults.parse()?).await,
        _ => Err("usage: cargo chaos-faults [SEED [COUNT]]".into()),
    }
}

async fn run(seed: u64, wanted: u64) -> Result<()> {
    let start = Instant::now();
    let settings = [
        ("RATE_LIMIT", "4000000000"),
        ("REGISTER_PER_HOUR", "1000000"),
        ("SMS_RATE_PER_SECOND", "200"),
        ("MAIL_RATE_PER_SECOND", "200"),
        // Longer than any clock error.
        ("SMS_CLAIM_SECONDS", "300"),
        ("SMS_PER_USER_DAY", &SMS_PER_USER.to_string()),
        ("SMS_PER_COMMITTEE_DAY", &SMS_PER_COMMITTEE.to_string()),
        ("MESSAGE_INTERVAL_SECONDS", "1"),
    ];
    let world = World::in_folder(&settings).await.another_process_with_product_limits();
    let service = Arc::new(Service::new()?);
    let began_at = history::position(&world);
    let users = users::all(&world, &service, seed).await;
    let mut injector = Injector::new(&world, &service, seed)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> =
        users.into_iter().map(|user| tokio::spawn(user.run(Arc::clone(&is_over)))).collect();
    let began = Instant::now();
    injector.run(wanted).await?;
    is_over.store(true, Ordering::Relaxed);
    let mut users = Vec::new();
    for task in tasks {
        users.push(task.await?);
    }
    let (injecting, count) = (began.elapsed().as_secs(), users.len());
    let faults = injector.counts();
    let survived: u64 = faults.values().sum();
    let steps = recover(&world, &mut injector).await?;
    let promises = State::read(&world, &service, &faults, users)
        .with_changes(history::read(&world, began_at))
        .check()
        .await;

    println!("\n{count} virtual users, seed {seed}\n");
    let all = ("**all**".to_owned(), survived);
    let faults = faults.into_iter().chain([all]).map(|(kind, times)| [kind, times.to_string()]);
    println!("{}", table(&["fault", "times"], faults));
    let responses = service.responses().times.clone().into_iter();
    let responses = responses.map(|(status, times)| [status.to_string(), times.to_string()]);
    println!("{}", table(&["status (0: no response)", "times"], responses));
    let row =
        |one: &Promise| [one.name.into(), one.checked.to_string(), one.broken.len().to_string()];
    println!("{}", table(&["promise", "checks", "broken"], promises.iter().map(row)));
    for (promise, one) in
        promises.iter().flat_map(|one| one.broken.iter().take(5).map(|it| (one.name, it)))
    {
        println!("broken: {promise}: {one}\n");
    }
    let all = start.elapsed().as_secs();
    println!("seed {seed}: {injecting} s of faults, {steps} sweeps afterwards, {all} s in all");
    let holds = |one: &Promise| one.checked > 0 && one.broken.is_empty();
    match (promises.iter().all(holds), survived >= wanted) {
        (true, true) => Ok(()),
        (true, false) => Err(format!("Only {survived} faults took effect.").into()),
        (false, _) => Err("A promise was broken, or never checked.".into()),
    }
}

/// Restarts the edges without faults and sweeps until nothing is due; returns the number of sweeps.
async fn recover(world: &World, injector: &mut Injector) -> Result<u32> {
    // From here on only this process sends: no other one holds a message or a send time.
    injector.processes.retain(|process| process.role == EDGE);
    // New processes have no cached state. Their clocks are ahead of every clock that signed a token.
    for process in &mut injector.processes {
        process.kill().await?;
        process.move_clock(120_000).await?;
    }
    while delivery::deliver(world.cloud(), world.consumers()).await? > 0 {}
    for steps in 1..=STEPS {
        world.clock().advance(STEP);
        delivery::sweep(world.consumers()).await?;
        // New accounts are due in a week, and registrations a year after the course.
        let last = world.clock().now().after(DAY).unix_milliseconds();
        let items = ["records", "transient"].into_iter().flat_map(|table| world.items(table));
        let mut due = items.filter_map(|item| item["dueAt"]["N"].as_str()?.parse::<i64>().ok());
        if due.all(|at| at > last) {
            return Ok(steps);
        }
    }
    Ok(STEPS)
}
