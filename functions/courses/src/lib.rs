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
use common::{BadSetting, Cursors, Failure, FieldError, Key, Setup, effect};
use domain::{
    Instant, UserId,
    audit::AuditEntry,
    course::{Course, State as Stage},
    question::PlacedQuestion,
};
use identity::chance;
use serde::Serialize;
use store::{Store, Transaction};

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor];

/// How often a change is decided anew when somebody else was faster: a committee's trainers may all be at one
/// course.
const TRIES: u32 = 20;

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
pub fn routes(setup: &Setup) -> Result<Router, BadSetting> {
    let courses = Courses {
        store: setup.store.clone(),
        cursors: setup.keys.cursors()?,
    };
    Ok(Router::new()
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
        .with_state(courses))
}

impl Courses {
    /// `before` as `actor` brings it to `stage` at `now`, and the transaction that does so and notes it.
    fn brought(
        &self,
        before: &Course,
        stage: Stage,
        actor: UserId,
        now: Instant,
    ) -> Result<(Course, Transaction), Failure> {
        let after = before.brought_to(stage, now);
        let mut bring = self.store.transaction();
        bring.change_course(&before.outline, &after);
        bring.note(&AuditEntry::of_course(
            chance::id(now),
            actor,
            &before.outline,
            stage,
            now,
        ));
        Ok((after, bring))
    }
}

/// What keeps `course` from being published, as its writer is told; its committee apart.
fn reasons(course: &Course) -> Vec<FieldError> {
    course
        .unready()
        .into_iter()
        .map(|(field, flaw)| FieldError::new(field, flaw))
        .collect()
}

/// A course alone.
#[derive(Serialize)]
pub(crate) struct Shown {
    course: Course,
}

/// A course with its questions.
#[derive(Serialize)]
pub(crate) struct ShownWhole {
    course: Course,
    questions: Vec<PlacedQuestion>,
}
