//! `cargo chaos-crash [SEED [COUNT]]`: 10,000 text messages, or COUNT; sending processes are killed (`kill -9`), and SNS
//! throttles one request in ten, and accepts one in ten without responding.
//!
//! A sending process contains a dispatcher and a worker; the local cloud runs in this process.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use bench::{
    Result, error, print, process,
    service::{LocalService, Tables},
    sms::{QUOTAS, SENDER, accept_messages, report, start_sender},
};
use cloud::{
    faults::{Fault, Mode, Service},
    random::SeededRandom,
};
use runtime::Clock;
use store::keys::DueList;
use tokio::time::sleep;

/// The number of sending processes, how many are killed, and the longest duration.
const SENDERS: u64 = 3;
const KILLS: usize = 50;
const TIMEOUT: Duration = Duration::from_secs(1800);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    process::runtime(&arguments, &[SENDER])?.block_on(run(&arguments))
}

async fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [SENDER] => process::sweep_forever(Clock::default(), Duration::from_millis(50)).await,
        [] => crash(1, 10_000).await,
        [seed] => crash(seed.parse().map_err(error)?, 10_000).await,
        [seed, count] => crash(seed.parse().map_err(error)?, count.parse().map_err(error)?).await,
        _ => Err(error("usage: cargo chaos-crash [SEED [COUNT]]")),
    }
}

async fn crash(seed: u64, messages: usize) -> Result<()> {
    let settings = [("SMS_RATE_PER_SECOND", "400"), ("SMS_CLAIM_SECONDS", "20")];
    let settings = [settings, QUOTAS].concat();
    let service = LocalService::start(Tables::File, &settings).await?;
    accept_messages(&service, "+21620", messages).await?;
    let (mut random, start) = (SeededRandom::new(seed), Instant::now());
    let senders: Result<Vec<_>> = (0..SENDERS).map(|_| start_sender(&service)).collect();
    let mut senders = senders?;
    // The numbers of rejected requests and of requests without a response.
    let (mut injected, mut seen) = ([0, 0], 0);
    let (mut kills, mut next_kill, mut checked) = (0, start, start);
    while start.elapsed() < TIMEOUT {
        let requests = service.cloud.recorder().texts_taken() + injected[0];
        if requests >= seen + 5 {
            seen = requests;
            let which = (injected[0] + injected[1]) % 2;
            let fault = Fault::new([Mode::Throttle, Mode::Silent][which]).times(1);
            service.cloud.faults().set(BTreeMap::from([(Service::Sns, fault)]));
            injected[which] += 1;
        }
        if kills < KILLS && Instant::now() >= next_kill {
            let at = usize::try_from(random.below(SENDERS)).map_err(error)?;
            senders[at].kill().await.map_err(error)?;
            senders[at] = start_sender(&service)?;
            kills += 1;
            next_kill = Instant::now() + Duration::from_millis(100 + random.below(1400));
        }
        if checked.elapsed() > Duration::from_secs(2) {
            checked = Instant::now();
            if kills == KILLS && is_done(&service).await? {
                break;
            }
        }
        sleep(Duration::from_millis(1)).await;
    }
    drop(senders);
    print(format!(
        "seed {seed}: {messages} messages, {kills} kills, {} refusals, {} dropped, {} s\n",
        injected[0],
        injected[1],
        start.elapsed().as_secs()
    ));
    report(&service, messages)
}

/// Whether no message waits for its turn, and none for the end of its sending.
async fn is_done(service: &LocalService) -> Result<bool> {
    let later = service.setup.clock.now().after(TIMEOUT);
    for kind in [DueList::Bulk, DueList::Started] {
        if !service.setup.store.due(kind, later, 1).await?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}
