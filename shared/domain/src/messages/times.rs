//! The times of sending, in the order in which a message meets them, and what must hold between them.

use std::time::Duration;

/// How long after the write the sweep, which runs every minute, picks up work that the stream has not handled.
pub const SWEEP_DELAY: Duration = Duration::from_mins(1);
/// The delay of the sweep for a mail in numbers, which waits in the stream for [`MAIL_WAIT`] at most.
pub const MAIL_SWEEP_DELAY: Duration = Duration::from_secs(5);
/// How long one sweep starts work: less than the minute until the next one. What is left stays due.
pub const SWEEP_TIME: Duration = Duration::from_secs(50);
/// How often a sweep looks for codes while it sends what has a rate.
pub const CODES_PAUSE: Duration = Duration::from_secs(1);
/// How long a message that a sweep is about to send is kept from other sweeps: longer than it may wait for its send time.
pub const KEPT_FROM_SWEEPS: Duration = Duration::from_secs(5);

/// How far ahead a message of a batch may reserve a send time.
pub const BATCH_WAIT: Duration = Duration::from_millis(500);
/// The span of the send times that a sweep reserves at once: from [`BATCH_WAIT`] it reaches to [`SINGLE_WAIT`].
pub const RESERVED: Duration = Duration::from_millis(500);
/// How far ahead a single text message, or a mail of a sweep, may: batches leave one for it.
pub const SINGLE_WAIT: Duration = Duration::from_secs(1);
/// How far ahead a code by text message may: all others leave one for it.
pub const CODE_WAIT: Duration = Duration::from_secs(2);
/// How long after it was queued a mail in numbers may wait in the stream, which has codes behind it. Later ones are left
/// to the sweep, so that however many there are, they delay no code for longer.
pub const MAIL_WAIT: Duration = Duration::from_secs(2);
/// How far ahead an older mail may.
pub const OLD_MAIL_WAIT: Duration = Duration::from_millis(20);
/// When no send time is free, a sweep asks again up to this long after one may be: less than [`BATCH_WAIT`], so that a
/// lone process misses none.
pub const FIRST_RATE_PAUSE: Duration = Duration::from_millis(200);
/// When there is none again, other processes reserve them. Many do not all ask at once.
pub const RATE_PAUSE: Duration = Duration::from_secs(5);
/// How long after its send time a message may be sent, if half an interval is not longer. At most 2 %, or one message,
/// more than the rate are then sent in a second.
pub const LATENESS: Duration = Duration::from_millis(20);
/// How long a message that is later tries to reserve another one.
pub const LATE_WAIT: Duration = Duration::from_secs(2);
/// A next send time later than this after the longest wait was written by a process whose clock is ahead. It is not
/// waited for: the rate may double until the clocks agree.
pub const CLOCK_SKEW: Duration = Duration::from_secs(10);

/// A claimed message without an outcome becomes UNKNOWN after this: longer than a function can run. The setting
/// `SMS_CLAIM_SECONDS` changes it.
pub const CLAIM: Duration = Duration::from_mins(5);
/// How long the carrier may take to answer.
pub const CARRIER_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause before an outcome that could not be recorded is recorded again, the first of [`RECORD_ATTEMPTS`]; it doubles.
pub const RECORD_PAUSE: Duration = Duration::from_millis(100);
/// Pause after another error of the store, which may be throttling.
pub const STORE_PAUSE: Duration = Duration::from_millis(200);

/// Longest delay before a refused message is sent again, the first time; it doubles with every attempt.
pub const FIRST_RETRY: Duration = Duration::from_secs(4);
/// The longest delay before a refused message is sent again.
pub const LONGEST_RETRY: Duration = Duration::from_mins(15);
/// How long after its first attempt a refused text message of a user is sent again. Until the first one it waits, however
/// long that takes.
pub const TEXT_LIFE: Duration = Duration::from_hours(24);
/// Delay after an error before work on a message is tried again.
pub const MESSAGE_RETRY: Duration = Duration::from_secs(10);
/// Delay after an error before other work is tried again.
pub const WORK_RETRY: Duration = Duration::from_mins(1);
/// Errors further apart than this are not of one series: the work succeeded in between.
pub const SERIES_GAP: Duration = Duration::from_hours(1);
/// Work that has failed for this long becomes a dead letter.
pub const DEAD_AFTER: Duration = Duration::from_hours(24);

/// How long a receipt can be matched with its message. Receipts take up to 72 hours
/// (<https://repost.aws/knowledge-center/monitor-sns-texts-cloudwatch>).
pub const RECEIPT_RETENTION: Duration = Duration::from_hours(4 * 24);
/// How long a message of the service is kept after its outcome.
pub const OUTBOX_RETENTION: Duration = Duration::from_hours(30 * 24);
/// How long the next turn of a committee is kept after its last batch: longer than any queue.
pub const TURN_RETENTION: Duration = Duration::from_hours(30 * 24);
/// How long the text of a user's message is kept. A message that still waits fails then.
pub const TEXT_RETENTION: Duration = Duration::from_hours(90 * 24);

/// How often an outcome is tried to be recorded.
pub const RECORD_ATTEMPTS: u32 = 7;

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
