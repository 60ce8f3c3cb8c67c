//! The questions of courses: items of their own beside their course, which knows how many they are and how
//! long; their order is a list of its own.

use domain::{
    CourseId, Instant, QuestionId,
    course::{Course, Outline},
    question::{MOST_BYTES, MOST_QUESTIONS, PlacedQuestion, Question},
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
struct Weighed {
    #[serde(flatten)]
    course: Stored,
    #[serde(rename = "questionBytes", default)]
    question_bytes: u64,
}

/// A course and what it knows of its questions.
#[derive(Debug, Clone)]
pub struct Questionnaire {
    /// The course.
    pub course: Course,
    /// How long all its questions are together, in bytes of JSON.
    pub bytes: u64,
    /// All its questions, in their order.
    pub order: Vec<QuestionId>,
}

impl Questionnaire {
    /// Whether the course may have `new` questions instead of `old` ones: no more than 200, no longer than a
    /// megabyte.
    pub fn has_room(&self, old: &[Question], new: &[Question]) -> bool {
        let count = self.order.len() + new.len() - old.len();
        count <= usize::try_from(MOST_QUESTIONS).unwrap_or(usize::MAX)
            && self.bytes + length(new) <= MOST_BYTES + length(old)
    }

    /// `question` at its place, if the course has it.
    pub fn place(&self, question: Question) -> Option<PlacedQuestion> {
        let order = self
            .order
            .iter()
            .position(|id| *id == question.question_id)?
            + 1;
        Some(PlacedQuestion { question, order })
    }
}

/// How long questions are, as JSON tells them.
fn length(questions: &[Question]) -> u64 {
    let lengths = questions
        .iter()
        .map(|question| serde_json::to_vec(question).map_or(0, |json| json.len()));
    u64::try_from(lengths.sum::<usize>()).unwrap_or(u64::MAX)
}

impl Store {
    /// The course `id` with what it knows of its questions.
    pub async fn questionnaire(&self, id: CourseId) -> Result<Option<Questionnaire>, StoreError> {
        let items = self.snapshot(&[keys::course(id), keys::order(id)]).await?;
        let mut items = items.into_iter();
        Self::questionnaire_of(items.next().flatten(), items.next().flatten())
    }

    /// The same, and the question `question` of it.
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
        let Weighed {
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

    /// `questions` at the places that `order` gives them; one that it does not know was not there when it
    /// was written.
    pub(crate) fn placed(questions: Vec<Question>, order: &[QuestionId]) -> Vec<PlacedQuestion> {
        let place = |question: &Question| order.iter().position(|id| *id == question.question_id);
        let placed = questions.into_iter().filter_map(|question| {
            Some(PlacedQuestion {
                order: place(&question)? + 1,
                question,
            })
        });
        let mut placed: Vec<PlacedQuestion> = placed.collect();
        placed.sort_by_key(|placed| placed.order);
        placed
    }
}

impl Transaction {
    /// `questions` come after those that `before` has. ApiError when the course has changed since it was read,
    /// as with all of these.
    pub fn add_questions(&mut self, before: &Questionnaire, questions: &[Question], now: Instant) {
        self.weigh(before, &[], questions, now);
        for question in questions {
            let key = keys::question(question.course_id, question.question_id);
            self.put_new(Part::New, key.holding(question));
        }
        let new = questions.iter().map(|question| question.question_id);
        self.put_order(before, before.order.iter().copied().chain(new).collect())
    }

    /// The question `old` becomes `new` and stands at its place from now on.
    pub fn change_question(
        &mut self,
        before: &Questionnaire,
        old: Question,
        new: &PlacedQuestion,
        now: Instant,
    ) {
        self.weigh(before, &[old], std::slice::from_ref(&new.question), now);
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

    /// The question `old` goes.
    pub fn remove_question(&mut self, before: &Questionnaire, old: Question, now: Instant) {
        let (key, id) = (
            keys::question(old.course_id, old.question_id),
            old.question_id,
        );
        self.weigh(before, &[old], &[], now);
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

    /// The course has `new` questions instead of `old` ones: it is of the next version, and in front of its
    /// lists.
    fn weigh(&mut self, before: &Questionnaire, old: &[Question], new: &[Question], now: Instant) {
        let course = &before.course.outline;
        let after = Outline {
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
            .number(":bytes", (before.bytes + length(new)).saturating_sub(length(old)));
        self.update(Part::Course, update);
    }

    fn put_order(&mut self, before: &Questionnaire, order: Vec<QuestionId>) {
        let key = keys::order(before.course.outline.course_id);
        self.put(Part::New, Write::at(&key).with_value("ids", &order));
    }
}
