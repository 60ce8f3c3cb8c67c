//! The content of a course, as a writer sends it.

use common::{ErrorCode, Fields, FromFields, InvalidField, InvalidValue, text};
use domain::{
    Constrained, Constraint, CourseId, Instant, Price, ValueError,
    course::{Course, CourseContent, CourseDetails, CourseState, CourseSummary, Currency},
    user::User,
};

/// All fields that a writer can set. A missing field is unset or gets its default.
#[derive(Debug, Clone)]
pub(crate) struct Content(CourseContent, CourseDetails);

impl<S> FromFields<S> for Content {
    /// The longest texts fit also when each letter is escaped.
    const MAX_BYTES: usize = 262_144;

    fn from_fields(fields: &mut Fields, _: &S) -> Result<Self, InvalidField> {
        let course_title = fields.required("courseTitle", text);
        let course_sub_title = fields.nullable("courseSubTitle", text);
        let description = fields.nullable("description", text);
        let currency = fields.optional_or("currency", text, Currency::default());
        let price = fields.exact_number("price", |literal| match &currency {
            Ok(currency) => price_in(currency, literal),
            Err(_) => literal.parse().map_err(InvalidValue::of::<Price>),
        });
        let location = fields.nullable("location", text);
        let course_type = fields.nullable("courseType", text);
        let section_of_matter = fields.nullable("sectionOfMatter", text);
        let language = fields.optional_or("language", text, Default::default());
        let region = fields.nullable("region", text);
        let city = fields.nullable("city", text);
        let contact_person = fields.nullable("contactPerson", text);
        let contact_phone = fields.nullable("contactPhone", text);
        let contact_email = fields.nullable("contactEmail", text);
        let start_at = fields.nullable("startAt", text::<Instant>);
        let end_at = fields.nullable("endAt", text::<Instant>);
        if let (Ok(Some(start)), Ok(Some(end))) = (start_at, end_at)
            && end < start
        {
            let constraint = Constraint::end_of(start);
            fields.reject("endAt", InvalidValue { code: ErrorCode::FieldValue, constraint });
        }
        let content = CourseContent {
            course_title: course_title?,
            course_sub_title: course_sub_title?,
            price: price?,
            currency: currency?,
            location: location?,
            course_type: course_type?,
            section_of_matter: section_of_matter?,
            language: language?,
            region: region?,
            city: city?,
            start_at: start_at?,
            end_at: end_at?,
        };
        let details = CourseDetails {
            description: description?,
            contact_person: contact_person?,
            contact_phone: contact_phone?,
            contact_email: contact_email?,
        };
        Ok(Self(content, details))
    }
}

/// Reads a price with at most as many decimals as `currency` has.
fn price_in(currency: &Currency, literal: &str) -> Result<Price, InvalidValue> {
    let decimals = currency.decimals();
    let price = literal.parse::<Price>().and_then(|price| {
        if price.has_at_most(decimals) { Ok(price) } else { Err(ValueError::Format) }
    });
    let constraint = Constraint { decimals: Some(decimals), ..Price::constraint() };
    price.map_err(|error| InvalidValue { code: error.into(), constraint })
}

impl Content {
    /// A new draft with this content in the committee of `author`.
    pub(crate) fn into_draft(self, id: CourseId, author: &User, now: Instant) -> Course {
        let Self(content, details) = self;
        let summary = CourseSummary {
            course_id: id,
            committee_id: author.committee_id,
            content,
            state: CourseState::Draft,
            cancelled_at: None,
            version: 1,
            question_count: 0,
            created_by: author.user_id,
            created_at: now,
            updated_at: now,
            published_at: None,
        };
        Course { summary, details }
    }

    /// The same with the dates of `course`, which are those of its sessions.
    ///
    /// # Errors
    /// `COURSE_HAS_SESSIONS_MESSAGE` when it has other ones.
    pub(crate) fn with_dates_of(mut self, course: &CourseSummary) -> Result<Self, ErrorCode> {
        let is_other = |own: Option<Instant>, stored| own.is_some() && own != stored;
        let content = &mut self.0;
        if is_other(content.start_at, course.start_at) || is_other(content.end_at, course.end_at) {
            return Err(ErrorCode::CourseHasSessions);
        }
        (content.start_at, content.end_at) = (course.start_at, course.end_at);
        Ok(self)
    }

    /// The course `before` with this content instead of its own.
    pub(crate) fn replacing(self, before: &Course, now: Instant) -> Course {
        let Self(content, details) = self;
        before.changed(now, |course| {
            course.summary.content = content;
            course.details = details;
        })
    }
}
