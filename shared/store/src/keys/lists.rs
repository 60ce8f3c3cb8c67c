//! The lists in the indexes `listing`, `authored` and `overview`, and the keys of items in them.

use std::time::Duration;

use domain::{
    BatchId, CommitteeId, CourseId, Instant, UserId,
    certificate::Certificate,
    course::{CourseState, CourseSummary},
    registration::{RegistrationCard, RegistrationState},
    sms::OptOut,
    user::User,
};
use sha2::{Digest, Sha256};

use super::{AUTHORED, CATALOGUE, IndexSchema, LISTING, OVERVIEW, hashed, scope, sortable};

/// The number of shards of a list that the whole service, or all users of a committee, write to: each serves 1,000
/// write units a second. It may grow, once all functions read the larger number.
pub(crate) const SHARDS: u8 = 16;

/// A kind of list: a partition of an index, or 16.
#[derive(Debug, Clone, Copy)]
pub struct ListKind {
    /// What it lists, and in which order.
    pub name: &'static str,
    /// The index.
    pub index: &'static IndexSchema,
    /// Its partition key, with the names of the values in braces.
    pub pk: &'static str,
    /// Whether `#00` to `#0f` follow, by a hash of the sort key.
    pub is_sharded: bool,
}

/// One list.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) index: &'static IndexSchema,
    pub(crate) pk: String,
    is_sharded: bool,
}

/// The key of an item in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexKey {
    pub(crate) index: &'static IndexSchema,
    pub(crate) pk: String,
    pub(crate) sk: String,
}

/// Declares for each kind of list, with the number of its partitions, the function that makes its key, and its row of
/// [`LISTS`].
macro_rules! lists {
    ($(
        $name:literal $function:ident($($parameter:ident: $type:ty $(= $value:expr)?),*)
            $index:ident $partitions:tt $pk:literal;
    )+) => {
        $(
            pub(crate) fn $function($($parameter: $type),*) -> List {
                $($(let $parameter = $value;)?)*
                List { index: &$index, pk: format!($pk), is_sharded: $partitions > 1 }
            }
        )+

        /// All kinds of lists.
        pub const LISTS: &[ListKind] = &[$(ListKind {
            name: $name,
            index: &$index,
            pk: $pk,
            is_sharded: $partitions > 1,
        }),+];
    };
}

lists! {
    "committees, by Latin name" committees() LISTING 1 "COMMITTEES";
    "users of a committee, by last name and name" users_of(id: CommitteeId)
        LISTING 1 "COMMITTEE#{id}#USERS";
    "courses of a committee in one state, by last change"
        courses_of(id: CommitteeId, state: CourseState = state.code())
        LISTING 1 "COMMITTEE#{id}#COURSES#{state}";
    "courses of an author in one state, by last change"
        courses_by(id: UserId, state: CourseState = state.code())
        AUTHORED 1 "USER#{id}#COURSES#{state}";
    // A course that is published again keeps its first `publishedAt`, so that it does not appear twice to a client that
    // pages through the list.
    "published courses, by first publication" published_courses() OVERVIEW 1 "PUBLISHED";
    // By length, so that a read need not begin with courses that are over.
    "announced courses of one length, by start" catalogue_of(length: Length = length.code())
        CATALOGUE 1 "CATALOGUE#{length}";
    "registrations for a course in one state, by number"
        registrations_in(id: CourseId, state: RegistrationState = state.code())
        LISTING 1 "COURSE#{id}#REGISTRATIONS#{state}";
    "registrations for a course in one state, by last name and name"
        registrants_in(id: CourseId, state: RegistrationState = state.code())
        OVERVIEW 1 "COURSE#{id}#REGISTRANTS#{state}";
    "registrations of a person in one state, by last change"
        registrations_by(id: UserId, state: RegistrationState = state.code())
        AUTHORED 1 "USER#{id}#REGISTRATIONS#{state}";
    "certificates of a person, by issue" certificates_of(id: UserId)
        AUTHORED 1 "CERTIFICATES#{id}";
    "files of a user, by creation" files_of(id: UserId) LISTING 1 "USER#{id}#FILES";
    "text messages of a user, by creation" sms_by(id: UserId) AUTHORED 1 "USER#{id}#SMS";
    "text messages of a committee, by creation" sms_in(id: CommitteeId)
        OVERVIEW SHARDS "COMMITTEE#{id}#SMS";
    "text messages of a batch, in the order of the recipients" sms_of(id: BatchId)
        LISTING 1 "BATCH#{id}#SMS";
    "batches of a user, by creation" batches_by(id: UserId) AUTHORED 1 "USER#{id}#BATCHES";
    "batches of a committee, by creation" batches_in(id: CommitteeId)
        OVERVIEW 1 "COMMITTEE#{id}#BATCHES";
    "opt-outs of a committee or of all, by creation"
        opt_outs_of(committee: Option<CommitteeId> = scope(committee))
        LISTING 1 "OPTOUTS#{committee}";
    "audit entries of all committees, by time" audit() LISTING SHARDS "AUDIT";
    "audit entries of a committee with a user as actor or target, by time"
        audit_of_person_in(id: UserId, committee: CommitteeId)
        LISTING 1 "USER#{id}#AUDIT#{committee}";
    "secrets that are sealed under a key, by user" sealed_under(key: &str) LISTING 1 "SEALED#{key}";
}

