//! `cargo bench-sms`: text messages.
//!
//! - `accept`: `POST /sms/bulk` with a thousand recipients, in a process that contains only the function.
//! - `rate`: eight processes that send, and one batch: messages per second, and the delay of a sign-in code.
//! - `campaign [COUNT]`: 10,000 messages, or COUNT, of two committees, beside single messages and codes, sent by 20
//!   workers; fails if one is lost or sent twice, if the committees do not share the rate, or if a code waits for them.
//! - `crash [SEED [COUNT]]`: 10,000 messages, or COUNT; sending processes are killed (`kill -9`), and SNS
//!   throttles one request in ten, and accepts one in ten without responding.
//!
//! A sending process contains a dispatcher and a worker; the local cloud runs in this process.

mod campaign;

use std::{
    collections::{BTreeMap, HashMap},
    process::Stdio,
    time::{Duration, Instant},
};

use bench::{
    Result, Samples, error, print, process,
    service::{EMAIL, LocalService, Tables, call, text},
};
use cloud::{
    faults::{Fault, Mode, Service},
    random::SeededRandom,
};
use common::Edge;
use dev::{
    delivery::{self, Consumers},
    home::LocalSettings,
};
use domain::{Phone, user::User};
use runtime::Clock;
use serde_json::{Value, json};
use store::keys::{BULK_DUE, STARTED_DUE};
use tokio::time::sleep;

/// The arguments with which this program starts itself in another role.
const SENDER: &str = "sender";
const FUNCTION: &str = "function";
/// The setting with the caller's token.
const TOKEN: &str = "BENCH_TOKEN";
/// Quotas that no run reaches.
const QUOTAS: [(&str, &str); 2] =
    [("SMS_PER_USER_DAY", "1000000"), ("SMS_PER_COMMITTEE_DAY", "1000000")];
/// Messages per second in `rate`, and the seconds of its measurement.
const RATE: usize = 20;
const SECONDS: usize = 30;
/// The number of sending processes in `crash`, how many are killed, and its longest duration.
const SENDERS: u64 = 3;
const KILLS: usize = 50;
const TIMEOUT: Duration = Duration::from_secs(1800);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    process::runtime(&arguments, &[SENDER, FUNCTION])?.block_on(run(&arguments))
}

async fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["accept"] => accept().await,
        ["rate"] => rate().await,
        ["campaign"] => campaign::run(10_000).await,
        ["campaign", count] => campaign::run(count.parse().map_err(error)?).await,
        ["crash"] => crash(1, 10_000).await,
        ["crash", seed] => crash(seed.parse().map_err(error)?, 10_000).await,
        ["crash", seed, count] => {
            crash(seed.parse().map_err(error)?, count.parse().map_err(error)?).await
        }
        [SENDER] => process::sweep_forever(Clock::default(), Duration::from_millis(50)).await,
        [FUNCTION] => function().await,
        _ => Err(error(
            "usage: cargo bench-sms accept | rate | campaign [COUNT] | crash [SEED [COUNT]]",
        )),
    }
}

async fn accept() -> Result<()> {
    let mut service = LocalService::start(Tables::Memory, &QUOTAS).await?;
    service.settings.set(TOKEN, service.token.clone());
    let mut child = process::start_role(FUNCTION, &service.settings, Stdio::inherit())?;
    match child.wait().await.map_err(error)?.success() {
        true => Ok(()),
        false => Err(error("the function failed")),
    }
}

/// The function `sms` alone.
async fn function() -> Result<()> {
    let settings = LocalSettings::of_environment();
    let setup = settings.setup(Clock::default())?;
    let token = settings.get(TOKEN).unwrap_or_default();
    let edge = Edge::new(&setup, sms::routes(&setup)?)?;
    let before = process::memory(std::process::id())?.peak;
    let numbers: Vec<String> = (0..1000).map(|at| format!("+216201{at:05}")).collect();
    let named = numbers.iter().map(|to| json!({ "to": to, "variables": { "name": to } }));
    let named: Vec<Value> = named.collect();
    print(
        "| 1,000 recipients | p50 ms | max ms | round trips | read units | write units |\n|---|--:|--:|--:|--:|--:|",
    );
    for (name, body) in [
        ("one text", json!({ "recipients": numbers, "message": "Bonjour" })),
        ("a name in each", json!({ "recipients": named, "message": "Bonjour {{name}}" })),
    ] {
        let (mut times, mut cost) = (Samples::new()?, None);
        for _ in 0..10 {
            let start = Instant::now();
            cost = call(&edge, "POST", "/sms/bulk", &token, &body).await?.cost;
            times.record_time(start.elapsed());
        }
        let cost = cost.ok_or_else(|| error("the store was not used"))?;
        let (p50, max) = (times.milliseconds(0.5), times.milliseconds(1.0));
        print(format!(
            "| {name} | {p50:.0} | {max:.0} | {} | {} | {} |",
            cost.round_trips, cost.reads, cost.writes
        ));
    }
    let peak = process::memory(std::process::id())?.peak;
    print(format!("\npeak memory: {peak:.0} MB, {before:.0} MB before the first call"));
    Ok(())
}

/// Accepts `count` messages to numbers that begin with `prefix`, and delivers the stream until they are written and due.
async fn accept_messages(service: &LocalService, prefix: &str, count: usize) -> Result<()> {
    let numbers: Vec<String> = (0..count).map(|at| format!("{prefix}{at:06}")).collect();
    for chunk in numbers.chunks(1000) {
        let body = json!({ "recipients": chunk, "message": "Bonjour" });
        service.call("POST", "/sms/bulk", &body).await?;
    }
    let consumers = consumers(service)?;
    while delivery::deliver(&service.cloud, &consumers).await? > 0 {}
    Ok(())
}

