//! A course with what stands beside it in items of their own: its questions, the settings of its registrations, its sessions. A
//! change of them raises the version of the course, which is written to both items, to the course as `questionsVersion`,
//! `registrationVersion` or `sessionsVersion`.

use std::{array, collections::HashMap};

use domain::{
    CourseId, Instant,
    attendance::Schedule,
    course::{Course, CourseSummary},
    question::{MAX_QUESTIONS, MOST_BYTES, Question, RequiredQuestion, required},
    registration::RegistrationSettings,
    times::SWEEP_DELAY,
};
use serde::{Deserialize, Serialize};

use crate::{
    Part, Store, StoreError, Transaction,
    courses::{CourseItem, course_put, course_update, sessions::StoredSessions},
    keys::{self, Key},
    registrations::seats::with_due,
    table::{Item, MAX_KEYS, read},
    write::Write,
};

#[derive(Default, Serialize, Deserialize)]
struct StoredQuestions {
    version: u64,
    questions: Vec<Question>,
}

#[derive(Default, Serialize, Deserialize)]
struct StoredSettings {
    version: u64,
    settings: RegistrationSettings,
}

/// A course with all that its page shows.
#[derive(Debug, Clone)]
pub struct FullCourse {
    /// The course.
    pub course: Course,
    /// Its questions, in their order.
    pub questions: Vec<Question>,
    /// The settings of its registrations.
    pub settings: RegistrationSettings,
    /// Its sessions.
    pub sessions: StoredSessions,
}

/// A course with what decides about its registrations: all that they need of it but the texts of its questions.
#[derive(Debug, Clone)]
pub struct CourseTerms {
    /// The course.
    pub course: Course,
    /// The settings of its registrations.
    pub settings: RegistrationSettings,
    /// Its sessions.
    pub sessions: StoredSessions,
    /// Its required questions.
    pub required: Vec<RequiredQuestion>,
}

#[derive(Deserialize)]
struct StoredCourse {
    #[serde(flatten)]
    course: CourseItem,
    #[serde(rename = "questionsVersion", default)]
    questions_version: u64,
    #[serde(rename = "registrationVersion", default)]
    registration_version: u64,
    #[serde(rename = "sessionsVersion", default)]
    sessions_version: u64,
    #[serde(default)]
    required: Vec<RequiredQuestion>,
}

/// Whether a course can have `questions`: at most 200, with 300,000 bytes of JSON in all.
pub fn questions_fit(questions: &[Question]) -> bool {
    let bytes = serde_json::to_vec(questions).map_or(usize::MAX, |json| json.len());
    questions.len() <= MAX_QUESTIONS && bytes <= MOST_BYTES
}

impl Store {
    /// The course `id` with its questions, the settings of its registrations and its sessions, as of one moment.
    ///
    /// One request reads all four items. A transaction may commit between the reads
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>):
    /// then their versions differ, and they are read again in a transaction, at twice the units.
    pub async fn full_course(&self, id: CourseId) -> Result<Option<FullCourse>, StoreError> {
        let keys = || {
            [
                keys::course(id),
                keys::questions(id),
                keys::registration_settings(id),
                keys::sessions(id),
            ]
        };
        let mut found = as_read(self.get_each(keys()).await?)?;
        if found.as_ref().is_some_and(|(course, questions, settings, sessions)| {
            course.questions_version != questions.version
                || course.registration_version != settings.version
                || course.sessions_version != sessions.version
        }) {
            found = as_read(self.snapshot(keys()).await?)?;
        }
        Ok(found.map(FullCourse::from))
    }

    /// The questions of the course `id`, in their order.
    pub async fn questions(&self, id: CourseId) -> Result<Vec<Question>, StoreError> {
        let stored: Option<StoredQuestions> = self.get(&keys::questions(id)).await?;
        Ok(stored.unwrap_or_default().questions)
    }

    /// The course `id` with the settings of its registrations and its sessions, as of one moment, as [`full_course`](Self::full_course).
    pub async fn course_terms(&self, id: CourseId) -> Result<Option<CourseTerms>, StoreError> {
        let mut read = terms(self.get_each(keys_of_terms(id)).await?)?;
        if read.as_ref().is_some_and(|(_, is_of_one_moment)| !is_of_one_moment) {
            read = terms(self.snapshot(keys_of_terms(id)).await?)?;
        }
        Ok(read.map(|(terms, _)| terms))
    }

    /// The courses with these `ids`, which are different, each as [`course_terms`](Self::course_terms); one request for each
    /// 33. Those that do not exist are left out.
    pub async fn terms_of_courses(
        &self,
        ids: &[CourseId],
    ) -> Result<HashMap<CourseId, CourseTerms>, StoreError> {
        let mut all = HashMap::new();
        for ids in ids.chunks(MAX_KEYS / 3) {
            let keys: Vec<_> = ids.iter().copied().flat_map(keys_of_terms).collect();
            let mut items = self.get_all(&keys).await?.into_iter();
            for id in ids {
                let found = match terms(array::from_fn(|_| items.next().flatten()))? {
                    Some((terms, true)) => Some(terms),
                    Some(_) => self.course_terms(*id).await?,
                    None => None,
                };
                all.extend(found.map(|found| (*id, found)));
            }
        }
        Ok(all)
    }
}

