//! What is asked at each size, and what it costs.

use std::time::Duration;

use common::{Edge, Spent};
use form_urlencoded::byte_serialize;
use local::Trouble;
use serde_json::Value;
use tokio::time::Instant;

use crate::{FULL, answer, loading::Middle, words};

/// How often each is asked.
const CALLS: usize = 50;

/// Who asks.
pub(crate) struct Asker {
    /// The service.
    pub(crate) edge: Edge,
    /// His token.
    pub(crate) token: String,
}

/// One request at all sizes.
pub(crate) struct Row {
    /// What it is called.
    pub(crate) name: &'static str,
    /// What was seen, by size; a size at which there is nothing to ask for is left out.
    pub(crate) figures: Vec<(u64, Figure)>,
}

/// One request at one size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    /// Requests to the tables that waited for one another.
    pub(crate) round_trips: u32,
    /// Read units.
    pub(crate) reads: f64,
    /// How many courses were shown.
    pub(crate) courses: usize,
    /// The median time.
    pub(crate) median: Duration,
}

impl Row {
    /// What was seen at `size`.
    pub(crate) fn at(&self, size: u64) -> Option<Figure> {
        self.figures
            .iter()
            .find(|(other, _)| *other == size)
            .map(|(_, figure)| *figure)
    }

    /// By how many units the sizes differ at which pages are full.
    pub(crate) fn spread(&self) -> f64 {
        let reads = || {
            self.figures
                .iter()
                .filter(|(size, _)| *size >= FULL)
                .map(|(_, figure)| figure.reads)
        };
        (reads().fold(f64::MIN, f64::max) - reads().fold(f64::MAX, f64::min)).max(0.0)
    }
}

/// Asks everything at `size`, where `middle` is the course in the middle, and notes it in `rows`.
pub(crate) async fn ask(
    asker: &Asker,
    size: u64,
    middle: &Middle,
    rows: &mut Vec<Row>,
) -> Result<(), Trouble> {
    let search = |words: &str| {
        format!(
            "search-all?q={}",
            byte_serialize(words.as_bytes()).collect::<String>()
        )
    };
    let five: Vec<&str> = words::FREQUENT.iter().map(|(word, _)| *word).collect();
    let first = asker.body("search-all").await?;
    let second = first["nextCursor"]
        .as_str()
        .map(|cursor| format!("search-all?cursor={cursor}"));
    let requests = [
        ("all courses", Some("search-all".to_owned())),
        ("all courses, second page", second),
        ("a committee’s courses", Some("committee".to_owned())),
        ("one course", Some(middle.id.to_string())),
        (
            "search: a frequent word",
            five.first().map(|word| search(word)),
        ),
        ("search: five frequent words", Some(search(&five.join(" ")))),
        ("search: a word of one course", Some(search(&middle.word))),
        ("search: a word of none", Some(search(words::NOBODYS))),
    ];
    if rows.is_empty() {
        rows.extend(requests.iter().map(|(name, _)| Row {
            name,
            figures: Vec::new(),
        }));
    }
    for (row, (_, path)) in rows.iter_mut().zip(requests) {
        if let Some(path) = path {
            row.figures.push((size, asker.measure(&path).await?));
        }
    }
    Ok(())
}

impl Asker {
    async fn body(&self, path: &str) -> Result<Value, Trouble> {
        let answer = answer(
            &self.edge,
            "GET",
            &format!("/api/v1/courses/{path}"),
            &self.token,
            String::new(),
        )
        .await?;
        serde_json::from_slice(answer.body()).map_err(bench::trouble)
    }

    async fn measure(&self, path: &str) -> Result<Figure, Trouble> {
        let body = self.body(path).await?;
        let courses = body["courses"]
            .as_array()
            .map_or(usize::from(body["course"].is_object()), Vec::len);
        let path = format!("/api/v1/courses/{path}");
        let (mut timings, mut trips, mut reads) = (Vec::new(), Vec::new(), 0.0_f64);
        for _ in 0..CALLS {
            let start = Instant::now();
            let answer = answer(&self.edge, "GET", &path, &self.token, String::new()).await?;
            timings.push(start.elapsed());
            if let Some(Spent(cost)) = answer.extensions().get() {
                trips.push(cost.round_trips);
                reads = reads.max(cost.reads);
            }
        }
        // Now and then a request opens a new window of the public limit, or writes `lastActive`.
        Ok(Figure {
            round_trips: median(trips),
            reads,
            courses,
            median: median(timings),
        })
    }
}

fn median<T: Ord + Default>(mut all: Vec<T>) -> T {
    all.sort_unstable();
    let middle = all.len() / 2;
    all.into_iter().nth(middle).unwrap_or_default()
}
