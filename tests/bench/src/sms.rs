//! `cargo bench-sms`: text messages. Fails if one is lost, sent twice, or has a wrong status.
//!
//! - `campaign [COUNT]`: 10,000 messages, or COUNT, of two committees, beside single messages and codes, sent by 20
//!   workers. The first committee has waited for two days when they start, the second one begins later; the clock is moved
//!   instead of waiting. Fails if the committees do not share the rate, if a code waits for them, or if a partition would
//!   get hot.
//! - `crash [SEED [COUNT]]`: 10,000 messages, or COUNT; sending processes, each a dispatcher and a worker, are killed
//!   (`kill -9`), and SNS throttles one request in ten, and accepts one in ten without responding.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use bench::{Result, Samples, start_role, sweep_forever, table};
use cloud::{
    Consumer,
    faults::{Fault, Mode, Service},
    random::SeededRandom,
    strict::{Heat, Strictness},
};
use dev::delivery;
use domain::Profile;
use runtime::Clock;
use serde_json::{Value, json};
use store::keys::DueList;
use tests::{NewPerson, Person, World};
use tokio::{task::JoinSet, time::sleep};

/// The argument with which this program starts itself as a sending process.
const SENDER: &str = "sender";
/// Quotas that no run reaches.
const QUOTAS: [(&str, &str); 2] =
    [("SMS_PER_USER_DAY", "1000000"), ("SMS_PER_COMMITTEE_DAY", "1000000")];

/// Messages per second of a campaign, fewer than the local store bears.
const RATE: usize = 30;
const WORKERS: usize = 20;
/// People who ask for a code, one after the other.
const PEOPLE: usize = 20;
/// Messages that are sent with the meter on.
const METERED: usize = 1000;
/// Between two single messages, and between two codes.
const INTERVAL: Duration = Duration::from_secs(2);
/// What the numbers of each kind of message begin with.
const FIRST: &str = "+21620";
const SECOND: &str = "+21621";
const SINGLES: &str = "+21622";
const CODES: &str = "+21623";

/// The number of sending processes in `crash`, and how many are killed.
const SENDERS: u64 = 3;
const KILLS: usize = 50;
/// The longest duration of either.
const TIMEOUT: Duration = Duration::from_secs(3600);

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["campaign"] => campaign(10_000).await,
        ["campaign", count] => campaign(count.parse()?).await,
        ["crash"] => crash(1, 10_000).await,
        ["crash", seed] => crash(seed.parse()?, 10_000).await,
        ["crash", seed, count] => crash(seed.parse()?, count.parse()?).await,
        [SENDER] => sweep_forever(Clock::default(), Duration::from_millis(50)).await,
        _ => Err("usage: cargo bench-sms campaign [COUNT] | crash [SEED [COUNT]]".into()),
    }
}

/// `sender` requests `count` messages to numbers that begin with `prefix`; the stream is delivered until they are written
/// and due.
async fn accept(world: &World, sender: &Person, prefix: &str, count: usize) {
    let (numbers, mut times) =
        ((0..count).map(|at| format!("{prefix}{at:06}")), Samples::default());
    for chunk in numbers.collect::<Vec<_>>().chunks(1000) {
        let body = json!({ "recipients": chunk, "message": "Bonjour" });
        let sender = sender.with("idempotency-key", &chunk[0].replace('+', "batch-"));
        let answer = sender.post_until_answered("/sms/bulk", body).await;
        assert!(answer.status < 300, "{answer:?}");
        times.record_time(answer.took);
    }
    let (median, longest) = (times.milliseconds(0.5), times.milliseconds(1.0));
    println!("a request of up to 1,000 messages took {median:.0} ms, at most {longest:.0} ms");
    world.deliver().await;
}

