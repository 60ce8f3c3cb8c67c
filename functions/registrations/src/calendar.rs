//! `GET /registrations/{courseId}/{userId}/calendar`: the course as events for calendars, for confirmed
//! people.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use common::{ApiError, ErrorCode, Now, Path, Verified};
use domain::{
    CourseId, UserId,
    registration::{CalendarContent, EventStatus, RegistrationState, calendar},
};
use http::header;
use storage::content_disposition;
use store::CourseTerms;

use crate::Registrations;

const CALENDAR: &str = "text/calendar; charset=utf-8";

pub(crate) async fn show(
    State(registrations): State<Registrations>,
    Now(now): Now,
    Verified(person): Verified,
    Path(ids): Path<(CourseId, UserId)>,
) -> Result<Response, ApiError> {
    let found = registrations.visible_registration(ids, &person).await?;
    if !found.reader.is_own {
        return Err(ErrorCode::Forbidden.into());
    }
    let CourseTerms { course, settings, sessions, .. } = &found.course;
    let sessions = &sessions.sessions;
    let content = CalendarContent { course, sessions, join_info: settings.join_info.as_ref() };
    let calendar = calendar(&content, EventStatus::Confirmed, &registrations.public_url, now)
        .ok_or(ErrorCode::CourseWithoutDate)?;
    if found.full.registration.card.state != RegistrationState::Confirmed {
        return Err(ErrorCode::RegistrationNotConfirmed.into());
    }
    let name = format!("{}.ics", course.summary.course_title.as_str());
    let name = (header::CONTENT_DISPOSITION, content_disposition(&name, CALENDAR));
    Ok(([(header::CONTENT_TYPE, CALENDAR.to_owned()), name], calendar).into_response())
}
