//! `cargo bench-scale`: read units of lists and searches at 10 to 100,000 courses.
//!
//! Courses are imported directly into a store in a file; at each size the same requests go through the real edge.
//! `million` adds a million courses and rewrites `scale.md`; a number is the largest size. Fails if a
//! request costs more at one size than at another.

mod catalogue;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::Duration,
};

use bench::{
    Result, Samples, error, print,
    service::{LocalService, Tables},
    thousands, write_page,
};
use domain::{CommitteeId, CourseId, UserId, committee::Committee, course::State};
use form_urlencoded::byte_serialize;
use identity::random;
use serde_json::Value;
use tokio::time::Instant;

use catalogue::{Catalogue, FREQUENT, parsed};

const SIZES: [u64; 5] = [10, 1_000, 10_000, 100_000, 1_000_000];
/// From this size on, every list is longer than a page, and the rarest of the five frequent words
/// has more courses than a search reads.
const FULL: u64 = 10_000;
/// Courses differ in length, and read units are steps of 4 KB.
const TOLERANCE: f64 = 1.0;
/// Courses per import.
const BATCH: u64 = 2_000;
/// Repetitions of each request.
const CALLS: usize = 50;

/// One request at one size.
struct Figure {
    round_trips: f64,
    read_units: f64,
    courses: usize,
    milliseconds: f64,
}

/// Requests by name, and their figures by size.
type Figures = BTreeMap<&'static str, BTreeMap<u64, Figure>>;

// On one thread, concurrent requests always count as one round trip, however busy the machine is.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let argument = std::env::args().nth(1);
    let last = match argument.as_deref() {
        None => 100_000,
        Some("million") => 1_000_000,
        Some(number) => number.parse().map_err(error)?,
    };
    let sizes: Vec<u64> = SIZES.into_iter().filter(|size| *size <= last).collect();
    let service = LocalService::start(Tables::File, &[]).await?;
    let interval = Duration::from_secs(121 * last + 31 * 86_400);
    let catalogue = Catalogue {
        committees: committees(&service).await?,
        start: service.setup.clock.now().before(interval),
    };
    let (mut figures, mut counts, mut loaded) = (Figures::new(), BTreeMap::new(), 0);
    for size in &sizes {
        let middle = load(&service, &catalogue, &mut counts, loaded, *size)?;
        loaded = *size;
        // Pending writes of the kernel would slow down the requests.
        let file = fs::File::open(service.folder.path().join("dynamodb.sqlite"));
        file.and_then(|file| file.sync_all()).map_err(error)?;
        print(format!("{} courses loaded", thousands(*size)));
        measure_all(&service, *size, middle, &mut figures).await?;
    }
    let table = table(&sizes, &figures);
    print(format!("\n{table}"));
    if argument.as_deref() == Some("million") {
        write_page("scale", &page(&table))?;
    }
    match figures.iter().find(|(_, row)| growth(row) > TOLERANCE) {
        None => Ok(()),
        Some((name, _)) => Err(error(format!("{name}: the cost grows with the courses"))),
    }
}

/// The administrator's committee and 23 others, each with an author.
async fn committees(service: &LocalService) -> Result<Vec<(CommitteeId, UserId)>> {
    let now = service.setup.clock.now();
    let page = service.setup.store.committees(None, 1).await?.items;
    let first = page.first().ok_or_else(|| error("no committee"))?;
    let mut all = vec![(first.committee_id, UserId::new(random::id(now)))];
    for number in 1..24 {
        let committee = Committee {
            committee_id: CommitteeId::new(random::id(now)),
            name_latin: parsed(&format!("Comité de formation {number}"))?,
            ..first.clone()
        };
        let mut tx = service.setup.store.transaction();
        tx.create_committee(&committee);
        let _ = tx.commit().await?;
        all.push((committee.committee_id, UserId::new(random::id(now))));
    }
    Ok(all)
}

/// The word of the course in the middle of the first `size`, which no other course has.
fn unique_word(size: u64) -> String {
    format!("nénuphar{size}")
}

