//! The questions of courses. Each question is an item in the partition of its course; the course item holds their
//! number and total size, a separate item their order.
//!
//! A change of questions raises the version of the course and writes the new version to three places: to the course
//! (`questionsVersion`), to the order (`version`, and in `versions` beside each changed question) and to each changed
//! question (`version`). So the course determines the order, and the order the state of each question. All are 0 in
//! items from before these attributes.

use std::collections::HashMap;

use domain::{
    CourseId, Instant, QuestionId,
    audit::AuditEntry,
    course::{Course, CourseSummary},
    question::{MAX_QUESTIONS, MOST_BYTES, PlacedQuestion, Question},
};
use serde::Deserialize;
use serde_dynamo::{from_item, from_items};

use crate::{
    CommitOutcome, Part, Store, StoreError, Transaction,
    courses::{Stored, course_put, course_update},
    keys::{self, Key},
    table::{Item, read},
    write::Write,
};

/// Maximum number of questions that a transaction reads beside course and order: it reads at most 100 items
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html>).
const MAX_SNAPSHOT: usize = 98;
/// Maximum number of questions that are written together with their course, its order and an audit entry.
const MAX_WITH_COURSE: usize = 90;
/// How often a course is read while its order changes, or that changes between two transactions.
const MAX_READS: u32 = 5;

#[derive(Default, Deserialize)]
struct Ordered {
    #[serde(default)]
    ids: Vec<QuestionId>,
    #[serde(default)]
    versions: Vec<u64>,
    #[serde(default)]
    version: u64,
}

#[derive(Deserialize)]
struct StoredWithSize {
    #[serde(flatten)]
    course: Stored,
    #[serde(rename = "questionBytes", default)]
    question_bytes: u64,
    #[serde(rename = "questionsVersion", default)]
    questions_version: u64,
}

#[derive(Deserialize)]
struct StoredQuestion {
    #[serde(flatten)]
    question: Question,
    #[serde(default)]
    version: u64,
}

/// A course with the size and the order of its questions.
#[derive(Debug, Clone)]
pub struct Questionnaire {
    /// The course.
    pub course: Course,
    /// Total size of its questions, in bytes of JSON.
    pub bytes: u64,
    /// The ids of its questions, in their order.
    pub order: Vec<QuestionId>,
    /// Whether `order` has the version that the course determines.
    has_own_order: bool,
    /// The version of each question.
    versions: HashMap<QuestionId, u64>,
}

impl Questionnaire {
    /// Whether the course stays within 200 questions and 1 MB when `new` questions replace `old` ones.
    pub fn has_room(&self, old: &[Question], new: &[Question]) -> bool {
        let count = self.order.len() + new.len() - old.len();
        count <= usize::try_from(MAX_QUESTIONS).unwrap_or(usize::MAX)
            && self.bytes + size(new) <= MOST_BYTES + size(old)
    }

    /// `question` with its position, starting at 1; `None` when the course does not have it.
    pub fn place(&self, question: Question) -> Option<PlacedQuestion> {
        let order = self.order.iter().position(|id| *id == question.question_id)? + 1;
        Some(PlacedQuestion { question, order })
    }

    /// Whether the order is that of the course, and `found` contains each question in the state that the order
    /// determines. It may contain others, which were added or removed concurrently.
    fn is_complete(&self, found: &[StoredQuestion]) -> bool {
        let found: HashMap<QuestionId, u64> =
            found.iter().map(|stored| (stored.question.question_id, stored.version)).collect();
        let is_found = |id: &QuestionId| found.get(id) == Some(&self.version_of(*id));
        self.has_own_order && self.order.iter().all(is_found)
    }

    fn version_of(&self, id: QuestionId) -> u64 {
        self.versions.get(&id).copied().unwrap_or(0)
    }

    /// The course and, of `found`, its questions in their order.
    fn with_questions(self, found: Vec<StoredQuestion>) -> (Course, Vec<PlacedQuestion>) {
        let placed = found.into_iter().filter_map(|stored| self.place(stored.question));
        let mut placed: Vec<PlacedQuestion> = placed.collect();
        placed.sort_by_key(|placed| placed.order);
        (self.course, placed)
    }
}

/// The size of `questions` in bytes of JSON.
fn size(questions: &[Question]) -> u64 {
    let sizes =
        questions.iter().map(|question| serde_json::to_vec(question).map_or(0, |json| json.len()));
    u64::try_from(sizes.sum::<usize>()).unwrap_or(u64::MAX)
}

