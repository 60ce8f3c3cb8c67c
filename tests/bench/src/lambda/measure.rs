//! What is measured of a function, and how.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use local::{
    Trouble,
    faults::{Fault, Mode, Service},
};
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    process::{Process, Program, Share},
    runtime_api::RuntimeApi,
    stage::Stage,
    table::median,
};

/// Whose a function is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Nobody's: it does nothing.
    Floor,
    Ours,
}

/// A function and an event that it is given again and again.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) whose: Whose,
    pub(crate) program: Program,
    /// `None`: it is only started.
    pub(crate) event: Option<Bytes>,
    /// What a read of the store takes, by a delay on top of its own time.
    pub(crate) store_answers_in: Option<Duration>,
    /// Calls a round, after the first.
    pub(crate) calls: usize,
    /// Calls after which its memory is read.
    pub(crate) memory_calls: usize,
    /// Of its package, in bytes.
    pub(crate) zip: usize,
}

/// What was seen of a case, a value a round but for `warm`.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) init: Vec<Duration>,
    pub(crate) page_faults: Vec<u64>,
    pub(crate) first: Vec<Duration>,
    /// How long each call after the first took.
    pub(crate) warm: Vec<Duration>,
    /// CPU of one of these.
    pub(crate) cpu: Vec<Duration>,
    /// How long the store itself took, where it was told to be late.
    pub(crate) store: Vec<Duration>,
    pub(crate) memory: f64,
    /// With a share of a CPU: the first answer after a start with a whole one, as Lambda gives it, and a start and
    /// the first answer with that share alone.
    pub(crate) shared_first: Vec<Duration>,
    pub(crate) shared_cold: Vec<Duration>,
}

/// One start of `case` and its calls.
pub(crate) async fn round(
    case: &Case,
    stage: &Stage,
    figures: &mut Figures,
) -> Result<(), Trouble> {
    let mut running = Running::start(&case.program, None).await?;
    figures.init.push(running.process.cpu()?);
    figures.page_faults.push(running.process.page_faults()?);
    let Some(event) = &case.event else {
        figures.memory = figures.memory.max(running.process.peak_memory()?);
        return Ok(());
    };
    if let Some(wanted) = case.store_answers_in {
        let own = reads(stage, case.calls).await;
        // The timer rounds up to the next millisecond, by half of one in the middle; so this, in whole ones, rounds down.
        let delay = wanted.saturating_sub(median(&own));
        let slow = Fault {
            delay_ms: delay.as_millis().try_into().ok(),
            ..Fault::new(Mode::Slow)
        };
        stage
            .cloud
            .faults()
            .set(BTreeMap::from([(Service::Dynamodb, slow)]));
        figures.store.extend(reads(stage, case.calls).await);
    }
    figures.first.push(running.call(event).await?);
    let before = running.process.cpu()?;
    for _ in 0..case.calls {
        figures.warm.push(running.call(event).await?);
    }
    let calls = u32::try_from(case.calls).unwrap_or(u32::MAX);
    figures.cpu.push((running.process.cpu()? - before) / calls);
    stage.cloud.faults().set(BTreeMap::new());
    Ok(())
}

/// What `number` small reads of the store take, one after the other.
async fn reads(stage: &Stage, number: usize) -> Vec<Duration> {
    let mut took = Vec::new();
    for _ in 0..number {
        let start = Instant::now();
        stage.store.open_connections(1).await;
        took.push(start.elapsed());
    }
    took
}

/// Starts and first answers with `cpu` of a CPU, each with a share of its own: what a process uses while it is killed would
/// be missing to whoever has its share next.
pub(crate) async fn share_round(
    case: &Case,
    cpu: f64,
    figures: &mut Figures,
) -> Result<(), Trouble> {
    let Some(event) = &case.event else {
        return Ok(());
    };
    let share =
        || Share::of(cpu).ok_or_else(|| Trouble::new("There is no control group any more."));
    let (mine, mut running) = (share()?, Running::start(&case.program, None).await?);
    running.process.join(&mine)?;
    figures.shared_first.push(running.call(event).await?);
    drop((running, mine));
    let mine = share()?;
    let start = Instant::now();
    let mut running = Running::start(&case.program, Some(&mine)).await?;
    running.call(event).await?;
    figures.shared_cold.push(start.elapsed());
    Ok(())
}

/// Calls after which memory is read.
pub(crate) async fn memory(case: &Case, figures: &mut Figures) -> Result<(), Trouble> {
    let Some(event) = &case.event else {
        return Ok(());
    };
    let mut running = Running::start(&case.program, None).await?;
    for _ in 0..case.memory_calls {
        running.call(event).await?;
    }
    figures.memory = running.process.peak_memory()?;
    Ok(())
}

/// A function that has asked for an event.
struct Running {
    process: Process,
    api: RuntimeApi,
}

impl Running {
    async fn start(program: &Program, share: Option<&Share>) -> Result<Self, Trouble> {
        let mut api = RuntimeApi::open().await?;
        let mut program = program.clone();
        program.environment.extend(api.environment());
        let process = Process::start(&program, share)?;
        api.asked().await?;
        Ok(Self { process, api })
    }

    /// How long the answer took, which is a 200 where it has a status; the function has asked again when this returns.
    async fn call(&mut self, event: &Bytes) -> Result<Duration, Trouble> {
        let (took, answer) = self.api.call(event).await?;
        let told: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if told["statusCode"]
            .as_u64()
            .is_some_and(|status| status != 200)
        {
            return Err(Trouble::new(format!("A function answered {told}.")));
        }
        self.api.asked().await?;
        Ok(took)
    }
}
