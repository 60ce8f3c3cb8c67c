//! `GET /catalogue/{courseId}`: returns a course that everybody can find, with its description, contact
//! and sessions.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Now, Path, ok};
use domain::{CourseId, attendance::CourseSessionView, course::CourseDetails};
use serde::Serialize;
use store::{CatalogueEntry, RegistrationTerms};

use super::{CACHE, card::Card};
use crate::Courses;

#[derive(Serialize)]
pub(crate) struct CatalogueCourseResponse {
    course: CatalogueCourse,
}

#[derive(Serialize)]
struct CatalogueCourse {
    #[serde(flatten)]
    card: Card,
    #[serde(flatten)]
    details: CourseDetails,
    sessions: Vec<CourseSessionView>,
}

/// Also a course that is over. Drafts, cancelled courses and those of a closed committee give the response of an unknown one.
pub(crate) async fn show(
    State(courses): State<Courses>,
    Now(now): Now,
    Path(id): Path<CourseId>,
) -> ApiResult<CatalogueCourseResponse> {
    let store = &courses.store;
    let (stored, seats) = tokio::try_join!(store.course_terms(id), store.seats(id))?;
    let stored = stored.filter(|stored| stored.course.summary.is_announced());
    let stored = stored.ok_or(ErrorCode::CourseNotFound)?;
    let (course, details) = (stored.course.summary, stored.course.details);
    let committee =
        store.committee(course.committee_id).await?.filter(|committee| committee.is_active);
    let committee = committee.ok_or(ErrorCode::CourseNotFound)?;
    let terms = RegistrationTerms { settings: stored.settings, seats, own: None };
    let card = Card::new(CatalogueEntry { course, committee, terms }, now)
        .ok_or(ErrorCode::CourseNotFound)?;
    let sessions = stored.sessions.sessions.into_iter().map(CourseSessionView::from).collect();
    let course = CatalogueCourse { card, details, sessions };
    Ok(ok(CatalogueCourseResponse { course })?.cached(CACHE))
}
