//! The grammar of the keys, every access pattern and what it costs: the one page to read before
//! touching the tables.
//!
//! Two tables, `records` (what stays) and `transient` (what has a short life), both with a text
//! partition key `pk` and a text sort key `sk`. Attributes with a meaning of their own:
//!
//! | attribute | meaning |
//! |---|---|
//! | `card` | what lists show of the item: the noun itself; the index `listing` carries it, so lists need no second read |
//! | `listPk`, `listSk` | the place in the index `listing` (projection: `card`) |
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
//! | outgoing message | records | `OUTBOX#<id>` | `OUTBOX` | |
//! | one-time code | transient | `CODE#<kind>#<place>` | `CODE` | |
//! | session | transient | `USER#<id>` | `SESSION#<sid>` | |
//! | secret that is being tried out | transient | `USER#<id>` | `ENROLMENT` | |
//! | finished step of a sign-in | transient | `STEP#<sid>` | `STEP` | |
//! | public limit | transient | `LIMIT#<key>` | `LIMIT` | |
//! | security counter | transient | `COUNTER#<name>#<sha-256>` | `COUNTER` | |
//!
//! An outgoing message stands in `due` under `OUTBOX` until it has left, a person who was erased under
//! `ERASE` until his traces are gone. The place of a code is derived from an address, or is a user's
//! id. Later entities take their place here: courses, words, files, text messages.
//!
//! # What each endpoint costs
//!
//! In sequential round trips, then read units and write units of DynamoDB on demand, measured by
//! `tests/api/costs.rs` from what the tables themselves report. *Edge* is what stands in front of
//! every answer: one write for the limit, and for a signed-in caller the session, the user and the
//! committee beside it, in the same round trip. Once in five minutes a signed-in caller's request
//! adds two writes, side by side with its own work, for `lastActive`.

use data_encoding::HEXLOWER;
use domain::{CommitteeId, Email, SessionId, UserId, code::CodeKind, folded};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The highest cost of an endpoint in its usual course.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Method and path.
    pub route: &'static str,
    /// Sequential round trips.
    pub round_trips: u32,
    /// Read units.
    pub reads: f64,
    /// Write units.
    pub writes: f64,
}

const fn costs(route: &'static str, round_trips: u32, reads: f64, writes: f64) -> Budget {
    Budget { route, round_trips, reads, writes }
}

/// The cost table. `tests/api/costs.rs` measures every row.
pub const COSTS: &[Budget] = &[
    //                                           trips reads writes
    costs("GET /health", 0, 0.0, 0.0),
    costs("GET /nowhere", 1, 0.0, 1.0),
    // edge, then the last ten sign-ins and the secret that is being tried out
    costs("GET /auth/check", 2, 5.0, 1.0),
    costs("GET /auth/current-user", 1, 3.0, 1.0),
    // edge; three counters beside the address; user, credentials, committee, sign-ins and enrolment;
    // session and sign-in in one transaction beside giving the counters back
    costs("POST /auth/login", 4, 6.0, 11.0),
    // edge; three counters of messages beside the address; user; code and message in one transaction.
    // A text message adds a counter and a round trip
    costs("POST /auth/passwordless", 4, 2.0, 11.0),
    // edge; counter and code; user, committee, sign-ins and enrolment beside giving the counter back;
    // the code goes, session and sign-in come, and the account is verified, in one transaction
    costs("GET /auth/passwordless", 4, 5.0, 12.0),
    costs("POST /auth/logout", 2, 3.0, 3.0),
    costs("GET /auth/sessions", 2, 4.0, 1.0),
    costs("DELETE /auth/sessions/{sid}", 2, 3.0, 3.0),
    costs("GET /otp/generate", 3, 4.0, 3.0),
    // edge; two counters beside user, committee, sign-ins, enrolment, secret and finished step; code and step used up,
    // session and sign-in, in one transaction beside giving the counters back
    costs("POST /otp/verify", 3, 6.0, 13.0),
    // edge; three counters beside the credentials; two more beside the secret; one transaction
    costs("DELETE /otp", 4, 5.0, 22.0),
    costs("POST /otp/recovery-codes", 3, 4.0, 7.0),
    costs("PUT /team/{userId}", 3, 4.0, 11.0),
    costs("DELETE /team/{userId}/otp", 3, 4.0, 19.0),
    // edge; counter, address and committee; one transaction of five writes and a check
    costs("POST /users/register", 3, 2.0, 18.0),
    costs("GET /users/{userId}", 2, 4.0, 1.0),
    costs("PUT /users/{userId}", 2, 3.0, 5.0),
    costs("DELETE /users/{userId}", 4, 5.0, 17.0),
    costs("GET /users/{userId}/export", 2, 6.0, 1.0),
    // as the request of a password-less code
    costs("GET /users/reset-password", 4, 2.0, 11.0),
    // edge; counter and code; user and credentials; code, password, account and message in one transaction
    costs("POST /users/reset-password", 4, 3.0, 15.0),
    // edge; three counters and the credentials; one transaction of four writes beside giving back
    costs("PUT /users/reset-password", 3, 4.0, 19.0),
    costs("POST /users/email-verification", 3, 4.0, 11.0),
    costs("PUT /users/email-verification", 4, 3.0, 5.0),
    costs("POST /users/phone-verification", 4, 3.0, 12.0),
    costs("PUT /users/phone-verification", 3, 4.0, 5.0),
    costs("GET /users/activity", 2, 4.0, 1.0),
    costs("GET /users/my-committee-users", 2, 3.5, 1.0),
    costs("PUT /users/user-status/{userId}", 3, 4.0, 11.0),
    costs("POST /users/avatar", 2, 3.0, 4.0),
    costs("GET /audit", 2, 3.5, 1.0),
    costs("GET /committees", 2, 0.5, 1.0),
    costs("GET /committees/{committeeId}", 2, 1.0, 1.0),
    costs("POST /committees", 2, 3.0, 4.0),
    costs("PUT /committees/{committeeId}", 2, 3.0, 4.0),
];

