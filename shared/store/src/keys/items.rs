//! The kinds of items and their keys.

use domain::{
    BatchId, CommitteeId, CourseId, E164, Email, FileId, Instant, PasskeyId, SessionId, SmsId,
    UserId,
    certificate::CertificateCode,
    code::{Challenge, CodeKind},
};
use uuid::Uuid;

use super::{Key, Table, hashed, scope};

/// A kind of item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemKind {
    /// What an item of this kind is.
    pub name: &'static str,
    /// The table that has it.
    pub table: Table,
    /// Its partition key, with the names of the values in braces.
    pub pk: &'static str,
    /// Its sort key, in the same form.
    pub sk: &'static str,
}

/// Declares for each kind of item the function that makes its key, and its row of [`ITEMS`]. `name: type = value`
/// computes a value of the key from the parameter. `prefix NAME` names what all sort keys of the kind begin with.
macro_rules! items {
    ($(
        $name:literal $function:ident(
            $($parameter:ident: $type:ty $(= $value:expr)?),*
        ) $table:ident $pk:literal $sk:literal $(prefix $prefix:ident)?;
    )+) => {
        $(
            pub(crate) fn $function($($parameter: $type),*) -> Key {
                $($(let $parameter = $value;)?)*
                Key { table: Table::$table, pk: format!($pk), sk: format!($sk) }
            }
            $(pub(crate) const $prefix: &str = before_values($sk);)?
        )+

        /// All kinds of items.
        pub const ITEMS: &[ItemKind] =
            &[$(ItemKind { name: $name, table: Table::$table, pk: $pk, sk: $sk }),+];
    };
}