/// Compares the status of each message with how often it was sent.
fn report(world: &World, messages: usize) -> Result<()> {
    let mut sent: HashMap<String, usize> = HashMap::new();
    for message in world.cloud().recorder().texts() {
        *sent.entry(text(&message["to"])).or_default() += 1;
    }
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for item in world.items("records").iter().filter(|item| item["sk"]["S"] == "SMS") {
        let card = &item["card"]["M"];
        let times = sent.get(&text(&card["to"]["S"])).copied().unwrap_or(0).min(2);
        counts.entry(text(&card["status"]["S"])).or_default()[times] += 1;
    }
    let row = |(status, [none, once, twice]): (&String, &[usize; 3])| {
        [status.clone(), none.to_string(), once.to_string(), twice.to_string()]
    };
    let heads = ["status", "not sent", "sent once", "sent twice"];
    println!("{}", table(&heads, counts.iter().map(row)));
    let written: usize = counts.values().flatten().sum();
    println!("lost: {}", messages.saturating_sub(written));
    let is_consistent = |(status, [none, once, twice]): (&String, &[usize; 3])| {
        let matches = match status.as_str() {
            "SENT" => *none == 0,
            "FAILED" => *once == 0,
            status => status == "UNKNOWN",
        };
        matches && *twice == 0
    };
    let has_duplicates = sent.values().any(|times| *times > 1);
    if written == messages && !has_duplicates && counts.iter().all(is_consistent) {
        Ok(())
    } else {
        Err("a message was lost, sent twice, or has a wrong status".into())
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

async fn crash(seed: u64, messages: usize) -> Result<()> {
    let settings = [("SMS_RATE_PER_SECOND", "400"), ("SMS_CLAIM_SECONDS", "20")];
    let world = World::in_folder(&[settings, QUOTAS].concat()).await;
    accept(&world, &world.admin().await, FIRST, messages).await;
    let (mut random, start) = (SeededRandom::new(seed), Instant::now());
    let sender = || start_role(SENDER, &world.settings());
    let mut senders = (0..SENDERS).map(|_| sender()).collect::<Result<Vec<_>>>()?;
    // The numbers of rejected requests and of requests without a response.
    let (mut injected, mut seen) = ([0, 0], 0);
    let (mut kills, mut next_kill, mut checked) = (0, start, start);
    while start.elapsed() < TIMEOUT {
        let requests = world.cloud().recorder().texts_taken() + injected[0];
        if requests >= seen + 5 {
            seen = requests;
            let which = (injected[0] + injected[1]) % 2;
            let fault = Fault::new([Mode::Throttle, Mode::Silent][which]).times(1);
            world.inject_fault_in(Service::Sns, fault);
            injected[which] += 1;
        }
        if kills < KILLS && Instant::now() >= next_kill {
            let at = random.below(SENDERS) as usize;
            senders[at].kill().await?;
            senders[at] = sender()?;
            kills += 1;
            next_kill = Instant::now() + Duration::from_millis(100 + random.below(1400));
        }
        if checked.elapsed() > Duration::from_secs(2) {
            let (store, later) = (&world.setup().store, world.clock().now().after(TIMEOUT));
            let is_waiting = !store.due(DueList::Bulk, later, 1).await?.is_empty()
                || !store.due(DueList::Started, later, 1).await?.is_empty();
            if kills == KILLS && !is_waiting {
                break;
            }
            checked = Instant::now();
        }
        sleep(Duration::from_millis(1)).await;
    }
    drop(senders);
    let ([refusals, dropped], seconds) = (injected, start.elapsed().as_secs());
    println!(
        "seed {seed}: {messages} messages, {kills} kills, {refusals} refusals, {dropped} dropped, {seconds} s\n"
    );
    report(&world, messages)
}

/// A message that must not wait for batches.
struct Urgent {
    to: String,
    /// Messages that had been sent when it was requested.
    after: usize,
}

async fn campaign(messages: usize) -> Result<()> {
    let rate = RATE.to_string();
    let world = World::in_folder(&[&[("SMS_RATE_PER_SECOND", &*rate)], &QUOTAS[..]].concat()).await;
    let of_first = messages * 6 / 10;
    accept(&world, &world.admin().await, FIRST, of_first).await;
    world.clock().advance(Duration::from_secs(2 * 86_400));
    let committee = world.another_committee("Comité de Sfax", true).await;
    let second = world.person(NewPerson::with(Profile::SuperAdmin).of(committee)).await;
    let mut people = Vec::new();
    for number in 0..PEOPLE {
        let phone = format!("{CODES}{number:06}").replace("+216", "");
        people.push(world.person(NewPerson::with(Profile::Member).with_phone("216", &phone)).await);
    }
    let meter = Strictness { is_metered: true, ..Strictness::default() };
    world.cloud().set_strictness(meter);

    let (mut tasks, begin) = (start_workers(&world), Instant::now());
    let sent = || world.cloud().recorder().texts_taken();
    let until = |count: usize| async move {
        let waited = Instant::now();
        while sent() < count && waited.elapsed() < TIMEOUT {
            sleep(Duration::from_millis(100)).await;
        }
    };
    until(messages / 10).await;
    accept(&world, &second, SECOND, messages - of_first).await;
    until(METERED.min(messages / 2)).await;
    // The meter slows the local store down: it runs for a part.
    let (metered, hottest) = (sent(), world.cloud().hottest());
    world.cloud().set_strictness(Strictness::default());
    let (mut urgent, start) = (Vec::new(), Instant::now());
    for number in 0.. {
        if sent() >= messages * 9 / 10 || start.elapsed() > TIMEOUT {
            break;
        }
        let (to, after) = (format!("{SINGLES}{number:06}"), sent());
        let single = second.post("/sms/single", json!({ "to": to, "message": "Bonjour" })).await;
        assert!(single.status < 300, "{single:?}");
        urgent.push(Urgent { to, after });
        if let Some(person) = people.get(number) {
            let body = json!({ "email": person.user().email, "sendMethode": "sms" });
            let after = sent();
            let code = world.anonymous().post("/auth/passwordless", body).await;
            assert!(code.status < 300, "{code:?}");
            urgent.push(Urgent { to: format!("{CODES}{number:06}"), after });
        }
        sleep(INTERVAL).await;
    }
    until(messages + urgent.len()).await;
    let seconds = begin.elapsed().as_secs_f64();
    // The outcomes of the last messages are recorded.
    sleep(Duration::from_secs(2)).await;
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}

    let at_thousand = |heat: &Heat| heat.writes * 1000.0 / metered.max(1) as f64;
    let row = |heat: &Heat| {
        [format!("`{}` of `{}`", heat.key, heat.name), format!("{:.0}", at_thousand(heat))]
    };
    let heads = ["partition", "write units per 1,000 messages"];
    println!("{}", table(&heads, hottest.iter().take(8).map(row)));
    // Committees share these.
    let is_shared = |heat: &&Heat| heat.name == "due" || heat.key == "RATE";
    let hottest = hottest.iter().filter(is_shared).map(at_thousand).fold(0.0, f64::max);
    judge(&world, messages, &urgent, hottest, seconds)
}

/// Starts [`WORKERS`] that sweep all the time, each with connections of its own, and the delivery of the stream.
fn start_workers(world: &World) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for _ in 0..WORKERS {
        let world = world.another_process();
        tasks.spawn(async move {
            loop {
                let _ = delivery::sweep(world.consumers()).await;
                sleep(Duration::from_millis(500)).await;
            }
        });
    }
    for consumer in [Consumer::Dispatcher, Consumer::Worker] {
        let world = world.clone();
        tasks.spawn(async move {
            loop {
                let _ = delivery::deliver_to(world.cloud(), world.consumers(), consumer).await;
                sleep(Duration::from_millis(50)).await;
            }
        });
    }
    tasks
}