fn consumers(service: &LocalService) -> Result<Consumers> {
    Ok(Consumers::new(&|_| Ok(service.setup.clone()))?)
}

fn start_sender(service: &LocalService) -> Result<tokio::process::Child> {
    process::start_role(SENDER, &service.settings, Stdio::null())
}

async fn rate() -> Result<()> {
    let settings = [("SMS_RATE_PER_SECOND", &*RATE.to_string())];
    let service = LocalService::start(Tables::File, &settings).await?;
    give_phone(&service, EMAIL, "98123456").await?;
    accept_messages(&service, "+21620", RATE * (SECONDS + 10)).await?;
    let senders: Result<Vec<_>> = (0..8).map(|_| start_sender(&service)).collect();
    let senders = senders?;
    let (cloud, consumers) = (service.cloud.clone(), consumers(&service)?);
    let stream = tokio::spawn(async move {
        loop {
            let _ = delivery::deliver(&cloud, &consumers).await;
            sleep(Duration::from_millis(50)).await;
        }
    });
    sleep(Duration::from_secs(SECONDS as u64 / 2)).await;
    let requested_at = service.setup.clock.now().unix_milliseconds();
    let body = json!({ "email": EMAIL, "sendMethode": "sms" });
    service.call("POST", "/auth/passwordless", &body).await?;
    sleep(Duration::from_secs(SECONDS as u64 / 2 + 5)).await;
    drop(senders);
    stream.abort();

    let texts = service.cloud.recorder().texts();
    let sent_at = |message: &Value| {
        let at: Option<domain::Instant> = message["at"].as_str()?.parse().ok();
        at.map(domain::Instant::unix_milliseconds)
    };
    let times: Vec<i64> = texts.iter().filter_map(sent_at).collect();
    let first = times.iter().min().ok_or_else(|| error("nothing was sent"))?;
    let within = |from: i64, seconds: usize| {
        let window = from..from + seconds as i64 * 1000;
        times.iter().filter(|time| window.contains(time)).count()
    };
    let most = times.iter().map(|time| within(*time, 1)).max().unwrap_or(0);
    let share = 100 * within(first + 1000, SECONDS) / (RATE * SECONDS);
    let code = texts.iter().find(|message| message["to"] == "+21698123456");
    let code = code.and_then(sent_at).ok_or_else(|| error("the code was not sent"))? - requested_at;
    print(format!("8 sending processes, {RATE} a second, {SECONDS} s\n\n| | |\n|---|---|"));
    print(format!("| maximum in any second | {most} (at most {}) |", RATE + 1));
    print(format!("| share of the rate | {share} % (at least 90) |"));
    print(format!("| delay of a code | {code} ms (at most 2000) |"));
    Ok(())
}

/// Changes the account with the address `email` in the tables.
async fn change_account(
    service: &LocalService,
    email: &str,
    change: impl FnOnce(User) -> User,
) -> Result<()> {
    let store = &service.setup.store;
    let none = || error("no such account");
    let email = email.parse().map_err(|_| none())?;
    let owner = store.email_owner(&email).await?.ok_or_else(none)?;
    let user = store.user(owner.user_id).await?.ok_or_else(none)?;
    let mut transaction = store.transaction();
    transaction.change_user(&user, &change(user.clone()));
    let _ = transaction.commit().await?;
    Ok(())
}

/// Gives the account with the address `email` the verified number `+216<number>`.
async fn give_phone(service: &LocalService, email: &str, number: &str) -> Result<()> {
    let phone = Phone::parse("216", number).map_err(|_| error("malformed number"))?;
    let with_phone = |user| User { phone, is_phone_verified: true, ..user };
    change_account(service, email, with_phone).await
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
    for kind in [BULK_DUE, STARTED_DUE] {
        if !service.setup.store.due(kind, later, 1).await?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares the status of each message with how often it was sent.
fn report(service: &LocalService, messages: usize) -> Result<()> {
    let mut sent: HashMap<String, usize> = HashMap::new();
    for message in service.cloud.recorder().texts() {
        *sent.entry(text(&message["to"])).or_default() += 1;
    }
    let mut table: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for item in service.cloud.items("records")? {
        if item["sk"]["S"] == "SMS" {
            let card = &item["card"]["M"];
            let times = sent.get(card["to"]["S"].as_str().unwrap_or_default());
            let times = times.copied().unwrap_or(0).min(2);
            table.entry(text(&card["status"]["S"])).or_default()[times] += 1;
        }
    }
    print("| status | not sent | sent once | sent twice |\n|---|--:|--:|--:|");
    for (status, [none, once, twice]) in &table {
        print(format!("| {status} | {none} | {once} | {twice} |"));
    }
    let written: usize = table.values().flatten().sum();
    print(format!("| lost | {} | | |", messages.saturating_sub(written)));
    let is_consistent = |(status, [none, once, twice]): (&String, &[usize; 3])| {
        let matches = match status.as_str() {
            "SENT" => *none == 0,
            "FAILED" => *once == 0,
            status => status == "UNKNOWN",
        };
        matches && *twice == 0
    };
    let has_duplicates = sent.values().any(|times| *times > 1);
    match written == messages && !has_duplicates && table.iter().all(is_consistent) {
        true => Ok(()),
        false => Err(error("a message was lost, sent twice, or has a wrong status")),
    }
}
