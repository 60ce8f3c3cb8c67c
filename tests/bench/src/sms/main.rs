//! `cargo bench-sms`: text messages.
//!
//! - `accept`: `POST /sms/bulk` with a thousand recipients, in a process that contains only the function.
//! - `rate`: eight processes that send, and one batch: messages per second, and the delay of a sign-in code.
//! - `campaign [COUNT]`: 10,000 messages, or COUNT, of two committees, beside single messages and codes, sent by 20
//!   workers; fails if one is lost or sent twice, if the committees do not share the rate, or if a code waits for them.
//!
//! A sending process contains a dispatcher and a worker; the local cloud runs in this process.

mod campaign;

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use bench::{
    Result, Samples, error, print, process,
    service::{EMAIL, LocalService, Tables, call},
    sms::{QUOTAS, SENDER, accept_messages, consumers, start_sender},
};
use common::Edge;
use dev::{delivery, home::LocalSettings};
use domain::{Phone, user::User};
use runtime::Clock;
use serde_json::{Value, json};
use tokio::time::sleep;

/// The argument with which this program starts itself as the function.
const FUNCTION: &str = "function";
/// The setting with the caller's token.
const TOKEN: &str = "BENCH_TOKEN";
/// Messages per second in `rate`, and the seconds of its measurement.
const RATE: usize = 20;
const SECONDS: usize = 30;

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
        [SENDER] => process::sweep_forever(Clock::default(), Duration::from_millis(50)).await,
        [FUNCTION] => function().await,
        _ => Err(error("usage: cargo bench-sms accept | rate | campaign [COUNT]")),
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
