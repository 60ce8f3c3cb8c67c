//! The entries of the search index, an inverted index of published courses.
//!
//! Each term of a published course (each stem of its words) has an entry, sorted by the course's first publication, that
//! holds all terms of the course, and its committee, which never changes: a search reads committees beside courses. When a
//! change affects the words of a course, the course is put into the index `due`; the worker then updates the entries and
//! removes it from `due`: in one transaction up to 99 changed entries, else in several.

use domain::{CommitteeId, CourseId, course::CourseSummary};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::{
    CommitOutcome, Part, Store, StoreError,
    courses::{CourseItem, course_update, words_due},
    keys::{self, Key},
    retry::Retries,
    write::Write,
};

/// Maximum number of entries that one transaction changes: of its 100 parts, one is the course.
const MAX_CHANGES: usize = 99;
/// Counts that are written at once.
const AT_ONCE: usize = 8;

#[derive(Serialize)]
struct Entry {
    /// All terms of the course.
    words: Vec<String>,
    /// The committee of the course.
    committee: CommitteeId,
}

/// A course and the terms that it has entries for.
#[derive(Deserialize)]
struct SearchableCourse {
    #[serde(flatten)]
    course: CourseItem,
    #[serde(rename = "foundBy", default)]
    terms: Vec<String>,
    #[serde(rename = "duePk")]
    due: Option<String>,
}

enum Change {
    Put(Box<Write>),
    Remove(Key),
}

/// The distinct stems of the words of `course`: none while it is not announced.
pub(crate) fn terms(course: &CourseSummary) -> Vec<String> {
    if course.is_announced() { course.stems() } else { Vec::new() }
}

/// The entries of `course`, one per term.
fn entries(course: &CourseSummary) -> Vec<Write> {
    let Some(published_at) = course.published_at else {
        return Vec::new();
    };
    let entry = Entry { words: terms(course), committee: course.committee_id };
    let keys = entry.words.iter().map(|term| keys::entry(term, published_at, course.course_id));
    keys.map(|key| key.holding(&entry)).collect()
}

impl Store {
    /// Updates the search entries of the course `id` to its current words. Does nothing unless the course is due.
    ///
    /// # Errors
    /// As [`update`](Self::update); the course then stays due.
    pub async fn index_course(&self, id: CourseId) -> Result<(), StoreError> {
        let mut retries = Retries::new();
        loop {
            let course: Option<SearchableCourse> = self.get(&keys::course(id)).await?;
            let Some(course) = course.filter(|course| course.due.is_some()) else {
                return Ok(());
            };
            let wanted = terms(&course.course.card);
            if self.write_changes(&course, &wanted).await? {
                return self.count_changes(&course, &wanted).await;
            }
            retries.pause(StoreError::TransactionConflict).await?;
        }
    }

    /// Returns `false` if the course has changed since it was read. Before the last transaction the course stays due,
    /// and has all terms recorded that it may have entries for.
    async fn write_changes(
        &self,
        course: &SearchableCourse,
        wanted: &[String],
    ) -> Result<bool, StoreError> {
        let mut changes = course.changes(wanted).into_iter().peekable();
        loop {
            let mut tx = self.transaction();
            for change in changes.by_ref().take(MAX_CHANGES) {
                match change {
                    Change::Put(entry) => tx.put(Part::Other, *entry),
                    Change::Remove(key) => tx.remove(Part::Other, &key),
                }
            }
            let is_last = changes.peek().is_none();
            let update = if is_last { course.current(wanted) } else { course.unfinished(wanted) };
            tx.update(Part::Course, update);
            if tx.commit().await? != CommitOutcome::Committed {
                return Ok(false);
            }
            if is_last {
                return Ok(true);
            }
        }
    }

    /// Counts the entries of each term.
    async fn count_changes(
        &self,
        course: &SearchableCourse,
        wanted: &[String],
    ) -> Result<(), StoreError> {
        let added = course.added(wanted).map(|term| (term, 1));
        let removed = course.removed(wanted).map(|term| (term, -1));
        let count = |(term, by): (&String, i64)| {
            Write::at(&keys::term_count(term)).expression("ADD n :by").number(":by", by)
        };
        let counts: Vec<Write> = added.chain(removed).map(count).collect();
        stream::iter(counts)
            .map(|count| self.apply(count))
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<bool>>()
            .await?;
        Ok(())
    }
}

impl SearchableCourse {
    /// Each entry holds all terms, so any added or removed term changes every entry. An earlier attempt may have ended
    /// between two transactions, so all are written.
    fn changes(&self, wanted: &[String]) -> Vec<Change> {
        let card = &self.course.card;
        let mut changes: Vec<Change> =
            entries(card).into_iter().map(|entry| Change::Put(Box::new(entry))).collect();
        // Only courses that were published have entries.
        if let Some(published_at) = card.published_at {
            let entry_of = |term: &String| keys::entry(term, published_at, card.course_id);
            changes.extend(self.removed(wanted).map(|term| Change::Remove(entry_of(term))));
        }
        changes
    }

    fn added<'a>(&'a self, wanted: &'a [String]) -> impl Iterator<Item = &'a String> {
        wanted.iter().filter(|term| !self.terms.contains(term))
    }

    fn removed<'a>(&'a self, wanted: &'a [String]) -> impl Iterator<Item = &'a String> {
        self.terms.iter().filter(|term| !wanted.contains(term))
    }

    /// Records the terms of the entries.
    fn current(&self, wanted: &[String]) -> Write {
        self.update()
            .expression("SET foundBy = :terms REMOVE duePk, dueAt")
            .value(":terms", &wanted)
    }

    fn unfinished(&self, wanted: &[String]) -> Write {
        let all: Vec<&String> = self.terms.iter().chain(self.added(wanted)).collect();
        let update = self.update().set_value(&["foundBy"], &all);
        let due = words_due(&self.course.card).into_iter();
        due.fold(update, |update, (name, value)| update.set(&[&name], value))
    }

    /// The condition fails when the course has changed.
    fn update(&self) -> Write {
        let card = &self.course.card;
        course_update(card.course_id, "card.version = :before").number(":before", card.version)
    }
}
