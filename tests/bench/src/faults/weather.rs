//! Everything that goes wrong: faults of the five services, processes that are killed, clocks that are moved,
//! and a stream that now and then brings nothing.

use std::{collections::BTreeMap, net::Ipv4Addr, time::Duration};

use bench::print as say;
use dispatcher::Dispatcher;
use local::{
    Trouble,
    chance::Chance,
    delivery,
    faults::{Fault, Mode, Service},
};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep},
};

use crate::{
    children::{DISPATCHER, EDGE, Process},
    stage::Stage,
};

/// How long it takes at most until as many faults were survived as are asked for.
const PATIENCE: Duration = Duration::from_secs(540);
/// It is looked so often whether something new is to go wrong.
const EVERY: Duration = Duration::from_millis(5);
/// So many faults happen for a hundred requests that were answered, each of which is several of the cloud.
const FAULTS_PER_HUNDRED: u64 = 50;
/// What the tables say when they fail.
const ERRORS_OF_TABLES: [&str; 3] = [
    "InternalServerError",
    "ThrottlingException",
    "RequestLimitExceeded",
];
/// What cPanel says. A refused token is not among them: it would shut the panel for a quarter of an hour.
const ERRORS_OF_CPANEL: [&str; 7] = [
    "status0", "missing", "wrapped", "broken", "redirect", "blank", "html",
];

/// What went wrong beside the faults of services, by name.
pub(crate) type Struck = BTreeMap<String, u64>;

pub(crate) struct Weather {
    pub(crate) processes: Vec<Process>,
    chance: Chance,
    other: Struck,
}

