//! The key schema, every access pattern and its cost. Read this page before changing the tables.
//!
//! There are two tables, `records` (durable items) and `transient` (short-lived items), both with a string
//! partition key `pk` and a string sort key `sk`. Attributes with a fixed meaning:
//!
//! | attribute | meaning |
//! |---|---|
//! | `card` | the entity as lists return it; projected into the indexes, so that lists need no second read |
//! | `details` | the other fields of a course |
//! | `listPk`, `listSk` | key in the index `listing` (projection: `card`, `details`) |
//! | `authoredPk`, `authoredSk` | key in the index `authored` (projection: `card`, `details`) |
//! | `publishedPk`, `publishedSk` | key in the index `published` (projection: `card`) |
//! | `duePk`, `dueAt` | key in the sparse index `due` (projection: keys): pending work of the dispatcher, and when it is due |
//! | `ttl` | Unix seconds after which DynamoDB may delete the item; it lags by days, so every read also checks the item's own time |
//!
//! # Keys
//!
//! | item | table | `pk` | `sk` | `listPk`, `listSk` |
//! |---|---|---|---|---|
//! | user | records | `USER#<id>` | `USER` | `COMMITTEE#<id>#USERS`, `<last name>␁<name>␁<id>` folded |
//! | credentials | records | `USER#<id>` | `CREDENTIALS` | |
//! | login activity | records | `USER#<id>` | `LOGIN#<16 digits>` | |
//! | one-time password secret | records | `USER#<id>` | `OTP` | `SEALED#<key name>`, `<id>` |
//! | audit entry of its actor or target user | records | `USER#<id>` | `AUDIT#<audit id>` | `USER#<id>#AUDIT#<committee>`, `<audit id>` |
//! | e-mail address | records | `EMAIL#<sha-256>` | `EMAIL` | |
//! | active super admins | records | `ADMINS` | `ADMINS` | |
//! | committee | records | `COMMITTEE#<id>` | `COMMITTEE` | `COMMITTEES`, `<Latin name>␁<id>` folded |
//! | audit entry of a committee | records | `AUDIT#<committee>` | `AUDIT#<audit id>` | `AUDIT#<shard>`, `<audit id>` |
//! | course | records | `COURSE#<id>` | `COURSE` | `COMMITTEE#<id>#COURSES#<state>`, `<updatedAt>#<id>` |
//! | order of its questions | records | `COURSE#<id>` | `ORDER` | |
//! | question | records | `COURSE#<id>` | `QUESTION#<id>` | |
//! | word of a published course | records | `WORD#<word>` | `AT#<publishedAt>#<id>` | |
//! | approximate number of courses with a word | records | `WORD#<word>` | `COUNT` | |
//! | file | records | `FILE#<id>` | `FILE` | `USER#<id>#FILES`, `<id>` |
//! | storage usage of a user | records | `USER#<id>` | `USAGE` | |
//! | outbox message | records | `OUTBOX#<id>` | `OUTBOX` | |
//! | text message | records | `SMS#<id>` | `SMS` | `BATCH#<id>#SMS`, `<id>`, if it belongs to a batch |
//! | text of a message | records | `SMS#<id>` | `TEXT` | |
//! | batch of text messages | records | `BATCH#<id>` | `BATCH` | |
//! | common text of a batch | records | `BATCH#<id>` | `TEXT` | |
//! | chunk of a batch | records | `CHUNK#<batch>#<number>` | `CHUNK` | |
//! | opt-out of a phone number | records | `OPTOUT#<committee or ALL>#<sha-256>` | `OPTOUT` | `OPTOUTS#<committee or ALL>`, `<createdAt>#<sha-256>` |
//! | one-time code | transient | `CODE#<kind>#<challenge>` | `CODE`, for a pending address `CODE#<user id>` | |
//! | session | transient | `USER#<id>` | `SESSION#<sid>` | |
//! | devices and address ranges of sign-ins | transient | `USER#<id>` | `DEVICES` | |
//! | one-time password secret, unconfirmed | transient | `USER#<id>` | `ENROLMENT` | |
//! | completed step of a sign-in | transient | `STEP#<sid>` | `STEP` | |
//! | rate limit window | transient | `LIMIT#<key>` | `LIMIT` | |
//! | security counter | transient | `COUNTER#<name>#<sha-256>` | `COUNTER` | |
//! | text messages of a day | transient | `QUOTA#USER#<id>#<day>`, `QUOTA#COMMITTEE#<id>#<day>` | `QUOTA` | |
//! | bytes of announced files of a day | transient | `QUOTA#FILES#<user id>#<day>` | `QUOTA` | |
//! | next free slot for a text message | transient | `RATE` | `RATE` | |
//! | idempotent response, or who holds its key | transient | `IDEMPOTENCY#<sha-256>` | `IDEMPOTENCY` | |
//! | circuit breaker of a cPanel token | transient | `BREAKER#<sha-256>` | `BREAKER` | |
//!
//! The index `due` holds outbox messages and single text messages under `OUTBOX` and messages of batches under
//! `BULK` until they are sent, chunks under `CHUNKS` until they are expanded into messages, new accounts under
//! `UNVERIFIED` until they are verified or erased, erased users under `ERASE` until their data is deleted, courses under
//! `WORDS` until their search entries are current, and files under `FILES` until they are uploaded or deleted. Work that
//! has failed for a day moves to `DEAD`, where it stays until an operator handles it. The whole service writes to each
//! of these lists and to `AUDIT`, so they are in 16 shards: `OUTBOX#00` to `OUTBOX#0f`, by a hash of the item's key; a
//! reader queries them all and merges the results (`keys/shards.rs`). The challenge of a code is derived from an e-mail address, or from a user's
//! id and phone number.
//!
//! The index `authored` holds courses under `USER#<id>#COURSES#<state>`, `<updatedAt>#<id>`, text messages under
//! `USER#<id>#SMS`, `<id>`, and batches under `USER#<id>#BATCHES`, `<id>`. The index `published` holds published
//! courses under `PUBLISHED`, `<publishedAt>#<id>`. A course that is published again keeps its first
//! `publishedAt`, so that it does not appear twice to a client that pages through the list.
//!
//! # Throughput of one partition
//!
//! A DynamoDB partition serves 1,000 write units and 3,000 read units per second, whatever the table's size
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>). With
//! courses of 2 KB, outlines of 0.7 KB and pages of 20:
//!
//! | partition | units per request | maximum per second |
//! |---|---|---|
//! | `PUBLISHED` (all published courses) | page: 20 × 0.7 KB = 14 KB, eventually consistent: 2 units | 1,500 pages; more needs a cache of a few seconds |
//! | the same | publication, or a change of a published course: 1 unit, 2 when its key changes | 500 to 1,000 changes |
//! | `COMMITTEE#<id>#COURSES#<state>` | page: 20 × 2 KB = 40 KB: 5 units | 600 pages of one committee and state |
//! | the same | a change: 2 units to remove the old entry and 2 to insert the new one | 250 changes of one committee's courses |
//! | `COURSE#<id>` | course with ten questions: 6 KB, strongly consistent: 2 units | 1,500 reads of one course |
//! | the same | a change in a transaction: 2 × 2 units | 250 changes of one course |
//! | `WORD#<word>`, entries | search: at most 500 × 0.2 KB = 100 KB, eventually consistent: 12.5 units | 240 searches with five frequent words, 2,000 with one word |
//! | the same | publication: 2 units for the entry, 1 for the count | 333 courses with a word in common |
//! | `USER#<id>` | `POST /files`: 2 units for the usage | 500 files of one user |
//! | `COUNTER#password-network#<sha-256>` | a sign-in: 1 unit to reserve, 2 in its transaction | 333 sign-ins of one network, which the rate limit allows 100 in a minute |
//! | `BULK` in `due` | a message is queued, leased, claimed and sent: 6 units | 160 messages, 16 times the sending rate |
//! | `FILES`, `WORDS` in `due` | a file or course is added and removed: 2 units | 500 of each, in the whole service |
//!
//! An on-demand table starts at 4,000 write and 12,000 read units per second and doubles as needed; the service
//! as a whole supports the sum of these until one of the partitions above is hot.

