//! The key schema, every access pattern and its cost. Read this page before changing the tables.
//!
//! There are two tables, `records` (durable items) and `transient` (short-lived items), both with a string
//! partition key `pk` and a string sort key `sk`. Attributes with a fixed meaning:
//!
//! | attribute | meaning |
//! |---|---|
//! | `card` | the entity as lists return it; projected into the indexes, so that lists need no second read |
//! | `details` | the other fields of a course |
//! | `listPk`, `listSk` | key in the index `listing` (projection: `card`, `details`, `lastActive`) |
//! | `authoredPk`, `authoredSk` | key in the index `authored` (projection: `card`, `details`) |
//! | `overviewPk`, `overviewSk` | key in the index `overview` (projection: `card`) |
//! | `cataloguePk`, `catalogueSk` | key in the index `catalogue` (projection: `card`) |
//! | `duePk`, `dueAt` | key in the sparse index `due` (projection: `requestId`): pending work of dispatcher and worker, and when it is due |
//! | `requestId` | the `X-Request-Id` of the request that made the item due, for log lines; empty if none did |
//! | `ttl` | Unix seconds after which DynamoDB may delete the item; it lags by days, so every read also checks the item's own time |
//!
//! [`ITEMS`], [`LISTS`] and [`DueList`] are the keys: the code makes its keys from them, and `shared/store/keys.md` is
//! printed from them. Lists that the whole service, or all users of a committee, write to are in 16 shards, by a hash of
//! the item's key; a reader queries them all and merges the results.
//!
//! `lastActive` of a user is beside `card`, so that IAM can permit every function to write it and few to write the account,
//! and in `listing`, because lists of accounts show it: each of its writes, one in five minutes and active user, also writes
//! the entry. With the attribute outside the index, a page of accounts would need a second read of every user in it. For
//! IAM, too, storage usage and registered courses of a person have partition keys of their own.
//!
//! A word has at most 3 stems in Latin letters and 8 in Arabic letters, usually 1 and 2. So a course of ten words has 10 to
//! 20 entries, each with all stems of the course: 0.2 KB. The 700 letters of its title, subtitle, section and city can have
//! some 230 words and, made for it, less than 1,000 stems: then each entry has 10 KB, and a transaction of 99 a megabyte.
//!
//! Messages and batches of a committee are in the index `overview`: messages of batches use the keys of all other
//! indexes.
//!
//! # Throughput of one partition
//!
//! A DynamoDB partition serves 1,000 write units and 3,000 read units per second, whatever the table's size
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>). With
//! courses of 2 KB, summaries of 0.7 KB and pages of 20 (writes that many people share: `tests/api/heat.rs`):
//!
//! | partition | units per request | maximum per second |
//! |---|---|---|
//! | `PUBLISHED` (all published courses) | page: 20 × 0.7 KB = 14 KB, eventually consistent: 2 units | 1,500 pages; more needs a cache of a few seconds |
//! | the same | publication, or a change of a published course: 1 unit, 2 when its key changes | 500 to 1,000 changes |
//! | `CATALOGUE#<length>` (announced courses of one length) | page of 20 of the catalogue: 0.5 to 2 units in each of 7 lists; one with a filter: at most 500 × 0.7 KB, 44 units in all | 1,500 pages, 68 with a filter; the edge keeps each for a minute |
//! | the same | publication, or a change of an announced course: 1 unit, 2 when its dates change | 500 to 1,000 changes |
//! | `COMMITTEE#<id>` | request of a member: 1 unit, strongly consistent | 3,000 requests of the members of one committee |
//! | `COMMITTEES` | page: 20 × 0.6 KB = 12 KB: 1.5 units | 2,000 pages |
//! | `COMMITTEE#<id>#USERS` | `lastActive` of an active user: 1 unit in five minutes | 300,000 active users of one committee |
//! | the same | page: 20 × 0.8 KB = 16 KB: 2 units | 1,500 pages of one committee |
//! | `COMMITTEE#<id>#COURSES#<state>` | page: 20 × 2 KB = 40 KB: 5 units | 600 pages of one committee and state |
//! | the same | a change: 2 units to remove the old entry and 2 to insert the new one | 250 changes of one committee's courses |
//! | `COURSE#<id>` | course with ten questions: 6 KB, strongly consistent: 2 units | 1,500 reads of one course |
//! | the same | a change in a transaction: 2 × 2 units | 250 changes of one course |
//! | `WORD#<stem>`, entries | search: at most 500 × 0.2 KB = 100 KB of all stems of a word, eventually consistent: 12.5 units | 240 searches with five frequent words, 2,000 with one word |
//! | the same | publication: 2 units for the entry, 1 for the count | 333 courses with a stem in common |
//! | `USAGE#<id>` | `POST /files`: 2 units | 500 files of one user |
//! | `USER#<id>` in transient | session of a request: 1 unit | 3,000 requests of one user, whom the rate limit allows 100 in a minute |
//! | the same | sign-in: 2 units for the session, 2 to 8 for the devices | 100 sign-ins of one user |
//! | `LIMIT#<key>` | request: 1 unit | 1,000 requests of one network or user; beyond, the answer is 429 as well |
//! | `COUNTER#password-network#<sha-256>` | a sign-in: 1 unit to reserve, 2 in its transaction | 333 sign-ins of one network, which the rate limit allows 100 in a minute |
//! | `COUNTER#TextsInAll#<sha-256>` | code by text message to a number that is not verified: 1 unit | 1,000 codes, more than a day's limit |
//! | `COUNTER#…` of a user, an address or a network | attempt: 1 to 3 units | 333 attempts, more than any of these limits |
//! | `ADMINS` | change of who is a super admin, in a transaction: 2 units | 500 changes, one after the other: transactions conflict here |
//! | `QUOTA#COMMITTEE#<id>#<day>` | `POST /sms/single`, `POST /sms/bulk`: 1 unit, outside the transaction | 1,000 calls of one committee |
//! | `QUOTA#USER#<id>#<day>`, `QUOTA#FILES#<id>#<day>` | call: 1 unit, for files 2 in the transaction | 1,000 calls, 500 files of one user |
//! | `RATE#<channel>` | 20 messages of a sweep, or one of the stream: 1 unit, up to 3 at the start of a sequence | 333 writes, 6,600 messages |
//! | `RECEIPT#<carrier's id>` | a text message and its receipt: 2 units | 500 receipts of one message |
//! | `SEATS#<course>` | a change of state of a registration, in a transaction: 2 units | some 80 transactions of one course, one after the other: they conflict here. The worker moves 24 people in one. Sixteen items with a share of the seats each would take sixteen times as many |
//! | the same, number | `POST /registrations/{courseId}`: 1 unit, outside the transaction | 1,000 registrations for one course |
//! | `COURSE#<id>#REGISTRATIONS#<state>` | page: 20 × 0.6 KB = 12 KB: 1.5 units | 2,000 pages of one course and state |
//! | `ATTENDANCE#<course>` | a mark: an item of one person, 1 KB with ten marks: 1 unit; 6 units with sixty | 1,000 marks of one course, 160 with sixty sessions |
//! | the same | page of 100 people: 100 × 1 unit, strongly consistent | 30 pages of one course |
//! | `ANNOUNCEMENTS#<course>` | a change of dates, in a transaction, or a step of an announcement: 2 to 12 units | 80 changes of one course |
//! | `CERTIFICATE#<code>` | a verification: 1 KB, strongly consistent: 1 unit | 3,000 verifications of one certificate |
//! | `ATTENDANCE#<course>` | an issue, in a transaction of a person: 2 to 12 units | 80 to 500 certificates of one course |
//! | `PLACE#<committee>` | 25 messages of a batch: 1 unit, 2 when none of the committee waits | 500 chunks, 12,500 messages of one committee |
//! | `BREAKER#<sha-256>` | request to cPanel: 1 read unit | 3,000 requests, more than the panel serves |
//! | `AUDIT#<committee>` | audited action in a transaction: 2 units | 500 actions in one committee |
//! | `PERSON-AUDIT#<user>` | audited action in a transaction: 2 units | 500 actions of or on one person |
//! | `AUDIT`, 16 shards | audited action: 1 unit | 16 × 1,000 actions in the whole service |
//! | the same | page: 20 × 0.5 KB = 10 KB in all, at least 0.5 units of each shard | 1,500 to 6,000 pages |
//! | `SEALED#<key name>` | enrolment, or a secret that is sealed again: 1 unit | 1,000 enrolments in the whole service |
//! | `OPTOUTS#<committee or ALL>` | opt-out: 1 unit | 1,000 opt-outs of one list |
//! | `OUTBOX` in `due`, 16 shards | a message is queued, claimed and sent: 4 units | 16 × 250 messages |
//! | `SINGLE` in `due`, 16 shards | a message is queued, claimed and sent: 4 units | 16 × 250 messages |
//! | `BULK` in `due`, 16 shards | a message is queued and taken by a sweep: 2 units | 16 × 500 messages |
//! | `STARTED` in `due`, 16 shards | a message is taken by a sweep, claimed and sent: 4 units | 16 × 250 messages |
//! | `USER#<id>#SMS`, `BATCH#<id>#SMS` | a message is claimed and sent: 2 units | 500 messages of one sender or batch, 50 times the sending rate |
//! | `COMMITTEE#<id>#SMS` in `overview`, 16 shards | a message is queued, claimed and sent: 3 units | 16 × 333 messages of one committee |
//! | the same | page: 20 × 0.5 KB = 10 KB in all, at least 0.5 units of each shard | 1,500 to 6,000 pages of one committee |
//! | `COMMITTEE#<id>#BATCHES` in `overview` | a batch is accepted: 1 unit | 1,000 batches of one committee, as many as its quota serves |
//! | `MAILS` in `due` | a mail of many is queued: 1 unit; taken by a sweep, claimed and sent, at the rate: 5 units | 900 mails queued beside 20 that are sent |
//! | other lists in `due` | a chunk, course, file, account or user is added and removed: 2 units; a publication adds its course and its announcements | 500 of each, in the whole service, 250 publications |
//!
//! An on-demand table starts at 4,000 write and 12,000 read units per second and doubles as needed; the service
//! as a whole supports the sum of these until one of the partitions above is hot.
//!
//! # What DynamoDB may do
//!
//! Indexes are read as of some moment before; the items of one BatchGetItem or Query are read at different moments,
//! between which a transaction may stand; transactions that have an item in common conflict; any request may be
//! throttled, or take effect although its response is lost. Transactions are repeated under one client token, after
//! conflicts until the deadline, and a few times within 1.5 s after throttling, an internal error
//! (`edge/faults.rs::failing_transaction_is_retried_then_returns_503`) or a response that does not come, of which
//! one that times out is repeated once (`edge/faults.rs::registration_with_lost_response_succeeds_once`); unprocessed
//! keys of a batch are read again (`edge/faults.rs::partial_batch_is_retried_until_complete`). The rest, by access:
//!
//! | access | what may happen | why it is harmless | test in `tests/api` |
//! |---|---|---|---|
//! | session, user and committee of the caller, in a batch | a transaction between the reads | a session that seems to have ended is read again in a transaction | `edge/faults.rs::session_renewed_between_two_reads_of_a_batch_stays_valid` |
//! | rate limit | its partition or the table is throttled | the key is over its limit: 429; each process counts for itself | `edge/limit.rs::throttled_key_returns_429_throttled_or_lost_table_counts_locally` |
//! | `lastActive` | lost, throttled | the time is older by five minutes and never moves back | `auth/check.rs::last_active_moves_at_most_every_five_minutes` |
//! | counters of attempts | conflict with the sign-ins that release them | retried; what is not released stays counted until the window ends | `auth/login.rs::concurrent_sign_ins_from_one_network_are_not_counted` |
//! | account, devices and secret of a sign-in, in a batch | changed between the reads and the transaction | the transaction checks the password and uses up the code | `otp/verify.rs::code_used_fifty_times_at_once_signs_in_once` |
//! | one-time code | used at the same time | the delete in the transaction has a condition | `auth/passwordless.rs::link_used_fifty_times_at_once_signs_in_once` |
//! | the same | throttled after a part of the attempts is counted | these are returned | `users/take_over.rs::attempt_that_ends_with_503_is_not_counted` |
//! | the same | many attempts at the same time | an attempt is counted by a condition before it is compared | `users/reset_password.rs::concurrent_attempts_at_a_code_stay_within_its_limits` |
//! | owner of a credential, account, passkey and challenge of a sign-in | changed between the reads and the transaction | the transaction uses up the challenge and raises the counter; removing all passkeys ends all sessions | `passkeys/sign_in.rs::answer_used_fifty_times_at_once_signs_in_once` |
//! | number of passkeys of an account | added at the same time | the account's version is a condition | `passkeys/create.rs::concurrent_registrations_never_exceed_twenty` |
//! | challenge | lost response of its write | it is unused and expires | `passkeys/create.rs::challenge_is_valid_for_five_minutes` |
//! | end of a session | lost response | a transaction of one item is repeated under its token | `edge/faults.rs::session_end_with_lost_response_succeeds` |
//! | the same | renewed since it was read | it ends in any epoch that is not earlier | `auth/logout.rs::logout_beside_a_renewal_of_the_session_ends_it` |
//! | change of an account | changed since it was read; conflict | the version is a condition; it is read and decided again | `team/change.rs::concurrent_changes_without_version_lose_no_acknowledged_one` |
//! | `EMAIL#` | taken at the same time; lost response | the put has a condition, under one token | `edge/faults.rs::registration_with_lost_response_succeeds_once` |
//! | stop of mails | feedback of SES comes twice, late or in another order | the time of the mail is a condition: one from before the mailbox was proved again stops nothing | `users/mail_stops.rs::feedback_on_an_older_mail_does_not_stop_mails_again` |
//! | `ADMINS` | conflict | retried; the size of the set is a condition | `team/change.rs::one_super_admin_remains_when_two_demote_each_other` |
//! | state of a committee | closed between the read and the transaction | the request began before; later ones are refused | `committees/change.rs::closed_committee_gets_no_further_account` |
//! | the same | many transactions of one committee | none of them has its item | `users/register.rs::registrations_in_one_committee_do_not_conflict` |
//! | change of a committee | other fields changed at the same time | only the changed fields are conditions | `committees/change.rs::concurrent_changes_of_different_fields_both_apply` |
//! | lists in the indexes | stale: an entry comes, changes or goes late | positions are sort keys: a page repeats and skips no entry that stays | `committees/list.rs::pages_neither_repeat_nor_skip_items` |
//! | lists of courses, merged | stale: a course that moves is in two lists, or in none | of two one is shown; the next read has it | `courses/committee.rs::list_is_sorted_by_last_change_and_pages_are_complete` |
//! | lists of the catalogue, merged | stale: a course comes, moves to another length or goes late | a position is a start and an id: no course that stays is repeated or skipped; what was cancelled is left out by its settings | `catalogue/races.rs::catalogue_read_during_changes_has_all_courses_that_stay` |
//! | sessions beside the course, in a batch | a transaction between the reads | their versions differ: they are read again in a transaction | `registrations/sessions.rs::sessions_are_replaced_by_a_change_that_overtakes_another` |
//! | first mark of a session | the session is removed since it was read | the session is recorded as marked before, under the version of the sessions; one that is marked is not removed | `registrations/attendance.rs::session_removed_while_its_first_mark_arrives_has_no_mark` |
//! | attendance of a person | changed since it was read; lost response | its revision is a condition; it is read and merged again, and a mark that was sent twice is stored once | `registrations/attendance.rs::four_phones_leave_one_merged_mark_for_each_person_and_session` |
//! | the same | the account is erased since it was read | the erasure raises the revision, and no mark follows it | `registrations/attendance.rs::marks_of_an_erased_person_go_and_none_follows` |
//! | latest certificate of a person | several calls issue at the same time; the person is unmarked, cancelled or erased since they were read | the revision of the attendance and the version of the registration are conditions; it is decided again | `certificates/races.rs::fifty_concurrent_issues_for_a_hundred_people_issue_a_hundred` |
//! | certificate | it is revoked and made anonymous at the same time; lost response | its version is a condition; a revocation that is repeated keeps the first reason | `certificates/races.rs::verification_after_the_revocation_is_answered_says_revoked` |
//! | certificates of a person, in the index | stale: a revocation comes late | each is read again, strongly consistent; erasures read the list a second time | `certificates/verify.rs::certificates_are_listed_latest_first_in_a_closed_committee` |
//! | announcements of a course | a process is killed, a step is repeated, the dates change meanwhile | the ids of messages follow from what they announce; the count of changes is a condition of every step | `registrations/announcements.rs::reminders_of_a_worker_killed_anywhere_come_once_to_everybody` |
//! | confirmed people of a course, in the index | stale: who was confirmed a moment ago comes late | they were told of the dates when they were confirmed | `registrations/announcements.rs::reminder_comes_once_before_each_day_to_who_was_confirmed` |
//! | `AUDIT`, merged | stale: the latest entries come late in one shard | entries never change; the next read has them | `users/audit.rs::pages_of_all_committees_have_every_entry_once_in_order` |
//! | messages of a committee, merged | stale: the latest come late, in one shard | a position is an id: no entry that stays is repeated or skipped | `sms/list.rs::committee_pages_repeat_and_skip_nothing_while_messages_are_sent` |
//! | courses found by words | stale: entries of former titles | the course itself decides whether it is shown | `courses/search_all.rs::changed_course_is_found_by_its_new_words_only` |
//! | entries of a course's words | written twice, or by a late record | the course's version is a condition; the counts only choose a word | `courses/search_all.rs::concurrent_dispatchers_write_the_same_words` |
//! | the same, more than one transaction | the process ends in between | the course stays due, and has all terms recorded that may have entries | `courses/search_all.rs::course_with_many_stems_is_indexed_in_several_transactions` |
//! | course with its questions, in one query | a change between the reads | versions are compared; then they are read in a transaction | `courses/show.rs::course_read_during_changes_has_questions_of_its_version` |
//! | change of a course or question | changed since it was read; conflict | the version is a condition; it is read and decided again | `courses/question.rs::concurrent_changes_are_all_applied` |
//! | seats of a course | many registrations at the same time | free seats and the empty waiting list are conditions; refused ones are decided again | `registrations/promotion.rs::concurrent_registrations_fill_seats_and_list_exactly` |
//! | the same | the settings or the course change between the reads and the transaction | the revision is a condition | `registrations/promotion.rs::concurrent_changes_keep_counters_equal_to_registrations` |
//! | waiting list | the record of the stream is lost | the seats are due: the sweep promotes | `registrations/promotion.rs::sweep_promotes_what_the_stream_has_missed` |
//! | the same | dates or state of the course change between the reads and the end of its registrations | the revision is a condition | `registrations/edges.rs::course_postponed_while_the_worker_ends_it_ends_nobody` |
//! | registration and its answers, in a batch | the answers change between the reads | a change of answers has both versions as conditions; one without them writes nothing that follows from answers | `registrations/edges.rs::note_beside_a_change_of_answers_leaves_what_is_missing_right` |
//! | active registrations of a person | many of them at the same time | the size of the set is a condition; it loses courses that are over, which can be repeated | `registrations/edges.rs::courses_that_are_over_do_not_count_towards_the_limit` |
//! | courses of a committee that is active again | one changes between two pages | the first page is read again after the last one | `registrations/edges.rs::committee_that_is_active_again_promotes_for_all_its_courses` |
//! | registrations of an export | stale: a state has changed since | each is read again, strongly consistent, and shown in the state it then has | `registrations/export.rs::export_has_the_requested_states_in_order_of_numbers` |
//! | usage and daily bytes of a user | conflict of the user's own calls | retried; the quota is a condition | `files/create.rs::fifty_concurrent_files_never_exceed_the_quota` |
//! | status of a file | the call ends between its steps | every step can be repeated by the sweep | `files/complete.rs::sweep_completes_what_an_interrupted_call_began` |
//! | quotas of text messages | many calls of one committee | a condition of a plain update, in no transaction | `sms/single.rs::daily_quotas_hold_per_user_and_committee_under_concurrency` |
//! | the same | lost response, or the call ends before its transaction | the quota of the day is smaller, never larger | `sms/single.rs::message_with_unknown_outcome_stays_counted` |
//! | idempotency key | used at the same time | one transaction is written; the others release their counts and get its response | `sms/single.rs::repeated_request_is_counted_once_in_the_quota` |
//! | the same | lost response of the transaction | the stored response is the proof | `sms/single.rs::lost_store_response_accepts_the_message_once` |
//! | opt-outs of many recipients | stale | read again, strongly consistent, before each message is sent | `sms/single.rs::opted_out_number_is_neither_sent_to_nor_counted` |
//! | messages of a batch, counted | stale: a message not yet, or in a former state | what is not counted counts as queued | `sms/batch.rs::batch_counters_always_add_up` |
//! | chunk | expanded twice, lost response | its delete has a condition, and ids follow from the place | `sms/bulk.rs::chunk_becomes_messages_once_despite_crashes` |
//! | lists in `due`, merged | stale: done work is still listed, new work not yet | a condition on `dueAt`; the next sweep finds it | `dispatcher.rs::concurrent_dispatchers_send_a_message_once` |
//! | the same | an item has an unexpected shape | it is postponed, and a dead letter after a day | `sms/turns.rs::messages_that_cannot_be_read_delay_no_other` |
//! | claim and outcome of a message | lost response, or the process ends | UNKNOWN: it is never sent twice | `dispatcher.rs::dispatcher_killed_while_sending_leaves_message_unknown` |
//! | `RECEIPT#` | the receipt comes before the outcome, twice, or in another order | both are written to one item: the second writer sees the other value and ends the message | `sms/receipts.rs::receipt_before_the_outcome_is_not_lost` |
//! | the same | the process ends before it writes the id | the receipt names no message: it stays SENT, or becomes UNKNOWN | `sms/receipts.rs::receipt_of_a_text_of_unknown_outcome_changes_nothing` |
//! | `RATE#<channel>` | lost response | the send times are lost; none is given twice | `sms/rate.rs::concurrent_send_times_are_evenly_spaced_and_unique` |
//! | `PLACE#<committee>`, after the first of `BULK` | lost response; the index lags behind | turns stay empty, or the committee begins a few turns earlier or later | `sms/turns.rs::later_committee_takes_every_second_turn` |
//! | data of an erased user, deleted in steps | a step is repeated, by a late record or after a failure | every write can be repeated; the due time of the step is a condition of the next one | `worker.rs::code_is_sent_within_two_turns_of_its_own_mapping` |
//! | the same | requests that still run write more | deleted again in a second pass, a minute after the erasure or later | `users/erase.rs::data_written_during_erasure_is_removed_too` |
//! | the same | stale: the index does not list a course yet, or a change moved it | the second pass reads all courses again | `users/erase.rs::erasure_of_many_steps_reads_the_courses_once_more` |
//! | `SEALED#` | stale: a secret is still listed under its former key | the sealed text is a condition | `ops.rs::sealing_key_is_kept_while_a_secret_uses_it` |

mod due_lists;
mod items;
mod lists;
mod schema;

use data_encoding::HEXLOWER;
use domain::{CommitteeId, folded};
pub use due_lists::DueList;
pub(crate) use items::*;
pub use items::{ITEMS, ItemKind};
pub(crate) use lists::*;
pub use lists::{LISTS, ListKind};
pub use schema::{
    AUTHORED, CATALOGUE, DUE, IndexSchema, LISTING, OVERVIEW, TABLES, Table, TableSchema,
};
use sha2::{Digest, Sha256};

/// The primary key of an item, and its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(crate) table: Table,
    pub(crate) pk: String,
    pub(crate) sk: String,
}

/// `text`, folded (lower case, no diacritics) and cut to 120 bytes to fit into a sort key (1,024 bytes) and a cursor
/// (512).
pub(crate) fn sortable(text: &str) -> String {
    let mut folded = folded(text);
    folded.truncate(folded.floor_char_boundary(120));
    folded
}

fn hashed(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}

/// The committee that an opt-out is valid for, or `ALL`.
fn scope(committee: Option<CommitteeId>) -> String {
    committee.map_or_else(|| "ALL".to_owned(), |committee| committee.to_string())
}
