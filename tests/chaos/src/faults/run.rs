//! Runs the phases: faults, recovery, checks, report.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bench::{Result, error, print};
use dev::delivery::{self, Consumers};
use serde_json::Value;

use crate::{
    check,
    deployment::Deployment,
    fault_injector::{FaultCounts, FaultInjector},
    processes::EDGE,
    promise::PromiseCheck,
    tables::Tables,
};

/// After the faults, the clock is advanced in steps of this size until nothing is due, and the maximum number of steps.
const STEP: Duration = Duration::from_secs(600);
const STEPS: u32 = 80;

pub(crate) async fn run(seed: u64, wanted: u64) -> Result<()> {
    let start = Instant::now();
    let deployment = Deployment::new().await?;
    let users = deployment.users(seed).await?;
    let mut injector = FaultInjector::new(&deployment, seed)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let tasks = users.into_iter().map(|user| tokio::spawn(user.run(Arc::clone(&is_over))));
    let tasks: Vec<_> = tasks.collect();
    let began = Instant::now();
    injector.run(&deployment, wanted).await?;
    is_over.store(true, Ordering::Relaxed);
    let mut users = Vec::new();
    for task in tasks {
        users.push(task.await.map_err(error)?);
    }
    let injecting = began.elapsed().as_secs();
    let faults = injector.counts(&deployment);
    let steps = recover(&deployment, &mut injector).await?;
    let checks = check::all(&deployment, &faults, &mut users).await?;
    print(format!("\n{} virtual users, seed {seed}\n", users.len()));
    report(&deployment, &faults, &checks);
    let all = start.elapsed().as_secs();
    print(format!(
        "\nseed {seed}: {injecting} s of faults, {steps} sweeps afterwards, {all} s in all"
    ));
    let survived: u64 = faults.values().sum();
    let holds = |check: &PromiseCheck| check.checked > 0 && check.broken.is_empty();
    match (checks.iter().all(holds), survived >= wanted) {
        (true, true) => Ok(()),
        (true, false) => Err(error(format!("Only {survived} faults took effect."))),
        (false, _) => Err(error("A promise was broken.")),
    }
}

/// Restarts the edges without faults and sweeps until nothing is due; returns the number of sweeps.
async fn recover(deployment: &Deployment, injector: &mut FaultInjector) -> Result<u32> {
    // From here on only this process sends: no other one holds a message or a send slot.
    injector.processes.retain(|process| process.role == EDGE);
    // New processes have no cached state. Their clocks are ahead of every clock that signed a token.
    for process in &mut injector.processes {
        process.kill().await?;
        process.move_clock(120_000).await?;
    }
    let local = &deployment.local;
    let consumers = Consumers::new(&|_| Ok(local.setup.clone()))?;
    while delivery::deliver(&local.cloud, &consumers).await? > 0 {}
    for steps in 1..=STEPS {
        local.setup.clock.advance(STEP);
        delivery::sweep(&consumers).await?;
        // New accounts are due in a week.
        let is_due = |item: &Value| {
            let list = item["duePk"].as_str();
            list.is_some_and(|list| !list.starts_with("UNVERIFIED#"))
        };
        if !Tables::read(&local.cloud)?.items.iter().any(is_due) {
            return Ok(steps);
        }
    }
    Ok(STEPS)
}

fn report(deployment: &Deployment, faults: &FaultCounts, checks: &[PromiseCheck]) {
    print("| fault | times |\n|---|---|");
    for (kind, times) in faults {
        print(format!("| {kind} | {times} |"));
    }
    let all: u64 = faults.values().sum();
    print(format!("| **all** | **{all}** |"));
    let responses = deployment.service.responses();
    print("\n| responses | |\n|---|---|");
    for class in 2..=5 {
        let range = || responses.by_status.range(class * 100..(class + 1) * 100);
        let count: u64 = range().map(|(_, count)| count).sum();
        let each = range().map(|(status, count)| format!("{status}: {count}"));
        let each: Vec<String> = each.collect();
        print(format!("| {class}xx | {count} ({}) |", each.join(", ")));
    }
    print(format!("| none | {} |", responses.unanswered));
    print("\n| promise | checks | broken |\n|---|---|---|");
    for check in checks {
        let broken = check.broken.len();
        print(format!("| {} | {} | {broken} |", check.promise, check.checked));
    }
    for check in checks {
        for one in check.broken.iter().take(5) {
            print(format!("\nbroken: {}: {one}", check.promise));
        }
    }
}
