//! Injects faults: errors of DynamoDB, S3, SNS, SES and cPanel, stale and torn reads, conflicts, killed processes, moved
//! clocks, and lost or repeated parts of the stream.

use std::{collections::BTreeMap, net::Ipv4Addr, sync::Arc, time::Duration};

use bench::{Result, start_role};
use cloud::{
    Consumer,
    faults::{Fault, Mode, Service as Of},
    random::SeededRandom,
    strict::Strictness,
};
use dev::{delivery, edge, front, home::LocalSettings};
use runtime::Clock;
use tests::World;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    process::Child,
    time::{Instant, sleep},
};

use crate::client::Service;

/// The run ends after this time, even with fewer faults than wanted.
const TIMEOUT: Duration = Duration::from_secs(3600);
/// Faults per hundred responses; each request causes several requests to the cloud.
const FAULTS_PER_HUNDRED: u64 = 50;
/// Errors of DynamoDB.
const DYNAMODB_ERRORS: [&str; 3] =
    ["InternalServerError", "ThrottlingException", "RequestLimitExceeded"];
/// Errors of cPanel. A refused token is not among them: it would open the circuit breaker for 15 minutes.
const CPANEL_ERRORS: [&str; 7] =
    ["status0", "missing", "wrapped", "broken", "redirect", "blank", "html"];
/// The roles of this program: all functions behind one edge, and dispatcher and worker.
pub(crate) const EDGE: &str = "edge";
pub(crate) const BACKGROUND: &str = "background";
/// The setting with the port of an edge.
const PORT: &str = "CHAOS_PORT";

/// A process of the service: this program in another role, which is restarted after every kill.
pub(crate) struct Process {
    pub(crate) role: &'static str,
    settings: LocalSettings,
    child: Child,
    /// The offset of its clock in milliseconds.
    offset: i64,
}

impl Process {
    /// Starts `role` with `settings`; an edge listens on `port`.
    fn start(role: &'static str, mut settings: LocalSettings, port: u16) -> Result<Self> {
        settings.set(PORT, port.to_string());
        Ok(Self { role, child: start_role(role, &settings)?, settings, offset: 0 })
    }

    /// Kills it (`kill -9`) and restarts it with a correct clock.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.child.kill().await?;
        self.child = start_role(self.role, &self.settings)?;
        self.offset = 0;
        Ok(())
    }

    /// Moves its clock by `milliseconds`.
    pub(crate) async fn move_clock(&mut self, milliseconds: i64) -> Result<()> {
        let input = self.child.stdin.as_mut().expect("it is piped");
        input.write_all(format!("{milliseconds}\n").as_bytes()).await?;
        self.offset += milliseconds;
        Ok(())
    }
}

/// Serves all functions behind one edge, until this process is killed.
pub(crate) async fn serve_edge() -> Result<()> {
    let settings = LocalSettings::of_environment();
    let edge = edge(&settings.setup(moved_clock())?)?;
    let port: u16 = settings.get(PORT).unwrap_or_default().parse()?;
    front::serve(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?, edge, None).await;
    Ok(())
}

/// A clock that each line of the standard input moves by that number of milliseconds. The process exits at the end of
/// the input, because its parent has ended.
pub(crate) fn moved_clock() -> Clock {
    let clock = Clock::default();
    let moved = clock.clone();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(std::io::Result::ok) {
            let milliseconds: i64 = line.trim().parse().unwrap_or(0);
            let by = Duration::from_millis(milliseconds.unsigned_abs());
            if milliseconds > 0 { moved.advance(by) } else { moved.step_back(by) }
        }
        std::process::exit(0);
    });
    clock
}

pub(crate) struct Injector {
    pub(crate) processes: Vec<Process>,
    world: World,
    service: Arc<Service>,
    random: SeededRandom,
    seed: u64,
    /// Faults other than those of a service of the cloud.
    other: BTreeMap<String, u64>,
}

impl Injector {
    /// Starts the processes of the service.
    pub(crate) fn new(world: &World, service: &Arc<Service>, seed: u64) -> Result<Self> {
        let [first, second] = service.ports;
        let roles = [(EDGE, first), (EDGE, second), (BACKGROUND, 0), (BACKGROUND, 0)];
        let processes = roles.map(|(role, port)| Process::start(role, world.settings(), port));
        Ok(Self {
            processes: processes.into_iter().collect::<Result<_>>()?,
            world: world.clone(),
            service: Arc::clone(service),
            random: SeededRandom::new(seed),
            seed,
            other: BTreeMap::new(),
        })
    }

