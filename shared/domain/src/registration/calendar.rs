//! A course as events for calendars (RFC 5545).

pub use icalendar::EventStatus;
use icalendar::{Calendar, Component, Event, EventLike};
use uuid::Uuid;

use crate::{
    Instant, Line, Prose,
    attendance::{CourseSession, CourseSessions},
    course::{Course, CourseSummary},
};

/// What a calendar is made of.
#[derive(Debug, Clone, Copy)]
pub struct CalendarContent<'a> {
    /// The course.
    pub course: &'a Course,
    /// Its sessions.
    pub sessions: &'a CourseSessions,
    /// Room or link, as confirmed people may read it.
    pub join_info: Option<&'a Prose<2000>>,
}

/// The calendar of a course: an event for each of its sessions, else one, which lead to the page of the course in the front
/// end at `public_url`; `None` if it has no start. The events have this `status`, but for sessions that are cancelled.
/// `joinInfo` is their description.
///
/// The events have no attendee, because shared calendars show the addresses of attendees. Their sequence number is the version
/// of the course, so that calendars replace older ones.
pub fn calendar(
    content: &CalendarContent<'_>,
    status: EventStatus,
    public_url: &str,
    now: Instant,
) -> Option<String> {
    let CalendarContent { course, sessions, join_info } = *content;
    let Course { summary, details } = course;
    let place = summary.place();
    let mut calendar = Calendar::empty();
    calendar
        .append_property(("VERSION", "2.0"))
        .append_property(("PRODID", "-//Halqa//Courses//FR"))
        .append_property(("CALSCALE", "GREGORIAN"));
    for entry in entries(summary, sessions)? {
        let mut event = Event::new();
        event
            .uid(&format!("{}@{}", entry.id, host(public_url)))
            .add_property("DTSTAMP", now.in_calendars())
            .add_property("DTSTART", entry.start.in_calendars())
            .summary(&printable(&entry.title))
            .status(if entry.is_cancelled { EventStatus::Cancelled } else { status })
            .url(&course.page(public_url))
            .add_property("SEQUENCE", summary.version.to_string());
        if let Some(end) = entry.end.filter(|end| *end > entry.start) {
            event.add_property("DTEND", end.in_calendars());
        }
        if let Some(place) = entry.place.or(place.as_deref()) {
            event.location(&printable(place));
        }
        if let Some(contact) = details.contact() {
            event.add_property("CONTACT", printable(&contact));
        }
        if let Some(info) = join_info {
            event.description(&printable(info.as_str()));
        }
        calendar.push(event.done());
    }
    Some(calendar.to_string())
}

/// What an event is about.
struct Entry<'a> {
    id: Uuid,
    title: String,
    start: Instant,
    end: Option<Instant>,
    /// `None`: that of the course.
    place: Option<&'a str>,
    is_cancelled: bool,
}

/// The sessions, or else the course; `None` if it has no start.
fn entries<'a>(course: &CourseSummary, sessions: &'a CourseSessions) -> Option<Vec<Entry<'a>>> {
    let title = course.course_title.as_str();
    if sessions.is_empty() {
        return Some(vec![Entry {
            id: course.course_id.uuid(),
            title: title.to_owned(),
            start: course.start_at?,
            end: course.end_at,
            place: None,
            is_cancelled: false,
        }]);
    }
    let entry = |session: &'a CourseSession| Entry {
        id: session.session_id.uuid(),
        title: match &session.title {
            Some(own) => format!("{title} – {own}"),
            None => title.to_owned(),
        },
        start: session.start_at,
        end: Some(session.end_at),
        place: session.location.as_ref().map(Line::as_str),
        is_cancelled: session.cancelled,
    };
    Some(sessions.iter().map(entry).collect())
}

/// The host of `url`, without a port.
fn host(url: &str) -> &str {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        // The colons of an IPv6 address stand between brackets.
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    }
}

/// `text` without control characters but line breaks, which calendars escape; they may drop an event with others.
fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', " ")
}