impl List {
    /// The key of the item with this sort key.
    pub(crate) fn at(self, sk: impl ToString) -> IndexKey {
        let sk = sk.to_string();
        let pk = if self.is_sharded { shard(&self.pk, &sk) } else { self.pk };
        IndexKey { index: self.index, pk, sk }
    }

    /// The lists of its shards; itself if it has none.
    pub(crate) fn shards(self) -> Vec<Self> {
        if !self.is_sharded {
            return vec![self];
        }
        let shard = |pk| Self { index: self.index, pk, is_sharded: false };
        shards(&self.pk).map(shard).collect()
    }
}

/// The shard of `list` in which the item with this `key` is listed.
pub(crate) fn shard(list: &str, key: &str) -> String {
    let first = Sha256::digest(key).first().copied().unwrap_or_default();
    format!("{list}#{:02x}", first % SHARDS)
}

/// The shards of `list`.
pub(crate) fn shards(list: &str) -> impl Iterator<Item = String> {
    (0..SHARDS).map(move |number| format!("{list}#{number:02x}"))
}

/// Terminates a name in a sort key: no name contains it, and it sorts before every character of a name, so that
/// `Ben` comes before `Ben Ali`.
const END: char = '\u{1}';

pub(crate) fn user_index_key(user: &User) -> IndexKey {
    let (last_name, name) = (sortable(user.last_name.as_str()), sortable(user.name.as_str()));
    users_of(user.committee_id).at(format!("{last_name}{END}{name}{END}{}", user.user_id))
}

pub(crate) fn committee_index_key(id: CommitteeId, name_latin: &str) -> IndexKey {
    committees().at(format!("{}{END}{id}", sortable(name_latin)))
}

pub(crate) fn course_index_key(course: &CourseSummary) -> IndexKey {
    courses_of(course.committee_id, course.state).at(change_of(course))
}

pub(crate) fn authored_index_key(course: &CourseSummary) -> IndexKey {
    courses_by(course.created_by, course.state).at(change_of(course))
}

/// `None` while the course is not announced.
pub(crate) fn published_index_key(course: &CourseSummary) -> Option<IndexKey> {
    course.is_announced().then(|| published_courses().at(publication_of(course)))
}

pub(crate) fn publication_of(course: &CourseSummary) -> String {
    let published_at = course.published_at.unwrap_or(course.created_at);
    format!("{published_at}#{}", course.course_id)
}

/// `None` while the course is not announced.
pub(crate) fn catalogue_index_key(course: &CourseSummary) -> Option<IndexKey> {
    course.is_announced().then(|| catalogue_of(Length::of(course)).at(start_of(course)))
}

