use std::time::Duration;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::{CourseSessionId, Instant, UserId, Zone};

fn at(minutes: i64) -> Instant {
    Instant::from_unix_milliseconds(1_800_000_000_000 + minutes * 60_000)
}

fn user(number: u128) -> UserId {
    UserId::new(Uuid::from_u128(number))
}

fn session(number: u128, start: i64, minutes: i64) -> CourseSession {
    CourseSession {
        session_id: CourseSessionId::new(Uuid::from_u128(number)),
        title: None,
        start_at: at(start),
        end_at: at(start + minutes),
        location: None,
        trainers: Vec::new(),
        cancelled: false,
    }
}

fn hand(seen: u64, status: Option<AttendanceStatus>, minutes: Option<u32>) -> Submitted {
    Submitted::Hand { seen, hand: Hand { status, minutes, note: None } }
}

/// Applies `all` one after the other. Returns what is stored then, and the results.
fn applied(all: &[Submitted]) -> (Option<Mark>, Vec<MarkResult>) {
    let mut stored = None;
    let results = all.iter().zip(0..).map(|(one, place)| {
        let (result, mark) = Mark::merged(stored.as_ref(), one, user(1), at(place));
        stored = mark.or(stored.take());
        result
    });
    let results = results.collect();
    (stored, results)
}

#[test]
fn marks_merge_as_their_table_says() {
    use AttendanceStatus::{Absent, Present};
    use MarkResult::{Kept, Marked, Refused, Unchanged};
    let scan = |minutes| Submitted::Scan(Some(at(minutes)));
    let unknown = Submitted::Scan(None);
    let present = |seen| hand(seen, Some(Present), None);
    let absent = |seen| hand(seen, Some(Absent), None);
    for (sent, results, version) in [
        (vec![scan(5), scan(9), scan(2)], vec![Marked, Unchanged, Marked], 0),
        (vec![unknown.clone(), scan(9), unknown.clone()], vec![Marked, Marked, Unchanged], 0),
        (vec![absent(7), scan(1)], vec![Marked, Kept], 1),
        (vec![scan(1), absent(0), scan(0)], vec![Marked, Marked, Kept], 1),
        (vec![absent(0), present(1), absent(2)], vec![Marked, Marked, Marked], 3),
        (vec![absent(0), present(1), present(0)], vec![Marked, Marked, Unchanged], 2),
        (vec![absent(0), present(1), absent(0)], vec![Marked, Marked, Refused], 2),
        (vec![hand(0, None, None), scan(1)], vec![Marked, Kept], 1),
        (vec![hand(3, Some(Present), Some(45)), present(1)], vec![Marked, Marked], 2),
    ] {
        let (stored, found) = applied(&sent);
        assert_eq!(found, results, "{sent:?}");
        assert_eq!(stored.map(|mark| mark.version), Some(version), "{sent:?}");
    }
    let (stored, _) = applied(&[hand(0, None, None), scan(1)]);
    assert!(stored.is_some_and(|mark| mark.status.is_none()), "a removed mark stays removed");
    assert_eq!(Marks::default().of_own(), Marks::default());
}

