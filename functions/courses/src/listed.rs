//! Courses in lists: with the names of their committee and, if the client asks for it, their availability.

use std::collections::{HashMap, HashSet};

use common::{SignedIn, availability::AvailabilityView};
use domain::{
    CommitteeId, CourseId, Instant,
    committee::CommitteeNames,
    course::{CourseSummary, Include},
};
use serde::Serialize;
use store::{Page, StoreError};

use crate::Courses;

/// A course in a list, `T` being the course itself.
#[derive(Serialize)]
pub(crate) struct ListedCourse<T> {
    #[serde(flatten)]
    course: T,
    committee: CommitteeNames,
    #[serde(skip_serializing_if = "Option::is_none")]
    availability: Option<AvailabilityView>,
}

impl Courses {
    /// The courses of `page` as a list shows them to `person`, with what they `include`. One round trip, or none if all are
    /// of the person's committee and nothing is included.
    pub(crate) async fn listed<T: AsRef<CourseSummary>>(
        &self,
        page: Page<T>,
        include: Option<Include>,
        person: &SignedIn,
        now: Instant,
    ) -> Result<Page<ListedCourse<T>>, StoreError> {
        let courses = || page.items.iter().map(AsRef::as_ref);
        let own = &person.committee;
        let others: HashSet<CommitteeId> = courses()
            .map(|course| course.committee_id)
            .filter(|id| *id != own.committee_id)
            .collect();
        let others: Vec<CommitteeId> = others.into_iter().collect();
        let terms = async {
            match include {
                None => Ok(HashMap::new()),
                Some(Include::Availability) => {
                    let ids: Vec<CourseId> = courses().map(|course| course.course_id).collect();
                    self.store.registration_terms(&ids, Some(person.user.user_id)).await
                }
            }
        };
        let (others, terms) = tokio::try_join!(self.store.committees_by_id(&others), terms)?;
        let listed = |course: T| {
            let summary = course.as_ref();
            let committee = if summary.committee_id == own.committee_id {
                own
            } else {
                others.get(&summary.committee_id).ok_or_else(|| missing(summary.committee_id))?
            };
            let availability = terms.get(&summary.course_id).map(|terms| {
                AvailabilityView::new(summary, terms, committee.is_active, person, now)
                    .with_pending(summary, &terms.seats, person)
            });
            Ok(ListedCourse { committee: CommitteeNames::from(committee), availability, course })
        };
        let items = page.items.into_iter().map(listed).collect::<Result<_, StoreError>>()?;
        Ok(Page { items, last: page.last })
    }
}

/// Committees are never deleted.
fn missing(committee: CommitteeId) -> StoreError {
    StoreError::Unexpected(format!("the committee {committee} of a course does not exist"))
}
