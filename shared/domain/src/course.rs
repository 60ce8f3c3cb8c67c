//! Courses: what a committee offers, from draft to archive.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{
    CommitteeId, CourseId, E164, Email, Instant, Line, Name, Price, Prose, UserId, ValueError,
    choice::choice, text::words,
};

choice! {
    /// How far a course has come: `DRAFT ⇄ PUBLISHED → ARCHIVED`, and from a draft too.
    State {
        /// Seen by those who write or publish it.
        Draft "DRAFT"
        /// Seen by everybody with an account.
        Published "PUBLISHED"
        /// Seen by its writers and changed by nobody.
        Archived "ARCHIVED"
    }
}

choice! {
    /// How a course is held.
    CourseType {
        /// At a place.
        Onsite "ONSITE"
        /// On line.
        Online "ONLINE"
        /// Both.
        Hybrid "HYBRID"
        /// Each learner at his own pace.
        SelfPaced "SELF_PACED"
        /// Any other way.
        Other "OTHER"
    }
}

/// A language: two upper-case letters, such as `FR` (ISO 639-1, whose list is not checked).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Language(String);

impl Default for Language {
    fn default() -> Self {
        Self("FR".to_owned())
    }
}

impl FromStr for Language {
    type Err = ValueError;

    /// `Required` for nothing, `Format` for anything but two upper-case ASCII letters.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        match text.as_bytes() {
            [] => Err(ValueError::Required),
            [a, b] if a.is_ascii_uppercase() && b.is_ascii_uppercase() => Ok(Self(text.to_owned())),
            _ => Err(ValueError::Format),
        }
    }
}

/// A currency of ISO 4217, such as `TND`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Currency(String);

impl Default for Currency {
    fn default() -> Self {
        Self("TND".to_owned())
    }
}

impl FromStr for Currency {
    type Err = ValueError;

    /// `Required` for nothing, `Value` for a code that is in no list of ISO 4217.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let missing = if text.is_empty() {
            ValueError::Required
        } else {
            ValueError::Value
        };
        iso_currency::Currency::from_code(text)
            .map(|_| Self(text.to_owned()))
            .ok_or(missing)
    }
}

/// What lists show of a course.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outline {
    /// Which one.
    #[serde(rename = "courseID")]
    pub course_id: CourseId,
    /// Whose it is.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// What it is called.
    pub course_title: Line<200>,
    /// What else it is called.
    pub course_sub_title: Option<Line<300>>,
    /// What it costs.
    pub price: Option<Price>,
    /// In what.
    pub currency: Currency,
    /// Where it is held.
    pub location: Option<Line<300>>,
    /// How it is held.
    pub course_type: Option<CourseType>,
    /// What it is about.
    pub section_of_matter: Option<Line<100>>,
    /// In which language.
    pub language: Language,
    /// In which governorate.
    pub region: Option<Line<100>>,
    /// In which city.
    pub city: Option<Line<100>>,
    /// When it begins.
    pub start_at: Option<Instant>,
    /// When it ends; not before it begins.
    pub end_at: Option<Instant>,
    /// How far it has come.
    pub state: State,
    /// Counts its changes, those of its questions too.
    pub version: u64,
    /// How many questions it has.
    pub question_count: u32,
    /// Who made it.
    pub created_by: UserId,
    /// When.
    pub created_at: Instant,
    /// When it was last changed.
    pub updated_at: Instant,
    /// When it was first published.
    pub published_at: Option<Instant>,
}

/// What only its own page shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// What it is.
    pub description: Option<Prose<20_000>>,
    /// Whom to ask.
    pub contact_person: Option<Name>,
    /// Where to call.
    pub contact_phone: Option<E164>,
    /// Where to write.
    pub contact_email: Option<Email>,
}

/// A course, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// What lists show.
    #[serde(flatten)]
    pub outline: Outline,
    /// The rest.
    #[serde(flatten)]
    pub details: Details,
}

/// A published course says at least so much, in code points.
const SHORTEST_DESCRIPTION: usize = 20;
/// A course is found by no more different words than these.
const MOST_WORDS: usize = 40;

impl Outline {
    /// The words by which the course is found: of its title, subtitle, section and city, in this order,
    /// each once, 40 at most.
    pub fn words(&self) -> Vec<String> {
        let texts = [
            Some(self.course_title.as_str()),
            self.course_sub_title.as_ref().map(Line::as_str),
            self.section_of_matter.as_ref().map(Line::as_str),
            self.city.as_ref().map(Line::as_str),
        ];
        let mut found = Vec::new();
        for word in texts.into_iter().flatten().flat_map(words) {
            if found.len() < MOST_WORDS && !found.contains(&word) {
                found.push(word);
            }
        }
        found
    }
}

impl Course {
    /// What keeps the course from being published, field by field; its committee must be active as well.
    pub fn unready(&self) -> Vec<(&'static str, ValueError)> {
        let Self { outline, details } = self;
        let mut flaws = Vec::new();
        let mut need =
            |field, error: Option<ValueError>| flaws.extend(error.map(|error| (field, error)));
        let missing = |is_there: bool| (!is_there).then_some(ValueError::Required);
        need(
            "description",
            match &details.description {
                None => Some(ValueError::Required),
                Some(text) => (text.as_str().trim().chars().count() < SHORTEST_DESCRIPTION)
                    .then_some(ValueError::Length),
            },
        );
        need("courseType", missing(outline.course_type.is_some()));
        need(
            "sectionOfMatter",
            missing(outline.section_of_matter.is_some()),
        );
        let is_reachable = details.contact_person.is_some()
            || details.contact_phone.is_some()
            || details.contact_email.is_some();
        need("contactEmail", missing(is_reachable));
        if matches!(
            outline.course_type,
            Some(CourseType::Onsite | CourseType::Hybrid)
        ) {
            need("region", missing(outline.region.is_some()));
            need("city", missing(outline.city.is_some()));
            need("location", missing(outline.location.is_some()));
        }
        flaws
    }

    /// The course as `change` makes it at `now`: of the next version, and never older than it was, whatever
    /// the clocks say, so that lists by `updatedAt` do not show it twice.
    #[must_use]
    pub fn changed(&self, now: Instant, change: impl FnOnce(&mut Self)) -> Self {
        let mut after = self.clone();
        change(&mut after);
        after.outline.version = self.outline.version + 1;
        after.outline.updated_at = now.max(self.outline.updated_at);
        after
    }

    /// The course in `state` from `now` on. The first publishing is remembered.
    #[must_use]
    pub fn brought_to(&self, state: State, now: Instant) -> Self {
        self.changed(now, |course| {
            course.outline.state = state;
            if state == State::Published {
                course.outline.published_at.get_or_insert(now);
            }
        })
    }
}

#[cfg(test)]
mod tests;
