//! What is measured of a function, and how.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use local::{
    Trouble,
    cloud::Cloud,
    faults::{Fault, Mode, Service},
};
use serde_json::Value;

use crate::{
    process::{Process, Program, Share},
    runtime_api::RuntimeApi,
};

/// Whose a function is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Nobody's: it does nothing.
    Floor,
    Ours,
    /// The same in Node, as people write it.
    Peer,
}

/// A function and an event that it is given again and again.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) whose: Whose,
    pub(crate) program: Program,
    /// The same where it reaches no store; nothing when it is not asked for.
    pub(crate) lazy: Option<Program>,
    /// `None`: it is only started.
    pub(crate) event: Option<Bytes>,
    /// Answers of the store come this late.
    pub(crate) store_delay: Option<Duration>,
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
    pub(crate) lazy_init: Vec<Duration>,
    pub(crate) page_faults: Vec<u64>,
    pub(crate) first: Vec<Duration>,
    /// How long each call after the first took.
    pub(crate) warm: Vec<Duration>,
    /// CPU of one of these.
    pub(crate) cpu: Vec<Duration>,
    pub(crate) memory: f64,
    /// With a share of a CPU: the first answer after a start with a whole one, as Lambda gives it, and a start and
    /// the first answer with that share alone.
    pub(crate) shared_first: Vec<Duration>,
    pub(crate) shared_cold: Vec<Duration>,
}

/// One start of `case` and its calls.
pub(crate) async fn round(case: &Case, cloud: &Cloud, figures: &mut Figures) -> Result<(), Trouble> {
    let mut running = Running::start(&case.program, None).await?;
    figures.init.push(running.process.cpu()?);
    figures.page_faults.push(running.process.page_faults()?);
    let Some(event) = &case.event else {
        figures.memory = figures.memory.max(running.process.peak_memory()?);
        return lazily(case, figures).await;
    };
    if let Some(delay) = case.store_delay {
        let slow = Fault { delay_ms: u64::try_from(delay.as_millis()).ok(), ..Fault::new(Mode::Slow) };
        cloud.faults().set(BTreeMap::from([(Service::Dynamodb, slow)]));
    }
    figures.first.push(running.call(event).await?);
    let before = running.process.cpu()?;
    for _ in 0..case.calls {
        figures.warm.push(running.call(event).await?);
    }
    let calls = u32::try_from(case.calls).unwrap_or(u32::MAX);
    figures.cpu.push((running.process.cpu()? - before) / calls);
    cloud.faults().set(BTreeMap::new());
    lazily(case, figures).await
}

/// A start that opens no connection: what listens to nobody refuses each at once.
async fn lazily(case: &Case, figures: &mut Figures) -> Result<(), Trouble> {
    if let Some(program) = &case.lazy {
        figures.lazy_init.push(Running::start(program, None).await?.process.cpu()?);
    }
    Ok(())
}

/// Starts and first answers with a share of a CPU.
pub(crate) async fn share_round(case: &Case, share: &Share, figures: &mut Figures) -> Result<(), Trouble> {
    let Some(event) = &case.event else { return Ok(()) };
    let mut running = Running::start(&case.program, None).await?;
    running.process.join(share)?;
    figures.shared_first.push(running.call(event).await?);
    drop(running);
    let start = tokio::time::Instant::now();
    let mut running = Running::start(&case.program, Some(share)).await?;
    running.call(event).await?;
    figures.shared_cold.push(start.elapsed());
    Ok(())
}

/// Calls after which memory is read.
pub(crate) async fn memory(case: &Case, figures: &mut Figures) -> Result<(), Trouble> {
    let Some(event) = &case.event else { return Ok(()) };
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
        if told["statusCode"].as_u64().is_some_and(|status| status != 200) {
            return Err(Trouble::new(format!("A function answered {told}.")));
        }
        self.api.asked().await?;
        Ok(took)
    }
}
