use super::*;

fn course() -> Course {
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);
    let course = serde_json::json!({
        "courseID": CourseId::NONE, "committeeID": CommitteeId::NONE, "courseTitle": "Sécurité électrique", "currency": "TND",
        "language": "FR", "state": "DRAFT", "version": 1, "questionCount": 0, "createdBy": UserId::NONE, "createdAt": now,
        "updatedAt": now,
    });
    serde_json::from_value(course).unwrap()
}

#[test]
fn course_unready_lists_fields_missing_for_publication() {
    let mut course = course();
    let fields =
        |course: &Course| course.unready().into_iter().map(|(field, ..)| field).collect::<Vec<_>>();
    assert_eq!(fields(&course), ["description", "courseType", "sectionOfMatter", "contactEmail"]);
    course.details.description = Some("x".repeat(19).parse().unwrap());
    course.summary.content.course_type = Some(CourseType::Hybrid);
    course.summary.content.section_of_matter = Some("Énergie".parse().unwrap());
    course.details.contact_person = Some("Amel".parse().unwrap());
    assert_eq!(fields(&course), ["description", "region", "city", "location"]);
    for unseen in [" \u{200b}", "\u{2800}\u{2800}", "\u{3164} ", "\n\u{301}"] {
        course.details.description = Some(("x".repeat(19) + unseen).parse().unwrap());
        assert_eq!(fields(&course)[0], "description", "{unseen:?}");
    }
    course.details.description = Some("x".repeat(20).parse().unwrap());
    course.summary.content.course_type = Some(CourseType::SelfPaced);
    assert_eq!(course.unready(), []);
}

#[test]
fn course_words_come_from_title_subtitle_section_and_city() {
    let mut course = course();
    course.summary.content.city = Some("تونس العاصمة".parse().unwrap());
    course.summary.content.section_of_matter = Some("Sécurité".parse().unwrap());
    let words: Vec<String> = course.summary.words().iter().map(Word::folded).collect();
    assert_eq!(words, ["securite", "electrique", "تونس", "العاصمه"]);
    let numbers: String = (10..100).map(|number| format!(" {number}")).collect();
    course.summary.content.course_sub_title = Some(numbers.parse().unwrap());
    assert_eq!(course.summary.words().len(), 94);
}

#[test]
fn course_republished_keeps_published_at_and_updated_at_never_falls() {
    let (course, first) = (course(), Instant::from_unix_milliseconds(1_800_000_001_000));
    let published = course.brought_to(CourseState::Published, first);
    let earlier = Instant::from_unix_milliseconds(1_700_000_000_000);
    let draft = published.brought_to(CourseState::Draft, earlier);
    let again = draft.brought_to(CourseState::Published, earlier).summary;
    assert_eq!((again.published_at, again.updated_at, again.version), (Some(first), first, 4));
}

#[test]
fn currency_and_language_accept_codes_only() {
    use ValueError::{Format, Required, Value};
    let errors = ["TND", "EUR", "tnd", "XYZ", ""].map(|text| text.parse::<Currency>().err());
    assert_eq!(errors, [None, None, Some(Value), Some(Value), Some(Required)]);
    let errors = ["FR", "AR", "fr", "FRA", ""].map(|text| text.parse::<Language>().err());
    assert_eq!(errors, [None, None, Some(Format), Some(Format), Some(Required)]);
}
