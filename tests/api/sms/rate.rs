//! The sending rate that all processes share. `cargo bench-sms campaign` measures it in real time.

use std::{collections::BTreeSet, time::Duration};

use domain::Instant;
use futures_util::future::join_all;
use store::{Channel, SendingRate, Slots, Store};
use tests::World;

const PATIENCE: Duration = Duration::from_millis(500);

fn texts(per_second: u64) -> SendingRate {
    SendingRate { channel: Channel::Texts, per_second }
}

/// The next slot of `per_second`, at most `max_wait` after `now`.
async fn take_slot(
    store: &Store,
    per_second: u64,
    max_wait: Duration,
    now: Instant,
) -> Option<Instant> {
    match store.take_slots(texts(per_second), 1, max_wait, now).await.unwrap() {
        Slots::Taken(starts) => Some(starts[0]),
        Slots::NoneBefore(_) => None,
    }
}

#[tokio::test]
async fn concurrent_slots_are_evenly_spaced_and_unique() {
    let world = World::new().await;
    let now = world.clock().now();
    for (per_second, shares) in [(20, 50), (10, 100), (1, 1000)] {
        // later than all slots of the last iteration
        let now = now.after(Duration::from_secs(10 * shares));
        let processes: Vec<_> = (0..8).map(|_| world.another_process()).collect();
        let slots = processes.iter().flat_map(|process| {
            (0..4).map(|_| take_slot(&process.setup().store, per_second, PATIENCE, now))
        });
        let slots: Vec<Option<Instant>> = join_all(slots).await;
        let taken: BTreeSet<Instant> = slots.iter().flatten().copied().collect();
        assert_eq!(taken.len(), slots.iter().flatten().count(), "no slot is assigned twice");
        let expected: BTreeSet<Instant> = (0..)
            .map(|number| now.after(Duration::from_millis(shares * number)))
            .take(taken.len())
            .collect();
        assert_eq!(taken, expected, "{per_second} a second");
        assert_eq!(taken.len() as u64, 500 / shares + 1, "no slot is later than the longest wait");
    }
}

#[tokio::test]
async fn longer_wait_gets_a_later_slot() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    while take_slot(store, 10, PATIENCE, now).await.is_some() {}
    let code = take_slot(store, 10, Duration::from_secs(2), now).await.unwrap();
    assert_eq!(code.since(now), Duration::from_millis(600));
}

#[tokio::test]
async fn mails_take_no_slot_of_texts() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    while take_slot(store, 10, PATIENCE, now).await.is_some() {}
    let mails = SendingRate { channel: Channel::Mails, per_second: 10 };
    let taken = store.take_slots(mails, 1, Duration::ZERO, now).await.unwrap();
    assert_eq!(taken, Slots::Taken(vec![now]));
}

#[tokio::test]
async fn idle_time_does_not_accumulate_slots() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    take_slot(store, 10, PATIENCE, now).await;
    let later = now.after(Duration::from_secs(60));
    let slots =
        [take_slot(store, 10, PATIENCE, later).await, take_slot(store, 10, PATIENCE, later).await];
    assert_eq!(slots, [Some(later), Some(later.after(Duration::from_millis(100)))]);
}

#[tokio::test]
async fn clock_ahead_delays_other_processes_by_seconds_at_most() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    take_slot(store, 10, PATIENCE, now.after(Duration::from_secs(9))).await.unwrap();
    assert_eq!(take_slot(store, 10, PATIENCE, now).await, None, "this may be a long queue");
    take_slot(store, 10, PATIENCE, now.after(Duration::from_secs(90))).await.unwrap();
    assert_eq!(take_slot(store, 10, PATIENCE, now).await, Some(now));
    assert_eq!(
        take_slot(store, 10, PATIENCE, now).await,
        Some(now.after(Duration::from_millis(100)))
    );
}

#[tokio::test]
async fn rate_not_dividing_a_second_is_exact_to_the_microsecond() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let mut last = now;
    for _ in 0..30 {
        last = take_slot(store, 30, Duration::from_secs(60), now).await.unwrap();
    }
    assert_eq!(last.since(now), Duration::from_millis(967), "29 thirtieths of a second");
}

#[tokio::test]
async fn block_of_slots_is_taken_with_one_write_and_followed_by_the_next() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let block = |count: u64, max_wait| store.take_slots(texts(100), count, max_wait, now);
    let at = |milliseconds| now.after(Duration::from_millis(milliseconds));
    assert_eq!(block(3, PATIENCE).await.unwrap(), Slots::Taken(vec![at(0), at(10), at(20)]));
    assert_eq!(
        block(60, PATIENCE).await.unwrap(),
        Slots::Taken((3..63).map(|number| at(10 * number)).collect()),
        "only the first slot is bound by the longest wait"
    );
    assert_eq!(
        block(3, PATIENCE).await.unwrap(),
        Slots::NoneBefore(at(130)),
        "500 ms before the next slot, at 630 ms"
    );
    assert_eq!(
        take_slot(store, 100, PATIENCE, at(130)).await,
        Some(at(630)),
        "free at the time that was named"
    );
}
