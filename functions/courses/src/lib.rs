//! Courses and their questions: from a trainer's draft to what everybody finds.

mod archive;
mod change;
mod committee;
mod content;
mod create;
mod publish;
mod question;
mod questions;
mod rights;
mod search_all;
mod show;
mod to_draft;

use axum::{
    Router,
    routing::{get, post},
};
use common::{ApiError, Cursors, ErrorCode, FieldError, Routes, SignedIn, effect};
use domain::{
    CourseId, Instant,
    audit::AuditEntry,
    course::{Course, State as Stage},
    question::PlacedQuestion,
};
use identity::chance;
use runtime::{ConfigError, Key};
use serde::Serialize;
use store::{Part, Setup, Store};

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor];

/// What this function can do.
#[derive(Clone)]
pub(crate) struct Courses {
    store: Store,
    cursors: Cursors,
}

/// Every URL of this function.
///
/// # Errors
/// When a key is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let courses = Courses {
        store: setup.store.clone(),
        cursors: setup.keys.parse(Key::Cursor)?,
    };
    Ok(Routes::new(
        Router::new()
            .route("/courses", post(create::create))
            .route("/courses/committee", get(committee::list))
            .route("/courses/search-all", get(search_all::search))
            .route(
                "/courses/{courseId}",
                get(show::show).put(change::change).delete(archive::archive),
            )
            .route(
                "/courses/{courseId}/publish",
                effect(publish::publish, "GET, POST").post(publish::publish),
            )
            .route(
                "/courses/{courseId}/to-draft",
                effect(to_draft::to_draft, "GET, POST").post(to_draft::to_draft),
            )
            .route("/courses/questions/{courseId}", post(questions::add))
            .route(
                "/courses/questions/{courseId}/{questionId}",
                get(question::show)
                    .put(question::change)
                    .delete(question::remove),
            )
            .with_state(courses),
    ))
}

impl Courses {
    /// Moves the course `id` to `stage` and notes it; a course that is there already is left as it is. `allowed`
    /// decides whether `person` may. The course, and whether it was moved.
    async fn bring(
        &self,
        id: CourseId,
        stage: Stage,
        person: &SignedIn,
        now: Instant,
        allowed: impl Fn(Option<Course>) -> Result<Course, ErrorCode>,
    ) -> Result<(Course, bool), ApiError> {
        let actor = person.user.user_id;
        let bring = || async {
            let mut bring = self.store.transaction();
            let before = allowed(self.store.course(id).await?)?;
            if before.outline.state == stage {
                return Ok((bring, (before, false)));
            }
            if stage == Stage::Published {
                self.must_be_ready(&before).await?;
                bring.require_active_committee(before.outline.committee_id);
            }
            let after = before.brought_to(stage, now);
            let audit = AuditEntry::of_course(chance::id(now), actor, &before.outline, stage, now);
            bring.change_course(&before.outline, &after);
            bring.note(&audit);
            Ok((bring, (after, true)))
        };
        let refused = |part| (part == Part::Committee).then(|| not_ready(vec![no_committee()]));
        self.store.update(bring, refused).await
    }

    /// # Errors
    /// `COURSE_NOT_READY_MESSAGE` with everything that keeps the course from being published, unless that is
    /// its committee alone.
    async fn must_be_ready(&self, course: &Course) -> Result<(), ApiError> {
        let mut errors = reasons(course);
        if errors.is_empty() {
            return Ok(());
        }
        let committee = self.store.committee(course.outline.committee_id).await?;
        if !committee.is_some_and(|committee| committee.is_active) {
            errors.push(no_committee());
        }
        Err(not_ready(errors))
    }
}

fn no_committee() -> FieldError {
    FieldError::new("committeeID", ErrorCode::CommitteeInvalid)
}

fn not_ready(errors: Vec<FieldError>) -> ApiError {
    ApiError::with_errors(ErrorCode::CourseNotReady, errors)
}

/// What keeps `course` from being published, as its writer is told; its committee apart.
fn reasons(course: &Course) -> Vec<FieldError> {
    course
        .unready()
        .into_iter()
        .map(|(field, error)| FieldError::new(field, error))
        .collect()
}

/// A course alone.
#[derive(Serialize)]
pub(crate) struct CourseResponse {
    course: Course,
}

/// A course with its questions.
#[derive(Serialize)]
pub(crate) struct CourseWithQuestions {
    course: Course,
    questions: Vec<PlacedQuestion>,
}