/// Loads the courses from `from` to `size`, and returns the one in the middle of all. `counts` are
/// the numbers of published courses by word.
fn load(
    service: &LocalService,
    catalogue: &Catalogue,
    counts: &mut BTreeMap<String, u64>,
    from: u64,
    size: u64,
) -> Result<CourseId> {
    let (mut items, mut changed, mut middle) = (Vec::new(), BTreeSet::new(), None);
    let own_word = unique_word(size);
    for number in from..size {
        let is_middle = number == size / 2;
        let course = catalogue.course(number, is_middle.then_some(own_word.as_str()))?;
        if is_middle {
            middle = Some(course.outline.course_id);
        }
        items.extend(store::import::items_of(&course)?);
        if course.outline.state == State::Published {
            for term in store::import::terms(&course) {
                *counts.entry(term.clone()).or_default() += 1;
                changed.insert(term);
            }
        }
        if number % BATCH == 0 {
            service.cloud.import("records", std::mem::take(&mut items))?;
        }
    }
    for term in changed {
        let count = counts.get(&term).copied().unwrap_or_default();
        items.push(store::import::count_item(&term, count)?);
    }
    service.cloud.import("records", items)?;
    middle.ok_or_else(|| error("no course in the middle"))
}

async fn measure_all(
    service: &LocalService,
    size: u64,
    middle: CourseId,
    figures: &mut Figures,
) -> Result<()> {
    let search = |words: &str| {
        let words: String = byte_serialize(words.as_bytes()).collect();
        format!("search-all?q={words}")
    };
    let frequent = FREQUENT.map(|(word, _)| word);
    let mut requests = vec![
        ("all courses", "search-all".to_owned()),
        ("courses of a committee", "committee".to_owned()),
        ("one course", middle.to_string()),
        ("search: a frequent word", search(frequent[0])),
        ("search: five frequent words", search(&frequent.join(" "))),
        ("search: a word of one course", search(&unique_word(size))),
        ("search: a word of no course", search("introuvable")),
    ];
    let first = service.call("GET", "/courses/search-all", &Value::Null).await?;
    if let Some(cursor) = first.body["nextCursor"].as_str() {
        let path = format!("search-all?cursor={cursor}");
        requests.push(("all courses, second page", path));
    }
    for (name, path) in requests {
        let figure = measure(service, &format!("/courses/{path}")).await?;
        figures.entry(name).or_default().insert(size, figure);
    }
    Ok(())
}

async fn measure(service: &LocalService, path: &str) -> Result<Figure> {
    let (mut times, mut round_trips) = (Samples::new()?, Samples::new()?);
    let (mut read_units, mut courses) = (0.0_f64, 0);
    for _ in 0..CALLS {
        let start = Instant::now();
        let answer = service.call("GET", path, &Value::Null).await?;
        times.record_time(start.elapsed());
        let cost = answer.cost.ok_or_else(|| error("no cost"))?;
        round_trips.record(cost.round_trips.into());
        read_units = read_units.max(cost.reads);
        let list = answer.body["courses"].as_array().map(Vec::len);
        courses = list.unwrap_or(usize::from(answer.body["course"].is_object()));
    }
    Ok(Figure {
        round_trips: round_trips.quantile(0.5),
        read_units,
        courses,
        milliseconds: times.milliseconds(0.5),
    })
}

/// The difference between the highest and the lowest cost at sizes where pages are full.
fn growth(row: &BTreeMap<u64, Figure>) -> f64 {
    let units = || row.range(FULL..).map(|(_, figure)| figure.read_units);
    (units().fold(f64::MIN, f64::max) - units().fold(f64::MAX, f64::min)).max(0.0)
}

fn table(sizes: &[u64], figures: &Figures) -> String {
    let heads: String = sizes.iter().map(|size| format!(" {} |", thousands(*size))).collect();
    let rule = "--:|".repeat(sizes.len());
    let mut text = format!("| request | round trips |{heads} grows by |\n|---|--:|{rule}--:|\n");
    for (name, row) in figures {
        let trips = row.values().map(|figure| figure.round_trips).fold(0.0, f64::max);
        let cell = |size| match row.get(size) {
            None => " – |".to_owned(),
            Some(figure) => format!(
                " {:.1} ({}), {:.1} ms |",
                figure.read_units, figure.courses, figure.milliseconds
            ),
        };
        let cells: String = sizes.iter().map(cell).collect();
        text += &format!("| {name} | {trips} |{cells} {:.1} |\n", growth(row));
    }
    text
}

fn page(table: &str) -> String {
    format!(
        "# The cost of a request does not depend on the number of courses\n\n\
         This page is for engineers who change a list or a search. Written by `cargo bench-scale million`: one store in a \
         file, loaded with more and more courses, and requests through the real edge.\n\n{table}\n\
         Read units of one request, the courses that it returns in brackets, and its median time. Three units of each are \
         the caller's session, user and committee. Below {} courses pages are not full and cost less; “grows by” is the \
         difference between the highest and the lowest units from there on. Read units are what DynamoDB would bill; times \
         are of the local store on one machine.\n",
        thousands(FULL)
    )
}
