//! Full-text search of published courses. A search reads the entries of all terms of its rarest word at once, merges
//! them, and filters them by the terms of the other words. Results are checked against the courses, so a stale entry
//! causes no wrong result.
//!
//! # Units
//!
//! The courses of a page are read in one BatchGetItem that returns only their `card`. That makes the response smaller,
//! not the bill: each whole item counts, half a unit per started 4 KB
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html>). A course of usual
//! length, 2 KB, costs the minimum; one with the longest description, 80 KB, costs ten units. The alternatives cost
//! more for usual courses:
//!
//! - The index `overview` contains only cards, but answers only queries: one request and at least half a unit per
//!   course, or one query that also reads all courses published between the first and the last result.
//! - A second item with the card costs two more write units at each change of a published course, and half a unit to
//!   read, as much as the course.
//! - Cards in the entries make each of the up to 500 entries of a search five times as large, and results outdated
//!   until the worker has updated them.

use std::collections::{BTreeSet, HashMap};

use domain::{CommitteeId, CourseId, Word, course::CourseSummary};
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_dynamo::from_items;

use crate::{
    Page, Store, StoreError,
    keys::{self, ENTRIES, Key, Table},
    table::{ListedItem, Order, text},
};

/// Maximum number of entries that one search reads, of all terms of its rarest word.
const MAX_READ: usize = 500;

#[derive(Deserialize)]
struct Entry {
    sk: String,
    committee: CommitteeId,
}

/// A course that a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundCourse {
    /// Its id.
    pub course_id: CourseId,
    /// The id of its committee.
    pub committee_id: CommitteeId,
}

#[derive(Deserialize)]
struct Count {
    pk: String,
    n: i64,
}

impl Store {
    /// At most `limit` courses after `position` that match all of `words`, latest publication first, as the index has them.
    /// Reads at most 500 entries, so a page may be short before the list ends.
    pub async fn search(
        &self,
        words: &[Word],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<FoundCourse>, StoreError> {
        let page = self.entries(words, position, limit).await?;
        Ok(page.map(|Entry { sk, committee }| {
            let course_id = CourseId::or_none(sk.rsplit('#').next().unwrap_or_default());
            FoundCourse { course_id, committee_id: committee }
        }))
    }

    /// Reads the courses `found` for `words`: those that are published and still match, in the same order.
    pub async fn found_courses(
        &self,
        words: &[Word],
        found: &[FoundCourse],
    ) -> Result<Vec<CourseSummary>, StoreError> {
        let keys: Vec<Key> = found.iter().map(|one| keys::course(one.course_id)).collect();
        let read: Vec<ListedItem<CourseSummary>> = self.get_many(&keys, "card").await?;
        let mut read: HashMap<CourseId, CourseSummary> =
            read.into_iter().map(|item| (item.card.course_id, item.card)).collect();
        let words: Vec<Vec<String>> = words.iter().map(Word::stems).collect();
        let has_words = |course: &CourseSummary| course.is_announced() && course.has_words(&words);
        let courses = found.iter().filter_map(|one| read.remove(&one.course_id));
        Ok(courses.filter(has_words).collect())
    }

    /// The entries of courses that match all of `words`.
    async fn entries(
        &self,
        words: &[Word],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Entry>, StoreError> {
        let words = words.iter().map(Word::stems).collect();
        let words = self.rarest_first(words).await?;
        let Some((rarest, others)) = words.split_first() else {
            return Ok(Page { items: Vec::new(), last: None });
        };
        // One entry more than `limit`, to know whether this is the last page.
        let read_limit =
            if others.is_empty() { usize::from(limit) + 1 } else { MAX_READ / rarest.len().max(1) };
        let pages = rarest
            .iter()
            .map(|term| keys::term_count(term).pk)
            .map(|pk| self.entries_in(pk, others, position, limit, read_limit));
        let pages = try_join_all(pages).await?;
        let position = |entry: &Entry| entry.sk.clone();
        Ok(Page::merged(pages, limit, Order::Descending, position, position))
    }

    /// The terms of each word, beginning with the word that the fewest courses contain. Counts are approximate: a wrong
    /// one only costs reads.
    async fn rarest_first(
        &self,
        mut words: Vec<Vec<String>>,
    ) -> Result<Vec<Vec<String>>, StoreError> {
        if words.len() < 2 {
            return Ok(words);
        }
        // Two words may have a stem in common, and a batch must not name an item twice.
        let terms: BTreeSet<&String> = words.iter().flatten().collect();
        let keys: Vec<Key> = terms.into_iter().map(|term| keys::term_count(term)).collect();
        let counts: Vec<Count> = self.get_many(&keys, "n").await?;
        let counts: HashMap<String, i64> =
            counts.into_iter().map(|count| (count.pk, count.n)).collect();
        let count = |term: &String| counts.get(&keys::term_count(term).pk).copied();
        words.sort_by_cached_key(|terms| terms.iter().filter_map(count).sum::<i64>());
        Ok(words)
    }

    /// The entries in the partition `pk` whose courses have a term of each of `others`.
    async fn entries_in(
        &self,
        pk: String,
        others: &[Vec<String>],
        position: Option<&str>,
        limit: u16,
        read_limit: usize,
    ) -> Result<Page<Entry>, StoreError> {
        let mut request = self
            .reads
            .query()
            .table_name(self.name(Table::Records))
            .scan_index_forward(false)
            .key_condition_expression("pk = :pk AND begins_with(sk, :at)")
            .projection_expression("sk, committee")
            .expression_attribute_values(":pk", text(&pk))
            .expression_attribute_values(":at", text(ENTRIES));
        if !others.is_empty() {
            let (mut conditions, mut number) = (Vec::new(), 0);
            for terms in others {
                let mut alternatives = Vec::new();
                for term in terms {
                    alternatives.push(format!("contains(words, :w{number})"));
                    request =
                        request.expression_attribute_values(format!(":w{number}"), text(term));
                    number += 1;
                }
                conditions.push(format!("({})", alternatives.join(" OR ")));
            }
            request = request.filter_expression(conditions.join(" AND "));
        }
        let start = position
            .map(|sk| HashMap::from([("pk".to_owned(), text(&pk)), ("sk".to_owned(), text(sk))]));
        let (items, next) = self.query(request.set_exclusive_start_key(start), read_limit).await?;
        let last_evaluated = next.and_then(|key| key.get("sk")?.as_s().ok().cloned());
        let mut items: Vec<Entry> = from_items(items)?;
        let last = if items.len() > usize::from(limit) {
            items.truncate(limit.into());
            items.last().map(|entry| entry.sk.clone())
        } else {
            last_evaluated
        };
        Ok(Page { items, last })
    }
}
