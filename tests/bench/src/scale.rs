//! `cargo bench-scale`: read units of lists and searches at 10 to 100,000 courses.
//!
//! Courses are written by the store; at each size the same requests go through the real edge. `million` adds a million courses,
//! of which ten thousand are indexed for searches, and rewrites `scale.md` after each size; a number is the largest size. Fails
//! if a request costs more at one size than at another.
#![expect(
    clippy::print_stdout,
    reason = "a benchmark that cannot measure fails, and it prints its figures"
)]

use std::{collections::BTreeMap, fs, time::Duration};

use bench::{Result, Samples, table, write_page};
use domain::{
    CourseId, Instant, UserId,
    course::{Course, CourseState},
};
use form_urlencoded::byte_serialize;
use identity::random;
use serde_json::json;
use store::{CommitOutcome, Store};
use tests::{Person, World};

const SIZES: [u64; 5] = [10, 1_000, 10_000, 100_000, 1_000_000];
/// From this size on, every list is longer than a page, and the rarest of the five frequent words
/// has more courses than a search reads.
const FULL: u64 = 10_000;
/// Courses differ in length, and read units are steps of 4 KB.
const TOLERANCE: f64 = 1.0;
/// Courses of one transaction: as many as it may have items. One commit of the store's file for each would take hours.
const AT_ONCE: u64 = 100;
/// Repetitions of each request.
const CALLS: usize = 50;
/// Words of every second, third, fourth, fifth and sixth title; one in sixty has all.
const FREQUENT: [&str; 5] = ["formation", "pratique", "entreprise", "التكوين", "السلامة"];
/// A third of a description.
const DESCRIPTION: &str = "Les participants travaillent en petits groupes sur des cas tirés de leur propre entreprise.\n\
    يشتمل البرنامج على جانب نظري في الصباح وورشات تطبيقية بعد الظهر.\n";
const HOUR: Duration = Duration::from_secs(3_600);
/// More than a page has courses.
const COMMITTEES: u64 = 24;
/// The time between two courses, and between their starts.
const INTERVAL: Duration = Duration::from_secs(120);

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
        Some(number) => number.parse()?,
    };
    let sizes: Vec<u64> = SIZES.into_iter().filter(|size| *size <= last).collect();
    let world = World::in_folder(&[("RATE_LIMIT", "4000000000")]).await;
    let is_million = argument.as_deref() == Some("million");
    let indexed = if is_million { FULL } else { last };
    let mut catalogue = Catalogue::of(&world, last, indexed).await;
    let (admin, mut figures) = (world.admin().await, Figures::new());
    for (index, size) in sizes.iter().enumerate() {
        let middle = catalogue.load(&world.setup().store, *size).await?;
        // Pending writes of the kernel would slow down the requests.
        fs::File::open(world.folder().join("dynamodb.sqlite"))?.sync_all()?;
        println!("{} courses loaded", thousands(*size));
        measure_all(&admin, *size, middle, *size <= indexed, &mut figures).await;
        // After each size, because the next one takes ten times as long.
        let table = figures_table(&sizes[..=index], &figures);
        println!("\n{table}");
        if is_million {
            write_page("scale", &page(&table))?;
        }
    }
    match figures.iter().find(|(_, row)| growth(row) > TOLERANCE) {
        None => Ok(()),
        Some((name, _)) => Err(format!("{name}: the cost grows with the courses").into()),
    }
}

/// Courses in French and Arabic; the content of a course depends only on its number.
struct Catalogue {
    /// Committees, each with an author.
    committees: Vec<[String; 2]>,
    start: Instant,
    /// When they are loaded.
    now: Instant,
    loaded: u64,
    /// How many are put into the search index, each by some fifty writes.
    indexed: u64,
}

impl Catalogue {
    /// Of [`COMMITTEES`], up to `last` courses, of which the first `indexed` can be searched.
    async fn of(world: &World, last: u64, indexed: u64) -> Self {
        let now = world.clock().now();
        let mut committees = vec![world.committee()];
        for number in 1..COMMITTEES {
            let name = format!("Comité de formation {number}");
            committees.push(world.another_committee(&name, true).await);
        }
        let author = |_| UserId::new(random::id(now)).to_string();
        let committees = committees.iter().map(|id| [id.to_string(), author(id)]).collect();
        let start = now.before(Duration::from_secs(121 * last + 31 * 86_400));
        Self { committees, start, now, loaded: 0, indexed }
    }