mod audits;
mod costs;
mod messages;
mod schema;
mod shards;

use std::time::Duration;

pub(crate) use audits::*;
pub use costs::{Budget, COSTS};
use data_encoding::HEXLOWER;
use domain::{
    CommitteeId, CourseId, Email, FileId, Instant, QuestionId, SessionId, UserId,
    code::{Challenge, CodeKind},
    course::{CourseSummary, State},
    folded,
};
pub(crate) use messages::*;
pub use messages::{BULK_DUE, CHUNKS_DUE, OUTBOX_DUE};
pub use schema::{AUTHORED, DUE, IndexSchema, LISTING, PUBLISHED, TABLES, Table, TableSchema};
use sha2::{Digest, Sha256};
pub(crate) use shards::{shard, shards};

/// The primary key of an item, and its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(crate) table: Table,
    pub(crate) pk: String,
    pub(crate) sk: String,
}

fn records(pk: String, sk: &str) -> Key {
    Key {
        table: Table::Records,
        pk,
        sk: sk.to_owned(),
    }
}

fn transient(pk: String, sk: &str) -> Key {
    Key {
        table: Table::Transient,
        pk,
        sk: sk.to_owned(),
    }
}

pub(crate) const USER_PREFIX: &str = "USER#";

pub(crate) fn user(id: UserId) -> Key {
    records(format!("{USER_PREFIX}{id}"), "USER")
}

