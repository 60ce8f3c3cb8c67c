//! Finding published courses by their words.
//!
//! Each word of a published course has an entry, sorted by the course's first publishing, that holds all
//! words of the course; the list of the rarest word that is asked for is read and filtered by the others. The
//! dispatcher keeps the entries: a change of what a course is found by marks it in the index `due`, the
//! entries follow in one transaction with the removal of that mark. What is found is held against the course
//! itself, so an entry that is late says nothing false.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use domain::{
    CourseId,
    course::{Outline, State},
};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_dynamo::from_items;

use crate::{
    Page, Part, Store, StoreError, Transaction,
    courses::{Stored, course_update},
    keys::{self, AT_PREFIX, COURSE_PREFIX, Key, Table},
    meter::Trip,
    table::{Carded, text},
    write::Write,
};

/// No search reads more entries.
const MOST_READ: u16 = 500;

/// What stands under a word.
#[derive(Serialize, Deserialize)]
struct Entry {
    words: Vec<String>,
}

#[derive(Deserialize)]
struct Place {
    sk: String,
}

#[derive(Deserialize)]
struct Count {
    pk: String,
    n: i64,
}

/// A course and the words that it is found by as long as nobody changes them.
#[derive(Deserialize)]
struct Indexed {
    #[serde(flatten)]
    course: Stored,
    #[serde(rename = "foundBy", default)]
    indexed: Vec<String>,
    #[serde(rename = "duePk")]
    due: Option<String>,
}

/// The course whose partition key is `pk`, if it is one.
pub fn course_id(pk: &str) -> Option<CourseId> {
    pk.strip_prefix(COURSE_PREFIX).map(CourseId::in_path)
}

/// The entries of `course`, one for each of its words; none while it is not published.
pub(crate) fn entries(course: &Outline) -> Vec<Write> {
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
    /// At most `limit` published courses after `position` that have all of `words`, which are folded; newest
    /// publishing first. At most 500 entries are read, so a page may be short before the list ends.
    pub async fn search(
        &self,
        words: &[String],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Outline>, StoreError> {
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
        let found: Vec<Carded<Outline>> = self.get_many(&keys, "card").await?;
        let mut found: HashMap<CourseId, Outline> = found
            .into_iter()
            .map(|item| (item.card.course_id, item.card))
            .collect();
        let has_words = |course: &Outline| {
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

    /// The word of `words` that the fewest courses have. A count is a hint: one that is wrong costs reads.
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

    /// The sort keys of the entries under `word` whose courses have `others` too.
    async fn entries_under(
        &self,
        word: &str,
        others: &[&String],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<String>, StoreError> {
        let pk = keys::word_count(word).pk;
        let trip = Trip::start();
        let mut request = self
            .reads
            .query()
            .table_name(self.name(Table::Records))
            .scan_index_forward(false)
            .key_condition_expression("pk = :pk AND begins_with(sk, :at)")
            .projection_expression("sk")
            .expression_attribute_values(":pk", text(&pk))
            .expression_attribute_values(":at", text(AT_PREFIX));
        // One more is read than asked for, so that the last page is known for it.
        let mut most = limit + 1;
        if !others.is_empty() {
            most = MOST_READ;
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
            .limit(most.into())
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let answer = Box::pin(request.send()).await;
        trip.read(&answer, |answer| answer.consumed_capacity());
        let answer = answer?;
        let looked_at = answer
            .last_evaluated_key
            .and_then(|key| key.get("sk")?.as_s().ok().cloned());
        let mut items: Vec<String> = from_items::<_, Place>(answer.items.unwrap_or_default())?
            .into_iter()
            .map(|place| place.sk)
            .collect();
        let last = if items.len() > usize::from(limit) {
            items.truncate(limit.into());
            items.last().cloned()
        } else {
            looked_at
        };
        Ok(Page { items, last })
    }

    /// Has the course `id` be found by the words that it has now, and by no others.
    ///
    /// # Errors
    /// As [`update`](Self::update): then it stays due.
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
        let came = wanted.iter().filter(|word| !indexed.contains(word));
        let went = indexed.iter().filter(|word| !wanted.contains(word));
        let counts = came
            .map(|word| (word, 1))
            .chain(went.map(|word| (word, -1)));
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
    /// The entries of `course`, which stood under `indexed`, become what its words are now; refused when the
    /// course has changed. At most 81 parts, of the hundred that a transaction takes.
    fn set_words(&mut self, course: &Outline, indexed: &[String]) -> Vec<String> {
        let entries = entries(course);
        let wanted = if entries.is_empty() {
            Vec::new()
        } else {
            course.words()
        };
        // An entry holds all words, so one that is new or gone is news for each.
        if wanted != indexed {
            for entry in entries {
                self.put(Part::New, entry);
            }
        }
        // Nobody is indexed who never was published.
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
