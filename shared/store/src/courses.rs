//! Courses, and the lists by committee, by author and of all published courses.

mod announcements;
pub(crate) mod catalogue;
pub(crate) mod questions;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod words;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{
    CommitteeId, CourseId, UserId,
    course::{Course, CourseDetails, CourseState, CourseSummary},
    times::SWEEP_DELAY,
};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, CATALOGUE, DueList, IndexKey, OVERVIEW},
    table::{Item, Order, due},
    write::Write,
};

/// Most bytes of descriptions in a page of merged lists, as in one of a single list, which ends at 1 MB. Escaped in JSON
/// and again in Lambda's response they are four times as many at most, of the 6 MB that are possible
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).
const MAX_PAGE: usize = 1_000_000;

#[derive(Serialize, Deserialize)]
pub(crate) struct CourseItem {
    pub(crate) card: CourseSummary,
    pub(crate) details: CourseDetails,
}

impl From<CourseItem> for Course {
    fn from(stored: CourseItem) -> Self {
        Self { summary: stored.card, details: stored.details }
    }
}

/// A list of courses, latest change first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CourseList {
    /// The courses of a committee in one state.
    OfCommittee(CommitteeId, CourseState),
    /// The courses of an author in one state.
    OfAuthor(UserId, CourseState),
}

impl Store {
    /// The course `id`, in any state, without its questions.
    pub async fn course(&self, id: CourseId) -> Result<Option<Course>, StoreError> {
        Ok(self.get::<CourseItem>(&keys::course(id)).await?.map(Course::from))
    }

    /// At most `limit` courses of the merged `lists` after `position`, latest change first. A course that is changed
    /// while a client pages moves to the front: it does not appear twice, but may not appear at all.
    pub async fn courses(
        &self,
        lists: &[CourseList],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Course>, StoreError> {
        let pages = lists.iter().map(|list| self.course_page(*list, position, limit));
        let pages = join_all(pages).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut page = Page::merged(
            pages,
            limit,
            Order::Descending,
            |course| keys::change_of(&course.summary),
            |course| course.summary.course_id,
        );
        let mut bytes = 0;
        let fits = page.items.iter().take_while(|course| {
            let description = course.details.description.as_ref();
            bytes += description.map_or(0, |text| text.as_str().len());
            bytes <= MAX_PAGE
        });
        let fits = fits.count().max(1);
        if page.items.len() > fits {
            page.items.truncate(fits);
            page.last = page.items.last().map(|course| keys::change_of(&course.summary));
        }
        Ok(page)
    }

    async fn course_page(
        &self,
        list: CourseList,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Course>, StoreError> {
        let list = match list {
            CourseList::OfCommittee(committee, state) => keys::courses_of(committee, state),
            CourseList::OfAuthor(author, state) => keys::courses_by(author, state),
        };
        let page: Page<CourseItem> = self.list(&list, position, limit, Order::Descending).await?;
        Ok(page.map(Course::from))
    }

    /// At most `limit` published courses after `position`, latest publication first.
    pub async fn published(
        &self,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<CourseSummary>, StoreError> {
        self.cards(&keys::published_courses(), position, limit, Order::Descending).await
    }
}

impl Transaction {
    /// Replaces the course `before` by `after`. The condition fails (`Part::Course`) when the course has changed
    /// since `before` was read, or (`Part::Seats`) when it is archived before its end and has active registrations.
    pub fn change_course(&mut self, before: &CourseSummary, after: &Course) {
        self.update(Part::Course, course_change(before, after));
        self.revise_seats(before, &after.summary);
        if before.state != after.summary.state {
            self.wake_announcements(before.course_id, after.summary.updated_at);
        }
    }
}

/// The update of the course `before` to `after`, unless it has changed.
pub(crate) fn course_change(before: &CourseSummary, after: &Course) -> Write {
    let update =
        course_update(before.course_id, "card.version = :before").number(":before", before.version);
    let mut update =
        update.set_value(&["card"], &after.summary).set_value(&["details"], &after.details);
    let mut attributes = index_attributes(&after.summary);
    if has_other_words(before, &after.summary) {
        attributes.extend(words_due(&after.summary));
    }
    for (name, value) in attributes {
        update = update.set(&[&name], value);
    }
    if !after.summary.is_announced() {
        for index in [OVERVIEW, CATALOGUE] {
            update = update.unset(&[index.pk]).unset(&[index.sk.0]);
        }
    }
    update
}

pub(crate) fn course_update(id: CourseId, condition: &str) -> Write {
    Write::at(&keys::course(id)).when(condition)
}

pub(crate) fn course_put(course: &Course) -> Write {
    let stored = CourseItem { card: course.summary.clone(), details: course.details.clone() };
    let put = keys::course(course.summary.course_id)
        .holding(&stored)
        .with(index_attributes(&course.summary));
    if course.summary.state == CourseState::Published {
        put.with(words_due(&course.summary))
    } else {
        put
    }
}

fn index_attributes(course: &CourseSummary) -> Item {
    let index_keys = [
        Some(keys::course_index_key(course)),
        Some(keys::authored_index_key(course)),
        keys::published_index_key(course),
        keys::catalogue_index_key(course),
    ];
    index_keys.into_iter().flatten().flat_map(IndexKey::attributes).collect()
}

/// Whether `after` has other search words than `before`.
fn has_other_words(before: &CourseSummary, after: &CourseSummary) -> bool {
    let words = |course: &CourseSummary| {
        if course.is_announced() { course.words() } else { Vec::new() }
    };
    words(before) != words(after)
}

pub(crate) fn words_due(course: &CourseSummary) -> [(String, AttributeValue); 3] {
    let key = keys::course(course.course_id);
    due(DueList::Courses, &key, course.updated_at.after(SWEEP_DELAY))
}
