//! `GET /catalogue`: lists the courses that everybody can find, without an account.

pub(crate) mod card;
pub(crate) mod show;

use axum::extract::State;
use common::{
    ApiResult, ErrorCode, Fields, Filtered, FromFields, InvalidField, InvalidValue, Listed, Now,
    choice, ok, text,
};
use domain::{
    CommitteeId, Constraint, Instant, Line, ValueError, Word,
    catalogue::{CatalogueOrder, OnlyOpen, Period},
    course::{CourseSummary, CourseType, Language},
    folded,
};
use store::{CatalogueEntry, CatalogueRange, Page, catalogue_position};

use self::card::Card;
use crate::{Courses, search_all::search_words};

/// Responses are the same for everybody.
pub(crate) const CACHE: &str = "public, max-age=60";
/// Courses that are looked at to find those that are open, of which each needs its seats.
const MAX_LOOKED_AT: u16 = 100;

/// Which courses to list.
#[derive(Debug)]
pub(crate) struct CatalogueQuery {
    order: CatalogueOrder,
    period: Period,
    only_open: Option<OnlyOpen>,
    filter: CourseFilter,
}

/// What the fields of a course must be; texts are compared folded.
#[derive(Debug, PartialEq)]
struct CourseFilter {
    /// The stems of each word of the search.
    words: Option<Vec<Vec<String>>>,
    region: Option<String>,
    city: Option<String>,
    section: Option<String>,
    course_type: Option<CourseType>,
    language: Option<Language>,
    committee: Option<CommitteeId>,
}

impl<S> FromFields<S> for CatalogueQuery {
    fn from_fields(fields: &mut Fields, _: &S) -> Result<Self, InvalidField> {
        let words = fields.nullable("q", |value| search_words(text(value)?));
        let from = fields.nullable("from", text::<Instant>);
        let to = fields.nullable("to", text::<Instant>);
        let region = fields.nullable("region", text::<Line<100>>);
        let city = fields.nullable("city", text::<Line<100>>);
        let course_type = fields.nullable("courseType", choice);
        let section = fields.nullable("sectionOfMatter", text::<Line<100>>);
        let language = fields.nullable("language", text);
        let committee = fields.nullable("committeeID", text);
        let only_open = fields.nullable("open", choice);
        let order = fields.nullable("order", choice);
        // There is nothing to include.
        let include = fields.nullable("include", |_| Err::<(), _>(ValueError::Value.into()));
        if let (Ok(Some(from)), Ok(Some(to))) = (from, to)
            && to < from
        {
            let constraint = Constraint::end_of(from);
            fields.reject("to", InvalidValue { code: ErrorCode::FieldValue, constraint });
        }
        let fold = |text: Option<Line<100>>| text.map(|text| folded(text.as_str()));
        include?;
        Ok(Self {
            order: order?.unwrap_or(CatalogueOrder::Start),
            period: Period { from: from?, to: to? },
            only_open: only_open?,
            filter: CourseFilter {
                words: words?.map(|words: Vec<Word>| words.iter().map(Word::stems).collect()),
                region: fold(region?),
                city: fold(city?),
                section: fold(section?),
                course_type: course_type?,
                language: language?,
                committee: committee?,
            },
        })
    }
}

impl CourseFilter {
    /// Whether it selects every course.
    fn is_empty(&self) -> bool {
        let Self { words, region, city, section, course_type, language, committee } = self;
        words.is_none()
            && [region, city, section].iter().all(|text| text.is_none())
            && course_type.is_none()
            && language.is_none()
            && committee.is_none()
    }

    fn selects(&self, course: &CourseSummary) -> bool {
        let is = |wanted: &Option<String>, text: &Option<Line<100>>| {
            wanted.as_ref().is_none_or(|wanted| {
                text.as_ref().is_some_and(|text| folded(text.as_str()) == *wanted)
            })
        };
        self.committee.is_none_or(|id| id == course.committee_id)
            && self.course_type.is_none_or(|kind| course.course_type == Some(kind))
            && self.language.as_ref().is_none_or(|language| *language == course.language)
            && is(&self.region, &course.region)
            && is(&self.city, &course.city)
            && is(&self.section, &course.section_of_matter)
            && self.words.as_ref().is_none_or(|words| course.has_words(words))
    }
}

/// By start, or by first publication. A page may be shorter than the limit before the last one. Neither the response nor
/// its cursor depends on the caller, so that caches can share it.
pub(crate) async fn list(
    State(courses): State<Courses>,
    Now(now): Now,
    Filtered(paging, query): Filtered<CatalogueQuery>,
) -> ApiResult<Listed<Card>> {
    let list = paging.for_everybody().open(&courses.cursors, &query)?;
    let range = CatalogueRange {
        order: query.order,
        period: query.period,
        now,
        position: list.position(),
        limit: if query.only_open.is_some() { MAX_LOOKED_AT } else { list.limit },
        is_selective: !query.filter.is_empty(),
    };
    let page = courses.store.catalogue(range, |course| query.filter.selects(course)).await?;
    let card = |entry: CatalogueEntry| {
        let position = catalogue_position(query.order, &entry.course);
        let card = Card::new(entry, now)?;
        (query.only_open.is_none() || card.is_open()).then_some((position, card))
    };
    let mut cards: Vec<(String, Card)> = page.items.into_iter().filter_map(card).collect();
    let mut last = page.last;
    if cards.len() > usize::from(list.limit) {
        cards.truncate(list.limit.into());
        last = cards.last().map(|(position, _)| position.clone());
    }
    let items = cards.into_iter().map(|(_, card)| card).collect();
    let response = ok(list.listed("courses", Page { items, last })?)?;
    Ok(response.cached(CACHE))
}