/// Which of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// What stays.
    Records,
    /// What has a short life.
    Transient,
}

/// The index of lists.
pub const LISTING: &str = "listing";
/// The index of what is still to be done.
pub const DUE: &str = "due";

/// A table as it must be made: text keys `pk` and `sk`, TTL on `ttl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSchema {
    /// The name on a laptop and the logical name in the template, there with a capital.
    pub name: &'static str,
    /// Its indexes.
    pub indexes: &'static [IndexSchema],
    /// Whether its changes flow to the dispatcher, with old and new images.
    pub has_stream: bool,
}

/// An index as it must be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSchema {
    /// Its name.
    pub name: &'static str,
    /// Its partition key, a text.
    pub pk: &'static str,
    /// Its sort key and that key's type, `S` or `N`.
    pub sk: (&'static str, &'static str),
    /// What it carries beyond the keys.
    pub projected: &'static [&'static str],
}

/// The two tables. All indexes stand from the first deployment on: CloudFormation adds one at a time.
pub const TABLES: [TableSchema; 2] = [
    TableSchema {
        name: "records",
        indexes: &[
            IndexSchema { name: LISTING, pk: "listPk", sk: ("listSk", "S"), projected: &["card"] },
            IndexSchema { name: DUE, pk: "duePk", sk: ("dueAt", "N"), projected: &[] },
        ],
        has_stream: true,
    },
    TableSchema { name: "transient", indexes: &[], has_stream: false },
];

/// Where an item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(crate) table: Table,
    pub(crate) pk: String,
    pub(crate) sk: String,
}

fn records(pk: String, sk: &str) -> Key {
    Key { table: Table::Records, pk, sk: sk.to_owned() }
}

fn transient(pk: String, sk: &str) -> Key {
    Key { table: Table::Transient, pk, sk: sk.to_owned() }
}

pub(crate) fn user(id: UserId) -> Key {
    records(format!("USER#{id}"), "USER")
}

pub(crate) fn credentials(id: UserId) -> Key {
    records(format!("USER#{id}"), "CREDENTIALS")
}

pub(crate) fn login(id: UserId, login_activity_id: u64) -> Key {
    records(format!("USER#{id}"), &format!("{LOGIN_PREFIX}{login_activity_id:016}"))
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
    transient(format!("USER#{user}"), &format!("{SESSION_PREFIX}{sid}"))
}

pub(crate) const SESSION_PREFIX: &str = "SESSION#";

pub(crate) fn code(kind: CodeKind, place: Uuid) -> Key {
    transient(format!("CODE#{}#{place}", kind.word()), "CODE")
}

pub(crate) fn otp(user: UserId) -> Key {
    records(format!("USER#{user}"), "OTP")
}

/// The list of the secrets that are sealed under the key `kid`.
pub(crate) fn sealed_under(kid: &str) -> String {
    format!("SEALED#{kid}")
}

pub(crate) fn enrolment(user: UserId) -> Key {
    transient(format!("USER#{user}"), "ENROLMENT")
}

pub(crate) fn step(id: SessionId) -> Key {
    transient(format!("STEP#{id}"), "STEP")
}

pub(crate) fn outbox(id: Uuid) -> Key {
    records(format!("{OUTBOX_PREFIX}{id}"), "OUTBOX")
}

pub(crate) const OUTBOX_PREFIX: &str = "OUTBOX#";

/// The partition of the index `due` in which outgoing messages wait.
pub(crate) const OUTBOX_DUE: &str = "OUTBOX";

/// The partition of the index `due` in which erased people wait for their traces to be removed.
pub(crate) const ERASE_DUE: &str = "ERASE";

pub(crate) fn audit_of_committee(committee: CommitteeId, id: &str) -> Key {
    records(format!("AUDIT#{committee}"), &format!("{AUDIT_PREFIX}{id}"))
}

pub(crate) fn audit_of_person(person: UserId, id: &str) -> Key {
    records(format!("USER#{person}"), &format!("{AUDIT_PREFIX}{id}"))
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

/// A key that no item has.
pub(crate) fn nothing() -> Key {
    records("NOTHING".to_owned(), "NOTHING")
}

/// A place in the index of lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) pk: String,
    pub(crate) sk: String,
}

pub(crate) fn user_place(user: &domain::user::User) -> Place {
    let (last_name, name) = (sortable(user.last_name.as_str()), sortable(user.name.as_str()));
    let sk = format!("{last_name}{END}{name}{END}{}", user.user_id);
    Place { pk: users_of(user.committee_id), sk }
}

/// The list of a committee's people.
pub(crate) fn users_of(committee: CommitteeId) -> String {
    format!("COMMITTEE#{committee}#USERS")
}

/// The partition of all committees.
pub(crate) const COMMITTEES: &str = "COMMITTEES";

pub(crate) fn committee_place(id: CommitteeId, name_latin: &str) -> Place {
    Place { pk: COMMITTEES.to_owned(), sk: format!("{}{END}{id}", sortable(name_latin)) }
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
