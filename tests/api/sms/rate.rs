//! The sending rate that all processes share. `cargo bench-sms campaign` measures it in real time.

use std::{collections::BTreeSet, time::Duration};

use domain::Instant;
use futures_util::future::join_all;
use store::{Channel, SendTimes, SendingRate, Store};
use tests::World;

const PATIENCE: Duration = Duration::from_millis(500);

fn texts(per_second: u64) -> SendingRate {
    SendingRate { channel: Channel::Texts, per_second }
}

/// The next send time of `per_second`, at most `max_wait` after `now`.
async fn send_time(
    store: &Store,
    per_second: u64,
    max_wait: Duration,
    now: Instant,
) -> Option<Instant> {
    match store.reserve_send_times(texts(per_second), 1, max_wait, now).await.unwrap() {
        SendTimes::Reserved(starts) => Some(starts[0]),
        SendTimes::AskAgainAt(_) => None,
    }
}

#[tokio::test]
async fn concurrent_send_times_are_evenly_spaced_and_unique() {
    let world = World::new().await;
    let now = world.clock().now();
    for (per_second, shares) in [(20, 50), (10, 100), (1, 1000)] {
        // later than all send times of the last iteration
        let now = now.after(Duration::from_secs(10 * shares));
        let processes: Vec<_> = (0..8).map(|_| world.another_process()).collect();
        let times = processes.iter().flat_map(|process| {
            (0..4).map(|_| send_time(&process.setup().store, per_second, PATIENCE, now))
        });
        let times: Vec<Option<Instant>> = join_all(times).await;
        let taken: BTreeSet<Instant> = times.iter().flatten().copied().collect();
        assert_eq!(taken.len(), times.iter().flatten().count(), "none is given twice");
        let expected: BTreeSet<Instant> = (0..)
            .map(|number| now.after(Duration::from_millis(shares * number)))
            .take(taken.len())
            .collect();
        assert_eq!(taken, expected, "{per_second} a second");
        assert_eq!(taken.len() as u64, 500 / shares + 1, "none is later than the longest wait");
    }
}

#[tokio::test]
async fn longer_wait_gets_a_later_send_time() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    while send_time(store, 10, PATIENCE, now).await.is_some() {}
    let code = send_time(store, 10, Duration::from_secs(2), now).await.unwrap();
    assert_eq!(code.since(now), Duration::from_millis(600));
}

#[tokio::test]
async fn mails_reserve_no_send_time_of_texts() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    while send_time(store, 10, PATIENCE, now).await.is_some() {}
    let mails = SendingRate { channel: Channel::Mails, per_second: 10 };
    let taken = store.reserve_send_times(mails, 1, Duration::ZERO, now).await.unwrap();
    assert_eq!(taken, SendTimes::Reserved(vec![now]));
}

#[tokio::test]
async fn idle_time_does_not_accumulate_send_times() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    send_time(store, 10, PATIENCE, now).await;
    let later = now.after(Duration::from_secs(60));
    let times =
        [send_time(store, 10, PATIENCE, later).await, send_time(store, 10, PATIENCE, later).await];
    assert_eq!(times, [Some(later), Some(later.after(Duration::from_millis(100)))]);
}

#[tokio::test]
async fn clock_ahead_delays_other_processes_by_seconds_at_most() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    send_time(store, 10, PATIENCE, now.after(Duration::from_secs(9))).await.unwrap();
    assert_eq!(send_time(store, 10, PATIENCE, now).await, None, "this may be a long queue");
    send_time(store, 10, PATIENCE, now.after(Duration::from_secs(90))).await.unwrap();
    assert_eq!(send_time(store, 10, PATIENCE, now).await, Some(now));
    assert_eq!(
        send_time(store, 10, PATIENCE, now).await,
        Some(now.after(Duration::from_millis(100)))
    );
}

#[tokio::test]
async fn rate_not_dividing_a_second_is_exact_to_the_microsecond() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let mut last = now;
    for _ in 0..30 {
        last = send_time(store, 30, Duration::from_secs(60), now).await.unwrap();
    }
    assert_eq!(last.since(now), Duration::from_millis(967), "29 thirtieths of a second");
}

#[tokio::test]
async fn send_times_reserved_with_one_write_follow_one_another() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let reserve = |count: u64, max_wait| store.reserve_send_times(texts(100), count, max_wait, now);
    let at = |milliseconds| now.after(Duration::from_millis(milliseconds));
    assert_eq!(
        reserve(3, PATIENCE).await.unwrap(),
        SendTimes::Reserved(vec![at(0), at(10), at(20)])
    );
    assert_eq!(
        reserve(60, PATIENCE).await.unwrap(),
        SendTimes::Reserved((3..63).map(|number| at(10 * number)).collect()),
        "only the first one is bound by the longest wait"
    );
    assert_eq!(
        reserve(3, PATIENCE).await.unwrap(),
        SendTimes::AskAgainAt(at(130)),
        "500 ms before the next one, at 630 ms"
    );
    assert_eq!(
        send_time(store, 100, PATIENCE, at(130)).await,
        Some(at(630)),
        "free at the time that was named"
    );
}
