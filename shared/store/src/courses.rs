//! Courses: each stands in the list of its committee, of its author, and while it is published in the list
//! of all.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{
    CommitteeId, CourseId, UserId,
    course::{Course, CourseDetails, CourseSummary, State},
    question::PlacedQuestion,
};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, IndexKey, SWEEP_DELAY, WORDS_DUE},
    table::{Item, Order, due},
    write::Write,
};

/// A course as it is stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) card: CourseSummary,
    pub(crate) details: CourseDetails,
}

impl From<Stored> for Course {
    fn from(stored: Stored) -> Self {
        Self {
            outline: stored.card,
            details: stored.details,
        }
    }
}

/// A list of courses, newest change first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CourseList {
    /// Those of a committee that are in a state.
    OfCommittee(CommitteeId, State),
    /// Those that a person made and that are in a state.
    OfAuthor(UserId, State),
}

impl Store {
    /// The course `id`.
    pub async fn course(&self, id: CourseId) -> Result<Option<Course>, StoreError> {
        Ok(self
            .get::<Stored>(&keys::course(id))
            .await?
            .map(Course::from))
    }

    /// The course `id` with its questions in their order.
    pub async fn course_with_questions(
        &self,
        id: CourseId,
    ) -> Result<Option<(Course, Vec<PlacedQuestion>)>, StoreError> {
        let (mut course, mut order, mut questions) = (None, Vec::new(), Vec::new());
        for item in self.partition(&keys::course(id).pk).await? {
            let sk = item
                .get("sk")
                .and_then(|sk| sk.as_s().ok())
                .cloned()
                .unwrap_or_default();
            match sk.as_str() {
                "COURSE" => course = Some(serde_dynamo::from_item::<_, Stored>(item)?),
                "ORDER" => order = Self::order_of(item)?,
                _ => questions.push(serde_dynamo::from_item(item)?),
            }
        }
        Ok(course.map(|course| (course.into(), Self::placed(questions, &order))))
    }

    /// At most `limit` courses of `lists` together, newest change first, after `position`. A course that is
    /// changed meanwhile comes to the front: it is not met again, and perhaps not met at all.
    pub async fn courses(
        &self,
        lists: &[CourseList],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Course>, StoreError> {
        let pages = lists
            .iter()
            .map(|list| self.course_page(*list, position, limit));
        let pages = join_all(pages)
            .await
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        // Below this, one of the lists was not read: what stands there in another has to wait.
        let floor = pages.iter().filter_map(|page| page.last.clone()).max();
        let courses = pages
            .into_iter()
            .flat_map(|page| page.items)
            .map(|course| (keys::change_of(&course.outline), course));
        let mut courses: Vec<(String, Course)> = courses
            .filter(|(sk, _)| floor.as_ref().is_none_or(|floor| sk >= floor))
            .collect();
        courses.sort_by(|(one, _), (other, _)| other.cmp(one));
        // On its way from one list to another a course may stand in both.
        let mut seen = HashSet::new();
        courses.retain(|(_, course)| seen.insert(course.outline.course_id));
        let has_more = floor.is_some() || courses.len() > usize::from(limit);
        courses.truncate(limit.into());
        let last = courses
            .last()
            .map(|(sk, _)| sk.clone())
            .or(floor)
            .filter(|_| has_more);
        Ok(Page {
            items: courses.into_iter().map(|(_, course)| course).collect(),
            last,
        })
    }

    async fn course_page(
        &self,
        list: CourseList,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Course>, StoreError> {
        let (index, pk) = match list {
            CourseList::OfCommittee(committee, state) => {
                (&keys::LISTING, keys::courses_of(committee, state))
            }
            CourseList::OfAuthor(author, state) => {
                (&keys::AUTHORED, keys::courses_by(author, state))
            }
        };
        let page: Page<Stored> = self
            .list(index, &pk, position, limit, Order::Descending)
            .await?;
        Ok(page.map(Course::from))
    }

    /// At most `limit` published courses after `position`, newest publishing first.
    pub async fn published(
        &self,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<CourseSummary>, StoreError> {
        self.cards(
            &keys::PUBLISHED,
            keys::PUBLISHED_COURSES,
            position,
            limit,
            Order::Descending,
        )
        .await
    }
}

impl Transaction {
    /// A course that was not there.
    pub fn new_course(&mut self, course: &Course) {
        self.put_new(Part::Course, course_put(course));
    }

    /// The course `before` becomes `after`; refused when it has changed since `before` was read.
    pub fn change_course(&mut self, before: &CourseSummary, after: &Course) {
        let update = course_update(before.course_id, "card.version = :before");
        let update = update.number(":before", before.version);
        let mut sets = vec!["card = :card".to_owned(), "details = :details".to_owned()];
        let mut update = update
            .value(":card", &after.outline)
            .value(":details", &after.details);
        let mut attributes = places(&after.outline);
        if is_found_differently(before, &after.outline) {
            attributes.extend(words_due(&after.outline));
        }
        for (name, value) in attributes {
            sets.push(format!("{name} = :{name}"));
            update = update.attribute(format!(":{name}"), value);
        }
        let is_published = keys::published_index_key(&after.outline).is_some();
        let removed = if is_published {
            ""
        } else {
            " REMOVE publishedPk, publishedSk"
        };
        self.update(
            Part::Course,
            update.expression(format!("SET {}{removed}", sets.join(", "))),
        );
    }
}

/// An update of the course `id` under `condition`.
pub(crate) fn course_update(id: CourseId, condition: &str) -> Write {
    Write::at(&keys::course(id)).when(condition)
}

/// The put of a new course.
pub(crate) fn course_put(course: &Course) -> Write {
    let stored = Stored {
        card: course.outline.clone(),
        details: course.details.clone(),
    };
    let put = keys::course(course.outline.course_id)
        .holding(&stored)
        .with_value("questionBytes", &0)
        .with(places(&course.outline));
    if course.outline.state == State::Published {
        put.with(words_due(&course.outline))
    } else {
        put
    }
}

/// Where a course stands in the indexes.
fn places(course: &CourseSummary) -> Item {
    let places = [
        Some(keys::course_index_key(course)),
        Some(keys::authored_index_key(course)),
        keys::published_index_key(course),
    ];
    places
        .into_iter()
        .flatten()
        .flat_map(IndexKey::attributes)
        .collect()
}

/// Whether a search finds `after` by other words than `before`.
fn is_found_differently(before: &CourseSummary, after: &CourseSummary) -> bool {
    let words = |course: &CourseSummary| {
        if course.state == State::Published {
            course.words()
        } else {
            Vec::new()
        }
    };
    words(before) != words(after)
}

/// What is found differently is to be found by its words at once.
fn words_due(course: &CourseSummary) -> [(String, AttributeValue); 2] {
    due(WORDS_DUE, course.updated_at.after(SWEEP_DELAY))
}
