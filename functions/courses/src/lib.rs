//! Courses and their questions: drafts, publication and search.

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
use identity::random;
use runtime::{ConfigError, Key};
use serde::Serialize;
use store::{Part, Setup, Store};

/// The keys that `courses` reads at start.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor];

/// The tables and the key of the cursors, shared by the handlers.
#[derive(Clone)]
pub(crate) struct Courses {
    store: Store,
    cursors: Cursors,
}

/// The routes below `/courses`.
///
/// # Errors
/// When the key of the cursors is missing or malformed.
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
    /// Moves the course `id` to `stage` and writes an audit entry; a course in that state stays unchanged.
    /// `allowed` checks the permission. Returns the course, and whether its state changed.
    async fn transition(
        &self,
        id: CourseId,
        stage: Stage,
        person: &SignedIn,
        now: Instant,
        allowed: impl Fn(Option<Course>) -> Result<Course, ErrorCode>,
    ) -> Result<(Course, bool), ApiError> {
        let actor = person.user.user_id;
        let transition = || async {
            let mut tx = self.store.transaction();
            let before = allowed(self.store.course(id).await?)?;
            if before.outline.state == stage {
                return Ok((tx, (before, false)));
            }
            if stage == Stage::Published {
                self.require_ready(&before).await?;
                tx.require_active_committee(before.outline.committee_id);
            }
            let after = before.brought_to(stage, now);
            let audit = AuditEntry::of_course(random::id(now), actor, &before.outline, stage, now);
            tx.change_course(&before.outline, &after);
            tx.record_audit(&audit);
            Ok((tx, (after, true)))
        };
        let condition_error =
            |part| (part == Part::Committee).then(|| not_ready(vec![no_committee()]));
        self.store.update(transition, condition_error).await
    }

    /// # Errors
    /// `COURSE_NOT_READY_MESSAGE` with all errors, when the course itself is not ready. A closed committee alone
    /// is no error here: the transaction checks it.
    async fn require_ready(&self, course: &Course) -> Result<(), ApiError> {
        let mut errors = publication_errors(course);
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

/// The errors of `course` that prevent its publication; its committee is not checked.
fn publication_errors(course: &Course) -> Vec<FieldError> {
    course
        .unready()
        .into_iter()
        .map(|(field, error)| FieldError::new(field, error))
        .collect()
}

#[derive(Serialize)]
pub(crate) struct CourseResponse {
    course: Course,
}

#[derive(Serialize)]
pub(crate) struct CourseWithQuestions {
    course: Course,
    questions: Vec<PlacedQuestion>,
}
