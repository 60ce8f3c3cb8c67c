//! `cargo bench-seats [RUN]`: registrations for courses that many people want at once, through the real edge, stream, worker
//! and dispatcher. Fails if a count is wrong or a response is a 5xx; asserts no time. Without an argument all four runs:
//!
//! - `rush`: 300 people at once, 25 seats, a waiting list of 50.
//! - `edits`: 1,000 people within a second, 500 seats, while the course is edited twice.
//! - `raise`: the capacity is raised by 300 while 400 people wait.
//! - `cancel`: a course of 5,000 is cancelled while others ask for codes to sign in.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot measure fails, and it prints its figures"
)]

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bench::{Result, Samples, table};
use dev::delivery;
use domain::Profile;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tests::{Answer, Person, World};
use tokio::{
    task::{JoinHandle, JoinSet},
    time::sleep,
};

/// People who are created or registered at once while a run is prepared.
const AT_ONCE: usize = 8;
/// Between two looks at what the run waits for.
const INTERVAL: Duration = Duration::from_millis(20);
/// Between two of the 1,000. Here all share the connections of one process: as many new ones at the same moment would not be
/// established in time.
const PAUSE: Duration = Duration::from_millis(1);
/// Between two codes.
const CODE_INTERVAL: Duration = Duration::from_millis(200);
/// Codes are requested at least this often, also after all registrations have ended: their mails are still sent.
const CODES: usize = 300;
/// The longest time that a run waits for anything.
const TIMEOUT: Duration = Duration::from_secs(300);
const DAY: Duration = Duration::from_secs(86_400);

#[tokio::main]
async fn main() -> Result<()> {
    let argument = std::env::args().nth(1);
    match argument.as_deref() {
        Some("rush") => rush().await,
        Some("edits") => edits().await,
        Some("raise") => raise().await,
        Some("cancel") => cancel().await,
        None => {
            rush().await?;
            edits().await?;
            raise().await?;
            cancel().await
        }
        _ => Err("usage: cargo bench-seats [rush | edits | raise | cancel]".into()),
    }
}

/// A published course, and people who can register for it.
struct Course {
    world: World,
    trainer: Person,
    id: String,
    people: Vec<Person>,
}

/// Dispatcher and worker, with the product's rate of mails.
struct Delivery(JoinHandle<()>);

impl Course {
    /// A course with `settings` of its registrations, and `count` people.
    async fn with(settings: Value, count: usize) -> Self {
        let world = World::in_folder(&[("RATE_LIMIT", "4000000000")]).await;
        let trainer = world.person(Profile::Trainer).await;
        let content = content(&world, 10);
        let created = trainer.post("/courses", content).await.expect_created();
        let id = text(&created["course"]["courseID"]);
        trainer.post(&format!("/courses/{id}/publish"), json!({})).await.expect_ok();
        let person = async |_| {
            let user = world.unhashed_account(Profile::Member).await;
            world.signed_in(user).await
        };
        let people = stream::iter(0..count).map(person).buffered(AT_ONCE).collect().await;
        let course = Self { world, trainer, id, people };
        course.set(settings).await.expect_ok();
        course
    }

    fn path(&self, rest: &str) -> String {
        format!("/registrations/{}{rest}", self.id)
    }

    async fn set(&self, settings: Value) -> Answer {
        self.trainer.put(&self.path("/settings"), settings).await
    }

    /// Starts the delivery of the stream; what happened before is delivered first, at any rate.
    async fn start(&self) -> Delivery {
        self.world.deliver().await;
        let world = self.world.another_process_with(&[("MAIL_RATE_PER_SECOND", "10")]);
        let (cloud, consumers) = (world.cloud().clone(), world.consumers().clone());
        Delivery(tokio::spawn(delivery::run(cloud, consumers)))
    }

    /// Registers everybody, a few at once.
    async fn fill(&self) {
        let path = self.path("");
        let register = async |person: &Person| person.post(&path, json!({})).await.expect_created();
        let mut registered = stream::iter(&self.people).map(register).buffer_unordered(AT_ONCE);
        while registered.next().await.is_some() {}
    }

    /// Registers everybody, each `pause` after the one before, and counts the responses in `answered`; returns them, and how
    /// long all took.
    async fn rush(&self, pause: Duration, answered: &Arc<AtomicUsize>) -> (Vec<Answer>, Duration) {
        let (mut calls, begin) = (JoinSet::new(), Instant::now());
        for (place, person) in (0..).zip(self.people.clone()) {
            let (path, answered) = (self.path(""), Arc::clone(answered));
            calls.spawn(async move {
                sleep(pause * place).await;
                let answer = person.post(&path, json!({})).await;
                answered.fetch_add(1, Ordering::Relaxed);
                answer
            });
        }
        (calls.join_all().await, begin.elapsed())
    }