impl Weather {
    /// Starts the processes of the service.
    pub(crate) fn new(stage: &Stage, seed: u64) -> Result<Self, Trouble> {
        let edges = stage
            .service
            .ports
            .map(|port| Process::start(EDGE, &stage.settings, port));
        let dispatchers = [(); 2].map(|()| Process::start(DISPATCHER, &stage.settings, 0));
        let processes = edges
            .into_iter()
            .chain(dispatchers)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            processes,
            chance: Chance::new(seed),
            other: Struck::new(),
        })
    }

    /// Goes on until `wanted` faults were survived.
    pub(crate) async fn rage(&mut self, stage: &Stage, wanted: u64) -> Result<(), Trouble> {
        let dispatcher = Dispatcher::new(&stage.setup)?;
        let mut told = Instant::now();
        let (begun, mut kills, mut steps, mut stream) = (
            Instant::now(),
            Instant::now(),
            Instant::now(),
            Instant::now(),
        );
        while self.struck(stage).values().sum::<u64>() < wanted && begun.elapsed() < PATIENCE {
            let answered: u64 = stage.service.seen().statuses.values().sum();
            let struck: u64 = stage.cloud.faults().struck().values().sum();
            // Most of what people ask for is to be done all the same.
            if struck < 40 + answered * FAULTS_PER_HUNDRED / 100 {
                self.arm(stage);
            }
            // Both doors are never closed for long: one that was killed is open again before the next one is.
            if kills < Instant::now() && self.are_up(stage).await {
                kills = Instant::now() + Duration::from_millis(700 + self.chance.below(900));
                let at = self.any_process();
                self.processes[at].kill().await?;
                let role = self.processes[at].role;
                self.count(&format!("kill of an {role}").replace("an d", "a d"));
            }
            if told < Instant::now() {
                told = Instant::now() + Duration::from_secs(10);
                let (all, seconds) = (
                    self.struck(stage).values().sum::<u64>(),
                    begun.elapsed().as_secs(),
                );
                say(&format!(
                    "after {seconds} s {all} of {wanted} faults, {answered} requests answered"
                ));
            }
            if steps < Instant::now() {
                steps = Instant::now() + Duration::from_millis(700 + self.chance.below(900));
                self.step_clock().await?;
            }
            if stream < Instant::now() {
                stream = Instant::now() + Duration::from_millis(100);
                self.bring(stage, &dispatcher).await?;
            }
            sleep(EVERY).await;
        }
        stage.cloud.faults().set(BTreeMap::new());
        Ok(())
    }

    /// All that happened, by kind.
    pub(crate) fn struck(&self, stage: &Stage) -> Struck {
        let mut all = self.other.clone();
        for ((service, mode), times) in stage.cloud.faults().struck() {
            all.insert(format!("{service:?}: {mode:?}").to_lowercase(), times);
        }
        all.insert(
            "connection cut by its client".to_owned(),
            stage.service.seen().cut,
        );
        all
    }

    /// Whether both processes that answer are there.
    async fn are_up(&self, stage: &Stage) -> bool {
        let [first, second] = stage
            .service
            .ports
            .map(|port| TcpStream::connect((Ipv4Addr::LOCALHOST, port)));
        let (first, second) = tokio::join!(first, second);
        first.is_ok() && second.is_ok()
    }

    fn count(&mut self, kind: &str) {
        *self.other.entry(kind.to_owned()).or_default() += 1;
    }

    fn any_process(&mut self) -> usize {
        usize::try_from(self.chance.below(self.processes.len() as u64)).unwrap_or(0)
    }

    /// Something more goes wrong with one of the services, for a request or a few.
    fn arm(&mut self, stage: &Stage) {
        let service = match self.chance.below(20) {
            0..13 => Service::Dynamodb,
            13..15 => Service::S3,
            15..17 => Service::Sns,
            17..19 => Service::Ses,
            _ => Service::Cpanel,
        };
        let mode = match self.chance.below(12) {
            0 => Mode::Slow,
            1..3 => Mode::Throttle,
            // The tables alone know of it: elsewhere it would never strike and keep others from striking.
            3..5 if service == Service::Dynamodb => Mode::Conflict,
            5 if service == Service::Dynamodb => Mode::Partial,
            3..8 => Mode::Refuse,
            8..10 => Mode::Silent,
            _ => Mode::Error,
        };
        let mut fault =
            Fault::new(mode).times(1 + u32::try_from(self.chance.below(3)).unwrap_or(0));
        fault.delay_ms = Some(50 + self.chance.below(1450));
        let names: &[&str] = match service {
            Service::Dynamodb => &ERRORS_OF_TABLES,
            Service::Cpanel => &ERRORS_OF_CPANEL,
            _ => &[],
        };
        if mode == Mode::Error && !names.is_empty() {
            fault.error = Some(
                names[usize::try_from(self.chance.below(names.len() as u64)).unwrap_or(0)]
                    .to_owned(),
            );
        }
        stage.cloud.faults().add(service, fault);
    }

    /// The clock that is wrong is set right again, or another one goes wrong by up to a minute and a half.
    async fn step_clock(&mut self) -> Result<(), Trouble> {
        let any = self.any_process();
        let at = self
            .processes
            .iter()
            .position(|process| process.offset != 0)
            .unwrap_or(any);
        let process = &mut self.processes[at];
        // A dispatcher that is ahead takes places in the row of text messages that are as far ahead, and all others
        // wait for as long: by a few seconds, or nothing would leave while it rages.
        let most = if process.role == DISPATCHER {
            3_000
        } else {
            90_000
        };
        let ahead = i64::try_from(2_000 + self.chance.below(most - 2_000)).unwrap_or(0);
        let behind = -i64::try_from(2_000 + self.chance.below(88_000)).unwrap_or(0);
        let wrong = if self.chance.below(2) == 0 {
            ahead
        } else {
            behind
        };
        process
            .step(if process.offset == 0 {
                wrong
            } else {
                -process.offset
            })
            .await?;
        self.count("clock step");
        Ok(())
    }

    /// Brings what the stream has, without waiting for it; now and then it is lost.
    async fn bring(&mut self, stage: &Stage, dispatcher: &Dispatcher) -> Result<(), Trouble> {
        if self.chance.below(12) == 0 {
            if stage.cloud.stream_event()?["Records"]
                .as_array()
                .is_some_and(|records| !records.is_empty())
            {
                self.count("part of the stream lost");
            }
            return Ok(());
        }
        let (cloud, dispatcher) = (stage.cloud.clone(), dispatcher.clone());
        // What could not be brought is for the sweepers.
        tokio::spawn(async move {
            delivery::bring(&cloud, &dispatcher)
                .await
                .map_or(0, |records| records)
        });
        Ok(())
    }
}