    /// The course with this number, from 0. With `own_word` in its title it is always published.
    fn course(&self, number: u64, own_word: Option<&str>) -> Result<Course> {
        let created_at = self.start.after(INTERVAL * u32::try_from(number)?);
        let is_published = own_word.is_some() || number % 7 != 3;
        // Changed in another order, and still one committee after the other: a page of 20 names 20 committees at every
        // size, and none costs more.
        let blocks = 2 * (89 - number / COMMITTEES % 90);
        let updated_at = created_at.after(INTERVAL * u32::try_from(COMMITTEES * blocks)?);
        // The first ones have begun, and the short ones of these are over.
        let start_at = self.now.before(HOUR * 12).after(INTERVAL * u32::try_from(number)?);
        let hours = [9, 57, 240, 960][number as usize % 4];
        let [committee, author] = &self.committees[number as usize % self.committees.len()];
        let (city, kinds) = (format!("Ville {}", number % 24), ["ONSITE", "HYBRID", "ONLINE"]);
        let frequent = FREQUENT.iter().zip(2..).filter(|(_, step)| number.is_multiple_of(*step));
        let mut title: Vec<&str> = frequent.map(|(word, _)| *word).chain(own_word).collect();
        let (subject, rare) = (format!("sujet{}", number % 72), format!("rare{}", number % 32_768));
        title.extend([subject.as_str(), rare.as_str()]);
        Ok(serde_json::from_value(json!({
            "courseID": CourseId::new(random::id(created_at)),
            "committeeID": committee,
            "courseTitle": title.join(" "),
            "courseSubTitle": format!("Session {}", number % 12),
            "price": 50 + 10 * (number % 95),
            "currency": "TND",
            "location": format!("12 avenue Habib Bourguiba, {city}"),
            "courseType": kinds[number as usize % 3],
            "sectionOfMatter": "Industrie",
            "language": "FR",
            "region": city,
            "city": city,
            "startAt": start_at,
            "endAt": start_at.after(HOUR * hours),
            "state": if is_published { CourseState::Published } else { CourseState::Draft },
            "version": 1 + u64::from(is_published),
            "questionCount": 0,
            "createdBy": author,
            "createdAt": created_at,
            "updatedAt": updated_at,
            "publishedAt": is_published.then_some(updated_at),
            "description": DESCRIPTION.repeat(3),
            "contactPerson": "Amina Ben Salah",
            "contactPhone": "+21671123456",
            "contactEmail": "inscription@formation.example.org",
        }))?)
    }

    /// Writes courses, and indexes them as the worker does, until there are `size`; returns the one in the middle of all.
    async fn load(&mut self, store: &Store, size: u64) -> Result<CourseId> {
        let (own_word, mut middle) = (format!("nénuphar{size}"), None);
        while self.loaded < size {
            let numbers = self.loaded..size.min(self.loaded + AT_ONCE);
            self.loaded = numbers.end;
            let (mut tx, mut indexed) = (store.transaction(), Vec::new());
            for number in numbers {
                let is_middle = number == size / 2;
                let course = self.course(number, is_middle.then_some(own_word.as_str()))?;
                tx.new_course(&course, Vec::new());
                let id = course.summary.course_id;
                middle = middle.or(is_middle.then_some(id));
                indexed.extend((number < self.indexed).then_some(id));
            }
            assert_eq!(tx.commit().await?, CommitOutcome::Committed, "the courses are new");
            for id in indexed {
                store.index_course(id).await?;
            }
        }
        Ok(middle.ok_or("the middle of all was loaded before")?)
    }
}