fn judge(
    world: &World,
    messages: usize,
    urgent: &[Urgent],
    hottest: f64,
    seconds: f64,
) -> Result<()> {
    let mut texts = world.cloud().recorder().texts();
    texts.reverse();
    let sent: Vec<String> = texts.iter().map(|sent| text(&sent["to"])).collect();
    let (more, all) = (urgent.len(), messages + urgent.len());
    println!("{messages} messages, {more} single messages and codes, {WORKERS} workers\n");
    let codes = urgent.iter().filter(|one| one.to.starts_with(CODES)).count();
    let written = report(world, all - codes);
    let (share, waits) = (share(&sent) * 100.0, waits(&sent, urgent));
    println!(
        "\n| | measured | expected |\n|---|--:|---|\n| sent | {} | all of {all} |\n\
         | a second | {:.0}, at most {} | {RATE} |\n\
         | share of the committee that began later | {share:.1} % | 45 to 55 % |\n\
         | messages of batches before a code or a single message | {waits} | at most {}, two seconds' worth |\n\
         | hottest shared partition at 1,000 messages a second | {hottest:.0} units | less than 500 |",
        sent.len(),
        all as f64 / seconds,
        most_in_a_second(&texts),
        2 * RATE
    );
    written?;
    let is_fair = (45.0..=55.0).contains(&share) && waits <= 2 * RATE;
    if sent.len() == all && is_fair && hottest < 500.0 {
        Ok(())
    } else {
        Err("a figure is outside its bound".into())
    }
}

/// The second committee's share of the messages that were sent while both had some waiting.
fn share(sent: &[String]) -> f64 {
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

/// The most of `texts`, the oldest first, that were sent in any second.
fn most_in_a_second(texts: &[Value]) -> usize {
    let at =
        |text: &Value| text["at"].as_str()?.parse().ok().map(domain::Instant::unix_milliseconds);
    let times: Vec<i64> = texts.iter().filter_map(at).collect();
    let within = |(place, from): (usize, &i64)| {
        times[place..].iter().take_while(|time| **time < from + 1000).count()
    };
    times.iter().enumerate().map(within).max().unwrap_or_default()
}