    async fn counts(&self) -> [u64; 2] {
        let body = self.trainer.get(&self.path("?limit=1")).await.expect_ok();
        ["confirmed", "waitlisted"].map(|name| body["counts"][name].as_u64().expect("a count"))
    }

    /// The numbers of the registrations in `state`, in their order.
    async fn numbers(&self, state: &str) -> Vec<u64> {
        let path = self.path(&format!("?state={state}&limit=100"));
        let cards = self.trainer.pages(&path, "registrations").await;
        cards.iter().map(|card| card["number"].as_u64().expect("a number")).collect()
    }

    /// Waits until `confirmed` are confirmed; returns how long that took since `begin`.
    async fn until_confirmed(&self, confirmed: u64, begin: Instant) -> Duration {
        while self.counts().await[0] < confirmed && begin.elapsed() < TIMEOUT {
            sleep(INTERVAL).await;
        }
        begin.elapsed()
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The content of the course, which starts in `days`.
fn content(world: &World, days: u32) -> Value {
    json!({
        "courseTitle": "Premiers secours", "description": "Les gestes qui sauvent, en trois jours.",
        "courseType": "ONLINE", "sectionOfMatter": "Secourisme", "contactEmail": "cours@example.org",
        "startAt": world.clock().now().after(DAY * days),
    })
}

fn settings(capacity: u64, waitlist_limit: u64) -> Value {
    json!({ "mode": "AUTOMATIC", "capacity": capacity, "waitlistLimit": waitlist_limit })
}

async fn rush() -> Result<()> {
    let course = Course::with(settings(25, 50), 300).await;
    let _delivery = course.start().await;
    let (answers, took) = course.rush(Duration::ZERO, &Arc::default()).await;
    report("300 people, 25 seats, a list of 50", &answers, took, "2 s");
    let is_ordered = is_list_in_order(&course);
    expect(outcomes(&answers) == [25, 50, 225] && is_ordered, (outcomes(&answers), is_ordered))
}

async fn edits() -> Result<()> {
    let course = Course::with(settings(500, 1000), 1000).await;
    let _delivery = course.start().await;
    let answered: Arc<AtomicUsize> = Arc::default();
    let edits = async {
        let until = async |count: usize| {
            while answered.load(Ordering::Relaxed) < count {
                sleep(INTERVAL).await;
            }
        };
        until(200).await;
        let (path, start) = (format!("/courses/{}", course.id), content(&course.world, 11));
        let first = course.trainer.put(&path, start).await;
        until(500).await;
        let mut joining = settings(500, 1000);
        joining["joinInfo"] = "Salle 4".into();
        [first, course.set(joining).await]
    };
    let ((answers, took), edits) = tokio::join!(course.rush(PAUSE, &answered), edits);
    let statuses = edits.map(|answer| {
        println!(
            "an edit took {:.1} s: {} {}",
            answer.took.as_secs_f64(),
            answer.status,
            answer.code()
        );
        answer.status
    });
    report("1,000 people, 500 seats, two edits", &answers, took, "20 s");
    let counts = course.counts().await;
    expect(
        outcomes(&answers)[..2] == [500, 500] && counts == [500, 500] && statuses == [200, 200],
        (outcomes(&answers), counts, statuses),
    )
}

async fn raise() -> Result<()> {
    let course = Course::with(settings(0, 400), 400).await;
    course.fill().await;
    let _delivery = course.start().await;
    let waiting = course.numbers("WAITLISTED").await;
    let begin = Instant::now();
    course.set(settings(300, 400)).await.expect_ok();
    let took = course.until_confirmed(300, begin).await;
    println!("capacity raised by 300, 400 wait: {:.1} s (goal 8 s)\n", took.as_secs_f64());
    let (confirmed, left) = (course.numbers("CONFIRMED").await, course.numbers("WAITLISTED").await);
    let is_ordered = confirmed == waiting[..300] && left == waiting[300..];
    expect(is_ordered, (confirmed, left))
}

async fn cancel() -> Result<()> {
    let course = Course::with(json!({ "mode": "AUTOMATIC" }), 5000).await;
    course.fill().await;
    let _delivery = course.start().await;
    let world = &course.world;
    let mut mailboxes = Vec::new();
    for _ in 0..CODES {
        mailboxes.push(world.unhashed_account(Profile::Member).await.email.to_string());
    }
    let (begin, body) = (Instant::now(), json!({ "reason": "Le formateur est malade." }));
    course.trainer.post(&course.path("/cancel-course"), body).await.expect_ok();
    let ended = async {
        while course.counts().await[0] > 0 && begin.elapsed() < TIMEOUT {
            sleep(INTERVAL * 10).await;
        }
        begin.elapsed()
    };
    let codes = async {
        let mut requested = Vec::new();
        for (number, email) in mailboxes.iter().enumerate() {
            requested.push((email.as_str(), world.clock().now()));
            let ip = format!("10.1.{}.{}", number / 250, number % 250 + 1);
            world.anonymous().at(&ip).ask_to_sign_in(email, "email").await;
            sleep(CODE_INTERVAL).await;
        }
        requested
    };
    let (ended, requested) = tokio::join!(ended, codes);
    let seconds = begin.elapsed().as_secs_f64();
    // The last codes are sent.
    sleep(Duration::from_secs(10)).await;
    let mails = world.cloud().recorder().mails();
    let of_course = mails.iter().filter(|mail| text(&mail["text"]).contains("annulé")).count();
    let (mut times, mut lost) = (Samples::default(), 0);
    for (email, at) in requested {
        let is_code = |mail: &&Value| mail["to"] == email && text(&mail["text"]).contains("#code=");
        let sent_at = mails.iter().find(is_code).and_then(|mail| text(&mail["at"]).parse().ok());
        match sent_at {
            Some(sent_at) => times.record_time(domain::Instant::since(sent_at, at)),
            None => lost += 1,
        }
    }
    println!(
        "a course of 5,000 cancelled: all ended after {:.1} s; {of_course} mails of it in {seconds:.0} s\n\
         {CODES} codes beside it: median {:.0} ms, p99 {:.0} ms, slowest {:.0} ms (goal 5 s)\n",
        ended.as_secs_f64(),
        times.milliseconds(0.5),
        times.milliseconds(0.99),
        times.milliseconds(1.0)
    );
    let counts = course.counts().await;
    expect(counts == [0, 0] && lost == 0, (counts, "codes that were not sent:", lost))
}

/// How many are confirmed, on the list, and told that the course is full.
fn outcomes(answers: &[Answer]) -> [usize; 3] {
    let count = |code: &str| answers.iter().filter(|answer| answer.code() == code).count();
    ["REGISTRATION_CONFIRMED_MESSAGE", "REGISTRATION_WAITLISTED_MESSAGE", "COURSE_FULL_MESSAGE"]
        .map(count)
}

/// Whether the places on the waiting list are in the order of the registrations' numbers, which the list names.
fn is_list_in_order(course: &Course) -> bool {
    let number = |person: &Value| {
        let user = text(&person["userID"]["S"]);
        let cards = course.world.items_of(&format!("REGISTRATION#{}#{user}", course.id));
        let number = cards.iter().find_map(|item| item["card"]["M"]["number"]["N"].as_str());
        number.and_then(|number| number.parse::<u64>().ok())
    };
    let mut places = course.world.items_of(&format!("SEATS#{}", course.id));
    places.retain(|item| text(&item["sk"]["S"]).starts_with("WAITING#"));
    places.sort_by_key(|item| text(&item["sk"]["S"]));
    let numbers: Vec<Option<u64>> = places.iter().map(number).collect();
    numbers.len() == 50 && numbers.is_sorted()
}

fn report(name: &str, answers: &[Answer], took: Duration, goal: &str) {
    let mut by_code: BTreeMap<String, (usize, Samples, Samples)> = BTreeMap::new();
    for answer in answers {
        let code = format!("{} {}", answer.status, answer.code());
        let (count, times, requests) = by_code.entry(code).or_default();
        *count += 1;
        times.record_time(answer.took);
        requests.record(answer.cost.requests.into());
    }
    println!("{name}: all within {:.1} s (goal {goal})\n", took.as_secs_f64());
    let rows = by_code.iter().map(|(code, (count, times, requests))| {
        let [median, slowest] = [0.5, 1.0].map(|share| format!("{:.0}", times.milliseconds(share)));
        let [usual, most] = [0.5, 1.0].map(|share| requests.quantile(share).to_string());
        [code.clone(), count.to_string(), median, slowest, usual, most]
    });
    let heads =
        ["response", "number", "median ms", "slowest ms", "median requests to the store", "most"];
    println!("{}", table(&heads, rows));
}

fn expect(holds: bool, what: impl std::fmt::Debug) -> Result<()> {
    if holds { Ok(()) } else { Err(format!("a count is wrong: {what:?}").into()) }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
