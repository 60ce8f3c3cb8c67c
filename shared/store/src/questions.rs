//! The questions of courses. Each question is an item in the partition of its course; the course item holds their
//! number and total size, a separate item their order.

use domain::{
    CourseId, Instant, QuestionId,
    course::{Course, CourseSummary},
    question::{MAX_QUESTIONS, MOST_BYTES, PlacedQuestion, Question},
};
use serde::Deserialize;

use crate::{
    Part, Store, StoreError, Transaction,
    courses::{Stored, course_update},
    keys,
    table::Item,
    write::Write,
};

#[derive(Deserialize)]
struct Ordered {
    #[serde(default)]
    ids: Vec<QuestionId>,
}

#[derive(Deserialize)]
struct StoredWithSize {
    #[serde(flatten)]
    course: Stored,
    #[serde(rename = "questionBytes", default)]
    question_bytes: u64,
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
        let order = self
            .order
            .iter()
            .position(|id| *id == question.question_id)?
            + 1;
        Some(PlacedQuestion { question, order })
    }
}

/// The size of `questions` in bytes of JSON.
fn size(questions: &[Question]) -> u64 {
    let sizes = questions
        .iter()
        .map(|question| serde_json::to_vec(question).map_or(0, |json| json.len()));
    u64::try_from(sizes.sum::<usize>()).unwrap_or(u64::MAX)
}

impl Store {
    /// The course `id` with the size and the order of its questions, as of one moment.
    pub async fn questionnaire(&self, id: CourseId) -> Result<Option<Questionnaire>, StoreError> {
        let items = self.snapshot(&[keys::course(id), keys::order(id)]).await?;
        let mut items = items.into_iter();
        Self::questionnaire_of(items.next().flatten(), items.next().flatten())
    }

    /// Like [`questionnaire`](Self::questionnaire), and the question `question` of the course.
    pub async fn question(
        &self,
        id: CourseId,
        question: QuestionId,
    ) -> Result<Option<(Questionnaire, Option<Question>)>, StoreError> {
        let items = self
            .snapshot(&[
                keys::course(id),
                keys::order(id),
                keys::question(id, question),
            ])
            .await?;
        let mut items = items.into_iter();
        let questionnaire = Self::questionnaire_of(items.next().flatten(), items.next().flatten())?;
        let question = items
            .next()
            .flatten()
            .map(serde_dynamo::from_item)
            .transpose()?;
        Ok(questionnaire.map(|questionnaire| (questionnaire, question)))
    }

    fn questionnaire_of(
        course: Option<Item>,
        order: Option<Item>,
    ) -> Result<Option<Questionnaire>, StoreError> {
        let Some(course) = course else {
            return Ok(None);
        };
        let StoredWithSize {
            course,
            question_bytes,
        } = serde_dynamo::from_item(course)?;
        let order = order.map(Self::order_of).transpose()?.unwrap_or_default();
        Ok(Some(Questionnaire {
            course: course.into(),
            bytes: question_bytes,
            order,
        }))
    }

    pub(crate) fn order_of(item: Item) -> Result<Vec<QuestionId>, StoreError> {
        Ok(serde_dynamo::from_item::<_, Ordered>(item)?.ids)
    }

    /// `questions` sorted by `order`. A question that `order` does not contain is being added or removed
    /// concurrently and is left out.
    pub(crate) fn placed(questions: Vec<Question>, order: &[QuestionId]) -> Vec<PlacedQuestion> {
        let index = |question: &Question| order.iter().position(|id| *id == question.question_id);
        let placed = questions.into_iter().filter_map(|question| {
            Some(PlacedQuestion {
                order: index(&question)? + 1,
                question,
            })
        });
        let mut placed: Vec<PlacedQuestion> = placed.collect();
        placed.sort_by_key(|placed| placed.order);
        placed
    }
}

impl Transaction {
    /// Appends `questions` to those of the course. The condition fails (`Part::Course`) when the course has changed
    /// since `before` was read.
    pub fn add_questions(&mut self, before: &Questionnaire, questions: &[Question], now: Instant) {
        self.update_totals(before, &[], questions, now);
        for question in questions {
            let key = keys::question(question.course_id, question.question_id);
            self.put_new(Part::New, key.holding(question));
        }
        let new = questions.iter().map(|question| question.question_id);
        self.put_order(before, before.order.iter().copied().chain(new).collect())
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
        self.update_totals(before, &[old], std::slice::from_ref(&new.question), now);
        let id = new.question.question_id;
        let key = keys::question(new.question.course_id, id);
        self.put(Part::New, key.holding(&new.question));
        let mut order: Vec<QuestionId> = before
            .order
            .iter()
            .copied()
            .filter(|other| *other != id)
            .collect();
        order.insert(new.order.saturating_sub(1).min(order.len()), id);
        if order != before.order {
            self.put_order(before, order);
        }
    }

    /// Removes the question `old`. Same condition as [`add_questions`](Self::add_questions).
    pub fn remove_question(&mut self, before: &Questionnaire, old: Question, now: Instant) {
        let (key, id) = (
            keys::question(old.course_id, old.question_id),
            old.question_id,
        );
        self.update_totals(before, &[old], &[], now);
        self.remove(Part::New, &key);
        self.put_order(
            before,
            before
                .order
                .iter()
                .copied()
                .filter(|other| *other != id)
                .collect(),
        )
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
        let after = CourseSummary {
            updated_at: now.max(course.updated_at),
            ..course.clone()
        };
        let update: Write = course_update(course.course_id, "card.version = :before")
            .expression(
                "SET card.version = card.version + :one, card.updatedAt = :now, listSk = :change, authoredSk = :change, \
                 card.questionCount = :count, questionBytes = :bytes",
            )
            .number(":before", course.version)
            .number(":one", 1)
            .value(":now", &after.updated_at)
            .text(":change", &keys::change_of(&after))
            .number(":count", before.order.len() + new.len() - old.len())
            .number(":bytes", (before.bytes + size(new)).saturating_sub(size(old)));
        self.update(Part::Course, update);
    }

    fn put_order(&mut self, before: &Questionnaire, order: Vec<QuestionId>) {
        let key = keys::order(before.course.outline.course_id);
        self.put(Part::New, Write::at(&key).with_value("ids", &order));
    }
}