proptest! {
    #[test]
    fn scans_in_any_order_and_repeated_leave_the_earliest(
        times in prop::collection::vec(prop::option::of(-90_i64..90), 1..8),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let scans: Vec<Submitted> =
            times.iter().map(|time| Submitted::Scan(time.map(at))).collect();
        let repeated = order.iter().map(|index| index.get(&scans).clone());
        // Each at least once, the order of the repetitions first.
        let sent: Vec<Submitted> = repeated.chain(scans.iter().cloned()).collect();
        let (stored, _) = applied(&sent);
        let earliest = times.iter().flatten().min().map(|time| at(*time));
        prop_assert_eq!(stored.map(|mark| mark.at), Some(earliest));
    }

    #[test]
    fn hand_wins_over_scans_wherever_it_comes(
        before in prop::collection::vec(prop::option::of(-90_i64..90), 0..5),
        after in prop::collection::vec(prop::option::of(-90_i64..90), 0..5),
        repetitions in 0..3_usize,
    ) {
        let scan = |time: &Option<i64>| Submitted::Scan(time.map(at));
        let correction = hand(0, Some(AttendanceStatus::Excused), None);
        let sent: Vec<Submitted> = before
            .iter()
            .map(scan)
            .chain([correction.clone()])
            .chain(after.iter().map(scan))
            .chain(std::iter::repeat_n(correction, repetitions))
            .collect();
        let (stored, results) = applied(&sent);
        let stored = stored.unwrap();
        prop_assert_eq!((stored.status, stored.version), (Some(AttendanceStatus::Excused), 1));
        prop_assert!(results[results.len() - repetitions..].iter().all(|one| *one == MarkResult::Unchanged));
    }

    #[test]
    fn hands_in_any_order_are_stored_or_refused_and_never_lost(
        hands in prop::collection::vec((0..4_u64, 1..4_u32), 1..10),
    ) {
        let sent: Vec<Submitted> = hands
            .iter()
            .map(|(seen, minutes)| hand(*seen, Some(AttendanceStatus::Present), Some(*minutes)))
            .collect();
        let (stored, results) = applied(&sent);
        let marked = results.iter().filter(|one| **one == MarkResult::Marked).count();
        let last = sent.iter().zip(&results).rfind(|(_, result)| **result == MarkResult::Marked);
        let Some((Submitted::Hand { hand, .. }, _)) = last else { panic!("the first is stored") };
        let stored = stored.unwrap();
        prop_assert_eq!((stored.version, stored.minutes), (marked as u64, hand.minutes));
    }
}

#[test]
fn sums_credit_minutes_of_sessions_that_are_not_cancelled() {
    let mut sessions = vec![session(1, 0, 210), session(2, 240, 210), session(3, 600, 100)];
    sessions[2].cancelled = true;
    let sessions = CourseSessions::new(sessions).unwrap();
    let (first, second) = (sessions[0].session_id, sessions[1].session_id);
    let mark = |submitted: &Submitted| applied(std::slice::from_ref(submitted)).0.unwrap();
    let part = mark(&hand(0, Some(AttendanceStatus::Present), Some(300)));
    let scan = mark(&Submitted::Scan(Some(at(252))));
    assert_eq!(scan.late(&sessions[1]), Some(12));
    assert_eq!(scan.late(&sessions[2]), None, "before the start");
    let cancelled = mark(&Submitted::Scan(None));
    let marks = Marks([(first, part), (second, scan), (sessions[2].session_id, cancelled)].into());
    let attendance = Attendance::new(&sessions, &marks);
    assert_eq!((attendance.minutes, attendance.total_minutes), (420, Some(420)));
    let shorter = CourseSessions::new(vec![session(1, 0, 199), session(2, 240, 1)]).unwrap();
    let attendance = Attendance::new(&shorter, &Marks([(first, marks.0[&first].clone())].into()));
    assert_eq!((attendance.minutes, attendance.percent), (199, 99), "rounded down");
    assert_eq!(Attendance::new(&CourseSessions::default(), &marks).percent, 0);
}

#[test]
fn sessions_follow_their_starts_and_do_not_overlap() {
    let mut all = vec![session(1, 300, 60), session(2, 0, 60), session(3, 60, 60)];
    let sessions = CourseSessions::new(all.clone()).unwrap();
    assert!(sessions.is_sorted_by_key(|session| session.start_at));
    assert_eq!(sessions.dates(), Some((at(0), at(360))));
    all[2].start_at = at(59);
    assert_eq!(CourseSessions::new(all.clone()), Err(2));
    all[2].cancelled = true;
    assert_eq!(CourseSessions::new(all.clone()).unwrap().minutes(), 120);
    all.iter_mut().for_each(|session| session.cancelled = true);
    assert_eq!(CourseSessions::new(all).unwrap().dates(), Some((at(0), at(360))));
    assert_eq!(CourseSessions::default().dates(), None);
}