async fn measure_all(
    admin: &Person,
    size: u64,
    middle: CourseId,
    with_searches: bool,
    figures: &mut Figures,
) {
    let with_words = |list: &str, words: &str| {
        let words: String = byte_serialize(words.as_bytes()).collect();
        format!("{list}?q={words}")
    };
    let search = |words: &str| with_words("/courses/search-all", words);
    let mut requests = vec![
        ("all courses", "/courses/search-all".to_owned()),
        ("courses of a committee", "/courses/committee".to_owned()),
        ("one course", format!("/courses/{middle}")),
        ("search: a frequent word", search(FREQUENT[0])),
        ("search: five frequent words", search(&FREQUENT.join(" "))),
        ("search: a word of one course", search(&format!("nénuphar{size}"))),
        ("search: a word of no course", search("introuvable")),
        ("catalogue", "/catalogue".to_owned()),
        ("catalogue, newest first", "/catalogue?order=newest".to_owned()),
        ("catalogue: a frequent word", with_words("/catalogue", FREQUENT[0])),
        ("catalogue: a word of one course", with_words("/catalogue", &format!("nénuphar{size}"))),
        ("catalogue: a city of one course in 24", "/catalogue?city=ville+7".to_owned()),
        ("catalogue: a city of no course", "/catalogue?city=introuvable".to_owned()),
        ("catalogue: courses that are open", "/catalogue?open=true".to_owned()),
        ("one course of the catalogue", format!("/catalogue/{middle}")),
    ];
    for (name, list) in [
        ("all courses, second page", "/courses/search-all"),
        ("catalogue, second page", "/catalogue"),
    ] {
        let first = admin.get(list).await.expect_ok();
        if let Some(cursor) = first["nextCursor"].as_str() {
            requests.push((name, format!("{list}?cursor={cursor}")));
        }
    }
    requests.retain(|(name, _)| with_searches || !name.starts_with("search"));
    for (name, path) in requests {
        let figure = measure(admin, &path).await;
        figures.entry(name).or_default().insert(size, figure);
    }
}

async fn measure(admin: &Person, path: &str) -> Figure {
    let (mut times, mut round_trips) = (Samples::default(), Samples::default());
    let (mut read_units, mut courses) = (0.0_f64, 0);
    for _ in 0..CALLS {
        let answer = admin.get(path).await;
        let body = answer.expect_ok();
        times.record_time(answer.took);
        round_trips.record(answer.cost.round_trips.into());
        read_units = read_units.max(answer.cost.reads);
        let list = body["courses"].as_array().map(Vec::len);
        courses = list.unwrap_or(usize::from(body["course"].is_object()));
    }
    let (round_trips, milliseconds) = (round_trips.quantile(0.5), times.milliseconds(0.5));
    Figure { round_trips, read_units, courses, milliseconds }
}

/// The difference between the highest and the lowest cost at sizes where pages are full.
fn growth(row: &BTreeMap<u64, Figure>) -> f64 {
    let units = || row.range(FULL..).map(|(_, figure)| figure.read_units);
    (units().fold(f64::MIN, f64::max) - units().fold(f64::MAX, f64::min)).max(0.0)
}

/// `number` with a comma every three digits.
fn thousands(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1000), number % 1000),
    }
}

fn figures_table(sizes: &[u64], figures: &Figures) -> String {
    let names: Vec<String> = sizes.iter().map(|size| thousands(*size)).collect();
    let names = names.iter().map(String::as_str);
    let heads: Vec<&str> =
        ["request", "round trips"].into_iter().chain(names).chain(["grows by"]).collect();
    let rows = figures.iter().map(|(name, row)| {
        let trips = row.values().map(|figure| figure.round_trips).fold(0.0, f64::max);
        let cell = |size| {
            row.get(size).map_or(
                "–".to_owned(),
                |Figure { read_units, courses, milliseconds, .. }| {
                    format!("{read_units:.1} ({courses}), {milliseconds:.1} ms")
                },
            )
        };
        let mut cells = vec![(*name).to_owned(), trips.to_string()];
        cells.extend(sizes.iter().map(cell));
        cells.push(format!("{:.1}", growth(row)));
        cells
    });
    table(&heads, rows)
}

fn page(table: &str) -> String {
    format!(
        "# The cost of a request does not depend on the number of courses\n\n\
         This page is for engineers who change a list or a search. Written by `cargo bench-scale million`: one store in a \
         file, loaded with more and more courses, and requests through the real edge.\n\n{table}\n\
         Read units of one request, the courses that it returns in brackets, and its median time. Three units of each are \
         the caller's session, user and committee. Below {} courses pages are not full and cost less; “grows by” is the \
         difference between the highest and the lowest units from there on. Searches are measured where all courses are in \
         their index: to index a million takes hours. Read units are what DynamoDB would bill; times \
         are of the local store on one machine.\n",
        thousands(FULL)
    )
}