impl Store {
    /// The course `id` with its questions in their order, as of one moment.
    ///
    /// One Query reads all items. Each is committed, but they need not be of one moment: a transaction may be seen in
    /// part, because it commits between two pages, or while it commits
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>).
    /// Then the order or a question lacks the version that the course determines, and all are read again in
    /// transactions, at more than ten times the units.
    ///
    /// # Errors
    /// [`StoreError::TransactionConflict`] when the course kept changing.
    pub async fn course_with_questions(
        &self,
        id: CourseId,
    ) -> Result<Option<(Course, Vec<PlacedQuestion>)>, StoreError> {
        let (mut course, mut order, mut questions) = (None, None, Vec::new());
        for item in self.partition(&keys::course(id).pk).await? {
            match item.get("sk").and_then(|sk| sk.as_s().ok()).map(String::as_str) {
                Some("COURSE") => course = Some(item),
                Some("ORDER") => order = Some(item),
                _ => questions.push(from_item::<_, StoredQuestion>(item)?),
            }
        }
        match Self::questionnaire_of(course, order)? {
            None => Ok(None),
            Some(found) if found.is_complete(&questions) => {
                Ok(Some(found.with_questions(questions)))
            }
            Some(found) => self.course_in_transactions(id, found.order).await,
        }
    }

    /// As [`course_with_questions`](Self::course_with_questions), read in transactions, usually one. `order` is the
    /// presumed order. The course is of one moment if that is its order, and it has one version in all transactions.
    async fn course_in_transactions(
        &self,
        id: CourseId,
        mut order: Vec<QuestionId>,
    ) -> Result<Option<(Course, Vec<PlacedQuestion>)>, StoreError> {
        for _ in 0..MAX_READS {
            let (first, rest) = order.split_at(order.len().min(MAX_SNAPSHOT));
            let Some((before, mut questions)) = self.snapshot_with(id, first).await? else {
                return Ok(None);
            };
            let mut is_same = before.order == order;
            for ids in rest.chunks(MAX_SNAPSHOT) {
                let Some((now, more)) = self.snapshot_with(id, ids).await? else {
                    return Ok(None);
                };
                is_same &= now.course.outline.version == before.course.outline.version;
                questions.extend(more);
            }
            if is_same {
                return Ok(Some(before.with_questions(questions)));
            }
            order = before.order;
        }
        Err(StoreError::TransactionConflict)
    }

    /// Creates `course`, a draft of version 1, with `questions` in their order and the entry `audit`. The condition fails
    /// (`Part::Course`) when its id is taken.
    ///
    /// A transaction has at most 100 items
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>), so the first
    /// questions of a long list are written before the course. Nobody can read them until it exists.
    pub async fn create_course(
        &self,
        course: &Course,
        questions: &[PlacedQuestion],
        audit: &AuditEntry,
    ) -> Result<CommitOutcome, StoreError> {
        let mut before = Questionnaire {
            course: course.clone(),
            bytes: 0,
            order: Vec::new(),
            has_own_order: true,
            versions: HashMap::new(),
        };
        before.course.outline.version = 0;
        let questions: Vec<Question> =
            questions.iter().map(|placed| placed.question.clone()).collect();
        let (first, last) = questions.split_at(questions.len().saturating_sub(MAX_WITH_COURSE));
        for part in first.chunks(MAX_WITH_COURSE) {
            let mut tx = self.transaction();
            for question in part {
                tx.put_new(Part::New, question_put(&before, question));
            }
            if let failed @ CommitOutcome::ConditionFailed(_) = tx.commit().await? {
                return Ok(failed);
            }
        }
        let mut tx = self.transaction();
        let put = course_put(course).with_value("questionBytes", &size(&questions));
        tx.put_new(Part::Course, put.with_value("questionsVersion", &next_version(&before)));
        for question in last {
            tx.put_new(Part::New, question_put(&before, question));
        }
        let order: Vec<QuestionId> =
            questions.iter().map(|question| question.question_id).collect();
        tx.put_order(&before, &order, &questions);
        tx.record_audit(audit);
        tx.commit().await
    }

    /// The course `id` with the size and the order of its questions, as of one moment.
    pub async fn questionnaire(&self, id: CourseId) -> Result<Option<Questionnaire>, StoreError> {
        let read = self.snapshot_with(id, &[]).await?;
        Ok(read.map(|(questionnaire, _)| questionnaire))
    }

    /// Like [`questionnaire`](Self::questionnaire), and the question `question` of the course.
    pub async fn question(
        &self,
        id: CourseId,
        question: QuestionId,
    ) -> Result<Option<(Questionnaire, Option<Question>)>, StoreError> {
        let read = self.snapshot_with(id, &[question]).await?;
        Ok(read.map(|(questionnaire, questions)| {
            let question = questions.into_iter().next();
            (questionnaire, question.map(|stored| stored.question))
        }))
    }

    /// Like [`questionnaire`](Self::questionnaire), and the existing questions of `ids`.
    async fn snapshot_with(
        &self,
        id: CourseId,
        ids: &[QuestionId],
    ) -> Result<Option<(Questionnaire, Vec<StoredQuestion>)>, StoreError> {
        let questions = ids.iter().map(|question| keys::question(id, *question));
        let keys: Vec<Key> =
            [keys::course(id), keys::order(id)].into_iter().chain(questions).collect();
        let mut items = self.snapshot(&keys).await?.into_iter();
        let questionnaire = Self::questionnaire_of(items.next().flatten(), items.next().flatten())?;
        let questions = from_items(items.flatten().collect::<Vec<Item>>())?;
        Ok(questionnaire.map(|questionnaire| (questionnaire, questions)))
    }

    fn questionnaire_of(
        course: Option<Item>,
        order: Option<Item>,
    ) -> Result<Option<Questionnaire>, StoreError> {
        let Some(course) = course else {
            return Ok(None);
        };
        let StoredWithSize { course, question_bytes, questions_version } = from_item(course)?;
        let order: Ordered = read(order)?.unwrap_or_default();
        Ok(Some(Questionnaire {
            course: course.into(),
            bytes: question_bytes,
            has_own_order: order.version == questions_version,
            versions: order.ids.iter().copied().zip(order.versions).collect(),
            order: order.ids,
        }))
    }
}