#[test]
fn session_is_two_half_days_if_it_is_long_and_has_13_00_within() {
    let zone: Zone = "Africa/Tunis".parse().unwrap();
    let half_days = |start: &str, end: &str| {
        let instant = |time: &str| format!("{time}+01:00").parse().unwrap();
        let session =
            CourseSession { start_at: instant(start), end_at: instant(end), ..session(1, 0, 1) };
        let half_days = session.half_days(&zone).into_iter();
        half_days.map(|(start, end)| format!("{start} {end}")).collect::<Vec<_>>()
    };
    let morning = "2026-12-12T08:00:00 2026-12-12T13:00:00";
    assert_eq!(half_days("2026-12-12T08:00:00", "2026-12-12T13:00:00"), [morning]);
    assert_eq!(
        half_days("2026-12-12T08:00:00", "2026-12-12T13:00:01"),
        [morning, "2026-12-12T13:00:00 2026-12-12T13:00:01"]
    );
    for (start, end) in [
        ("2026-12-12T10:00:00", "2026-12-12T15:00:00"),
        ("2026-12-12T13:00:00", "2026-12-12T19:00:00"),
        ("2026-12-12T06:00:00", "2026-12-12T13:00:00"),
        ("2026-12-12T20:00:00", "2026-12-13T08:00:00"),
    ] {
        assert_eq!(half_days(start, end), [format!("{start} {end}")]);
    }
}

#[test]
fn scan_of_a_wrong_clock_is_moved_by_its_error() {
    let (received, day) = (at(100), at(0));
    for (time, sent, expected) in [
        (at(90), received, Some(at(90))),
        // The clock is 90 minutes ahead, or late.
        (at(180), at(190), Some(at(90))),
        (at(0), at(10), Some(at(90))),
        // Later than the receipt: by a little, and by more.
        (received.after(Duration::from_secs(5)), received, Some(received)),
        (received.after(Duration::from_millis(5001)), received, None),
        (at(-1), received, None),
        (Instant::MAX, at(0), None),
    ] {
        assert_eq!(scanned_at(time, sent, received, day), expected, "{time} sent {sent}");
    }
}

