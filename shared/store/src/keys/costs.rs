//! The cost of each endpoint: sequential round trips, read units and write units of DynamoDB on demand. They are
//! measured by `tests/api/costs.rs` from the consumed capacity that DynamoDB reports. *Edge* is the cost common to
//! all requests: one write for the rate limit and, for a signed-in caller, one concurrent BatchGetItem of session,
//! user and committee. Every five minutes a request of a signed-in caller adds two concurrent writes for
//! `lastActive`.

/// The maximum cost of a successful request to an endpoint.
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
    // edge; the last ten sign-ins and the enrolment
    costs("GET /auth/check", 2, 5.0, 1.0),
    costs("GET /auth/current-user", 1, 3.0, 1.0),
    // edge || address; three counters || user, credentials, committee and devices || sign-ins;
    // transaction of session, sign-in and devices, which checks the credentials and releases the counters. The devices,
    // 2 units, are written by the first sign-in of a day; an account with many devices and address ranges has up to 4 KB
    // of them, 8 units. A new device or address range also adds a message
    costs("POST /auth/login", 3, 6.0, 18.0),
    // edge; the challenge
    costs("POST /auth/passkey/options", 2, 0.0, 2.0),
    // edge || owner of the credential; counter || user, committee, devices, passkey and challenge || sign-ins; transaction
    // of challenge, passkey, session and sign-in, which releases the counter. The first sign-in of a day adds the devices,
    // as POST /auth/login; a refused signature counter adds a message
    costs("POST /auth/passkey", 3, 7.0, 12.0),
    // edge; three message counters || address; user; transaction of code and message.
    // A text message adds a counter and a round trip
    costs("POST /auth/passwordless", 4, 2.0, 11.0),
    // edge; counter and code; user, committee and devices || sign-ins;
    // transaction: deletes the code, releases the counter, adds session, sign-in and devices, as POST /auth/login. The
    // first code of an account also verifies it, deletes the password and adds a message: once 10 units more
    costs("GET /auth/passwordless", 4, 4.0, 13.0),
    costs("POST /auth/logout", 2, 3.0, 3.0),
    costs("GET /auth/sessions", 2, 4.0, 1.0),
    costs("DELETE /auth/sessions/{sid}", 2, 3.0, 3.0),
    costs("GET /otp/generate", 3, 4.0, 3.0),
    // edge; two counters || user, committee, devices, secret and completed step || sign-ins;
    // transaction of code, step, session and sign-in, which releases the counters. The first sign-in of a day adds the
    // devices, 2 units
    costs("POST /otp/verify", 3, 6.0, 15.0),
    // edge; three counters || credentials; two more counters || secret; transaction
    costs("DELETE /otp", 4, 5.0, 22.0),
    costs("POST /otp/recovery-codes", 3, 4.0, 7.0),
    // edge; passkeys; challenge. Passkeys that were removed at once are deleted
    costs("POST /passkeys/registration-options", 3, 4.0, 2.0),
    // edge; challenge; transaction of account, challenge, passkey, owner of the credential and message
    costs("POST /passkeys", 3, 4.0, 15.0),
    costs("GET /passkeys", 2, 4.0, 1.0),
    costs("PUT /passkeys/{passkeyId}", 3, 4.0, 2.0),
    // edge; passkey; transaction of account, passkey, owner of the credential and message
    costs("DELETE /passkeys/{passkeyId}", 3, 4.0, 13.0),
    // an audit entry is stored for the committee, the actor and the target user, each time with an index entry
    costs("PUT /team/{userId}", 3, 4.0, 13.0),
    costs("DELETE /team/{userId}/otp", 3, 4.0, 21.0),
    // edge; counter, address and committee; transaction of five writes, two of them due
    costs("POST /users/register", 3, 2.0, 17.0),
    // edge; counter || address; user; transaction || release of the counter
    costs("POST /users/not-me", 4, 2.0, 14.0),
    costs("GET /users/{userId}", 2, 4.0, 1.0),
    costs("PUT /users/{userId}", 2, 3.0, 5.0),
    costs("DELETE /users/{userId}", 3, 4.0, 17.0),
    // with the counter of exports
    costs("GET /users/{userId}/export", 3, 9.5, 2.0),
    // as POST /auth/passwordless
    costs("GET /users/reset-password", 4, 2.0, 11.0),
    // edge; counter and code; user and credentials; transaction of code, password, account and message
    costs("POST /users/reset-password", 4, 2.0, 16.0),
    // edge; three counters and the credentials; counter of changes; transaction of four writes || release of the counters
    costs("PUT /users/reset-password", 4, 4.0, 20.0),
    costs("POST /users/email-verification", 3, 4.0, 11.0),
    // edge; counter and codes; user and stop of mails; transaction of code and account. The end of a stop is audited: 10
    // write units more
    costs("PUT /users/email-verification", 4, 3.0, 6.0),
    // edge; three message counters; four counters of text messages; transaction of code and message
    costs("POST /users/phone-verification", 4, 3.0, 15.0),
    costs("PUT /users/phone-verification", 3, 3.0, 9.0),
    costs("GET /users/activity", 2, 4.0, 1.0),
    // with a filter up to three queries of 100 users, one after the other: 4 round trips. Of another committee one read
    // unit more, for the committee, at the same time
    costs("GET /users/my-committee-users", 2, 3.5, 1.0),
    costs("PUT /users/user-status/{userId}", 3, 4.0, 13.0),
    // edge; counter; transaction. And two requests to S3
    costs("POST /users/avatar", 3, 3.0, 5.0),
    // of all committees: 17 queries at once. Of one committee or person one query, 8 read units less
    costs("GET /audit", 2, 11.5, 1.0),
    costs("GET /committees", 2, 0.5, 1.0),
    costs("GET /committees/{committeeId}", 2, 1.0, 1.0),
    // the audit entry is stored twice, each time with an index entry
    costs("POST /committees", 2, 3.0, 10.0),
    // edge; committee; transaction with the audit entry, which records what changed
    costs("PUT /committees/{committeeId}", 3, 4.0, 11.0),
    // drafts and published courses are two lists, read concurrently; this is a page of one of them, 2 KB per course
    costs("GET /courses/committee", 2, 7.0, 1.0),
    costs("GET /courses/search-all", 2, 5.0, 1.0),
    // edge; the counts of the stems of all words || the version of the index; the entries of the rarest word, a query for
    // each of its stems, at once; the courses, half a unit per started 4 KB of each, with its description. The stems of
    // five words are at most 40 counts, half a unit each, and 8 queries, which read 500 entries in all
    costs("GET /courses/search-all?q=", 4, 15.0, 1.0),
    costs("POST /courses", 2, 3.0, 9.0),
    // with ten questions, in one query. If a change was seen in part, they are read again in a transaction: one more
    // round trip and 24 units
    costs("GET /courses/{courseId}", 2, 5.0, 1.0),
    // edge; course; transaction, including the index writes
    costs("PUT /courses/{courseId}", 3, 4.0, 14.0),
    costs("DELETE /courses/{courseId}", 3, 4.0, 22.0),
    // the audit entry is stored twice, each time with an index entry; for a course of another committee than the
    // caller's, one read unit and one round trip more
    costs("GET /courses/{courseId}/publish", 3, 4.0, 22.0),
    costs("POST /courses/{courseId}/publish", 3, 4.0, 22.0),
    costs("GET /courses/{courseId}/to-draft", 3, 4.0, 21.0),
    costs("POST /courses/{courseId}/to-draft", 3, 4.0, 22.0),
    // ten questions; TransactGetItems of the course and its questions costs twice the units
    costs("POST /courses/questions/{courseId}", 3, 7.0, 36.0),
    costs("GET /courses/questions/{courseId}/{questionId}", 2, 9.0, 1.0),
    // course with its index entries, question, and the order, which holds the versions of the questions
    costs("PUT /courses/questions/{courseId}/{questionId}", 3, 9.0, 18.0),
    costs("DELETE /courses/questions/{courseId}/{questionId}", 3, 9.0, 18.0),
    costs("GET /files/my-files", 2, 4.5, 1.0),
    // with the bytes of the day
    costs("POST /files", 2, 3.0, 9.0),
    costs("GET /files/{fileId}", 2, 4.0, 1.0),
    costs("GET /files/public/{fileId}", 2, 1.0, 1.0),
    // and three sequential requests to S3: HeadObject, CopyObject, DeleteObject
    costs("POST /files/{fileId}/complete", 3, 4.0, 4.0),
    costs("DELETE /files/{fileId}", 3, 4.0, 7.0),
    // edge; opt-outs of the number; quota of the user; quota of the committee; transaction of the message, which is in the
    // lists of its sender, its committee and due work, and its text. An idempotency key adds one read, one write that holds it, a round trip, and two write units in the transaction
    costs("POST /sms/single", 5, 5.0, 10.0),
    // a hundred recipients: a read unit for each; two quotas; batch, which is in two lists, text, four chunks and the audit
    // entries. Afterwards each message has one index entry more than those of its sender and batch, which is written when
    // it is queued, claimed and sent: 3 units
    costs("POST /sms/bulk", 5, 103.0, 27.0),
    costs("GET /sms", 2, 4.5, 1.0),
    // one message in 16 shards, which are queried at once: half a unit each, up to 24 units in all for a full page. Of
    // another committee one unit more, for the committee, at the same time
    costs("GET /sms?scope=committee", 2, 11.0, 1.0),
    costs("GET /sms/bulk", 2, 3.5, 1.0),
    costs("GET /sms/{smsId}", 3, 5.0, 1.0),
    // counts its hundred messages
    costs("GET /sms/bulk/{batchId}", 3, 11.5, 1.0),
    costs("GET /sms/opt-outs", 2, 3.5, 1.0),
    costs("GET /sms/opt-outs/{number}", 2, 4.0, 1.0),
    // the audit entry is stored twice, each time with an index entry
    costs("PUT /sms/opt-outs/{number}", 2, 3.0, 10.0),
    costs("DELETE /sms/opt-outs/{number}", 2, 3.0, 10.0),
    // edge; circuit breaker, which is written after a failure; two audit entries; and two requests to cPanel
    costs("POST /cpanel/subdomain", 3, 4.0, 7.0),
    // and one request to cPanel
    costs("GET /cpanel/subdomain", 2, 4.0, 1.0),
    costs("GET /cpanel/domains", 2, 4.0, 1.0),
    // and two concurrent requests to cPanel
    costs("GET /cpanel/db", 2, 4.0, 1.0),
];