    /// Injects faults until `wanted` have happened.
    pub(crate) async fn run(&mut self, wanted: u64) -> Result<()> {
        self.world.cloud().set_strictness(Strictness {
            stale_ms: 500,
            torn_ms: 5,
            transaction_ms: 5,
            idle_ms: 30_000,
            seed: self.seed,
            ..Strictness::default()
        });
        let start = Instant::now();
        let mut next = [start; 4];
        loop {
            let all: u64 = self.counts().values().sum();
            if all >= wanted || start.elapsed() >= TIMEOUT {
                break;
            }
            let answered: u64 =
                self.service.responses().times.range(1..).map(|(_, times)| times).sum();
            let injected: u64 = self.world.cloud().faults().struck().values().sum();
            // Most requests must still succeed.
            if injected < 40 + answered * FAULTS_PER_HUNDRED / 100 {
                self.inject_fault();
            }
            if is_due(&mut next[0], 100) {
                self.deliver_stream()?;
            }
            // The edges are never both down for long: a killed process is up again before the next kill.
            if is_due(&mut next[1], 1150) && self.are_edges_up().await {
                let at = self.below(self.processes.len());
                self.processes[at].kill().await?;
                let is_edge = self.processes[at].role == EDGE;
                self.count(if is_edge {
                    "kill of an edge"
                } else {
                    "kill of dispatcher and worker"
                });
            }
            if is_due(&mut next[2], 1250) {
                self.move_clock().await?;
            }
            if is_due(&mut next[3], 10_000) {
                let seconds = start.elapsed().as_secs();
                println!("after {seconds} s: {all} of {wanted} faults, {answered} responses");
            }
            sleep(Duration::from_millis(5)).await;
        }
        self.world.clear_faults();
        self.world.cloud().set_strictness(Strictness::default());
        Ok(())
    }

    /// The number of faults of each kind so far.
    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        let mut all = self.other.clone();
        for ((service, mode), times) in self.world.cloud().faults().struck() {
            all.insert(format!("{service:?}: {mode:?}").to_lowercase(), times);
        }
        all.insert("connection cut by its client".to_owned(), self.service.responses().cut);
        all
    }

    fn count(&mut self, kind: &str) {
        *self.other.entry(kind.to_owned()).or_default() += 1;
    }

    /// A random number below `count`, as an index.
    fn below(&mut self, count: usize) -> usize {
        self.random.below(count as u64) as usize
    }

    async fn are_edges_up(&self) -> bool {
        let [first, second] =
            self.service.ports.map(|port| TcpStream::connect((Ipv4Addr::LOCALHOST, port)));
        tokio::try_join!(first, second).is_ok()
    }

    /// Makes one of the services fail one to three requests.
    fn inject_fault(&mut self) {
        let service = match self.random.below(20) {
            0..13 => Of::Dynamodb,
            13..15 => Of::S3,
            15..17 => Of::Sns,
            17..19 => Of::Ses,
            _ => Of::Cpanel,
        };
        let mode = match self.random.below(12) {
            0 => Mode::Slow,
            1..3 => Mode::Throttle,
            // DynamoDB only: for other services these would never take effect, and block other faults.
            3..5 if service == Of::Dynamodb => Mode::Conflict,
            5 if service == Of::Dynamodb => Mode::Partial,
            3..8 => Mode::Refuse,
            8..10 => Mode::Silent,
            _ => Mode::Error,
        };
        let mut fault = Fault::new(mode).times(1 + self.below(3) as u32);
        // Half of the lost responses drop the connection at once.
        if mode != Mode::Silent || self.below(2) == 0 {
            fault.delay_ms = Some(50 + self.random.below(1450));
        }
        fault.error = match (mode, service) {
            (Mode::Error, Of::Dynamodb) => Some(DYNAMODB_ERRORS[self.below(3)].to_owned()),
            (Mode::Error, Of::Cpanel) => Some(CPANEL_ERRORS[self.below(7)].to_owned()),
            _ => None,
        };
        self.world.cloud().faults().add(service, fault);
    }

    /// Corrects the wrong clock; if there is none, moves one by up to 90 seconds.
    async fn move_clock(&mut self) -> Result<()> {
        let any = self.below(self.processes.len());
        let wrong = self.processes.iter().position(|process| process.offset != 0);
        let at = wrong.unwrap_or(any);
        // A sending process reserves send times by its own clock, and the others wait until then. Its clock is at most three
        // seconds ahead, or nothing would be sent during the run.
        let most = if self.processes[at].role == BACKGROUND { 3_000 } else { 90_000 };
        let ahead = 2_000 + self.below(most - 2_000) as i64;
        let behind = -2_000 - self.below(88_000) as i64;
        let offset = [ahead, behind][self.below(2)];
        let process = &mut self.processes[at];
        let by = if process.offset == 0 { offset } else { -process.offset };
        process.move_clock(by).await?;
        self.count("clock step");
        Ok(())
    }

    /// Delivers the stream's records in the background; discards them one time in twelve, and delivers them again one
    /// time in four.
    fn deliver_stream(&mut self) -> Result<()> {
        let world = self.world.clone();
        if self.below(12) == 0 {
            for consumer in [Consumer::Dispatcher, Consumer::Worker] {
                if !world.cloud().stream_records(consumer)?.is_empty() {
                    self.count("part of the stream lost");
                }
            }
            return Ok(());
        }
        if self.below(4) == 0 {
            world.cloud().faults().add(Of::Dynamodb, Fault::new(Mode::Stream).times(1));
        }
        // The sweeps process what fails here.
        tokio::spawn(async move {
            delivery::deliver(world.cloud(), world.consumers()).await.unwrap_or(0)
        });
        Ok(())
    }
}

/// Whether `next` has passed, which is then moved by `milliseconds`.
fn is_due(next: &mut Instant, milliseconds: u64) -> bool {
    let is_due = *next < Instant::now();
    if is_due {
        *next = Instant::now() + Duration::from_millis(milliseconds);
    }
    is_due
}