pub(crate) fn credentials(id: UserId) -> Key {
    records(format!("{USER_PREFIX}{id}"), "CREDENTIALS")
}

pub(crate) fn login(id: UserId, login_activity_id: u64) -> Key {
    records(
        format!("{USER_PREFIX}{id}"),
        &format!("{LOGIN_PREFIX}{login_activity_id:016}"),
    )
}

pub(crate) const LOGIN_PREFIX: &str = "LOGIN#";

/// Hashed, so that a key in a log or a metric does not disclose an address.
pub(crate) fn email(email: &Email) -> Key {
    records(format!("EMAIL#{}", hashed(email.as_str())), "EMAIL")
}

/// The ids of all active super admins: a condition on the size of the set keeps at least one.
pub(crate) fn admins() -> Key {
    records("ADMINS".to_owned(), "ADMINS")
}

pub(crate) fn committee(id: CommitteeId) -> Key {
    records(format!("COMMITTEE#{id}"), "COMMITTEE")
}

pub(crate) fn session(user: UserId, sid: SessionId) -> Key {
    transient(
        format!("{USER_PREFIX}{user}"),
        &format!("{SESSION_PREFIX}{sid}"),
    )
}

pub(crate) const SESSION_PREFIX: &str = "SESSION#";

pub(crate) fn code(kind: CodeKind, challenge: Challenge) -> Key {
    let pk = format!("CODE#{}#{}", kind.as_str(), challenge.id);
    match challenge.wanted_by {
        None => transient(pk, "CODE"),
        Some(user) => transient(pk, &format!("{PENDING_CODE_PREFIX}{user}")),
    }
}

pub(crate) const PENDING_CODE_PREFIX: &str = "CODE#";

pub(crate) fn otp(user: UserId) -> Key {
    records(format!("{USER_PREFIX}{user}"), "OTP")
}

/// List partition of the secrets that are sealed under the key `kid`.
pub(crate) fn sealed_under(kid: &str) -> String {
    format!("SEALED#{kid}")
}

pub(crate) fn enrolment(user: UserId) -> Key {
    transient(format!("{USER_PREFIX}{user}"), "ENROLMENT")
}

/// When the user last signed in from each device and each address range.
pub(crate) fn devices(user: UserId) -> Key {
    transient(format!("{USER_PREFIX}{user}"), "DEVICES")
}

pub(crate) fn step(id: SessionId) -> Key {
    transient(format!("STEP#{id}"), "STEP")
}

/// How long after the write the sweep picks up work that the stream has not handled.
pub(crate) const SWEEP_DELAY: Duration = Duration::from_secs(60);

/// The list in the index `due` of erased users, until their data is deleted.
pub const ERASE_DUE: &str = "ERASE";

/// The list in the index `due` of new accounts, until they are verified or erased.
pub const UNVERIFIED_DUE: &str = "UNVERIFIED";

/// The list in the index `due` of dead letters: work that is no longer retried.
pub const DEAD_DUE: &str = "DEAD";

pub(crate) fn course(id: CourseId) -> Key {
    records(format!("{COURSE_PREFIX}{id}"), "COURSE")
}

pub(crate) const COURSE_PREFIX: &str = "COURSE#";

/// The ordered identifiers of a course's questions.
pub(crate) fn order(course: CourseId) -> Key {
    records(format!("{COURSE_PREFIX}{course}"), "ORDER")
}

pub(crate) fn question(course: CourseId, id: QuestionId) -> Key {
    records(
        format!("{COURSE_PREFIX}{course}"),
        &format!("QUESTION#{id}"),
    )
}

/// Courses of a committee in one state, by last change.
pub(crate) fn course_index_key(course: &CourseSummary) -> IndexKey {
    IndexKey {
        index: &LISTING,
        pk: courses_of(course.committee_id, course.state),
        sk: change_of(course),
    }
}

/// Courses of an author in one state, by last change.
pub(crate) fn authored_index_key(course: &CourseSummary) -> IndexKey {
    IndexKey {
        index: &AUTHORED,
        pk: courses_by(course.created_by, course.state),
        sk: change_of(course),
    }
}