/// The position of `course` by its start. Those without dates come after all others, and the newest of them first.
pub(crate) fn start_of(course: &CourseSummary) -> String {
    let id = course.course_id;
    match course.start() {
        Some(start) => format!("{start}#{id}"),
        None => {
            let published_at = course.published_at.unwrap_or(course.created_at);
            let newer = Instant::MAX.since(published_at).as_millis();
            format!("{AFTER_DATES}{newer:016}#{id}")
        }
    }
}

/// A letter behind all digits.
const AFTER_DATES: char = '~';

/// How long a course lasts, as the lists of the catalogue distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// At most so many days, and more than those of the list before.
    Days(u16),
    /// More than the lists of days have.
    Longer,
    /// The course has no dates.
    Undated,
}

impl Length {
    pub(crate) const ALL: [Self; 7] = [
        Self::Days(1),
        Self::Days(4),
        Self::Days(16),
        Self::Days(64),
        Self::Days(256),
        Self::Longer,
        Self::Undated,
    ];

    fn of(course: &CourseSummary) -> Self {
        let (Some(start), Some(end)) = (course.start(), course.end()) else {
            return Self::Undated;
        };
        let fits = |length: &Self| length.longest().is_none_or(|most| end.since(start) <= most);
        Self::ALL.into_iter().find(fits).unwrap_or(Self::Longer)
    }

    fn code(self) -> String {
        match self {
            Self::Days(days) => days.to_string(),
            Self::Longer => "LONGER".to_owned(),
            Self::Undated => "UNDATED".to_owned(),
        }
    }

    /// The longest duration; `None` without a limit.
    fn longest(self) -> Option<Duration> {
        match self {
            Self::Days(days) => Some(DAY * days.into()),
            Self::Longer | Self::Undated => None,
        }
    }

    /// The first key that a course of this length can have that does not end before `time`.
    pub(crate) fn first_start(self, time: Instant) -> String {
        match self.longest() {
            Some(longest) => time.before(longest).to_string(),
            None if self == Self::Undated => AFTER_DATES.to_string(),
            // The year of an instant has four digits.
            None => "0".to_owned(),
        }
    }
}

const DAY: Duration = Duration::from_secs(86_400);

pub(crate) fn change_of(course: &CourseSummary) -> String {
    format!("{}#{}", course.updated_at, course.course_id)
}

/// The keys of a registration in the lists of its course.
pub(crate) fn registration_index_keys(card: &RegistrationCard) -> [IndexKey; 2] {
    [
        registrations_in(card.course_id, card.state).at(number_of(card)),
        registrants_in(card.course_id, card.state).at(name_of(card)),
    ]
}

/// The key of a registration in the lists of its person.
pub(crate) fn registered_index_key(card: &RegistrationCard) -> IndexKey {
    registrations_by(card.user_id, card.state).at(change_of_registration(card))
}

/// `None` of an anonymous certificate.
pub(crate) fn certificate_index_key(certificate: &Certificate) -> Option<IndexKey> {
    Some(certificates_of(certificate.user_id?).at(issue_of(certificate)))
}

pub(crate) fn issue_of(certificate: &Certificate) -> String {
    format!("{}#{}", certificate.snapshot.issued_at, certificate.snapshot.code)
}

pub(crate) fn change_of_registration(card: &RegistrationCard) -> String {
    format!("{}#{}", card.updated_at, card.course_id)
}

pub(crate) fn number_of(card: &RegistrationCard) -> String {
    format!("{:012}", card.number)
}

pub(crate) fn name_of(card: &RegistrationCard) -> String {
    let [last_name, name] = [&card.last_name, &card.name].map(|name| sortable(name.as_str()));
    format!("{last_name}{END}{name}{END}{}", card.user_id)
}

pub(crate) fn opt_out_index_key(opt_out: &OptOut) -> IndexKey {
    let sk = format!("{}#{}", opt_out.created_at, hashed(opt_out.number.as_str()));
    opt_outs_of(opt_out.committee_id).at(sk)
}
