//! Courses of a committee: fields, states, and the conditions for publishing.

use std::{ops::Deref, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    CommitteeId, Constrained, Constraint, CourseId, E164, Email, Instant, Line, Name, Price, Prose,
    Unit, UserId, ValueError, Word, choice::choice, permissions::Right, text::visible, words,
};

choice! {
    /// CourseState of a course: `DRAFT ⇄ PUBLISHED → ARCHIVED`; a draft can also be archived.
    CourseState {
        /// Visible to those who may write or publish it.
        Draft "DRAFT"
        /// Visible to every account.
        Published "PUBLISHED"
        /// Visible to its writers, and read-only.
        Archived "ARCHIVED"
    }
}

impl CourseState {
    /// The right to read courses in this state.
    pub const fn read_right(self) -> Right {
        match self {
            Self::Draft => Right::ReadDrafts,
            Self::Published => Right::ReadPublished,
            Self::Archived => Right::WriteCourses,
        }
    }
}

choice! {
    /// How a course is held.
    CourseType {
        /// On site.
        Onsite "ONSITE"
        /// Online.
        Online "ONLINE"
        /// On site and online.
        Hybrid "HYBRID"
        /// Learners choose their own pace.
        SelfPaced "SELF_PACED"
        /// Another form.
        Other "OTHER"
    }
}

choice! {
    /// What clients can ask for in lists of courses.
    Include {
        /// Whether they can register.
        Availability "availability"
    }
}

/// A language: two upper-case letters, such as `FR` (ISO 639-1, whose list is not checked).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Language(String);

impl Language {
    /// The two letters.
    pub fn code(&self) -> &str {
        &self.0
    }
}

impl Default for Language {
    fn default() -> Self {
        Self("FR".to_owned())
    }
}

impl FromStr for Language {
    type Err = ValueError;

    /// `Required` for an empty text, `Format` for anything but two upper-case ASCII letters.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        match text.as_bytes() {
            [] => Err(ValueError::Required),
            [a, b] if a.is_ascii_uppercase() && b.is_ascii_uppercase() => Ok(Self(text.to_owned())),
            _ => Err(ValueError::Format),
        }
    }
}

/// The ISO 4217 code of a currency that is legal tender somewhere, such as `TND`: no fund, metal or former currency.
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

    /// `Required` for an empty text, `Value` for any other code.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        use iso_currency::Currency::{BGN, VES};
        let missing = if text.is_empty() { ValueError::Required } else { ValueError::Value };
        let currency = iso_currency::Currency::from_code(text).ok_or(missing)?;
        // Bulgaria has the euro since 2026; the crate has VES as superseded by VED, which is legal tender beside it.
        let is_former = currency == BGN || currency != VES && currency.is_superseded().is_some();
        if is_former || currency.is_fund() || currency.is_special() {
            return Err(ValueError::Value);
        }
        Ok(Self(text.to_owned()))
    }
}

impl Currency {
    /// The number of decimals of its minor unit: TND 3, EUR 2, JPY 0.
    pub fn decimals(&self) -> u8 {
        let currency = iso_currency::Currency::from_code(&self.0);
        let exponent = currency.and_then(iso_currency::Currency::exponent);
        exponent.and_then(|exponent| exponent.try_into().ok()).unwrap_or(2)
    }
}

/// The fields that the writers of a course set, of those that lists contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CourseContent {
    /// Title.
    pub course_title: Line<200>,
    /// Subtitle.
    pub course_sub_title: Option<Line<300>>,
    /// Price, in `currency`.
    pub price: Option<Price>,
    /// Currency of the price.
    pub currency: Currency,
    /// Venue.
    pub location: Option<Line<300>>,
    /// How the course is held.
    pub course_type: Option<CourseType>,
    /// Subject.
    pub section_of_matter: Option<Line<100>>,
    /// Language of the course.
    pub language: Language,
    /// Governorate of the venue.
    pub region: Option<Line<100>>,
    /// City of the venue.
    pub city: Option<Line<100>>,
    /// First moment of the course.
    pub start_at: Option<Instant>,
    /// Last moment; not before `start_at`.
    pub end_at: Option<Instant>,
}

/// The fields of a course that lists contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CourseSummary {
    /// The course's identifier.
    #[serde(rename = "courseID")]
    pub course_id: CourseId,
    /// The committee that offers the course.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// What its writers write.
    #[serde(flatten)]
    pub content: CourseContent,
    /// CourseState.
    pub state: CourseState,
    /// When the course was cancelled.
    pub cancelled_at: Option<Instant>,
    /// Number of changes, including those of the questions; guards concurrent updates.
    pub version: u64,
    /// Number of questions.
    pub question_count: u32,
    /// The account that created the course.
    pub created_by: UserId,
    /// Time of creation.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
    /// Time of the first publication.
    pub published_at: Option<Instant>,
}

/// The fields of a course that lists leave out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CourseDetails {
    /// Description.
    pub description: Option<Prose<MAX_DESCRIPTION>>,
    /// Name of the contact person.
    pub contact_person: Option<Name>,
    /// Phone number of the contact.
    pub contact_phone: Option<E164>,
    /// E-mail address of the contact.
    pub contact_email: Option<Email>,
}

/// A course with all its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// The fields that lists contain.
    #[serde(flatten)]
    pub summary: CourseSummary,
    /// The other fields.
    #[serde(flatten)]
    pub details: CourseDetails,
}

/// Shortest description of a published course, in code points.
const MIN_DESCRIPTION: usize = 20;
/// Longest description, in code points.
const MAX_DESCRIPTION: usize = 20_000;

impl Deref for CourseSummary {
    type Target = CourseContent;

    fn deref(&self) -> &CourseContent {
        &self.content
    }
}