/// All published courses, by first publication; `None` while the course is not published.
pub(crate) fn published_index_key(course: &CourseSummary) -> Option<IndexKey> {
    let published_at = course
        .published_at
        .filter(|_| course.state == State::Published)?;
    Some(IndexKey {
        index: &PUBLISHED,
        pk: PUBLISHED_COURSES.to_owned(),
        sk: publication_sort_key(published_at, course.course_id),
    })
}

pub(crate) fn courses_of(committee: CommitteeId, state: State) -> String {
    format!("COMMITTEE#{committee}#COURSES#{}", state.code())
}

pub(crate) fn courses_by(author: UserId, state: State) -> String {
    format!("{USER_PREFIX}{author}#COURSES#{}", state.code())
}

pub(crate) fn change_of(course: &CourseSummary) -> String {
    format!("{}#{}", course.updated_at, course.course_id)
}

fn publication_sort_key(published_at: Instant, id: CourseId) -> String {
    format!("{published_at}#{id}")
}

pub(crate) const PUBLISHED_COURSES: &str = "PUBLISHED";

/// The search entry under `word` of a course that was first published at `published_at`.
pub(crate) fn word(word: &str, published_at: Instant, id: CourseId) -> Key {
    records(
        format!("WORD#{word}"),
        &format!("{AT_PREFIX}{}", publication_sort_key(published_at, id)),
    )
}

pub(crate) const AT_PREFIX: &str = "AT#";

pub(crate) fn word_count(word: &str) -> Key {
    records(format!("WORD#{word}"), "COUNT")
}

/// The list in the index `due` of courses whose search entries are to be updated.
pub const WORDS_DUE: &str = "WORDS";

pub(crate) fn file(id: FileId) -> Key {
    records(format!("{FILE_PREFIX}{id}"), "FILE")
}

pub(crate) const FILE_PREFIX: &str = "FILE#";

/// List partition of a user's files; their identifiers sort by time.
pub(crate) fn files_of(user: UserId) -> String {
    format!("{USER_PREFIX}{user}#FILES")
}

pub(crate) fn file_index_key(user: UserId, id: FileId) -> IndexKey {
    IndexKey {
        index: &LISTING,
        pk: files_of(user),
        sk: id.to_string(),
    }
}

pub(crate) fn usage(user: UserId) -> Key {
    records(format!("{USER_PREFIX}{user}"), "USAGE")
}

/// The list in the index `due` of pending uploads and deleted files.
pub const FILES_DUE: &str = "FILES";

pub(crate) fn limit(key: &str) -> Key {
    transient(format!("LIMIT#{key}"), "LIMIT")
}

pub(crate) fn counter(name: &str, key: &str) -> Key {
    transient(format!("COUNTER#{name}#{}", hashed(key)), "COUNTER")
}

/// `fingerprint` is a hash of host, user and token, so that a new token starts with a new breaker.
pub(crate) fn breaker(fingerprint: &str) -> Key {
    transient(format!("BREAKER#{fingerprint}"), "BREAKER")
}

/// The key of no item, for reads that only open a connection.
pub(crate) fn missing_item() -> Key {
    records("NOTHING".to_owned(), "NOTHING")
}

/// The key of an item in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexKey {
    pub(crate) index: &'static IndexSchema,
    pub(crate) pk: String,
    pub(crate) sk: String,
}

pub(crate) fn user_index_key(user: &domain::user::User) -> IndexKey {
    let (last_name, name) = (
        sortable(user.last_name.as_str()),
        sortable(user.name.as_str()),
    );
    let sk = format!("{last_name}{END}{name}{END}{}", user.user_id);
    IndexKey {
        index: &LISTING,
        pk: users_of(user.committee_id),
        sk,
    }
}

pub(crate) fn users_of(committee: CommitteeId) -> String {
    format!("COMMITTEE#{committee}#USERS")
}

pub(crate) const COMMITTEES: &str = "COMMITTEES";

pub(crate) fn committee_index_key(id: CommitteeId, name_latin: &str) -> IndexKey {
    IndexKey {
        index: &LISTING,
        pk: COMMITTEES.to_owned(),
        sk: format!("{}{END}{id}", sortable(name_latin)),
    }
}

/// Terminates a name in a sort key: no name contains it, and it sorts before every character of a name, so that
/// `Ben` comes before `Ben Ali`.
const END: char = '\u{1}';

/// `text`, folded (lower case, no diacritics) and cut to 120 bytes to fit into a sort key (1,024 bytes) and a cursor
/// (512).
fn sortable(text: &str) -> String {
    let mut folded = folded(text);
    folded.truncate(folded.floor_char_boundary(120));
    folded
}

fn hashed(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}
