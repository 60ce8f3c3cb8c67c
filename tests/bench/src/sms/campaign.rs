//! Two committees send batches beside single messages and codes. The first one has waited for two days when the workers
//! start; the second one begins later. The clock is moved instead of waiting.

use std::{collections::HashMap, time::Duration};

use bench::{
    Result, error, print,
    service::{EMAIL, LocalService, PASSWORD, Tables, call, text},
    sms::{QUOTAS, accept_messages, consumers, report},
};
use cloud::{
    Consumer,
    strict::{Heat, Strictness},
};
use dev::delivery::{self, Consumers};
use domain::{CommitteeId, user::User};
use serde_json::json;
use tokio::{task::JoinSet, time::sleep};

use crate::{change_account, give_phone};

/// Messages per second, fewer than the local store bears.
const RATE: usize = 30;
const WORKERS: usize = 20;
/// People who ask for a code, one after the other.
const PEOPLE: usize = 20;
/// Messages that are sent with the meter on.
const METERED: usize = 1000;
/// Between two single messages, and between two codes.
const INTERVAL: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(3600);
/// What the numbers of each kind of message begin with.
const FIRST: &str = "+21620";
const SECOND: &str = "+21621";
const SINGLES: &str = "+21622";
const CODES: &str = "+21623";

/// A message that must not wait for batches.
struct Urgent {
    to: String,
    /// Messages that had been sent when it was requested.
    after: usize,
}

/// The partitions that the first messages used.
struct Partitions {
    sent: usize,
    hottest: Vec<Heat>,
}

pub(crate) async fn run(messages: usize) -> Result<()> {
    let rate = RATE.to_string();
    let settings = [&[("SMS_RATE_PER_SECOND", &*rate)], &QUOTAS[..]].concat();
    let mut service = LocalService::start(Tables::File, &settings).await?;
    create_people(&service).await?;
    let of_first = messages * 6 / 10;
    accept_messages(&service, FIRST, of_first).await?;
    service.setup.clock.advance(Duration::from_secs(2 * 86_400));
    let body = json!({ "email": EMAIL, "password": PASSWORD });
    let login = call(&service.edge, "POST", "/auth/login", "", &body).await?;
    service.token = text(&login.body["user"]["token"]);
    // A bound that is never reached: it starts the meter.
    let meter = Strictness { hot_writes: u64::MAX, ..Strictness::default() };
    service.cloud.set_strictness(meter);

    let (mut tasks, begin) = (start_workers(&service)?, std::time::Instant::now());
    let sent = || service.cloud.recorder().texts_taken();
    let until = |count: usize| async move {
        let waited = std::time::Instant::now();
        while sent() < count && waited.elapsed() < TIMEOUT {
            sleep(Duration::from_millis(100)).await;
        }
    };
    until(messages / 10).await;
    move_admin_to_another_committee(&service).await?;
    accept_messages(&service, SECOND, messages - of_first).await?;
    until(METERED.min(messages / 2)).await;
    // The meter slows the local store down: it runs for a part.
    let metered = Partitions { sent: sent(), hottest: service.cloud.hottest() };
    service.cloud.set_strictness(Strictness::default());
    let (mut urgent, start) = (Vec::new(), std::time::Instant::now());
    for number in 0.. {
        if sent() >= messages * 9 / 10 || start.elapsed() > TIMEOUT {
            break;
        }
        let (single, code) = (format!("{SINGLES}{number:06}"), format!("{CODES}{number:06}"));
        let body = json!({ "to": single, "message": "Bonjour" });
        let after = sent();
        service.call("POST", "/sms/single", &body).await?;
        urgent.push(Urgent { to: single, after });
        if number < PEOPLE {
            let body = json!({ "email": address(number), "sendMethode": "sms" });
            let after = sent();
            call(&service.edge, "POST", "/auth/passwordless", "", &body).await?;
            urgent.push(Urgent { to: code, after });
        }
        sleep(INTERVAL).await;
    }
    until(messages + urgent.len()).await;
    let seconds = begin.elapsed().as_secs_f64();
    // The outcomes of the last messages are recorded.
    sleep(Duration::from_secs(2)).await;
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}
    judge(&service, messages, &urgent, &metered, seconds)
}

fn address(number: usize) -> String {
    format!("person{number}@example.org")
}

/// Registers [`PEOPLE`] with verified numbers.
async fn create_people(service: &LocalService) -> Result<()> {
    let admin = service.call("GET", "/auth/current-user", &json!(null)).await?;
    for number in 0..PEOPLE {
        let body = json!({
            "name": "Amel", "lastName": "Trabelsi", "email": address(number), "password": PASSWORD,
            "committeeID": admin.body["user"]["committeeID"],
        });
        call(&service.edge, "POST", "/users/register", "", &body).await?;
        let phone = format!("{CODES}{number:06}");
        let phone = phone.trim_start_matches("+216");
        give_phone(service, &address(number), phone).await?;
    }
    Ok(())
}