items! {
    "user" user(id: UserId) Records "USER#{id}" "USER";
    // Secrets have a partition key of their own, which the roles of the functions that need none of them may not name.
    "credentials" credentials(id: UserId) Records "SECRET#{id}" "CREDENTIALS";
    "login activity" login(id: UserId, number: u64) Records "USER#{id}" "LOGIN#{number:016}" prefix LOGINS;
    "one-time password secret" otp(id: UserId) Records "SECRET#{id}" "OTP";
    "passkey" passkey(id: UserId, passkey: PasskeyId) Records "SECRET#{id}" "PASSKEY#{passkey}" prefix PASSKEYS;
    // Hashed, because the id of a credential may have 1,023 bytes.
    "owner of a credential of WebAuthn" passkey_owner(credential: &str = hashed(credential))
        Records "PASSKEY#{credential}" "PASSKEY";
    // The partition keys of both kinds of entries are those that no function may change.
    "audit entry of its actor or target user" audit_of_person(id: UserId, audit: Uuid)
        Records "PERSON-AUDIT#{id}" "AUDIT#{audit}" prefix AUDITS;
    "audit entry of a committee" audit_of_committee(committee: CommitteeId, audit: Uuid)
        Records "AUDIT#{committee}" "AUDIT#{audit}";
    "storage usage of a user" usage(id: UserId) Records "USAGE#{id}" "USAGE";
    // Hashed, so that a key in a log or a metric does not disclose an address.
    "e-mail address" email(email: &Email = hashed(email.as_str())) Records "EMAIL#{email}" "EMAIL";
    "stop of mails to an address" mail_stop(email: &Email = hashed(email.as_str()))
        Records "EMAIL#{email}" "STOP";
    // A condition on the size of the set keeps at least one.
    "ids of the active super admins" admins() Records "ADMINS" "ADMINS";
    "committee" committee(id: CommitteeId) Records "COMMITTEE#{id}" "COMMITTEE";
    "course" course(id: CourseId) Records "COURSE#{id}" "COURSE";
    "settings of a course's registrations" registration_settings(id: CourseId)
        Records "COURSE#{id}" "REGISTRATION";
    "sessions of a course" sessions(id: CourseId) Records "COURSE#{id}" "SESSIONS";
    // Not beside the course, because it is due for other work than the course.
    "announcements of a course" announcements(id: CourseId)
        Records "ANNOUNCEMENTS#{id}" "ANNOUNCEMENTS";
    "attendance of a person" attendance(course: CourseId, user: UserId)
        Records "ATTENDANCE#{course}" "USER#{user}";
    // Named by its code, which everybody who has it may read.
    "certificate" certificate(code: &CertificateCode) Records "CERTIFICATE#{code}" "CERTIFICATE";
    "seats of a course" seats(id: CourseId) Records "SEATS#{id}" "SEATS";
    "last number of a course's registrations" last_number(id: CourseId)
        Records "SEATS#{id}" "NUMBER";
    // In the table, because the allocator must read the first one consistently.
    "place on a course's waiting list" place(id: CourseId, number: u64)
        Records "SEATS#{id}" "WAITING#{number:012}" prefix WAITING;
    "registration" registration(course: CourseId, user: UserId)
        Records "REGISTRATION#{course}#{user}" "REGISTRATION";
    "answers of a registration" answers(course: CourseId, user: UserId)
        Records "REGISTRATION#{course}#{user}" "ANSWERS";
    "courses for which a person has an active registration" registered(id: UserId)
        Records "REGISTERED#{id}" "REGISTERED";
    "questions of a course" questions(id: CourseId) Records "COURSE#{id}" "QUESTIONS";
    // A stem has no `#`.
    "stem of a word of a published course" entry(stem: &str, published_at: Instant, course: CourseId)
        Records "WORD#{stem}" "AT#{published_at}#{course}" prefix ENTRIES;
    "approximate number of courses with a stem" term_count(stem: &str) Records "WORD#{stem}" "COUNT";
    "file" file(id: FileId) Records "FILE#{id}" "FILE";
    "outbox message" outbox(id: Uuid) Records "OUTBOX#{id}" "OUTBOX";
    "text message" sms(id: SmsId) Records "SMS#{id}" "SMS";
    "text of a message" sms_text(id: SmsId) Records "SMS#{id}" "TEXT";
    "batch of text messages" batch(id: BatchId) Records "BATCH#{id}" "BATCH";
    "common text of a batch" batch_text(id: BatchId) Records "BATCH#{id}" "TEXT";
    // Each chunk has its own partition, so that the chunks of a batch do not share its throughput.
    "chunk of a batch" chunk(batch: BatchId, number: u16) Records "CHUNK#{batch}#{number}" "CHUNK";
    "opt-out of a phone number"
        opt_out(
            committee: Option<CommitteeId> = scope(committee),
            number: &E164 = hashed(number.as_str())
        )
        Records "OPTOUT#{committee}#{number}" "OPTOUT";
    "one-time code" code(kind: CodeKind = kind.code(), challenge: Challenge)
        Transient "CODE#{kind}#{challenge}" "CODE";
    "session" session(id: UserId, session: SessionId) Transient "USER#{id}" "SESSION#{session}" prefix SESSIONS;
    "devices and address ranges of sign-ins" devices(id: UserId) Transient "USER#{id}" "DEVICES";
    "one-time password secret, unconfirmed" enrolment(id: UserId) Transient "SECRET#{id}" "ENROLMENT";
    "completed step of a sign-in" step(session: SessionId) Transient "STEP#{session}" "STEP";
    // Of the session that registers the passkey, or of the token of the sign-in.
    "challenge of a passkey" challenge(session: SessionId)
        Transient "CHALLENGE#{session}" "CHALLENGE";
    "rate limit window" limit(key: &str) Transient "LIMIT#{key}" "LIMIT";
    "security counter" counter(name: &str, key: &str = hashed(key))
        Transient "COUNTER#{name}#{key}" "COUNTER";
    "text messages of a user on a day" sms_quota_of_user(id: UserId, day: Instant = day.day())
        Transient "QUOTA#USER#{id}#{day}" "QUOTA";
    "text messages of a committee on a day"
        sms_quota_of_committee(id: CommitteeId, day: Instant = day.day())
        Transient "QUOTA#COMMITTEE#{id}#{day}" "QUOTA";
    "bytes of the files that a user announced on a day"
        file_quota(id: UserId, day: Instant = day.day())
        Transient "QUOTA#FILES#{id}#{day}" "QUOTA";
    "message with an id of the carrier, and its receipt" receipt(carrier_id: &str)
        Transient "RECEIPT#{carrier_id}" "RECEIPT";
    "next free send time of text messages or of mails" rate(channel: &str) Transient "RATE#{channel}" "RATE";
    "next turn of a committee for messages of batches" next_turn(id: CommitteeId)
        Transient "PLACE#{id}" "PLACE";
    "idempotent response" idempotency(request: &str = hashed(request))
        Transient "IDEMPOTENCY#{request}" "IDEMPOTENCY";
    // `token` is a hash of host, user and token, so that a new token starts with a new item.
    "circuit breaker of a cPanel token" breaker(token: &str) Transient "BREAKER#{token}" "BREAKER";
    // `release` names the version of every function, so that a release is what a stack runs, whichever of them are new.
    "check of a release before it gets traffic" release_check(release: &str = hashed(release))
        Transient "RELEASE#{release}" "CHECK";
}

/// The part of `pattern` before its first value.
const fn before_values(pattern: &'static str) -> &'static str {
    let mut end = 0;
    while end < pattern.len() && pattern.as_bytes()[end] != b'{' {
        end += 1;
    }
    pattern.split_at(end).0
}

/// The key of no item, for reads that only open a connection.
pub(crate) fn missing_item() -> Key {
    Key { table: Table::Records, pk: "NOTHING".to_owned(), sk: "NOTHING".to_owned() }
}

/// The key of the chunk with the partition key `pk`.
pub(crate) fn chunk_at(pk: &str) -> Key {
    Key { table: Table::Records, pk: pk.to_owned(), sk: "CHUNK".to_owned() }
}
