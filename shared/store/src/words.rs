//! Full-text search of published courses: an inverted index.
//!
//! Each word of a published course has an entry, sorted by the course's first publication, that holds all words
//! of the course. A search reads the entries of its rarest word and filters them by the other words. When a
//! change affects the words of a course, the course is put into the index `due`; the dispatcher then updates the
//! entries and removes it from `due` in one transaction. Search results are checked against the courses, so a
//! stale entry causes no wrong result.
//!
//! # Units
//!
//! The courses of a page are read in one BatchGetItem that returns only their `card`. That makes the response smaller,
//! not the bill: each whole item counts, half a unit per started 4 KB
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html>). A course of usual
//! length, 2 KB, costs the minimum; one with the longest description, 80 KB, costs ten units. The alternatives cost
//! more for usual courses:
//!
//! - The index `published` contains only cards, but answers only queries: one request and at least half a unit per
//!   course, or one query that also reads all courses published between the first and the last result.
//! - A second item with the card costs two more write units at each change of a published course, and half a unit to
//!   read, as much as the course.
//! - Cards in the entries make each of the up to 500 entries of a search five times as large, and results outdated
//!   until the dispatcher has updated them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use domain::{
    CourseId,
    course::{CourseSummary, State},
};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_dynamo::from_items;

use crate::{
    Page, Part, Store, StoreError, Transaction,
    courses::{Stored, course_update},
    keys::{self, AT_PREFIX, COURSE_PREFIX, Key, Table},
    meter::RequestTimer,
    table::{ListedItem, text},
    write::Write,
};

/// Maximum number of entries that one search reads.
const MAX_READ: u16 = 500;

#[derive(Serialize, Deserialize)]
struct Entry {
    words: Vec<String>,
}

#[derive(Deserialize)]
struct EntryKey {
    sk: String,
}

#[derive(Deserialize)]
struct Count {
    pk: String,
    n: i64,
}

/// A course and the words that it has entries for.
#[derive(Deserialize)]
struct Indexed {
    #[serde(flatten)]
    course: Stored,
    #[serde(rename = "foundBy", default)]
    indexed: Vec<String>,
    #[serde(rename = "duePk")]
    due: Option<String>,
}

/// The id of the course with the partition key `pk`; `None` for other items.
pub fn course_id(pk: &str) -> Option<CourseId> {
    pk.strip_prefix(COURSE_PREFIX).map(CourseId::in_path)
}

/// The entries of `course`, one per word; empty while it is not published.
pub(crate) fn entries(course: &CourseSummary) -> Vec<Write> {
    let Some(published_at) = course
        .published_at
        .filter(|_| course.state == State::Published)
    else {
        return Vec::new();
    };
    let entry = Entry {
        words: course.words(),
    };
    let keys = entry
        .words
        .iter()
        .map(|word| keys::word(word, published_at, course.course_id));
    keys.map(|key| key.holding(&entry)).collect()
}

