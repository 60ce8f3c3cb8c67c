//! Injects faults: errors of DynamoDB, S3, SNS, SES and cPanel, stale and torn reads, conflicts, killed processes, moved
//! clocks, and lost or repeated parts of the stream.

use std::{collections::BTreeMap, net::Ipv4Addr, time::Duration};

use bench::{Result, print};
use cloud::{
    Consumer,
    faults::{Fault, Mode, Service},
    random::SeededRandom,
    strict::Strictness,
};
use dev::delivery::{self, Consumers};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep},
};

use crate::{
    deployment::Deployment,
    processes::{BACKGROUND, EDGE, Process},
};

/// The run ends after this time, even with fewer faults than wanted.
const TIMEOUT: Duration = Duration::from_secs(1500);
/// Faults per hundred responses; each request causes several requests to the cloud.
const FAULTS_PER_HUNDRED: u64 = 50;
/// Errors of DynamoDB.
const DYNAMODB_ERRORS: [&str; 3] =
    ["InternalServerError", "ThrottlingException", "RequestLimitExceeded"];
/// Errors of cPanel. A refused token is not among them: it would open the circuit breaker for 15 minutes.
const CPANEL_ERRORS: [&str; 7] =
    ["status0", "missing", "wrapped", "broken", "redirect", "blank", "html"];

/// The number of faults of each kind.
pub(crate) type FaultCounts = BTreeMap<String, u64>;

pub(crate) struct FaultInjector {
    pub(crate) processes: Vec<Process>,
    random: SeededRandom,
    seed: u64,
    /// Faults other than those of a service.
    other: FaultCounts,
}

impl FaultInjector {
    /// Starts the processes of the service.
    pub(crate) fn new(deployment: &Deployment, seed: u64) -> Result<Self> {
        let [first, second] = deployment.service.ports;
        let roles = [(EDGE, first), (EDGE, second), (BACKGROUND, 0), (BACKGROUND, 0)];
        let settings = &deployment.local.settings;
        let processes = roles.map(|(role, port)| Process::start(role, settings, port));
        Ok(Self {
            processes: processes.into_iter().collect::<Result<_>>()?,
            random: SeededRandom::new(seed),
            seed,
            other: FaultCounts::new(),
        })
    }

    /// Injects faults until `wanted` have happened.
    pub(crate) async fn run(&mut self, deployment: &Deployment, wanted: u64) -> Result<()> {
        let cloud = &deployment.local.cloud;
        let consumers = Consumers::new(&|_| Ok(deployment.local.setup.clone()))?;
        cloud.set_strictness(Strictness {
            stale_ms: 500,
            torn_ms: 5,
            transaction_ms: 5,
            idle_ms: 30_000,
            hot_writes: 60,
            hot_reads: 300,
            seed: self.seed,
        });
        let start = Instant::now();
        let (mut next_print, mut next_kill, mut next_move, mut next_stream) =
            (start, start, start, start);
        loop {
            let all: u64 = self.counts(deployment).values().sum();
            if all >= wanted || start.elapsed() >= TIMEOUT {
                break;
            }
            let answered: u64 = deployment.service.responses().by_status.values().sum();
            let injected: u64 = cloud.faults().struck().values().sum();
            // Most requests must still succeed.
            if injected < 40 + answered * FAULTS_PER_HUNDRED / 100 {
                self.inject_fault(deployment);
            }
            // The edges are never both down for long: a killed process is up again before the next kill.
            if next_kill < Instant::now() && are_up(deployment).await {
                next_kill = self.soon();
                self.kill_process().await?;
            }
            if next_print < Instant::now() {
                next_print = Instant::now() + Duration::from_secs(10);
                let seconds = start.elapsed().as_secs();
                print(format!("after {seconds} s: {all} of {wanted} faults, {answered} responses"));
            }
            if next_move < Instant::now() {
                next_move = self.soon();
                self.move_clock().await?;
            }
            if next_stream < Instant::now() {
                next_stream = Instant::now() + Duration::from_millis(100);
                self.deliver_stream(deployment, &consumers)?;
            }
            sleep(Duration::from_millis(5)).await;
        }
        cloud.faults().set(BTreeMap::new());
        cloud.set_strictness(Strictness::default());
        Ok(())
    }

    /// All faults so far.
    pub(crate) fn counts(&self, deployment: &Deployment) -> FaultCounts {
        let mut all = self.other.clone();
        for ((service, mode), times) in deployment.local.cloud.faults().struck() {
            all.insert(format!("{service:?}: {mode:?}").to_lowercase(), times);
        }
        let cut = deployment.service.responses().cut;
        all.insert("connection cut by its client".to_owned(), cut);
        all
    }