impl Course {
    /// The URL of its page in the front end at `public_url`, which has no trailing slash.
    pub fn page(&self, public_url: &str) -> String {
        format!("{public_url}/courses/{}", self.summary.course_id)
    }
}

impl CourseDetails {
    /// Name, phone number and address of the contact, in one line; `None` without any.
    pub fn contact(&self) -> Option<String> {
        let parts = [
            self.contact_person.as_ref().map(Name::as_str),
            self.contact_phone.as_ref().map(E164::as_str),
            self.contact_email.as_ref().map(Email::as_str),
        ];
        joined(parts)
    }
}

/// The texts that are present, separated by commas; `None` if none is.
fn joined<const N: usize>(parts: [Option<&str>; N]) -> Option<String> {
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

impl CourseSummary {
    /// Venue and city in one line; `None` without both.
    pub fn place(&self) -> Option<String> {
        joined([self.location.as_ref().map(Line::as_str), self.city.as_ref().map(Line::as_str)])
    }

    /// Whether lists for everybody contain the course: it is published and not cancelled.
    pub fn is_announced(&self) -> bool {
        self.state == CourseState::Published && self.cancelled_at.is_none()
    }

    /// The search words of the course: the distinct words of title, city, section and subtitle.
    pub fn words(&self) -> Vec<Word> {
        let texts = [
            Some(self.course_title.as_str()),
            self.city.as_ref().map(Line::as_str),
            self.section_of_matter.as_ref().map(Line::as_str),
            self.course_sub_title.as_ref().map(Line::as_str),
        ];
        let mut distinct = Vec::new();
        for word in texts.into_iter().flatten().flat_map(words) {
            if !distinct.contains(&word) {
                distinct.push(word);
            }
        }
        distinct
    }

    /// The distinct stems of its search words.
    pub fn stems(&self) -> Vec<String> {
        let mut distinct = Vec::new();
        for stem in self.words().iter().flat_map(Word::stems) {
            if !distinct.contains(&stem) {
                distinct.push(stem);
            }
        }
        distinct
    }

    /// Whether the course has all `words`, of each of which one of its stems is enough. It has none of no words.
    pub fn has_words(&self, words: &[Vec<String>]) -> bool {
        let all = self.stems();
        !words.is_empty() && words.iter().all(|stems| stems.iter().any(|stem| all.contains(stem)))
    }
}

impl AsRef<Self> for CourseSummary {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl AsRef<CourseSummary> for Course {
    fn as_ref(&self) -> &CourseSummary {
        &self.summary
    }
}

impl CourseDetails {
    /// Whether neither a person nor a number nor an address is named.
    pub const fn has_no_contact(&self) -> bool {
        self.contact_person.is_none()
            && self.contact_phone.is_none()
            && self.contact_email.is_none()
    }
}

impl Course {
    /// The fields that prevent publication, with the error of each and the constraint that a valid value fulfils; empty if
    /// the course may be published. The committee must also be active, which is not checked here.
    pub fn unready(&self) -> Vec<(&'static str, ValueError, Constraint)> {
        let Self { summary, details } = self;
        let length = details.description.as_ref().map(|text| visible(text.as_str()));
        let constraint = Constraint::length(MIN_DESCRIPTION, MAX_DESCRIPTION, Unit::Characters);
        let mut errors = match length {
            Some(MIN_DESCRIPTION..) => Vec::new(),
            Some(_) => vec![("description", ValueError::Length, constraint)],
            None => vec![("description", ValueError::Required, constraint)],
        };
        let mut require = |field, is_present: bool, constraint| {
            if !is_present {
                errors.push((field, ValueError::Required, constraint));
            }
        };
        require("courseType", summary.course_type.is_some(), CourseType::constraint());
        require("sectionOfMatter", summary.section_of_matter.is_some(), Line::<100>::constraint());
        require("contactEmail", !details.has_no_contact(), Email::constraint());
        if matches!(summary.course_type, Some(CourseType::Onsite | CourseType::Hybrid)) {
            require("region", summary.region.is_some(), Line::<100>::constraint());
            require("city", summary.city.is_some(), Line::<100>::constraint());
            require("location", summary.location.is_some(), Line::<300>::constraint());
        }
        errors
    }

    /// Applies `change` and raises the version. `updatedAt` becomes `now` but never goes back, even if clocks differ,
    /// so that a list sorted by it does not contain the course twice.
    #[must_use]
    pub fn changed(&self, now: Instant, change: impl FnOnce(&mut Self)) -> Self {
        let mut after = self.clone();
        change(&mut after);
        after.summary.version = self.summary.version + 1;
        after.summary.updated_at = now.max(self.summary.updated_at);
        after
    }

    /// A draft of `author` with the content of this course, without its dates; `title` replaces the title.
    #[must_use]
    pub fn copied_to(
        &self,
        course_id: CourseId,
        title: Option<Line<200>>,
        author: UserId,
        now: Instant,
    ) -> Self {
        let mut content =
            CourseContent { start_at: None, end_at: None, ..self.summary.content.clone() };
        if let Some(title) = title {
            content.course_title = title;
        }
        let summary = CourseSummary {
            course_id,
            content,
            state: CourseState::Draft,
            cancelled_at: None,
            version: 1,
            created_by: author,
            created_at: now,
            updated_at: now,
            published_at: None,
            ..self.summary.clone()
        };
        Self { summary, details: self.details.clone() }
    }

    /// The course in `state` since `now`. `publishedAt` keeps the time of the first publication.
    #[must_use]
    pub fn brought_to(&self, state: CourseState, now: Instant) -> Self {
        self.changed(now, |course| {
            course.summary.state = state;
            if state == CourseState::Published {
                course.summary.published_at.get_or_insert(now);
            }
        })
    }
}

#[cfg(test)]
mod tests;