/// The administrator sends the messages of both committees, one after the other.
async fn move_admin_to_another_committee(service: &LocalService) -> Result<()> {
    let body = json!({
        "nameArabe": "لجنة", "nameLatin": "Comité de Sfax", "type": "REGIONAL", "dateOfEst": "1990-01-01",
        "region": "Sfax", "city": "Sfax", "postalCode": 3000, "primaryEmail": "comite@example.org",
        "primaryPhone": "+21674123456",
    });
    let created = service.call("POST", "/committees", &body).await?;
    let id = text(&created.body["committee"]["committeeID"]);
    let committee_id = CommitteeId::or_none(&id);
    change_account(service, EMAIL, |user| User { committee_id, ..user }).await
}

/// Starts [`WORKERS`] that sweep all the time, each with connections of its own, and the delivery of the stream.
fn start_workers(service: &LocalService) -> Result<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    for _ in 0..WORKERS {
        let setup = service.settings.setup(service.setup.clock.clone())?;
        let consumers = Consumers::new(&|_| Ok(setup.clone()))?;
        tasks.spawn(async move {
            loop {
                let _ = delivery::sweep(&consumers).await;
                sleep(Duration::from_millis(500)).await;
            }
        });
    }
    for consumer in [Consumer::Dispatcher, Consumer::Worker] {
        let (cloud, consumers) = (service.cloud.clone(), consumers(service)?);
        tasks.spawn(async move {
            loop {
                let _ = delivery::deliver_to(&cloud, &consumers, consumer).await;
                sleep(Duration::from_millis(50)).await;
            }
        });
    }
    Ok(tasks)
}

fn judge(
    service: &LocalService,
    messages: usize,
    urgent: &[Urgent],
    metered: &Partitions,
    seconds: f64,
) -> Result<()> {
    let mut sent: Vec<String> =
        service.cloud.recorder().texts().iter().map(|sent| text(&sent["to"])).collect();
    sent.reverse();
    print(format!(
        "{messages} messages of two committees, {} single messages and codes, {WORKERS} workers, {RATE} a second, {:.0} a second achieved\n",
        urgent.len(),
        (messages + urgent.len()) as f64 / seconds
    ));
    let codes = urgent.iter().filter(|one| one.to.starts_with(CODES)).count();
    let written = report(service, messages + urgent.len() - codes);
    let is_complete = sent.len() == messages + urgent.len();
    let shares = shares(&sent);
    let waits = waits(&sent, urgent);
    print(format!(
        "\n| | | |\n|---|--:|---|\n| sent | {} | all of {} |\n| share of the committee that began later | {:.1} % | 45 to 55 % |\n\
         | messages of batches before a code or a single message | {waits} | at most {}, two seconds' worth |",
        sent.len(),
        messages + urgent.len(),
        shares * 100.0,
        2 * RATE
    ));
    let hottest = metered.print();
    print(format!(
        "\nhottest shared partition at 1,000 messages a second: {hottest:.0} units (less than 500)"
    ));
    written?;
    match is_complete && (0.45..=0.55).contains(&shares) && waits <= 2 * RATE && hottest < 500.0 {
        true => Ok(()),
        false => Err(error("a figure is outside its bound")),
    }
}

/// The second committee's share of the messages that were sent while both had some waiting.
fn shares(sent: &[String]) -> f64 {
    let is_of = |prefix: &'static str| move |to: &String| to.starts_with(prefix);
    let begin = sent.iter().position(is_of(SECOND)).unwrap_or_default();
    let last = |prefix| sent.iter().rposition(is_of(prefix)).unwrap_or_default();
    let both = sent.get(begin..=last(FIRST).min(last(SECOND))).unwrap_or_default();
    let count = |prefix| both.iter().filter(|to| to.starts_with(prefix)).count() as f64;
    count(SECOND) / (count(FIRST) + count(SECOND)).max(1.0)
}

/// The most messages of batches that were sent between the request of an urgent message and its own sending.
fn waits(sent: &[String], urgent: &[Urgent]) -> usize {
    let places: HashMap<&str, usize> =
        (0..).zip(sent).map(|(place, to)| (to.as_str(), place)).collect();
    let before = urgent.iter().map(|one| {
        let place = places.get(one.to.as_str()).copied().unwrap_or(sent.len());
        let before = sent.get(one.after..place).unwrap_or_default();
        before.iter().filter(|to| to.starts_with(FIRST) || to.starts_with(SECOND)).count()
    });
    before.max().unwrap_or_default()
}

impl Partitions {
    /// Prints the partitions with the most write units, and returns the most of one that committees share.
    fn print(&self) -> f64 {
        let at_thousand = |units: f64| units * 1000.0 / self.sent.max(1) as f64;
        print("\n| partition | write units per 1,000 messages |\n|---|--:|");
        for Heat { name, key, writes, .. } in self.hottest.iter().take(8) {
            print(format!("| `{key}` of `{name}` | {:.0} |", at_thousand(*writes)));
        }
        let is_shared = |heat: &&Heat| heat.name == "due" || heat.key == "RATE";
        let shared = self.hottest.iter().filter(is_shared);
        shared.map(|heat| at_thousand(heat.writes)).fold(0.0, f64::max)
    }
}
