//! The catalogue of courses: what everybody can find, without an account.

use super::course::CourseSummary;
use crate::{Instant, choice::choice};

choice! {
    /// The order of the catalogue.
    CatalogueOrder {
        /// By start; courses without dates come last, newest publication first.
        Start "start"
        /// By first publication, newest first.
        Newest "newest"
    }
}

choice! {
    /// A filter that selects courses for which people can register now.
    OnlyOpen {
        /// The only value.
        True "true"
    }
}

/// The time that courses overlap, both ends included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Period {
    /// `None`: now, and courses that end now are over.
    pub from: Option<Instant>,
    /// `None`: for ever.
    pub to: Option<Instant>,
}

impl Period {
    /// Whether `course` overlaps the period at `now`. A course without dates is never over, and overlaps nothing that is
    /// given.
    pub fn overlaps(&self, course: &CourseSummary, now: Instant) -> bool {
        match (course.start(), course.end()) {
            (Some(start), Some(end)) => {
                let is_late = self.from.map_or(now < end, |from| from <= end);
                is_late && self.to.is_none_or(|to| start <= to)
            }
            _ => *self == Self::default(),
        }
    }
}