    fn soon(&mut self) -> Instant {
        Instant::now() + Duration::from_millis(700 + self.random.below(900))
    }

    fn count(&mut self, kind: &str) {
        *self.other.entry(kind.to_owned()).or_default() += 1;
    }

    /// A random number below `count`, as an index.
    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.random.below(count as u64)).unwrap_or(0)
    }

    async fn kill_process(&mut self) -> Result<()> {
        let at = self.below(self.processes.len());
        self.processes[at].kill().await?;
        let is_edge = self.processes[at].role == EDGE;
        self.count(["kill of dispatcher and worker", "kill of an edge"][usize::from(is_edge)]);
        Ok(())
    }

    /// Makes one of the services fail one to three requests.
    fn inject_fault(&mut self, deployment: &Deployment) {
        let service = match self.random.below(20) {
            0..13 => Service::Dynamodb,
            13..15 => Service::S3,
            15..17 => Service::Sns,
            17..19 => Service::Ses,
            _ => Service::Cpanel,
        };
        let mode = match self.random.below(12) {
            0 => Mode::Slow,
            1..3 => Mode::Throttle,
            // DynamoDB only: for other services these would never take effect, and block other faults.
            3..5 if service == Service::Dynamodb => Mode::Conflict,
            5 if service == Service::Dynamodb => Mode::Partial,
            3..8 => Mode::Refuse,
            8..10 => Mode::Silent,
            _ => Mode::Error,
        };
        let times = u32::try_from(self.random.below(3)).unwrap_or(0);
        let mut fault = Fault::new(mode).times(1 + times);
        // Half of the lost responses drop the connection at once.
        if mode != Mode::Silent || self.random.below(2) == 0 {
            fault.delay_ms = Some(50 + self.random.below(1450));
        }
        let names: &[&str] = match service {
            Service::Dynamodb => &DYNAMODB_ERRORS,
            Service::Cpanel => &CPANEL_ERRORS,
            _ => &[],
        };
        if mode == Mode::Error && !names.is_empty() {
            fault.error = Some(names[self.below(names.len())].to_owned());
        }
        deployment.local.cloud.faults().add(service, fault);
    }

    /// Corrects the wrong clock; if there is none, moves one by up to 90 seconds.
    async fn move_clock(&mut self) -> Result<()> {
        let any = self.below(self.processes.len());
        let wrong = self.processes.iter().position(|process| process.offset != 0);
        let at = wrong.unwrap_or(any);
        // A sending process reserves send slots by its own clock, and the others wait until then. Its clock is at most three
        // seconds ahead, or nothing would be sent during the run.
        let is_sending = self.processes[at].role == BACKGROUND;
        let most = if is_sending { 3_000 } else { 90_000 };
        let ahead = i64::try_from(2_000 + self.random.below(most - 2_000)).unwrap_or(0);
        let behind = -i64::try_from(2_000 + self.random.below(88_000)).unwrap_or(0);
        let offset = [ahead, behind][self.below(2)];
        let process = &mut self.processes[at];
        let is_right = process.offset == 0;
        let by = if is_right { offset } else { -process.offset };
        process.move_clock(by).await?;
        self.count("clock step");
        Ok(())
    }

    /// Delivers the stream's records in the background; discards them one time in twelve, and delivers them again one
    /// time in four.
    fn deliver_stream(&mut self, deployment: &Deployment, consumers: &Consumers) -> Result<()> {
        let (cloud, consumers) = (deployment.local.cloud.clone(), consumers.clone());
        if self.random.below(12) == 0 {
            for consumer in [Consumer::Dispatcher, Consumer::Worker] {
                if !cloud.stream_records(consumer)?.is_empty() {
                    self.count("part of the stream lost");
                }
            }
            return Ok(());
        }
        if self.random.below(4) == 0 {
            let repeated = Fault::new(Mode::Stream).times(1);
            deployment.local.cloud.faults().add(Service::Dynamodb, repeated);
        }
        // The sweeps process what fails here.
        tokio::spawn(async move { delivery::deliver(&cloud, &consumers).await.unwrap_or(0) });
        Ok(())
    }
}

/// Whether both edges accept connections.
async fn are_up(deployment: &Deployment) -> bool {
    let connect = |port| TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    let [first, second] = deployment.service.ports.map(connect);
    tokio::try_join!(first, second).is_ok()
}
