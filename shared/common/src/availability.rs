//! Whether a person can register for a course now, as responses show it.

use domain::{
    Instant,
    course::CourseSummary,
    registration::{Audience, Availability, RegistrationSettings, Seats},
};
use serde::Serialize;
use store::RegistrationTerms;

use crate::{ErrorCode, SignedIn, course_rights::may_write};

/// The availability of a course for one reader.
#[derive(Debug, Serialize)]
pub struct AvailabilityView {
    #[serde(flatten)]
    availability: Availability,
    /// Whether the reader may register at all.
    eligible: bool,
    /// Why not.
    reason: Option<&'static str>,
    /// How many people wait for the committee's decision; in lists, for writers of the course.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<u32>,
}

impl AvailabilityView {
    /// What `person` would meet who registers for `course` at `now`. `is_open` says whether the committee of the course is
    /// active.
    pub fn new(
        course: &CourseSummary,
        terms: &RegistrationTerms,
        is_open: bool,
        person: &SignedIn,
        now: Instant,
    ) -> Self {
        let RegistrationTerms { settings, seats, own } = terms;
        let status = settings.status(course, seats, is_open, now);
        let reason = eligibility(course, settings, person).err().map(ErrorCode::code);
        Self {
            availability: settings.availability(course, seats, status, *own),
            eligible: reason.is_none(),
            reason,
            pending: None,
        }
    }

    /// The same with how many wait for a decision, if `person` may write `course`.
    #[must_use]
    pub fn with_pending(self, course: &CourseSummary, seats: &Seats, person: &SignedIn) -> Self {
        Self { pending: may_write(course, person).then_some(seats.pending), ..self }
    }
}

/// What a registration of `person` for `course` is refused for, whatever its seats and other settings.
fn eligibility(
    course: &CourseSummary,
    settings: &RegistrationSettings,
    person: &SignedIn,
) -> Result<(), ErrorCode> {
    person.require_verified()?;
    person.require_active_committee()?;
    require_audience(course, settings, person)
}

/// # Errors
/// `REGISTRATION_AUDIENCE_MESSAGE` for a `course` that takes members of its committee alone, of another committee.
pub fn require_audience(
    course: &CourseSummary,
    settings: &RegistrationSettings,
    person: &SignedIn,
) -> Result<(), ErrorCode> {
    match settings.audience {
        Audience::Committee if course.committee_id != person.user.committee_id => {
            Err(ErrorCode::RegistrationAudience)
        }
        _ => Ok(()),
    }
}
