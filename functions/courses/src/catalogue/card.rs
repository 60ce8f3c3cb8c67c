//! A course as the catalogue shows it.

use domain::{
    CourseId, Instant,
    committee::CommitteeNames,
    course::CourseContent,
    registration::{Audience, Status},
};
use serde::Serialize;
use store::CatalogueEntry;

#[derive(Serialize)]
pub(crate) struct Card {
    #[serde(rename = "courseID")]
    course_id: CourseId,
    #[serde(flatten)]
    content: CourseContent,
    committee: CommitteeNames,
    registration: Registration,
}

/// The availability of the course, the same for each caller.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Registration {
    status: Status,
    capacity: Option<u32>,
    free: Option<u32>,
    waiting: u32,
    opens_at: Option<Instant>,
    closes_at: Option<Instant>,
    audience: Audience,
}

impl Card {
    /// The card of `entry` at `now`; `None` when the course was cancelled since it was listed.
    pub(crate) fn new(entry: CatalogueEntry, now: Instant) -> Option<Self> {
        let CatalogueEntry { course, committee, terms } = entry;
        let (settings, seats) = (&terms.settings, &terms.seats);
        let status = settings.status(&course, seats, committee.is_active, now);
        let availability = settings.availability(&course, seats, status, None);
        let registration = Registration {
            status,
            capacity: availability.capacity,
            free: availability.free,
            waiting: availability.waiting,
            opens_at: availability.opens_at,
            closes_at: availability.closes_at,
            audience: settings.audience,
        };
        let card = Self {
            course_id: course.course_id,
            committee: CommitteeNames::from(&committee),
            registration,
            content: course.content,
        };
        (status != Status::Cancelled).then_some(card)
    }

    /// Whether a registration would get a seat or a place on the waiting list, or go to the committee.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.registration.status, Status::Open | Status::Waitlist)
    }
}
