//! The catalogue: announced courses of active committees by start or by first publication.
//!
//! By start, a course is in the list of its length: a list of courses of up to `d` days need not be read from before `d`
//! days ago to find all that are not over. So a course that is over needs no write to leave the catalogue, and the courses
//! that have begun stand in their order, before the others. The lists are read at once and merged.

use std::{
    cmp::Ordering,
    collections::{BTreeSet, HashMap},
};

use domain::{
    CommitteeId, CourseId, Instant,
    catalogue::{CatalogueOrder, Period},
    committee::Committee,
    course::CourseSummary,
};
use futures_util::future::try_join_all;
use serde_dynamo::from_items;

use crate::{
    Page, RegistrationTerms, Store, StoreError,
    keys::{self, Length, List, Table},
    table::{Item, ListedItem, Order, text},
};

/// Most entries that one call reads. It reads less if each of the lists has more than its share.
const MAX_READ: usize = 500;

/// Which part of the catalogue to read.
#[derive(Debug, Clone, Copy)]
pub struct CatalogueRange<'a> {
    /// The order.
    pub order: CatalogueOrder,
    /// The time that the courses overlap.
    pub period: Period,
    /// The time of the request.
    pub now: Instant,
    /// The position of the last entry of the previous page; `None` for the first page.
    pub position: Option<&'a str>,
    /// Most entries to return.
    pub limit: u16,
    /// Whether few of the entries may be wanted: then many are read at once.
    pub is_selective: bool,
}

/// A course in the catalogue.
#[derive(Debug, Clone)]
pub struct CatalogueEntry {
    /// The course.
    pub course: CourseSummary,
    /// Its committee, which is active.
    pub committee: Committee,
    /// Settings and seats of its registrations.
    pub terms: RegistrationTerms,
}

/// A list that is read in pieces.
struct Reading {
    list: List,
    /// Where to go on: the first and the last sort key by start, and the one after the last by publication.
    bounds: [String; 2],
    /// What was read and is wanted, and the position up to which it was read.
    page: Page<CourseSummary>,
}

/// The position of `course` in the catalogue in `order`.
pub fn catalogue_position(order: CatalogueOrder, course: &CourseSummary) -> String {
    match order {
        CatalogueOrder::Start => keys::start_of(course),
        CatalogueOrder::Newest => keys::publication_of(course),
    }
}

impl Store {
    /// The courses of `range` that are `wanted`. Reads at most 500 entries of courses, so a page may be short, even empty,
    /// before the catalogue ends. Eventually consistent.
    pub async fn catalogue(
        &self,
        range: CatalogueRange<'_>,
        wanted: impl Fn(&CourseSummary) -> bool,
    ) -> Result<Page<CatalogueEntry>, StoreError> {
        let wanted = |course: &CourseSummary| {
            course.is_announced() && range.period.overlaps(course, range.now) && wanted(course)
        };
        let mut readings = range.readings();
        // `None` is one that is closed.
        let mut committees: HashMap<CommitteeId, Option<Committee>> = HashMap::new();
        let (mut left, mut chunk) = (MAX_READ, range.first_chunk());
        let share = chunk.min(MAX_READ / readings.len().max(1));
        let pieces =
            readings.iter().map(|reading| self.catalogue_piece(reading, range.order, share));
        let pieces = try_join_all(pieces).await?;
        for (reading, (courses, last)) in readings.iter_mut().zip(pieces) {
            left = left.saturating_sub(courses.len());
            reading.add(courses, last, range.order, wanted);
        }
        loop {
            for reading in &mut readings {
                let is_hidden = |course: &CourseSummary| {
                    committees.get(&course.committee_id).is_some_and(Option::is_none)
                };
                reading.page.items.retain(|course| !is_hidden(course));
            }
            let (found, unknown) = range.found(&readings, &committees);
            if !unknown.is_empty() {
                let mut read = self.committees_by_id(&unknown).await?;
                let mut active = |id| read.remove(&id).filter(|committee| committee.is_active);
                committees.extend(unknown.into_iter().map(|id| (id, active(id))));
                continue;
            }
            let Some(behind) = range.furthest_behind(&mut readings) else { break };
            if left == 0 || found >= usize::from(range.limit) {
                break;
            }
            chunk = chunk.saturating_mul(2);
            let (courses, last) =
                self.catalogue_piece(behind, range.order, chunk.min(left)).await?;
            left = left.saturating_sub(courses.len());
            behind.add(courses, last, range.order, wanted);
        }
        let pages = readings.into_iter().map(|reading| reading.page).collect();
        let position = |course: &CourseSummary| catalogue_position(range.order, course);
        let page = Page::merged(pages, range.limit, range.direction(), position, |course| {
            course.course_id
        });
        let ids: Vec<CourseId> = page.items.iter().map(|course| course.course_id).collect();
        let mut terms = self.registration_terms(&ids, None).await?;
        let entry = |course: CourseSummary| {
            let committee = committees.get(&course.committee_id).cloned().flatten()?;
            let terms = terms.remove(&course.course_id).unwrap_or_default();
            Some(CatalogueEntry { course, committee, terms })
        };
        Ok(Page { items: page.items.into_iter().filter_map(entry).collect(), last: page.last })
    }

