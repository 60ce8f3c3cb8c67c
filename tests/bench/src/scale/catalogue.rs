//! Courses as a federation might have them: the one with a given number is always of the same kind.

use std::{str::FromStr, time::Duration};

use domain::{
    CommitteeId, CourseId, Flaw, Instant, UserId,
    course::{Course, CourseType, Details, Outline, State},
};
use identity::chance;
use local::Trouble;

use crate::words::{CITIES, FREQUENT, SECTIONS, SENTENCES, SYLLABLES, USUAL};

/// Of so many hundredths of the courses is the title made of all frequent words: the one that every
/// committee gives again and again.
const SERIES: u64 = 5;
/// So many hundredths are published, the others are drafts.
const PUBLISHED: u64 = 80;
/// People who write courses, in each committee.
const AUTHORS: usize = 10;
/// At least so many letters stand in a description.
const DESCRIPTION: usize = 550;
/// A course is made so long after the one before.
const EVERY: Duration = Duration::from_secs(120);

/// All the courses that there might be.
pub(crate) struct Catalogue {
    committees: Vec<(CommitteeId, Vec<UserId>)>,
    /// When the first was made.
    start: Instant,
    /// After loading up to one of these sizes, the course in the middle has a word of its own.
    sizes: Vec<u64>,
}

impl Catalogue {
    /// Courses of `committees`, all of them older than `now`.
    pub(crate) fn new(committees: Vec<CommitteeId>, now: Instant, sizes: &[u64]) -> Self {
        let authors = || (0..AUTHORS).map(|_| UserId::new(chance::id(now))).collect();
        let committees = committees
            .into_iter()
            .map(|committee| (committee, authors()))
            .collect();
        let most = sizes.iter().max().copied().unwrap_or_default();
        let margin = Duration::from_secs(30 * 86_400);
        Self {
            committees,
            start: now.before(EVERY * u32::try_from(most).unwrap_or(u32::MAX) + margin),
            sizes: sizes.to_vec(),
        }
    }

    /// The course `number`, counted from 0; the greater, the newer.
    pub(crate) fn course(&self, number: u64) -> Result<Course, Trouble> {
        let mut dice = Dice(number);
        let own_word = self
            .sizes
            .iter()
            .find(|size| middle(**size) == number)
            .map(|size| unique(*size));
        let created_at = self
            .start
            .after(EVERY * u32::try_from(number).unwrap_or(u32::MAX));
        let published_at = created_at.after(Duration::from_secs(dice.roll(3 * 86_400)));
        let is_published = own_word.is_some() || dice.happens(PUBLISHED);
        let updated_at = published_at.after(Duration::from_secs(dice.roll(10 * 86_400)));
        let nobody = || Trouble::new("There is no committee.");
        let (committee, authors) = dice.one_of(&self.committees).ok_or_else(nobody)?;
        let author = dice.one_of(authors).ok_or_else(nobody)?;
        let city = dice.one_of(&CITIES).copied().unwrap_or_default();
        let starts_at = updated_at.after(Duration::from_secs(30 * 86_400));
        let outline = Outline {
            course_id: CourseId::new(chance::id(created_at)),
            committee_id: *committee,
            course_title: parsed(&title(&mut dice, own_word.as_deref()))?,
            course_sub_title: if dice.happens(50) {
                Some(parsed(&sub_title(&mut dice))?)
            } else {
                None
            },
            price: Some(parsed(&format!("{}", 50 + 10 * dice.roll(95)))?),
            currency: parsed("TND")?,
            location: Some(parsed(&format!(
                "{} avenue Habib Bourguiba, {city}",
                1 + dice.roll(200)
            ))?),
            course_type: dice
                .one_of(&[CourseType::Onsite, CourseType::Hybrid, CourseType::Online])
                .copied(),
            section_of_matter: Some(parsed(dice.one_of(&SECTIONS).copied().unwrap_or_default())?),
            language: parsed(if dice.happens(60) { "FR" } else { "AR" })?,
            region: Some(parsed(city)?),
            city: Some(parsed(city)?),
            start_at: Some(starts_at),
            end_at: Some(starts_at.after(Duration::from_secs(86_400 * (1 + dice.roll(20))))),
            state: if is_published {
                State::Published
            } else {
                State::Draft
            },
            version: if is_published { 2 } else { 1 },
            question_count: 0,
            created_by: *author,
            created_at,
            updated_at,
            published_at: is_published.then_some(published_at),
        };
        let details = Details {
            description: Some(parsed(&description(&mut dice))?),
            contact_person: Some(parsed("Amina Ben Salah")?),
            contact_phone: Some(parsed("+21671123456")?),
            contact_email: Some(parsed("inscription@formation.example.org")?),
        };
        Ok(Course { outline, details })
    }
}

/// The number of the course in the middle of the first `size`.
pub(crate) const fn middle(size: u64) -> u64 {
    size / 2
}

/// The word that only the course in the middle of the first `size` has.
pub(crate) fn unique(size: u64) -> String {
    format!("nénuphar{size}")
}

/// `text` as what it stands for.
pub(crate) fn parsed<T: FromStr<Err = Flaw>>(text: &str) -> Result<T, Trouble> {
    text.parse()
        .map_err(|flaw| Trouble::new(format!("“{text}” is malformed: {flaw:?}.")))
}

/// Three to six words.
fn title(dice: &mut Dice, own_word: Option<&str>) -> String {
    let is_of_series = dice.happens(SERIES);
    let frequent = FREQUENT
        .into_iter()
        .filter(|(_, percent)| is_of_series || dice.happens(*percent));
    let mut words: Vec<String> = frequent.map(|(word, _)| word.to_owned()).collect();
    let wanted = 3 + usize::try_from(dice.roll(4)).unwrap_or_default();
    words.truncate(if own_word.is_some() { 4 } else { 5 });
    words.extend(own_word.map(str::to_owned));
    loop {
        words.push(dice.word());
        if words.len() >= wanted {
            return words.join(" ");
        }
    }
}

fn sub_title(dice: &mut Dice) -> String {
    (0..4).map(|_| dice.word()).collect::<Vec<_>>().join(" ")
}

fn description(dice: &mut Dice) -> String {
    let mut text = String::new();
    while text.chars().count() < DESCRIPTION {
        text.push_str(dice.one_of(&SENTENCES).copied().unwrap_or_default());
        text.push('\n');
    }
    text
}

/// Chance that falls the same way every time (SplitMix64).
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides.max(1)
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let sides = u64::try_from(all.len()).unwrap_or_default();
        all.get(usize::try_from(self.roll(sides)).unwrap_or_default())
    }

    /// One of the usual words, the first ones more often; every third time a rare one.
    fn word(&mut self) -> String {
        if self.happens(33) {
            return (0..3)
                .filter_map(|_| self.one_of(&SYLLABLES))
                .copied()
                .collect();
        }
        let sides = u64::try_from(USUAL.len()).unwrap_or_default();
        let place = self.roll(sides).min(self.roll(sides));
        USUAL
            .get(usize::try_from(place).unwrap_or_default())
            .copied()
            .unwrap_or_default()
            .to_owned()
    }
}
