//! Courses in lists: with the names of their committee and, if the client asks for it, their availability.

use std::collections::{HashMap, HashSet};

use common::{SignedIn, availability::AvailabilityView};
use domain::{
    CommitteeId, CourseId, Instant,
    committee::{Committee, CommitteeNames},
    course::{CourseSummary, Include},
};
use serde::Serialize;
use store::{FoundCourse, Page, RegistrationTerms, StoreError};

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

/// What lists show beside courses.
pub(crate) struct Beside {
    /// Committees other than that of the person who lists.
    others: HashMap<CommitteeId, Committee>,
    terms: HashMap<CourseId, RegistrationTerms>,
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
        let courses = page.items.iter().map(AsRef::as_ref);
        let ids = courses.map(|course| FoundCourse {
            course_id: course.course_id,
            committee_id: course.committee_id,
        });
        let ids: Vec<FoundCourse> = ids.collect();
        self.beside(&ids, include, person).await?.list(page, person, now)
    }

    /// Reads what a list shows `person` beside `courses`, in one round trip.
    pub(crate) async fn beside(
        &self,
        courses: &[FoundCourse],
        include: Option<Include>,
        person: &SignedIn,
    ) -> Result<Beside, StoreError> {
        let own = person.committee.committee_id;
        let others: HashSet<CommitteeId> =
            courses.iter().map(|course| course.committee_id).filter(|id| *id != own).collect();
        let others: Vec<CommitteeId> = others.into_iter().collect();
        let terms = async {
            match include {
                None => Ok(HashMap::new()),
                Some(Include::Availability) => {
                    let ids: Vec<CourseId> = courses.iter().map(|one| one.course_id).collect();
                    self.store.registration_terms(&ids, Some(person.user.user_id)).await
                }
            }
        };
        let (others, terms) = tokio::try_join!(self.store.committees_by_id(&others), terms)?;
        Ok(Beside { others, terms })
    }
}

impl Beside {
    /// The courses of `page` as a list shows them to `person`.
    pub(crate) fn list<T: AsRef<CourseSummary>>(
        &self,
        page: Page<T>,
        person: &SignedIn,
        now: Instant,
    ) -> Result<Page<ListedCourse<T>>, StoreError> {
        let own = &person.committee;
        let listed = |course: T| {
            let summary = course.as_ref();
            let committee = if summary.committee_id == own.committee_id {
                own
            } else {
                let other = self.others.get(&summary.committee_id);
                other.ok_or_else(|| missing(summary.committee_id))?
            };
            let availability = self.terms.get(&summary.course_id).map(|terms| {
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