    /// The next at most `limit` courses of `reading`, and the position of the last one if there may be more.
    async fn catalogue_piece(
        &self,
        reading: &Reading,
        order: CatalogueOrder,
        limit: usize,
    ) -> Result<(Vec<CourseSummary>, Option<String>), StoreError> {
        let Reading { list, bounds: [first, last], .. } = reading;
        let (pk, sk) = (list.index.pk, list.index.sk.0);
        let (range, first) = match order {
            // DynamoDB refuses bounds in the wrong order.
            CatalogueOrder::Start if first > last => return Ok((Vec::new(), None)),
            CatalogueOrder::Start => ("BETWEEN :first AND :last", Some((":first", text(first)))),
            CatalogueOrder::Newest => ("< :last", None),
        };
        let values = [(":pk", text(&list.pk)), (":last", text(last))].into_iter().chain(first);
        let request = self
            .select(Table::Records, &format!("{pk} = :pk AND {sk} {range}"), values)
            .index_name(list.index.name)
            .scan_index_forward(order == CatalogueOrder::Start);
        let (items, next) = self.query(request, limit).await?;
        let position = |item: &Item| item.get(sk).and_then(|sk| sk.as_s().ok()).cloned();
        let last = next.and_then(|_| items.last().and_then(position));
        let items: Vec<ListedItem<CourseSummary>> = from_items(items)?;
        Ok((items.into_iter().map(|item| item.card).collect(), last))
    }
}

impl CatalogueRange<'_> {
    /// How many entries to read at first: one more than the limit, to know whether this is the last page, or all.
    fn first_chunk(&self) -> usize {
        if self.is_selective { MAX_READ } else { usize::from(self.limit) + 1 }
    }

    const fn direction(&self) -> Order {
        match self.order {
            CatalogueOrder::Start => Order::Ascending,
            CatalogueOrder::Newest => Order::Descending,
        }
    }

    /// The lists, to be read from the position on.
    fn readings(&self) -> Vec<Reading> {
        let reading = |list: List, bounds: [String; 2]| Reading {
            list,
            bounds,
            page: Page { items: Vec::new(), last: None },
        };
        let end = || "\u{10ffff}".to_owned();
        if self.order == CatalogueOrder::Newest {
            let last = self.position.map_or_else(end, str::to_owned);
            return vec![reading(keys::published_courses(), [String::new(), last])];
        }
        let begin = self.period.from.unwrap_or(self.now);
        let last = self.period.to.map_or_else(end, |to| format!("{to}{}", end()));
        // Courses without dates overlap no period that is given.
        let lengths = Length::ALL.into_iter();
        let lengths =
            lengths.filter(|length| *length != Length::Undated || self.period == Period::default());
        let lists = lengths.map(|length| {
            let first = length.first_start(begin);
            let first = self.position.map_or(first.clone(), |after| first.max(behind(after)));
            reading(keys::catalogue_of(length), [first, last.clone()])
        });
        lists.collect()
    }

    /// How many of the courses up to which all lists were read the page can have, and the committees of these courses
    /// that are not `known` yet.
    fn found(
        &self,
        readings: &[Reading],
        known: &HashMap<CommitteeId, Option<Committee>>,
    ) -> (usize, Vec<CommitteeId>) {
        let end = readings
            .iter()
            .filter_map(|reading| reading.page.last.as_ref())
            .min_by(|one, other| self.compare(one, other));
        let courses = readings.iter().flat_map(|reading| &reading.page.items);
        let mut courses: Vec<(String, &CourseSummary)> = courses
            .map(|course| (catalogue_position(self.order, course), course))
            .filter(|(position, _)| end.is_none_or(|end| self.compare(position, end).is_le()))
            .collect();
        courses.sort_by(|(one, _), (other, _)| self.compare(one, other));
        courses.truncate(self.limit.into());
        let committees = courses.iter().map(|(_, course)| course.committee_id);
        let unknown: BTreeSet<CommitteeId> =
            committees.filter(|id| !known.contains_key(id)).collect();
        (courses.len(), unknown.into_iter().collect())
    }

    /// The list that was read least far, which keeps back what the others have beyond; `None` when all were read to their
    /// ends.
    fn furthest_behind<'a>(&self, readings: &'a mut [Reading]) -> Option<&'a mut Reading> {
        let unfinished = readings.iter_mut().filter(|reading| reading.page.last.is_some());
        unfinished.min_by(|one, other| match (&one.page.last, &other.page.last) {
            (Some(one), Some(other)) => self.compare(one, other),
            _ => Ordering::Equal,
        })
    }

    fn compare(&self, one: &str, other: &str) -> Ordering {
        match self.direction() {
            Order::Ascending => one.cmp(other),
            Order::Descending => other.cmp(one),
        }
    }
}

impl Reading {
    /// Adds the next courses up to the position `last`, `None` at the end of the list, as far as they are `wanted`.
    fn add(
        &mut self,
        courses: Vec<CourseSummary>,
        last: Option<String>,
        order: CatalogueOrder,
        wanted: impl Fn(&CourseSummary) -> bool,
    ) {
        self.page.items.extend(courses.into_iter().filter(wanted));
        match (&last, order) {
            (Some(position), CatalogueOrder::Start) => self.bounds[0] = behind(position),
            (Some(position), CatalogueOrder::Newest) => self.bounds[1] = position.clone(),
            (None, _) => {}
        }
        self.page.last = last;
    }
}

/// The first key after `position`.
fn behind(position: &str) -> String {
    format!("{position}\0")
}
