//! The grammar of the keys, every access pattern and what it costs: the one page to read before
//! touching the tables.
//!
//! Two tables, `records` (what stays) and `transient` (what has a short life), both with a text
//! partition key `pk` and a text sort key `sk`. Attributes with a meaning of their own:
//!
//! | attribute | meaning |
//! |---|---|
//! | `card` | what lists show of the item: the noun itself; the indexes carry it, so lists need no second read |
//! | `details` | what else a course says |
//! | `listPk`, `listSk` | the place in the index `listing` (projection: `card`, `details`) |
//! | `authoredPk`, `authoredSk` | the place in the index `authored` (projection: `card`, `details`) |
//! | `publishedPk`, `publishedSk` | the place in the index `published` (projection: `card`) |
//! | `duePk`, `dueAt` | the place in the sparse index `due` (projection: keys): what the dispatcher still has to do, and when |
//! | `ttl` | Unix seconds after which DynamoDB may remove the item; it lags by days, so every read looks at the item's own time too |
//!
//! # Keys
//!
//! | item | table | `pk` | `sk` | `listPk`, `listSk` |
//! |---|---|---|---|---|
//! | user | records | `USER#<id>` | `USER` | `COMMITTEE#<id>#USERS`, `<last name>␁<name>␁<id>` folded |
//! | credentials | records | `USER#<id>` | `CREDENTIALS` | |
//! | login activity | records | `USER#<id>` | `LOGIN#<16 digits>` | |
//! | one-time password secret | records | `USER#<id>` | `OTP` | `SEALED#<key name>`, `<id>` |
//! | what a person did, or was done to him | records | `USER#<id>` | `AUDIT#<audit id>` | |
//! | e-mail address | records | `EMAIL#<sha-256>` | `EMAIL` | |
//! | active super admins | records | `ADMINS` | `ADMINS` | |
//! | committee | records | `COMMITTEE#<id>` | `COMMITTEE` | `COMMITTEES`, `<Latin name>␁<id>` folded |
//! | audit of a committee | records | `AUDIT#<committee>` | `AUDIT#<audit id>` | `AUDIT`, `<audit id>` |
//! | course | records | `COURSE#<id>` | `COURSE` | `COMMITTEE#<id>#COURSES#<state>`, `<updatedAt>#<id>` |
//! | order of its questions | records | `COURSE#<id>` | `ORDER` | |
//! | question | records | `COURSE#<id>` | `QUESTION#<id>` | |
//! | word of a published course | records | `WORD#<word>` | `AT#<publishedAt>#<id>` | |
//! | how many courses have a word, about | records | `WORD#<word>` | `COUNT` | |
//! | file | records | `FILE#<id>` | `FILE` | `USER#<id>#FILES`, `<id>` |
//! | what a person's files take | records | `USER#<id>` | `USAGE` | |
//! | outgoing letter | records | `OUTBOX#<id>` | `OUTBOX` | |
//! | text message | records | `SMS#<id>` | `SMS` | `BATCH#<id>#SMS`, `<id>`, if it is one of a batch |
//! | what it says | records | `SMS#<id>` | `TEXT` | |
//! | batch of text messages | records | `BATCH#<id>` | `BATCH` | |
//! | what its messages say | records | `BATCH#<id>` | `TEXT` | |
//! | chunk of a batch | records | `CHUNK#<batch>#<number>` | `CHUNK` | |
//! | number that is not written to | records | `OPTOUT#<committee or ALL>#<sha-256>` | `OPTOUT` | `OPTOUTS#<committee or ALL>`, `<createdAt>#<sha-256>` |
//! | one-time code | transient | `CODE#<kind>#<place>` | `CODE` | |
//! | session | transient | `USER#<id>` | `SESSION#<sid>` | |
//! | secret that is being tried out | transient | `USER#<id>` | `ENROLMENT` | |
//! | finished step of a sign-in | transient | `STEP#<sid>` | `STEP` | |
//! | public limit | transient | `LIMIT#<key>` | `LIMIT` | |
//! | security counter | transient | `COUNTER#<name>#<sha-256>` | `COUNTER` | |
//! | text messages of a day | transient | `QUOTA#USER#<id>#<day>`, `QUOTA#COMMITTEE#<id>#<day>` | `QUOTA` | |
//! | when the next text message may leave | transient | `RATE` | `RATE` | |
//! | answer that is given again | transient | `IDEMPOTENCY#<sha-256>` | `IDEMPOTENCY` | |
//! | breaker of the hosting account's panel | transient | `BREAKER#<sha-256>` | `BREAKER` | |
//!
//! A letter or a single text message stands in `due` under `OUTBOX` until it has left, a message of a batch
//! under `BULK`, a chunk under `CHUNKS` until it has become messages, a person who was erased under
//! `ERASE` until his traces are gone, a course under `WORDS` until it is found by the words that it has
//! now, a file under `FILES` until it has come, or is gone; what has failed for a
//! day stands under `DEAD` until a person has looked at it. The place of a code is derived from an address,
//! or is a user's id.
//!
//! A course stands in `authored` under `USER#<id>#COURSES#<state>`, `<updatedAt>#<id>`, and while it is
//! published in `published` under `PUBLISHED`, `<publishedAt>#<id>`: published again, it comes back to the
//! place that it had, so that nobody who walks the list meets it twice.
//!
//! A text message stands in `authored` under `USER#<id>#SMS`, `<id>`, its batch under `USER#<id>#BATCHES`,
//! `<id>`.
//!
//! # What one partition bears
//!
//! A partition of DynamoDB gives 1,000 write units and 3,000 read units a second, however large the table
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>). With
//! courses of 2 KB, outlines of 0.7 KB and pages of 20:
//!
//! | partition | one request takes | so that it bears, a second |
//! |---|---|---|
//! | `PUBLISHED` (all published courses) | page: 20 × 0.7 KB = 14 KB, read eventually: 2 units | 1,500 pages; more needs copies in memory for a few seconds |
//! | the same | publishing, or a change of a published course: 1 unit, 2 when it moves | 500 to 1,000 changes |
//! | `COMMITTEE#<id>#COURSES#<state>` | page: 20 × 2 KB = 40 KB: 5 units | 600 pages of one committee and state |
//! | the same | a change: 2 units to go and 2 to come | 250 changes of one committee's courses |
//! | `COURSE#<id>` | course with ten questions: 6 KB, read consistently: 2 units | 1,500 readers of one course |
//! | the same | a change in a transaction: 2 × 2 units | 250 changes of one course |
//! | `WORD#<word>`, entries | search: at most 500 × 0.2 KB = 100 KB, read eventually: 12.5 units | 240 searches with five frequent words, 2,000 with one word |
//! | the same | publishing: 2 units for the entry, 1 for the count | 333 courses that have one word in common |
//! | `USER#<id>` | `POST /files`: 2 units for the usage | 500 files of one person |
//! | `BULK` in `due` | a message that waits, is leased, claimed and leaves: 6 units | 160 messages, 16 times the rate that SNS is asked at |
//! | `FILES`, `WORDS` in `due` | a file or course that comes and goes: 2 units | 500 of each, in the whole service |
//!
//! The table itself begins at 4,000 write and 12,000 read units and doubles when it has to; so the whole
//! service bears the sum of these until a partition of the left column is hot.

