use super::*;

fn course() -> Course {
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    Course {
        summary: CourseSummary {
            course_id: CourseId::NONE,
            committee_id: CommitteeId::NONE,
            course_title: "Sécurité électrique".parse().unwrap(),
            course_sub_title: None,
            price: None,
            currency: Currency::default(),
            location: None,
            course_type: None,
            section_of_matter: None,
            language: Language::default(),
            region: None,
            city: None,
            start_at: None,
            end_at: None,
            state: CourseState::Draft,
            version: 1,
            question_count: 0,
            created_by: UserId::NONE,
            created_at: now,
            updated_at: now,
            published_at: None,
        },
        details: CourseDetails::default(),
    }
}

#[test]
fn course_unready_lists_fields_missing_for_publication() {
    let mut course = course();
    let fields =
        |course: &Course| course.unready().into_iter().map(|(field, ..)| field).collect::<Vec<_>>();
    assert_eq!(fields(&course), ["description", "courseType", "sectionOfMatter", "contactEmail"]);
    course.details.description = Some("x".repeat(19).parse().unwrap());
    course.summary.course_type = Some(CourseType::Hybrid);
    course.summary.section_of_matter = Some("Énergie".parse().unwrap());
    course.details.contact_person = Some("Amel".parse().unwrap());
    assert_eq!(fields(&course), ["description", "region", "city", "location"]);
    course.details.description = Some("x".repeat(20).parse().unwrap());
    course.summary.course_type = Some(CourseType::SelfPaced);
    assert_eq!(course.unready(), []);
}

#[test]
fn course_words_come_from_title_subtitle_section_and_city() {
    let mut course = course();
    course.summary.city = Some("تونس العاصمة".parse().unwrap());
    course.summary.section_of_matter = Some("Sécurité".parse().unwrap());
    let words: Vec<String> = course.summary.words().iter().map(Word::folded).collect();
    assert_eq!(words, ["securite", "electrique", "تونس", "العاصمه"]);
    course.summary.course_sub_title = Some(
        (10..100).map(|number| number.to_string()).collect::<Vec<_>>().join(" ").parse().unwrap(),
    );
    assert_eq!(course.summary.words().len(), 40);
}

#[test]
fn course_republished_keeps_published_at_and_updated_at_never_falls() {
    let (course, first) = (course(), Instant::from_unix_milliseconds(1_800_000_001_000));
    let published = course.brought_to(CourseState::Published, first);
    let earlier = Instant::from_unix_milliseconds(1_700_000_000_000);
    let again = published
        .brought_to(CourseState::Draft, earlier)
        .brought_to(CourseState::Published, earlier);
    assert_eq!(
        (again.summary.published_at, again.summary.updated_at, again.summary.version),
        (Some(first), first, 4)
    );
}

#[test]
fn currency_and_language_accept_codes_only() {
    use ValueError::{Format, Required, Value};
    let errors = ["TND", "EUR", "tnd", "XYZ", ""].map(|text| text.parse::<Currency>().err());
    assert_eq!(errors, [None, None, Some(Value), Some(Value), Some(Required)]);
    let errors = ["FR", "AR", "fr", "FRA", ""].map(|text| text.parse::<Language>().err());
    assert_eq!(errors, [None, None, Some(Format), Some(Format), Some(Required)]);
}
