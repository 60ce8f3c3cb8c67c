//! `GET /registrations/{courseId}/{userId}/calendar`: the course as an event for calendars (RFC 5545), for confirmed people.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use common::{ApiError, ErrorCode, Now, Path, Verified};
use domain::{CourseId, UserId, registration::RegistrationState};
use http::header;
use icalendar::{Calendar, Component, Event, EventLike, EventStatus};

use crate::Registrations;

/// The event has no attendee, because shared calendars show the addresses of attendees. Its sequence number is the version of
/// the course, so that calendars replace an older event.
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
    let course = &found.course.course.summary;
    let start = course.start_at.ok_or(ErrorCode::CourseWithoutDate)?;
    if found.full.registration.card.state != RegistrationState::Confirmed {
        return Err(ErrorCode::RegistrationNotConfirmed.into());
    }
    let mut event = Event::new();
    event
        .uid(&format!("{}@{}", course.course_id, registrations.host))
        .add_property("DTSTAMP", now.in_calendars())
        .add_property("DTSTART", start.in_calendars())
        .summary(course.course_title.as_str())
        .status(EventStatus::Confirmed)
        .add_property("SEQUENCE", course.version.to_string());
    if let Some(end) = course.end_at.filter(|end| *end > start) {
        event.add_property("DTEND", end.in_calendars());
    }
    let place = [
        course.location.as_ref().map(|one| one.as_str()),
        course.city.as_ref().map(|one| one.as_str()),
    ];
    let place: Vec<&str> = place.into_iter().flatten().collect();
    if !place.is_empty() {
        event.location(&place.join(", "));
    }
    if let Some(info) = &found.course.settings.join_info {
        // Which calendars may drop, as any control character but a line break, which is escaped.
        event.description(&info.as_str().replace('\t', " "));
    }
    let calendar = Calendar::from([event.done()]);
    let kind = (header::CONTENT_TYPE, "text/calendar; charset=utf-8");
    let name = (header::CONTENT_DISPOSITION, "attachment; filename=\"cours.ics\"");
    Ok(([kind, name], calendar.to_string()).into_response())
}