impl Transaction {
    /// Appends `questions` to those of the course. The condition fails (`Part::Course`) when the course has changed
    /// since `before` was read.
    pub fn add_questions(&mut self, before: &Questionnaire, questions: &[Question], now: Instant) {
        self.update_totals(before, &[], questions, now);
        for question in questions {
            self.put_new(Part::New, question_put(before, question));
        }
        let new = questions.iter().map(|question| question.question_id);
        let order: Vec<QuestionId> = before.order.iter().copied().chain(new).collect();
        self.put_order(before, &order, questions);
    }

    /// Replaces the question `old` by `new` and moves it to the position of `new`. Same condition as
    /// [`add_questions`](Self::add_questions).
    pub fn change_question(
        &mut self,
        before: &Questionnaire,
        old: Question,
        new: &PlacedQuestion,
        now: Instant,
    ) {
        let changed = std::slice::from_ref(&new.question);
        self.update_totals(before, &[old], changed, now);
        self.put(Part::New, question_put(before, &new.question));
        let id = new.question.question_id;
        let mut order = before.order.clone();
        order.retain(|other| *other != id);
        order.insert(new.order.saturating_sub(1).min(order.len()), id);
        self.put_order(before, &order, changed);
    }

    /// Removes the question `old`. Same condition as [`add_questions`](Self::add_questions).
    pub fn remove_question(&mut self, before: &Questionnaire, old: Question, now: Instant) {
        let (key, id) = (keys::question(old.course_id, old.question_id), old.question_id);
        self.update_totals(before, &[old], &[], now);
        self.remove(Part::New, &key);
        let mut order = before.order.clone();
        order.retain(|other| *other != id);
        self.put_order(before, &order, &[]);
    }

    /// Updates version, time of change, number and size of questions of the course for `new` questions that replace
    /// `old` ones; the course moves to the front of its lists.
    fn update_totals(
        &mut self,
        before: &Questionnaire,
        old: &[Question],
        new: &[Question],
        now: Instant,
    ) {
        let course = &before.course.outline;
        let after = CourseSummary { updated_at: now.max(course.updated_at), ..course.clone() };
        let update: Write = course_update(course.course_id, "card.version = :before")
            .expression(
                "SET card.version = card.version + :one, card.updatedAt = :now, listSk = :change, authoredSk = :change, \
                 card.questionCount = :count, questionBytes = :bytes, questionsVersion = :next",
            )
            .number(":before", course.version)
            .number(":one", 1)
            .number(":next", next_version(before))
            .value(":now", &after.updated_at)
            .text(":change", &keys::change_of(&after))
            .number(":count", before.order.len() + new.len() - old.len())
            .number(":bytes", (before.bytes + size(new)).saturating_sub(size(old)));
        self.update(Part::Course, update);
    }

    /// Writes `order`, in which the questions `changed` have the next version.
    fn put_order(&mut self, before: &Questionnaire, order: &[QuestionId], changed: &[Question]) {
        let next = next_version(before);
        let version = |id: &QuestionId| {
            if changed.iter().any(|question| question.question_id == *id) {
                next
            } else {
                before.version_of(*id)
            }
        };
        let versions: Vec<u64> = order.iter().map(version).collect();
        let put = Write::at(&keys::order(before.course.outline.course_id))
            .with_value("ids", &order)
            .with_value("versions", &versions)
            .with_value("version", &next);
        self.put(Part::New, put);
    }
}

/// The version of the course after a change of `before`.
const fn next_version(before: &Questionnaire) -> u64 {
    before.course.outline.version + 1
}

fn question_put(before: &Questionnaire, question: &Question) -> Write {
    keys::question(question.course_id, question.question_id)
        .holding(question)
        .with_value("version", &next_version(before))
}
