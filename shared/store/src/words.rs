//! The entries of the search index, an inverted index of published courses.
//!
//! Each term of a published course (each stem of its words) has an entry, sorted by the course's first publication, that
//! holds all terms of the course. When a change affects the words of a course, the course is put into the index `due`;
//! the worker then updates the entries and removes it from `due`: in one transaction up to 99 changed entries, else in
//! several.

use domain::{
    CourseId,
    course::{CourseSummary, State},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::{
    CommitOutcome, Part, Store, StoreError,
    courses::{Stored, course_update, words_due},
    keys::{self, COURSE_PREFIX, IndexVersion, Key},
    rebuild::SearchIndex,
    retry::Retries,
    table::read,
    write::Write,
};

/// Maximum number of entries that one transaction changes: of its 100 parts, one is the course.
const MAX_CHANGES: usize = 99;
/// Counts that are written at once.
const AT_ONCE: usize = 8;

#[derive(Serialize, Deserialize)]
struct Entry {
    /// All terms of the course.
    words: Vec<String>,
}

/// A course and the terms that it has entries for.
#[derive(Deserialize)]
struct Indexed {
    #[serde(flatten)]
    course: Stored,
    #[serde(rename = "foundBy", default)]
    words: Vec<String>,
    #[serde(rename = "foundByStems", default)]
    stems: Vec<String>,
    #[serde(rename = "duePk")]
    due: Option<String>,
}

/// The terms of a course in one version of the index.
struct Terms {
    version: IndexVersion,
    /// Whether the index has or will have this version: the entries of others are removed.
    is_written: bool,
    indexed: Vec<String>,
    wanted: Vec<String>,
}

enum Change {
    Put(Write),
    Remove(Key),
}

/// The id of the course with the partition key `pk`; `None` for other items.
pub fn course_id(pk: &str) -> Option<CourseId> {
    pk.strip_prefix(COURSE_PREFIX).map(CourseId::or_none)
}

/// The entries of `course`, one per term; empty while it is not published.
pub(crate) fn entries(course: &CourseSummary, version: IndexVersion) -> Vec<Write> {
    let Some(published_at) = course.published_at.filter(|_| course.state == State::Published)
    else {
        return Vec::new();
    };
    let entry = Entry { words: version.terms(course) };
    let keys =
        entry.words.iter().map(|term| keys::entry(version, term, published_at, course.course_id));
    keys.map(|key| key.holding(&entry)).collect()
}

impl Store {
    /// Updates the search entries of the course `id` to its current words. Does nothing unless the course is due.
    ///
    /// # Errors
    /// As [`update`](Self::update); the course then stays due.
    pub async fn index_course(&self, id: CourseId) -> Result<(), StoreError> {
        self.write_entries(id, |course| course.due.is_some()).await
    }

    /// As [`index_course`](Self::index_course), whether the course is due or not.
    pub(crate) async fn reindex_course(&self, id: CourseId) -> Result<(), StoreError> {
        self.write_entries(id, |_| true).await
    }

    async fn write_entries(
        &self,
        id: CourseId,
        is_wanted: impl Fn(&Indexed) -> bool,
    ) -> Result<(), StoreError> {
        let mut retries = Retries::new();
        loop {
            let keys = [keys::course(id), keys::search_index()];
            let [course, index] = self.get_each(keys).await?;
            let index: SearchIndex = read(index)?.unwrap_or_default();
            let Some(course) = read::<Indexed>(course)?.filter(&is_wanted) else {
                return Ok(());
            };
            let versions = course.terms(&index);
            let is_current = |terms: &Terms| terms.wanted == terms.indexed;
            if course.due.is_none() && versions.iter().all(is_current) {
                return Ok(());
            }
            if self.write_changes(&course, &versions).await? {
                return self.count_changes(&versions).await;
            }
            retries.pause(StoreError::UpdateConflict).await?;
        }
    }

    /// Returns `false` if the course has changed since it was read. Before the last transaction the course stays due,
    /// and has all terms recorded that it may have entries for.
    async fn write_changes(
        &self,
        course: &Indexed,
        versions: &[Terms],
    ) -> Result<bool, StoreError> {
        let mut changes = course.changes(versions).into_iter().peekable();
        loop {
            let mut tx = self.transaction();
            for change in changes.by_ref().take(MAX_CHANGES) {
                match change {
                    Change::Put(entry) => tx.put(Part::New, entry),
                    Change::Remove(key) => tx.remove(Part::New, &key),
                }
            }
            let is_last = changes.peek().is_none();
            let update =
                if is_last { course.current(versions) } else { course.unfinished(versions) };
            tx.update(Part::Course, update);
            if tx.commit().await? != CommitOutcome::Committed {
                return Ok(false);
            }
            if is_last {
                return Ok(true);
            }
        }
    }

    /// Counts the entries of each term, and deletes the counts of a version that is no longer written.
    async fn count_changes(&self, versions: &[Terms]) -> Result<(), StoreError> {
        let (written, former): (Vec<&Terms>, Vec<&Terms>) =
            versions.iter().partition(|terms| terms.is_written);
        let counts: Vec<Write> = written.into_iter().flat_map(Terms::counts).collect();
        stream::iter(counts)
            .map(|count| self.apply(count))
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<bool>>()
            .await?;
        for terms in former {
            for term in terms.removed() {
                let mut tx = self.transaction();
                tx.remove(Part::New, &keys::term_count(terms.version, term));
                let _ = tx.commit().await?;
            }
        }
        Ok(())
    }
}

impl Indexed {
    fn terms(&self, index: &SearchIndex) -> Vec<Terms> {
        let written = index.written();
        let is_published = self.course.card.state == State::Published;
        let terms = IndexVersion::ALL.map(|version| {
            let is_written = written.contains(&version);
            Terms {
                version,
                is_written,
                indexed: match version {
                    IndexVersion::Words => self.words.clone(),
                    IndexVersion::Stems => self.stems.clone(),
                },
                wanted: if is_written && is_published {
                    version.terms(&self.course.card)
                } else {
                    Vec::new()
                },
            }
        });
        terms.into()
    }

    /// Each entry holds all terms, so any added or removed term changes every entry. While the course is due, an earlier
    /// attempt may have ended between two transactions.
    fn changes(&self, versions: &[Terms]) -> Vec<Change> {
        let card = &self.course.card;
        let mut changes = Vec::new();
        for terms in versions {
            let differs = self.due.is_some() || terms.wanted != terms.indexed;
            if terms.is_written && differs {
                changes.extend(entries(card, terms.version).into_iter().map(Change::Put));
            }
            // Only courses that were published have entries.
            if let Some(published_at) = card.published_at {
                let entry_of =
                    |term: &String| keys::entry(terms.version, term, published_at, card.course_id);
                changes.extend(terms.removed().map(|term| Change::Remove(entry_of(term))));
            }
        }
        changes
    }

    /// Records the terms of the entries. The condition fails when the course has changed.
    fn current(&self, versions: &[Terms]) -> Write {
        let mut update = self.update();
        let (mut sets, mut removed) = (Vec::new(), vec!["duePk", "dueAt"]);
        for terms in versions {
            let name = terms.version.attribute();
            if terms.is_written {
                sets.push(format!("{name} = :{name}"));
                update = update.value(&format!(":{name}"), &terms.wanted);
            } else {
                removed.push(name);
            }
        }
        update.expression(format!("SET {} REMOVE {}", sets.join(", "), removed.join(", ")))
    }

    fn unfinished(&self, versions: &[Terms]) -> Write {
        let (mut update, mut sets) = (self.update(), Vec::new());
        for terms in versions {
            let name = terms.version.attribute();
            let all: Vec<&String> = terms.indexed.iter().chain(terms.added()).collect();
            sets.push(format!("{name} = :{name}"));
            update = update.value(&format!(":{name}"), &all);
        }
        for (name, value) in words_due(&self.course.card) {
            sets.push(format!("{name} = :{name}"));
            update = update.attribute(format!(":{name}"), value);
        }
        update.expression(format!("SET {}", sets.join(", ")))
    }

    fn update(&self) -> Write {
        let card = &self.course.card;
        course_update(card.course_id, "card.version = :before").number(":before", card.version)
    }
}

impl Terms {
    fn added(&self) -> impl Iterator<Item = &String> {
        self.wanted.iter().filter(|term| !self.indexed.contains(term))
    }

    fn removed(&self) -> impl Iterator<Item = &String> {
        self.indexed.iter().filter(|term| !self.wanted.contains(term))
    }

    fn counts(&self) -> Vec<Write> {
        let added = self.added().map(|term| (term, 1));
        let removed = self.removed().map(|term| (term, -1));
        let count = |(term, by): (&String, i64)| {
            Write::at(&keys::term_count(self.version, term))
                .expression("ADD n :by")
                .number(":by", by)
        };
        added.chain(removed).map(count).collect()
    }
}
