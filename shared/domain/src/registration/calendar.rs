//! A course as an event for calendars (RFC 5545).

pub use icalendar::EventStatus;
use icalendar::{Calendar, Component, Event, EventLike};

use crate::{Instant, Prose, course::Course};

/// The calendar with `course` as its only event, which has this `status` and leads to the page of the course in the front end
/// at `public_url`; `None` if the course has no start. `join_info` is its description, as confirmed people may read it.
///
/// The event has no attendee, because shared calendars show the addresses of attendees. Its sequence number is the version of
/// the course, so that calendars replace an older event.
pub fn calendar(
    course: &Course,
    join_info: Option<&Prose<2000>>,
    status: EventStatus,
    public_url: &str,
    now: Instant,
) -> Option<String> {
    let Course { summary, details } = course;
    let start = summary.start_at?;
    let mut event = Event::new();
    event
        .uid(&format!("{}@{}", summary.course_id, host(public_url)))
        .add_property("DTSTAMP", now.in_calendars())
        .add_property("DTSTART", start.in_calendars())
        .summary(&printable(summary.course_title.as_str()))
        .status(status)
        .url(&course.page(public_url))
        .add_property("SEQUENCE", summary.version.to_string());
    if let Some(end) = summary.end_at.filter(|end| *end > start) {
        event.add_property("DTEND", end.in_calendars());
    }
    if let Some(place) = summary.place() {
        event.location(&printable(&place));
    }
    if let Some(contact) = details.contact() {
        event.add_property("CONTACT", printable(&contact));
    }
    if let Some(info) = join_info {
        event.description(&printable(info.as_str()));
    }
    let mut calendar = Calendar::empty();
    calendar
        .append_property(("VERSION", "2.0"))
        .append_property(("PRODID", "-//Halqa//Courses//FR"))
        .append_property(("CALSCALE", "GREGORIAN"))
        .push(event.done());
    Some(calendar.to_string())
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
