//! Generates courses in French and Arabic; the content of a course depends only on its number.

use std::{str::FromStr, time::Duration};

use bench::{Result, error};
use cloud::random::SeededRandom;
use domain::{
    CommitteeId, CourseId, Instant, UserId, ValueError,
    course::{Course, CourseDetails, CourseSummary, CourseType, State},
};
use identity::random;

/// Frequent words, and the percentage of titles that contain each.
pub(crate) const FREQUENT: [(&str, u64); 5] =
    [("formation", 45), ("pratique", 35), ("entreprise", 30), ("التكوين", 25), ("السلامة", 20)];
/// A third of a description.
const DESCRIPTION: &str = "Les participants travaillent en petits groupes sur des cas tirés de leur propre entreprise.\n\
    يشتمل البرنامج على جانب نظري في الصباح وورشات تطبيقية بعد الظهر.\n";
/// The time between two courses.
const INTERVAL: Duration = Duration::from_secs(120);

/// The courses of `committees`; the first one is created at `start`.
pub(crate) struct Catalogue {
    pub(crate) committees: Vec<(CommitteeId, UserId)>,
    pub(crate) start: Instant,
}

impl Catalogue {
    /// The course with this number, from 0. With `own_word` in its title it is always published.
    pub(crate) fn course(&self, number: u64, own_word: Option<&str>) -> Result<Course> {
        let mut random = SeededRandom::new(number);
        let offset = INTERVAL * u32::try_from(number).map_err(error)?;
        let created_at = self.start.after(offset);
        let is_published = own_word.is_some() || random.below(100) < 80;
        let updated_at = created_at.after(Duration::from_secs(random.below(3 * 86_400)));
        let start_at = updated_at.after(Duration::from_secs(30 * 86_400));
        let (committee_id, created_by) = *pick(&mut random, &self.committees)?;
        let city = format!("Ville {}", random.below(24));
        let types = [CourseType::Onsite, CourseType::Hybrid, CourseType::Online];
        let outline = CourseSummary {
            course_id: CourseId::new(random::id(created_at)),
            committee_id,
            course_title: parsed(&title(&mut random, own_word))?,
            course_sub_title: Some(parsed(&format!(
                "{} {}",
                word(&mut random),
                word(&mut random)
            ))?),
            price: Some(parsed(&format!("{}", 50 + 10 * random.below(95)))?),
            currency: parsed("TND")?,
            location: Some(parsed(&format!("12 avenue Habib Bourguiba, {city}"))?),
            course_type: Some(*pick(&mut random, &types)?),
            section_of_matter: Some(parsed("Industrie")?),
            language: parsed("FR")?,
            region: Some(parsed(&city)?),
            city: Some(parsed(&city)?),
            start_at: Some(start_at),
            end_at: Some(start_at.after(Duration::from_secs(86_400))),
            state: [State::Draft, State::Published][usize::from(is_published)],
            version: 1 + u64::from(is_published),
            question_count: 0,
            created_by,
            created_at,
            updated_at,
            published_at: is_published.then_some(updated_at),
        };
        let details = CourseDetails {
            description: Some(parsed(&DESCRIPTION.repeat(3))?),
            contact_person: Some(parsed("Amina Ben Salah")?),
            contact_phone: Some(parsed("+21671123456")?),
            contact_email: Some(parsed("inscription@formation.example.org")?),
        };
        Ok(Course { outline, details })
    }
}

/// `text` as a value of its type.
pub(crate) fn parsed<T: FromStr<Err = ValueError>>(text: &str) -> Result<T> {
    text.parse().map_err(|cause| error(format!("“{text}”: {cause:?}")))
}

/// Frequent words by their percentage, and other words; one title in twenty contains all frequent words.
fn title(random: &mut SeededRandom, own_word: Option<&str>) -> String {
    let has_all = random.below(100) < 5;
    let mut title: Vec<String> = Vec::new();
    for (word, percent) in FREQUENT {
        if has_all || random.below(100) < percent {
            title.push(word.to_owned());
        }
    }
    title.truncate(if own_word.is_some() { 4 } else { 5 });
    title.extend(own_word.map(str::to_owned));
    title.push(word(random));
    while title.len() < 4 {
        title.push(word(random));
    }
    title.join(" ")
}

/// One of 72 words, the first of which are more frequent; one time in three, one of 32,768 rare words.
fn word(random: &mut SeededRandom) -> String {
    if random.below(3) == 0 {
        return format!("rare{}", random.below(32_768));
    }
    let most = random.below(72) + 1;
    format!("sujet{}", random.below(most))
}

fn pick<'a, T>(random: &mut SeededRandom, all: &'a [T]) -> Result<&'a T> {
    let at = usize::try_from(random.below(all.len().max(1) as u64)).map_err(error)?;
    all.get(at).ok_or_else(|| error("nothing to pick from"))
}
