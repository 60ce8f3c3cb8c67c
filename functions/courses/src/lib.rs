//! Courses and their questions: drafts, publication and search.

mod archive;
mod catalogue;
mod change;
mod committee;
mod content;
mod copy;
mod create;
mod listed;
mod publish;
mod question;
mod questions;
mod search_all;
mod show;
mod to_draft;

use common::{ApiError, Cursors, ErrorCode, FieldError, InvalidValue, Routes, SignedIn};
use domain::{
    CourseId, Instant,
    attendance::CourseSessionView,
    audit::AuditedAction,
    course::{Course, CourseState},
    placed_question::PlacedQuestion,
    question::Question,
    registration::SettingsView,
};
use identity::random;
use runtime::{ConfigError, Key};
use serde::Serialize;
use store::{FullCourse, Part, Setup, Store, StoreError};

/// The keys that `courses` reads at start.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor];

/// The tables and the key of the cursors, shared by the handlers.
#[derive(Clone)]
pub(crate) struct Courses {
    store: Store,
    cursors: Cursors,
    /// The most bytes of a file that answers a question.
    max_file_bytes: u64,
}

/// The routes below `/courses` and `/catalogue`.
///
/// # Errors
/// When the key of the cursors is missing or malformed, or the limit of files is not a number.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let courses = Courses {
        store: setup.store.clone(),
        cursors: setup.keys.parse(Key::Cursor)?,
        max_file_bytes: setup.settings.number("FILE_MAX_BYTES", 100_000_000)?,
    };
    Ok(Routes::default()
        .post("/courses", create::create)
        .get("/courses/committee", committee::list)
        .get("/courses/search-all", search_all::search)
        .get("/courses/{courseId}", show::show)
        .put("/courses/{courseId}", change::change)
        .delete("/courses/{courseId}", archive::archive)
        .post("/courses/{courseId}/copy", copy::copy)
        .effect("/courses/{courseId}/publish", publish::publish)
        .post("/courses/{courseId}/publish", publish::publish)
        .effect("/courses/{courseId}/to-draft", to_draft::to_draft)
        .post("/courses/{courseId}/to-draft", to_draft::to_draft)
        .post("/courses/questions/{courseId}", questions::add)
        .get("/courses/questions/{courseId}/{questionId}", question::show)
        .put("/courses/questions/{courseId}/{questionId}", question::change)
        .delete("/courses/questions/{courseId}/{questionId}", question::remove)
        .get("/catalogue", catalogue::list)
        .get("/catalogue/{courseId}", catalogue::show::show)
        .with_state(courses))
}

impl Courses {
    /// The course `id` with its questions, if `check` allows it to `person`.
    ///
    /// # Errors
    /// `COURSE_NOT_FOUND_MESSAGE`, and those of `check`.
    async fn full(
        &self,
        id: CourseId,
        person: &SignedIn,
        check: impl FnOnce(Option<Course>, &SignedIn) -> Result<Course, ErrorCode>,
    ) -> Result<FullCourse, ApiError> {
        let mut full = self.store.full_course(id).await?.ok_or(ErrorCode::CourseNotFound)?;
        full.course = check(Some(full.course), person)?;
        Ok(full)
    }

    /// Moves the course `id` to `state` and writes an audit entry; a course in that state stays unchanged.
    /// `check` checks the permission. Returns the course, and whether its state changed.
    async fn transition(
        &self,
        id: CourseId,
        state: CourseState,
        person: &SignedIn,
        now: Instant,
        check: impl Fn(Option<Course>, &SignedIn) -> Result<Course, ErrorCode>,
    ) -> Result<(Course, bool), ApiError> {
        let attempt = || async {
            let mut tx = self.store.transaction();
            let before = check(self.store.course(id).await?, person)?;
            if before.summary.state == state {
                return Ok((tx, (before, false)));
            }
            if state == CourseState::Published {
                self.require_ready(&before, person).await?;
            }
            let after = before.brought_to(state, now);
            let audited = AuditedAction::of_course_state(&before.summary, state);
            tx.change_course(&before.summary, &after);
            tx.record_audit(&audited.by(&person.user, random::id(now), now));
            Ok::<_, ApiError>((tx, (after, true)))
        };
        let has_registrations =
            |part| (part == Part::Seats).then(|| ErrorCode::CourseHasRegistrations.into());
        self.store.update(attempt, has_registrations).await
    }

    /// Checks that `course` and its committee are ready. The committee needs no read if it is that of `person`, which
    /// was read when the request began.
    ///
    /// # Errors
    /// `COURSE_NOT_READY_MESSAGE` with all errors.
    async fn require_ready(&self, course: &Course, person: &SignedIn) -> Result<(), ApiError> {
        let id = course.summary.committee_id;
        let is_active = if id == person.committee.committee_id {
            person.committee.is_active
        } else {
            let committee = self.store.committee(id).await?;
            committee.is_some_and(|committee| committee.is_active)
        };
        let mut errors = publication_errors(course);
        if !is_active {
            let code = ErrorCode::CommitteeInvalid;
            errors.push(FieldError::new("committeeID", code));
        }
        ready(errors)
    }
}

/// # Errors
/// `COURSE_NOT_READY_MESSAGE` with `errors`, if there are any.
fn ready(errors: Vec<FieldError>) -> Result<(), ApiError> {
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ApiError::with_errors(ErrorCode::CourseNotReady, errors))
    }
}

/// The errors of `course` that prevent its publication; its committee is not checked.
fn publication_errors(course: &Course) -> Vec<FieldError> {
    course
        .unready()
        .into_iter()
        .map(|(field, error, constraint)| {
            let code = error.into();
            FieldError::new(field, InvalidValue { code, constraint })
        })
        .collect()
}

#[derive(Serialize)]
pub(crate) struct CourseResponse {
    course: Course,
}

#[derive(Serialize)]
pub(crate) struct ShowCourseResponse {
    course: Course,
    questions: Vec<PlacedQuestion>,
    registration: SettingsView,
    sessions: Vec<CourseSessionView>,
}

impl Courses {
    /// `questions`, the first of which has the position `first`.
    fn placed(&self, questions: Vec<Question>, first: usize) -> Vec<PlacedQuestion> {
        let places = questions.into_iter().zip(first..);
        places.map(|(one, order)| PlacedQuestion::new(one, order, self.max_file_bytes)).collect()
    }

    /// The response with `full` to a writer of the course, if `is_writer`, or another reader.
    async fn shown(
        &self,
        full: FullCourse,
        is_writer: bool,
    ) -> Result<ShowCourseResponse, StoreError> {
        let FullCourse { course, questions, settings, sessions } = full;
        let questions = self.placed(questions, 1);
        let registration = sessions.settings_view(&self.store, settings, is_writer).await?;
        let sessions = sessions.sessions.into_iter().map(CourseSessionView::from).collect();
        Ok(ShowCourseResponse { course, questions, registration, sessions })
    }
}

#[derive(Serialize)]
pub(crate) struct CourseWithQuestions {
    course: Course,
    questions: Vec<PlacedQuestion>,
}
