//! The questions of a course: one item beside it. A change of them raises the version of the course, which is written to
//! both items, to the course as `questionsVersion`.

use domain::{
    CourseId, Instant,
    course::{Course, CourseSummary},
    question::{MAX_QUESTIONS, MOST_BYTES, Question},
};
use serde::{Deserialize, Serialize};

use crate::{
    Part, Store, StoreError, Transaction,
    courses::{Stored, course_put, course_update},
    keys,
    table::{Item, read},
    write::Write,
};

#[derive(Default, Serialize, Deserialize)]
struct StoredQuestions {
    version: u64,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct StoredCourse {
    #[serde(flatten)]
    course: Stored,
    #[serde(rename = "questionsVersion", default)]
    questions_version: u64,
}

/// Whether a course can have `questions`: at most 200, with 300,000 bytes of JSON in all.
pub fn questions_fit(questions: &[Question]) -> bool {
    let bytes = serde_json::to_vec(questions).map_or(usize::MAX, |json| json.len());
    questions.len() <= MAX_QUESTIONS && bytes <= MOST_BYTES
}

impl Store {
    /// The course `id` with its questions in their order, as of one moment.
    ///
    /// One request reads both items. A transaction may commit between the two reads
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>):
    /// then their versions differ, and they are read again in a transaction, at twice the units.
    pub async fn course_with_questions(
        &self,
        id: CourseId,
    ) -> Result<Option<(Course, Vec<Question>)>, StoreError> {
        let keys = || [keys::course(id), keys::questions(id)];
        let [course, questions] = self.get_each(keys()).await?;
        let mut found = as_read(course, questions)?;
        if found
            .as_ref()
            .is_some_and(|(course, questions)| course.questions_version != questions.version)
        {
            let [course, questions] = self.snapshot(keys()).await?;
            found = as_read(course, questions)?;
        }
        Ok(found.map(|(course, questions)| (course.course.into(), questions.questions)))
    }
}

fn as_read(
    course: Option<Item>,
    questions: Option<Item>,
) -> Result<Option<(StoredCourse, StoredQuestions)>, StoreError> {
    let questions = read(questions)?.unwrap_or_default();
    Ok(read(course)?.map(|course| (course, questions)))
}

impl Transaction {
    /// Creates `course` with `questions`. The condition fails (`Part::Course`) when its id is taken.
    pub fn new_course(&mut self, course: &Course, questions: Vec<Question>) {
        let version = course.summary.version;
        let put = course_put(course);
        if questions.is_empty() {
            self.put_new(Part::Course, put);
        } else {
            self.put_new(Part::Course, put.with_value("questionsVersion", &version));
            self.put_questions(course.summary.course_id, version, questions);
        }
    }

    /// Replaces the questions of the course `before` by `questions`; the course moves to the front of its lists. The
    /// condition fails (`Part::Course`) when the course has changed since `before` was read.
    pub fn set_questions(
        &mut self,
        before: &CourseSummary,
        questions: Vec<Question>,
        now: Instant,
    ) {
        let next = before.version + 1;
        let after = CourseSummary { updated_at: now.max(before.updated_at), ..before.clone() };
        let update: Write = course_update(before.course_id, "card.version = :before")
            .expression(
                "SET card.version = :next, card.updatedAt = :now, listSk = :change, authoredSk = :change, \
                 card.questionCount = :count, questionsVersion = :next",
            )
            .number(":before", before.version)
            .number(":next", next)
            .value(":now", &after.updated_at)
            .text(":change", &keys::change_of(&after))
            .number(":count", questions.len());
        self.update(Part::Course, update);
        self.put_questions(before.course_id, next, questions);
    }

    fn put_questions(&mut self, course: CourseId, version: u64, questions: Vec<Question>) {
        let put = keys::questions(course).holding(&StoredQuestions { version, questions });
        self.put(Part::NewItem, put);
    }
}
