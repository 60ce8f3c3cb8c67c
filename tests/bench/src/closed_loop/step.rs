//! One step: so many clients send so many requests, each its next when the last was answered.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use bench::{process::Memory, process::Process, trouble};
use local::Trouble;
use tokio::time::{Instant, sleep};

use crate::{
    mix::{self, Kind},
    visitor::Visitor,
};

/// After so many errors there is nothing more to learn.
const MOST_ERRORS: u64 = 200;
/// How often is looked how far they are.
const LOOK: Duration = Duration::from_millis(100);
/// Memory is noted after so many requests.
const SAMPLE: u64 = 2_000;

/// What was seen.
#[derive(Default)]
pub(crate) struct Step {
    /// How many clients there were.
    pub(crate) clients: usize,
    /// From the first request to the last answer.
    pub(crate) took: Duration,
    /// Times of all but sign-ins.
    pub(crate) times: Vec<Duration>,
    /// Times of sign-ins, which Argon2 makes dear on purpose.
    pub(crate) logins: Vec<Duration>,
    /// What went wrong, and how often.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Memory before it, during it and after it, by how many requests of this step were sent.
    pub(crate) memory: Vec<(u64, Memory)>,
    /// The most files and connections that were open.
    pub(crate) open_files: usize,
}

/// What all clients of a step share.
struct Shared {
    next: AtomicU64,
    requests: u64,
    errors: AtomicU64,
}

/// Has `visitors` send `requests` requests together: they come back with what was seen.
pub(crate) async fn run(
    visitors: Vec<Visitor>,
    requests: u64,
    process: &Process,
) -> Result<(Step, Vec<Visitor>), Trouble> {
    let mut step = Step {
        clients: visitors.len(),
        memory: vec![(0, process.memory()?)],
        ..Step::default()
    };
    let shared = Arc::new(Shared {
        next: AtomicU64::new(0),
        requests,
        errors: AtomicU64::new(0),
    });
    let start = Instant::now();
    let loops: Vec<_> = visitors
        .into_iter()
        .map(|visitor| tokio::spawn(send(visitor, Arc::clone(&shared))))
        .collect();
    let mut sampled = 0;
    while !loops.iter().all(tokio::task::JoinHandle::is_finished) {
        let sent = shared.next.load(Relaxed).min(requests);
        if sent - sampled >= SAMPLE {
            sampled = sent;
            step.memory.push((sent, process.memory()?));
            step.open_files = step.open_files.max(process.open_files()?);
        }
        sleep(LOOK).await;
    }
    let mut back = Vec::new();
    for one in loops {
        let (visitor, seen) = one.await.map_err(trouble)?;
        step.times.extend(seen.times);
        step.logins.extend(seen.logins);
        for (error, times) in seen.errors {
            *step.errors.entry(error).or_default() += times;
        }
        step.took = step.took.max(seen.ended - start);
        back.push(visitor);
    }
    step.memory.push((requests, process.memory()?));
    Ok((step, back))
}

/// What one client saw.
struct Seen {
    times: Vec<Duration>,
    logins: Vec<Duration>,
    errors: BTreeMap<String, u64>,
    ended: Instant,
}

async fn send(mut visitor: Visitor, shared: Arc<Shared>) -> (Visitor, Seen) {
    let mut seen = Seen {
        times: Vec::new(),
        logins: Vec::new(),
        errors: BTreeMap::new(),
        ended: Instant::now(),
    };
    loop {
        let number = shared.next.fetch_add(1, Relaxed);
        if number >= shared.requests || shared.errors.load(Relaxed) >= MOST_ERRORS {
            seen.ended = Instant::now();
            return (visitor, seen);
        }
        let kind = mix::kind(number);
        match visitor.ask(kind).await {
            Ok(took) if kind == Kind::Login => seen.logins.push(took),
            Ok(took) => seen.times.push(took),
            Err(error) => {
                shared.errors.fetch_add(1, Relaxed);
                *seen
                    .errors
                    .entry(format!("{}: {error}", mix::name(kind)))
                    .or_default() += 1;
            }
        }
    }
}
