//! Loading the store: courses become items on one core and rows on another.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use bench::grouped;
use domain::{
    CourseId,
    course::{Outline, State},
};
use local::{Trouble, cloud::Cloud};
use serde_json::Value;

use crate::catalogue::{Catalogue, middle, unique};

/// So many courses are loaded at once.
const BATCH: usize = 2_000;

/// The store's courses so far.
pub(crate) struct Shelf {
    catalogue: Catalogue,
    courses: u64,
    /// How many published courses have each word.
    counts: BTreeMap<String, u64>,
    /// The courses with a word of their own.
    middles: BTreeMap<u64, CourseId>,
}

/// The course in the middle.
pub(crate) struct Middle {
    /// Which one.
    pub(crate) id: CourseId,
    /// The word that no other has.
    pub(crate) word: String,
}

/// What came.
#[derive(Default)]
pub(crate) struct Loaded {
    items: usize,
    bytes: usize,
    took: Duration,
}

impl fmt::Display for Loaded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = grouped(u64::try_from(self.items).unwrap_or(u64::MAX));
        write!(
            out,
            "{items} more items of {} MB in {:.1} s",
            self.bytes / 1_000_000,
            self.took.as_secs_f64()
        )
    }
}

/// Items that are on their way.
type Batch = Result<Vec<Value>, Trouble>;

impl Shelf {
    /// Nothing so far.
    pub(crate) const fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            courses: 0,
            counts: BTreeMap::new(),
            middles: BTreeMap::new(),
        }
    }

    /// Loads what is missing to `size` courses.
    pub(crate) fn fill(&mut self, cloud: &Cloud, size: u64) -> Result<Loaded, Trouble> {
        let (start, mut loaded) = (Instant::now(), Loaded::default());
        let (sender, receiver) = sync_channel::<Batch>(1);
        thread::scope(|scope| {
            scope.spawn(move || self.make(size, &sender));
            for batch in receiver {
                let items = batch?;
                loaded.items += items.len();
                loaded.bytes += cloud.import("records", items)?;
            }
            Ok::<(), Trouble>(())
        })?;
        loaded.took = start.elapsed();
        Ok(loaded)
    }

    fn make(&mut self, size: u64, sender: &SyncSender<Batch>) {
        let mut news = BTreeSet::new();
        while self.courses < size {
            let batch = self.batch(size, &mut news);
            let is_over = batch.is_err();
            // Nobody listens any more when an import has failed.
            if sender.send(batch).is_err() || is_over {
                return;
            }
        }
        let counts = news.iter().map(|word| {
            Ok(store::import::count_item(
                word,
                self.counts.get(word).copied().unwrap_or_default(),
            )?)
        });
        let _ = sender.send(counts.collect());
    }

    fn batch(&mut self, size: u64, news: &mut BTreeSet<String>) -> Batch {
        let mut items = Vec::new();
        for _ in 0..BATCH {
            if self.courses == size {
                break;
            }
            let course = self.catalogue.course(self.courses)?;
            if self.courses == middle(size) {
                self.middles.insert(size, course.outline.course_id);
            }
            self.count(&course.outline, news);
            items.extend(store::import::items_of(&course)?);
            self.courses += 1;
        }
        Ok(items)
    }

    fn count(&mut self, course: &Outline, news: &mut BTreeSet<String>) {
        if course.state == State::Published {
            for word in course.words() {
                *self.counts.entry(word.clone()).or_default() += 1;
                news.insert(word);
            }
        }
    }

    /// The course in the middle of the first `size`.
    pub(crate) fn middle(&self, size: u64) -> Result<Middle, Trouble> {
        let id = self
            .middles
            .get(&size)
            .copied()
            .ok_or_else(|| Trouble::new("There is no course in the middle."))?;
        Ok(Middle {
            id,
            word: unique(size),
        })
    }
}