#[test]
fn reminders_are_due_before_the_first_session_of_each_local_day() {
    let zone: Zone = "Africa/Tunis".parse().unwrap();
    let utc = |text: &str| text.parse::<Instant>().unwrap();
    let mut sessions: Vec<CourseSession> = [
        ("2026-12-12T08:00Z", "2026-12-12T11:00Z"),
        ("2026-12-12T13:00Z", "2026-12-12T16:00Z"),
        // The 13th in Tunis.
        ("2026-12-12T23:30Z", "2026-12-13T01:00Z"),
        ("2026-12-14T08:00Z", "2026-12-14T11:00Z"),
    ]
    .iter()
    .zip(1..)
    .map(|((start, end), number)| {
        let one = session(number, 0, 1);
        CourseSession { start_at: utc(start), end_at: utc(end), ..one }
    })
    .collect();
    sessions[3].cancelled = true;
    let reminders = |sessions: &[CourseSession]| {
        let course = crate::registration::tests::course(true);
        let sessions = CourseSessions::new(sessions.to_vec()).unwrap();
        let schedule = Schedule::new(&course, &Default::default(), &sessions);
        schedule.reminders(&zone).into_iter().map(|one| one.start.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(reminders(&sessions), ["2026-12-12T08:00:00.000Z", "2026-12-12T23:30:00.000Z"]);
    sessions[0].cancelled = true;
    assert_eq!(reminders(&sessions)[0], "2026-12-12T13:00:00.000Z");
}

#[test]
fn changes_name_what_is_to_come_and_differs() {
    let course = crate::registration::tests::course(true);
    let schedule = |sessions: &[CourseSession]| {
        let sessions = CourseSessions::new(sessions.to_vec()).unwrap();
        Schedule::new(&course, &Default::default(), &sessions)
    };
    let before = [session(1, 0, 60), session(2, 100, 60), session(3, 200, 60)];
    let count =
        |after: &[CourseSession], now| schedule(&before).changes(&schedule(after), now).len();
    let mut after = before.clone();
    assert_eq!(count(&after, at(-1)), 0);
    after[0].end_at = at(61);
    after[1].title = "Autre".parse().ok();
    assert_eq!(count(&after, at(-1)), 1);
    assert_eq!(count(&after, at(0)), 0, "it has begun");
    after[2].cancelled = true;
    assert_eq!(count(&after, at(0)), 1);
    assert_eq!(count(&before[..2], at(0)), 1, "one removed");
    assert_eq!(
        schedule(&after).changes(&schedule(&after[..2]), at(0)).len(),
        0,
        "cancelled before"
    );
    assert_eq!(schedule(&[]).changes(&schedule(&before), at(-1)).len(), 3);
}

/// What a door does with four phones, half of which are offline: scans, corrections by hand, repeated and late batches, and
/// clocks that are wrong by up to 90 minutes. Returns wrong marks by the rule, and if the last upload won.
fn simulated(seed: u64, people: u128) -> (usize, usize) {
    let mut state = seed;
    // The generator of Vigna's xorshift64*.
    let mut random = move |below: u64| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % below
    };
    struct Sent {
        person: u128,
        scanned: Option<i64>,
        received: i64,
        error: i64,
    }
    let session = session(1, 0, 210);
    let errors: Vec<i64> = (0..4).map(|phone| [0, 2, -60, 90][phone] * 60_000).collect();
    let instant = |milliseconds: i64| {
        Instant::from_unix_milliseconds(at(0).unix_milliseconds() + milliseconds)
    };
    let mut sent = Vec::new();
    let mut first: Vec<i64> = Vec::new();
    for person in 0..people {
        let arrival = random(40 * 60_000) as i64 - 15 * 60_000;
        first.push(arrival);
        // Some are scanned again, by another phone.
        for (phone, time) in [(random(4), arrival), (random(4), arrival + random(3_600_000) as i64)]
            .into_iter()
            .take(if random(10) == 0 { 2 } else { 1 })
        {
            let phone = phone as usize;
            let delay = if phone % 2 == 1 { random(4 * 3_600_000) as i64 } else { 1000 };
            for repetition in 0..(if random(10) < 3 { 2 } else { 1 }) {
                let received = time + delay + repetition * random(7_200_000) as i64;
                sent.push(Sent { person, scanned: Some(time), received, error: errors[phone] });
            }
        }
        // A correction: the person had left.
        if random(33) == 0 {
            let received = arrival + random(5 * 3_600_000) as i64;
            sent.push(Sent { person, scanned: None, received, error: 0 });
        }
    }
    sent.sort_by_key(|one| one.received);
    let mut merged: Vec<Option<Mark>> = vec![None; people as usize];
    let mut last: Vec<Option<Mark>> = vec![None; people as usize];
    let mut corrected = vec![false; people as usize];
    for one in &sent {
        let (place, received) = (one.person as usize, instant(one.received));
        let submitted = match one.scanned {
            Some(scanned) => {
                let (phone_time, phone_sent) =
                    (instant(scanned + one.error), instant(one.received + one.error));
                let scan = scanned_at(phone_time, phone_sent, received, at(-600));
                last[place] =
                    Mark::merged(None, &Submitted::Scan(Some(phone_time)), user(1), received).1;
                Submitted::Scan(scan)
            }
            None => {
                corrected[place] = true;
                let seen = merged[place].as_ref().map_or(0, |mark| mark.version);
                let correction = hand(seen, Some(AttendanceStatus::Absent), None);
                last[place] = Mark::merged(None, &correction, user(1), received).1;
                correction
            }
        };
        let (_, mark) = Mark::merged(merged[place].as_ref(), &submitted, user(1), received);
        merged[place] = mark.or(merged[place].take());
    }
    let wrong = |marks: &[Option<Mark>]| {
        let is_wrong = |(place, mark): &(usize, &Option<Mark>)| {
            let Some(mark) = mark else { return true };
            if corrected[*place] {
                return mark.status != Some(AttendanceStatus::Absent);
            }
            let late = u64::try_from(first[*place]).ok().map(|late| late / 60_000);
            mark.status != Some(AttendanceStatus::Present) || mark.late(&session) != late
        };
        marks.iter().enumerate().filter(is_wrong).count()
    };
    (wrong(&merged), wrong(&last))
}

#[test]
fn marks_of_four_phones_with_wrong_clocks_are_right() {
    const COURSES: u64 = 200;
    let (wrong, last_wins) = (1..=COURSES)
        .map(|seed| simulated(seed * 7919, 300))
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // A hundredth of a mark in a course, at most.
    assert!(wrong * 100 <= COURSES as usize, "{wrong} wrong marks in {COURSES} courses");
    assert!(last_wins > 1000 * COURSES as usize / 10, "{last_wins}, if the last upload won");
}
