//! The times of sending, in the order in which a message meets them, and what must hold between them.

use std::time::Duration;

/// Declares the times, in a form that reads as a table.
macro_rules! times {
    ($($(#[$doc:meta])* $time:ident $count:literal $unit:ident;)+) => {
        $($(#[$doc])* pub const $time: Duration = $unit($count);)+
    };
}

times! {
    /// How long after the write the sweep, which runs every minute, picks up work that the stream has not handled.
    SWEEP_DELAY 60 seconds;
    /// The delay of the sweep for a mail in numbers, which waits in the stream for [`MAIL_WAIT`] at most.
    MAIL_SWEEP_DELAY 5 seconds;
    /// How long one sweep starts work: less than the minute until the next one. What is left stays due.
    SWEEP_TIME 50 seconds;
    /// How often a sweep looks for codes while it sends what has a rate.
    CODES_PAUSE 1 seconds;
    /// How long a message that a sweep is about to send is kept from other sweeps: longer than it may wait for its send time.
    KEPT_FROM_SWEEPS 5 seconds;

    /// How far ahead a message of a batch may reserve a send time.
    BATCH_WAIT 500 milliseconds;
    /// The span of the send times that a sweep reserves at once: from [`BATCH_WAIT`] it reaches to [`SINGLE_WAIT`].
    RESERVED 500 milliseconds;
    /// How far ahead a single text message, or a mail of a sweep, may: batches leave one for it.
    SINGLE_WAIT 1 seconds;
    /// How far ahead a code by text message may: all others leave one for it.
    CODE_WAIT 2 seconds;
    /// How long after it was queued a mail in numbers may wait in the stream, which has codes behind it. Later ones are left
    /// to the sweep, so that however many there are, they delay no code for longer.
    MAIL_WAIT 2 seconds;
    /// How far ahead an older mail may.
    OLD_MAIL_WAIT 20 milliseconds;
    /// When no send time is free, a sweep asks again up to this long after one may be: less than [`BATCH_WAIT`], so that a
    /// lone process misses none.
    FIRST_RATE_PAUSE 200 milliseconds;
    /// When there is none again, other processes reserve them. Many do not all ask at once.
    RATE_PAUSE 5 seconds;
    /// How long after its send time a message may be sent, if half an interval is not longer. At most 2 %, or one message,
    /// more than the rate are then sent in a second.
    LATENESS 20 milliseconds;
    /// How long a message that is later tries to reserve another one.
    LATE_WAIT 2 seconds;
    /// A next send time later than this after the longest wait was written by a process whose clock is ahead. It is not
    /// waited for: the rate may double until the clocks agree.
    CLOCK_SKEW 10 seconds;

    /// A claimed message without an outcome becomes UNKNOWN after this: longer than a function can run. The setting
    /// `SMS_CLAIM_SECONDS` changes it.
    CLAIM 300 seconds;
    /// How long the carrier may take to answer.
    CARRIER_TIMEOUT 10 seconds;
    /// Pause before an outcome that could not be recorded is recorded again, the first of [`RECORD_ATTEMPTS`]; it doubles.
    RECORD_PAUSE 100 milliseconds;
    /// Pause after another error of the store, which may be throttling.
    STORE_PAUSE 200 milliseconds;

    /// Longest delay before a refused message is sent again, the first time; it doubles with every attempt.
    FIRST_RETRY 4 seconds;
    /// The longest delay before a refused message is sent again.
    LONGEST_RETRY 900 seconds;
    /// How long after its first attempt a refused text message of a user is sent again. Until the first one it waits, however
    /// long that takes.
    TEXT_LIFE 86_400 seconds;
    /// Delay after an error before work on a message is tried again.
    MESSAGE_RETRY 10 seconds;
    /// Delay after an error before other work is tried again.
    WORK_RETRY 60 seconds;
    /// Errors further apart than this are not of one series: the work succeeded in between.
    SERIES_GAP 3600 seconds;
    /// Work that has failed for this long becomes a dead letter.
    DEAD_AFTER 86_400 seconds;

    /// How long a receipt can be matched with its message. Receipts take up to 72 hours
    /// (<https://repost.aws/knowledge-center/monitor-sns-texts-cloudwatch>).
    RECEIPT_RETENTION 4 days;
    /// How long a message of the service is kept after its outcome.
    OUTBOX_RETENTION 30 days;
    /// How long the next turn of a committee is kept after its last batch: longer than any queue.
    TURN_RETENTION 30 days;
    /// How long the text of a user's message is kept. A message that still waits fails then.
    TEXT_RETENTION 90 days;
}

/// How often an outcome is tried to be recorded.
pub const RECORD_ATTEMPTS: u32 = 7;

const fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

const fn days(count: u64) -> Duration {
    Duration::from_secs(count * 86_400)
}

/// Whether `times` together are shorter than `limit`.
const fn fit(times: &[Duration], limit: Duration) -> bool {
    let (mut sum, mut at) = (0, 0);
    while at < times.len() {
        sum += times[at].as_millis();
        at += 1;
    }
    sum < limit.as_millis()
}

const _: () = {
    assert!(fit(&[SWEEP_TIME], SWEEP_DELAY));
    assert!(fit(&[MAIL_WAIT], MAIL_SWEEP_DELAY));
    assert!(fit(&[LATE_WAIT, SINGLE_WAIT, RESERVED], KEPT_FROM_SWEEPS));
    assert!(fit(&[CODE_WAIT], KEPT_FROM_SWEEPS));
    assert!(BATCH_WAIT.as_millis() + RESERVED.as_millis() == SINGLE_WAIT.as_millis());
    assert!(fit(&[SINGLE_WAIT], CODE_WAIT));
    assert!(fit(&[FIRST_RATE_PAUSE], BATCH_WAIT));
    let recording = RECORD_PAUSE.saturating_mul(2_u32.pow(RECORD_ATTEMPTS - 1));
    assert!(fit(&[SWEEP_TIME, CARRIER_TIMEOUT, recording], CLAIM));
    assert!(fit(&[LONGEST_RETRY], TEXT_LIFE));
    assert!(fit(&[TEXT_LIFE], TEXT_RETENTION));
    assert!(fit(&[MESSAGE_RETRY, WORK_RETRY], SERIES_GAP));
    assert!(fit(&[SERIES_GAP], DEAD_AFTER));
};