mod costs;
mod messages;
mod schema;

use std::time::Duration;

pub use costs::{Budget, COSTS};
use data_encoding::HEXLOWER;
use domain::{
    CommitteeId, CourseId, Email, FileId, Instant, QuestionId, SessionId, UserId,
    code::CodeKind,
    course::{CourseSummary, State},
    folded,
};
pub(crate) use messages::*;
pub use messages::{BULK_DUE, CHUNKS_DUE, OUTBOX_DUE};
pub use schema::{AUTHORED, DUE, IndexSchema, LISTING, PUBLISHED, TABLES, Table, TableSchema};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Where an item stands.
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

/// With what the partition keys of people begin.
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

/// Hashed, so that a key in a log or a metric is nobody's address.
pub(crate) fn email(email: &Email) -> Key {
    records(format!("EMAIL#{}", hashed(email.as_str())), "EMAIL")
}

/// Set of the ids of all active super admins: a condition on it keeps one of them.
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

pub(crate) fn code(kind: CodeKind, place: Uuid) -> Key {
    transient(format!("CODE#{}#{place}", kind.word()), "CODE")
}

pub(crate) fn otp(user: UserId) -> Key {
    records(format!("{USER_PREFIX}{user}"), "OTP")
}

/// The list of the secrets that are sealed under the key `kid`.
pub(crate) fn sealed_under(kid: &str) -> String {
    format!("SEALED#{kid}")
}

pub(crate) fn enrolment(user: UserId) -> Key {
    transient(format!("{USER_PREFIX}{user}"), "ENROLMENT")
}

pub(crate) fn step(id: SessionId) -> Key {
    transient(format!("STEP#{id}"), "STEP")
}

/// What is to be done at once stands in `due` for so much later: then the sweeper looks at it, whatever the
/// stream did.
pub(crate) const SWEPT_AFTER: Duration = Duration::from_secs(60);

/// The partition of the index `due` in which erased people wait for their traces to be removed.
pub const ERASE_DUE: &str = "ERASE";

/// The partition of the index `due` in which work waits that nobody tries any more.
pub const DEAD_DUE: &str = "DEAD";

pub(crate) fn course(id: CourseId) -> Key {
    records(format!("{COURSE_PREFIX}{id}"), "COURSE")
}