impl FullCourse {
    /// What decides about registrations, and the questions.
    pub fn into_terms(self) -> (CourseTerms, Vec<Question>) {
        let Self { course, questions, settings, sessions } = self;
        (CourseTerms { course, settings, sessions, required: required(&questions) }, questions)
    }
}

impl CourseTerms {
    /// When and where it takes place.
    pub fn schedule(&self) -> Schedule {
        Schedule::new(&self.course.summary, &self.settings, &self.sessions.sessions)
    }
}

/// The settings in `item`; the defaults if there is none.
pub(crate) fn stored_settings(item: Option<Item>) -> Result<RegistrationSettings, StoreError> {
    let stored: Option<StoredSettings> = read(item)?;
    Ok(stored.unwrap_or_default().settings)
}

fn keys_of_terms(id: CourseId) -> [Key; 3] {
    [keys::course(id), keys::registration_settings(id), keys::sessions(id)]
}

/// The course, and whether all items are of one moment.
fn terms(
    [course, settings, sessions]: [Option<Item>; 3],
) -> Result<Option<(CourseTerms, bool)>, StoreError> {
    let StoredSettings { version, settings } = read(settings)?.unwrap_or_default();
    let sessions: StoredSessions = read(sessions)?.unwrap_or_default();
    let course: Option<StoredCourse> = read(course)?;
    Ok(course.map(|stored| {
        let is_of_one_moment =
            stored.registration_version == version && stored.sessions_version == sessions.version;
        let StoredCourse { course, required, .. } = stored;
        (CourseTerms { course: course.into(), settings, sessions, required }, is_of_one_moment)
    }))
}

impl From<AsRead> for FullCourse {
    fn from((course, questions, settings, sessions): AsRead) -> Self {
        Self {
            course: course.course.into(),
            questions: questions.questions,
            settings: settings.settings,
            sessions,
        }
    }
}

type AsRead = (StoredCourse, StoredQuestions, StoredSettings, StoredSessions);

fn as_read(
    [course, questions, settings, sessions]: [Option<Item>; 4],
) -> Result<Option<AsRead>, StoreError> {
    let questions = read(questions)?.unwrap_or_default();
    let settings = read(settings)?.unwrap_or_default();
    let sessions = read(sessions)?.unwrap_or_default();
    Ok(read(course)?.map(|course| (course, questions, settings, sessions)))
}

impl Transaction {
    /// Creates `course` with `questions`. The condition fails (`Part::Course`) when its id is taken.
    pub fn new_course(&mut self, course: &Course, questions: Vec<Question>) {
        let version = course.summary.version;
        let put = course_put(course);
        if questions.is_empty() {
            self.put_new(Part::Course, put);
        } else {
            let put = put.with_value("questionsVersion", &version);
            self.put_new(Part::Course, put.with_value("required", &required(&questions)));
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
        let also = "card.questionCount = :count, questionsVersion = :next, required = :required";
        let update = raised(before, also, now)
            .number(":count", questions.len())
            .value(":required", &required(&questions));
        self.update(Part::Course, update);
        self.put_questions(before.course_id, before.version + 1, questions);
    }

    /// Replaces the settings of the registrations for the course `before`, which moves to the front of its lists. The
    /// condition fails (`Part::Course`) when the course has changed since `before` was read. The capacity of the seats is
    /// written by another part of the transaction.
    pub(crate) fn put_registration_settings(
        &mut self,
        before: &CourseSummary,
        settings: &RegistrationSettings,
        now: Instant,
    ) {
        let update = match settings.cancelled_at {
            Some(cancelled_at) if before.cancelled_at.is_none() => {
                let also = format!(
                    "registrationVersion = :next, card.cancelledAt = :cancelled, {UNLISTED}"
                );
                let update = with_due(raised(before, &also, now), now.after(SWEEP_DELAY));
                update.value(":cancelled", &cancelled_at)
            }
            _ => raised(before, "registrationVersion = :next", now),
        };
        self.update(Part::Course, update);
        let stored = StoredSettings { version: before.version + 1, settings: settings.clone() };
        let key = keys::registration_settings(before.course_id);
        self.put(Part::Other, key.holding(&stored));
    }

    fn put_questions(&mut self, course: CourseId, version: u64, questions: Vec<Question>) {
        let put = keys::questions(course).holding(&StoredQuestions { version, questions });
        self.put(Part::Other, put);
    }
}

/// The end of an update after which a course is in no list for everybody, and the worker removes its search entries.
const UNLISTED: &str = "duePk = :list, dueAt = :due, requestId = :request REMOVE overviewPk, overviewSk, cataloguePk, catalogueSk";

/// An update that raises the version of the course `before` unless it has changed, and also sets `also`, in which `:next`
/// is the next version, and which ends the update.
fn raised(before: &CourseSummary, also: &str, now: Instant) -> Write {
    let after = CourseSummary { updated_at: now.max(before.updated_at), ..before.clone() };
    course_update(before.course_id, "card.version = :before")
        .expression(format!(
            "SET card.version = :next, card.updatedAt = :now, listSk = :change, authoredSk = :change, {also}"
        ))
        .number(":before", before.version)
        .number(":next", before.version + 1)
        .value(":now", &after.updated_at)
        .text(":change", &keys::change_of(&after))
}