impl Store {
    /// At most `limit` published courses after `position` that contain all of `words` (folded), latest
    /// publication first. Reads at most 500 entries, so a page may be short before the list ends.
    pub async fn search(
        &self,
        words: &[String],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<CourseSummary>, StoreError> {
        let Some(rarest) = self.rarest(words).await? else {
            return Ok(Page {
                items: Vec::new(),
                last: None,
            });
        };
        let others: Vec<&String> = words.iter().filter(|word| *word != rarest).collect();
        let page = self.entries_under(rarest, &others, position, limit).await?;
        let ids: Vec<CourseId> = page
            .items
            .iter()
            .filter_map(|sk| sk.rsplit('#').next())
            .map(CourseId::in_path)
            .collect();
        let keys: Vec<Key> = ids.iter().map(|id| keys::course(*id)).collect();
        let found: Vec<ListedItem<CourseSummary>> = self.get_many(&keys, "card").await?;
        let mut found: HashMap<CourseId, CourseSummary> = found
            .into_iter()
            .map(|item| (item.card.course_id, item.card))
            .collect();
        let has_words = |course: &CourseSummary| {
            let all = course.words();
            course.state == State::Published && words.iter().all(|word| all.contains(word))
        };
        let courses = ids
            .iter()
            .filter_map(|id| found.remove(id))
            .filter(has_words);
        Ok(Page {
            items: courses.collect(),
            last: page.last,
        })
    }

    /// The word that the fewest courses contain. Counts are approximate: a wrong one only costs reads.
    async fn rarest<'a>(&self, words: &'a [String]) -> Result<Option<&'a String>, StoreError> {
        if words.len() < 2 {
            return Ok(words.first());
        }
        let keys: Vec<Key> = words.iter().map(|word| keys::word_count(word)).collect();
        let counts: Vec<Count> = self.get_many(&keys, "n").await?;
        let counts: HashMap<String, i64> = counts
            .into_iter()
            .map(|count| (count.pk, count.n))
            .collect();
        Ok(words
            .iter()
            .min_by_key(|word| counts.get(&keys::word_count(word).pk).copied().unwrap_or(0)))
    }

    /// The sort keys of the entries of `word` whose courses also contain `others`.
    async fn entries_under(
        &self,
        word: &str,
        others: &[&String],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<String>, StoreError> {
        let pk = keys::word_count(word).pk;
        let timer = RequestTimer::start();
        let mut request = self
            .reads
            .query()
            .table_name(self.name(Table::Records))
            .scan_index_forward(false)
            .key_condition_expression("pk = :pk AND begins_with(sk, :at)")
            .projection_expression("sk")
            .expression_attribute_values(":pk", text(&pk))
            .expression_attribute_values(":at", text(AT_PREFIX));
        // One entry more than `limit`, to know whether this is the last page.
        let mut read_limit = limit + 1;
        if !others.is_empty() {
            read_limit = MAX_READ;
            let conditions: Vec<String> = (0..others.len())
                .map(|number| format!("contains(words, :w{number})"))
                .collect();
            request = request.filter_expression(conditions.join(" AND "));
            for (number, word) in others.iter().enumerate() {
                request = request.expression_attribute_values(format!(":w{number}"), text(word));
            }
        }
        let start = position
            .map(|sk| HashMap::from([("pk".to_owned(), text(&pk)), ("sk".to_owned(), text(sk))]));
        let request = request
            .set_exclusive_start_key(start)
            .limit(read_limit.into())
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let response = Box::pin(request.send()).await;
        timer.read(&response, |response| response.consumed_capacity());
        let response = response?;
        let last_evaluated = response
            .last_evaluated_key
            .and_then(|key| key.get("sk")?.as_s().ok().cloned());
        let mut items: Vec<String> = from_items::<_, EntryKey>(response.items.unwrap_or_default())?
            .into_iter()
            .map(|key| key.sk)
            .collect();
        let last = if items.len() > usize::from(limit) {
            items.truncate(limit.into());
            items.last().cloned()
        } else {
            last_evaluated
        };
        Ok(Page { items, last })
    }

    /// Updates the search entries of the course `id` to its current words. Does nothing unless the course is due.
    ///
    /// # Errors
    /// As [`update`](Self::update); the course then stays due.
    pub async fn index_course(&self, id: CourseId) -> Result<(), StoreError> {
        let index = || async {
            let mut index = self.transaction();
            let Some(Indexed {
                course,
                indexed,
                due: Some(_),
            }) = self.get(&keys::course(id)).await?
            else {
                return Ok((index, (Vec::new(), Vec::new())));
            };
            let wanted = index.set_words(&course.card, &indexed);
            Ok::<_, StoreError>((index, (indexed, wanted)))
        };
        let (indexed, wanted) = self.update(index, |_| None).await?;
        let added = wanted.iter().filter(|word| !indexed.contains(word));
        let removed = indexed.iter().filter(|word| !wanted.contains(word));
        let counts = added
            .map(|word| (word, 1))
            .chain(removed.map(|word| (word, -1)));
        join_all(counts.map(|(word, by)| self.count_word(word, by)))
            .await
            .into_iter()
            .collect()
    }

    async fn count_word(&self, word: &str, by: i64) -> Result<(), StoreError> {
        let key = keys::word_count(word);
        let update = Write::at(&key);
        let update = update.expression("ADD n :by").number(":by", by);
        self.apply(update).await?;
        Ok(())
    }
}

impl Transaction {
    /// Replaces the entries of `course` under the words `indexed` by those of its current words, which it returns.
    /// The condition fails (`Part::Course`) when the course has changed. At most 81 of the 100 possible parts.
    fn set_words(&mut self, course: &CourseSummary, indexed: &[String]) -> Vec<String> {
        let entries = entries(course);
        let wanted = if entries.is_empty() {
            Vec::new()
        } else {
            course.words()
        };
        // Each entry holds all words, so any added or removed word changes every entry.
        if wanted != indexed {
            for entry in entries {
                self.put(Part::New, entry);
            }
        }
        // Only courses that were published have entries.
        for word in indexed.iter().filter(|word| !wanted.contains(word)) {
            let Some(published_at) = course.published_at else {
                continue;
            };
            self.remove(Part::New, &keys::word(word, published_at, course.course_id));
        }
        let update = course_update(course.course_id, "card.version = :before")
            .expression("SET foundBy = :words REMOVE duePk, dueAt")
            .number(":before", course.version)
            .value(":words", &wanted);
        self.update(Part::Course, update);
        wanted
    }
}