pub(crate) const COURSE_PREFIX: &str = "COURSE#";

/// The list of the identifiers of a course's questions.
pub(crate) fn order(course: CourseId) -> Key {
    records(format!("{COURSE_PREFIX}{course}"), "ORDER")
}

pub(crate) fn question(course: CourseId, id: QuestionId) -> Key {
    records(
        format!("{COURSE_PREFIX}{course}"),
        &format!("QUESTION#{id}"),
    )
}

/// Among the courses of its committee that are in its state, by the newest change.
pub(crate) fn course_index_key(course: &CourseSummary) -> IndexKey {
    IndexKey {
        index: &LISTING,
        pk: courses_of(course.committee_id, course.state),
        sk: change_of(course),
    }
}

/// Among the courses of its author that are in its state, by the newest change.
pub(crate) fn authored_index_key(course: &CourseSummary) -> IndexKey {
    IndexKey {
        index: &AUTHORED,
        pk: courses_by(course.created_by, course.state),
        sk: change_of(course),
    }
}

/// Among all published courses, by its first publishing.
pub(crate) fn published_index_key(course: &CourseSummary) -> Option<IndexKey> {
    let published_at = course
        .published_at
        .filter(|_| course.state == State::Published)?;
    Some(IndexKey {
        index: &PUBLISHED,
        pk: PUBLISHED_COURSES.to_owned(),
        sk: publishing_of(published_at, course.course_id),
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

fn publishing_of(published_at: Instant, id: CourseId) -> String {
    format!("{published_at}#{id}")
}

/// The partition of all published courses.
pub(crate) const PUBLISHED_COURSES: &str = "PUBLISHED";

/// The entry of a course that was first published at `published_at` under `word`.
pub(crate) fn word(word: &str, published_at: Instant, id: CourseId) -> Key {
    records(
        format!("WORD#{word}"),
        &format!("{AT_PREFIX}{}", publishing_of(published_at, id)),
    )
}

pub(crate) const AT_PREFIX: &str = "AT#";

pub(crate) fn word_count(word: &str) -> Key {
    records(format!("WORD#{word}"), "COUNT")
}

/// The partition of the index `due` in which courses wait to be found by their words.
pub const WORDS_DUE: &str = "WORDS";

pub(crate) fn file(id: FileId) -> Key {
    records(format!("{FILE_PREFIX}{id}"), "FILE")
}

pub(crate) const FILE_PREFIX: &str = "FILE#";

/// The list of a person's files, by their identifiers, which sort by time.
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

/// The partition of the index `due` in which files wait to come, or to go.
pub const FILES_DUE: &str = "FILES";

pub(crate) fn audit_of_committee(committee: CommitteeId, id: &str) -> Key {
    records(format!("AUDIT#{committee}"), &format!("{AUDIT_PREFIX}{id}"))
}

pub(crate) fn audit_of_person(person: UserId, id: &str) -> Key {
    records(
        format!("{USER_PREFIX}{person}"),
        &format!("{AUDIT_PREFIX}{id}"),
    )
}

pub(crate) const AUDIT_PREFIX: &str = "AUDIT#";

/// The partition of all audit entries in the index of lists.
pub(crate) const AUDIT: &str = "AUDIT";

pub(crate) fn limit(key: &str) -> Key {
    transient(format!("LIMIT#{key}"), "LIMIT")
}

pub(crate) fn counter(name: &str, key: &str) -> Key {
    transient(format!("COUNTER#{name}#{}", hashed(key)), "COUNTER")
}

/// By the fingerprint of place, user and token: a new token begins with nothing known of it.
pub(crate) fn breaker(secret: &str) -> Key {
    transient(format!("BREAKER#{secret}"), "BREAKER")
}

/// A key that no item has.
pub(crate) fn nothing() -> Key {
    records("NOTHING".to_owned(), "NOTHING")
}

/// A place in an index.
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

/// The list of a committee's people.
pub(crate) fn users_of(committee: CommitteeId) -> String {
    format!("COMMITTEE#{committee}#USERS")
}

/// The partition of all committees.
pub(crate) const COMMITTEES: &str = "COMMITTEES";

pub(crate) fn committee_index_key(id: CommitteeId, name_latin: &str) -> IndexKey {
    IndexKey {
        index: &LISTING,
        pk: COMMITTEES.to_owned(),
        sk: format!("{}{END}{id}", sortable(name_latin)),
    }
}

/// Ends a name in a sort key: no name holds it, and it sorts before everything that one may hold, so that
/// `Ben` stands before `Ben Ali`.
const END: char = '\u{1}';

/// The beginning of the folded text, short enough for a sort key (1,024 bytes) and a cursor (512).
fn sortable(text: &str) -> String {
    let mut folded = folded(text);
    folded.truncate(folded.floor_char_boundary(120));
    folded
}

fn hashed(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}
