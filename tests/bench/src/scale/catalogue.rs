//! Courses in French and Arabic; the course with a given number is always of the same kind.

use std::{str::FromStr, time::Duration};

use bench::{Result, error};
use domain::{
    CommitteeId, CourseId, Flaw, Instant, UserId,
    course::{Course, CourseType, Details, Outline, State},
};
use identity::chance;
use local::chance::Chance;

/// Words that many courses have, and how many of a hundred.
pub(crate) const FREQUENT: [(&str, u64); 5] = [
    ("formation", 45),
    ("pratique", 35),
    ("entreprise", 30),
    ("التكوين", 25),
    ("السلامة", 20),
];
/// Words of which the first are the more frequent.
const USUAL: &str = "gestion sécurité initiation الإدارة qualité travail avancée المهنية électrique comptabilité \
    informatique الجودة projet prévention industrielle التصرف hygiène maintenance bureautique المشاريع communication \
    risques alimentaire الصحة logistique commerce énergie الكهرباء incendie secourisme numérique المحاسبة soudage \
    mécanique tourisme السياحة textile agriculture irrigation الفلاحة hôtellerie pâtisserie plomberie البناء \
    menuiserie topographie soins التمريض puériculture pédagogie coaching التدريب leadership négociation vente \
    التسويق fiscalité douane transport النقل conduite levage manutention الحاسوب programmation réseaux statistiques \
    الإحصاء photographie audiovisuel traduction الترجمة";
/// Three of these make a word that few courses have.
const SYLLABLES: &str = "ba cor di fal gan hel jo ker lin mar nou pri que ros sim ter val xan zou ber cla dro fen \
    gri la mo ni per sta tri vo zim";
/// The seats of the 24 governorates: each has a committee.
pub(crate) const CITIES: &str = "Tunis أريانة Ariana منوبة Nabeul زغوان Bizerte Béja Jendouba الكاف Siliana Sousse \
    Monastir المهدية Sfax القيروان Kasserine الرقاب Gabès مدنين Tataouine Gafsa Tozeur قبلي";
/// A description is this, three times.
const DESCRIPTION: &str = "Les participants travaillent en petits groupes sur des cas tirés de leur propre entreprise.\n\
    يشتمل البرنامج على جانب نظري في الصباح وورشات تطبيقية بعد الظهر.\n";
/// The time between two courses.
const INTERVAL: Duration = Duration::from_secs(120);

/// All courses: of `committees`, the first created at `start`.
pub(crate) struct Catalogue {
    pub(crate) committees: Vec<(CommitteeId, UserId)>,
    pub(crate) start: Instant,
}

impl Catalogue {
    /// The course `number`, counted from 0; `own_word` makes it published and is in its title.
    pub(crate) fn course(&self, number: u64, own_word: Option<&str>) -> Result<Course> {
        let mut random = Chance::new(number);
        let offset = INTERVAL * u32::try_from(number).map_err(error)?;
        let created_at = self.start.after(offset);
        let is_published = own_word.is_some() || random.below(100) < 80;
        let updated_at = created_at.after(Duration::from_secs(random.below(3 * 86_400)));
        let start_at = updated_at.after(Duration::from_secs(30 * 86_400));
        let (committee_id, created_by) = *pick(&mut random, &self.committees)?;
        let city = pick_word(&mut random, CITIES)?;
        let types = [CourseType::Onsite, CourseType::Hybrid, CourseType::Online];
        let outline = Outline {
            course_id: CourseId::new(chance::id(created_at)),
            committee_id,
            course_title: parsed(&title(&mut random, own_word)?)?,
            course_sub_title: Some(parsed(&words(&mut random, 2)?.join(" "))?),
            price: Some(parsed(&format!("{}", 50 + 10 * random.below(95)))?),
            currency: parsed("TND")?,
            location: Some(parsed(&format!("12 avenue Habib Bourguiba, {city}"))?),
            course_type: Some(*pick(&mut random, &types)?),
            section_of_matter: Some(parsed("Industrie")?),
            language: parsed("FR")?,
            region: Some(parsed(city)?),
            city: Some(parsed(city)?),
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
        let details = Details {
            description: Some(parsed(&DESCRIPTION.repeat(3))?),
            contact_person: Some(parsed("Amina Ben Salah")?),
            contact_phone: Some(parsed("+21671123456")?),
            contact_email: Some(parsed("inscription@formation.example.org")?),
        };
        Ok(Course { outline, details })
    }
}

/// `text` as a value of its type.
pub(crate) fn parsed<T: FromStr<Err = Flaw>>(text: &str) -> Result<T> {
    text.parse()
        .map_err(|flaw| error(format!("“{text}”: {flaw:?}")))
}

/// Frequent words as often as they are frequent, and others; one title in twenty has all frequent ones.
fn title(random: &mut Chance, own_word: Option<&str>) -> Result<String> {
    let has_all = random.below(100) < 5;
    let mut title: Vec<String> = Vec::new();
    for (word, percent) in FREQUENT {
        if has_all || random.below(100) < percent {
            title.push(word.to_owned());
        }
    }
    title.truncate(if own_word.is_some() { 4 } else { 5 });
    title.extend(own_word.map(str::to_owned));
    title.extend(words(random, 4_usize.saturating_sub(title.len()).max(1))?);
    Ok(title.join(" "))
}

/// Usual words, and one in three that few courses have.
fn words(random: &mut Chance, count: usize) -> Result<Vec<String>> {
    let word = |_| {
        if random.below(3) == 0 {
            return (0..3).map(|_| pick_word(random, SYLLABLES)).collect();
        }
        let usual: Vec<&str> = USUAL.split_whitespace().collect();
        let most = random.below(usual.len() as u64) + 1;
        let first = usual.get(..usize::try_from(most).map_err(error)?);
        Ok((*pick(random, first.unwrap_or_default())?).to_owned())
    };
    (0..count).map(word).collect()
}

fn pick_word(random: &mut Chance, words: &'static str) -> Result<&'static str> {
    let words: Vec<&str> = words.split_whitespace().collect();
    pick(random, &words).copied()
}

fn pick<'a, T>(random: &mut Chance, all: &'a [T]) -> Result<&'a T> {
    let at = usize::try_from(random.below(all.len().max(1) as u64)).map_err(error)?;
    all.get(at).ok_or_else(|| error("nothing to pick from"))
}
