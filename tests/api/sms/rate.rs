//! The sending rate that all dispatchers share. `cargo bench-sms rate` measures it in real time.

use std::{collections::BTreeSet, time::Duration};

use domain::Instant;
use futures_util::future::join_all;
use tests::World;

const PATIENCE: Duration = Duration::from_millis(500);

#[tokio::test]
async fn concurrent_slots_are_evenly_spaced_and_unique() {
    let world = World::new().await;
    let now = world.clock().now();
    for (per_second, shares) in [(20, 50), (10, 100), (1, 1000)] {
        // later than all slots of the last iteration
        let now = now.after(Duration::from_secs(10 * shares));
        let processes: Vec<_> = (0..8).map(|_| world.another_process()).collect();
        let slots = processes.iter().flat_map(|process| {
            (0..4).map(|_| process.setup().store.take_slot(per_second, PATIENCE, now))
        });
        let slots: Vec<Option<Instant>> = join_all(slots)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        let taken: BTreeSet<Instant> = slots.iter().flatten().copied().collect();
        assert_eq!(
            taken.len(),
            slots.iter().flatten().count(),
            "no slot is assigned twice"
        );
        let expected: BTreeSet<Instant> = (0..)
            .map(|number| now.after(Duration::from_millis(shares * number)))
            .take(taken.len())
            .collect();
        assert_eq!(taken, expected, "{per_second} a second");
        assert_eq!(
            taken.len() as u64,
            500 / shares + 1,
            "no slot is later than the longest wait"
        );
    }
}

#[tokio::test]
async fn longer_wait_gets_a_later_slot() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    while store.take_slot(10, PATIENCE, now).await.unwrap().is_some() {}
    let code = store
        .take_slot(10, Duration::from_secs(2), now)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(code.since(now), Duration::from_millis(600));
}

#[tokio::test]
async fn idle_time_does_not_accumulate_slots() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    store.take_slot(10, PATIENCE, now).await.unwrap();
    let later = now.after(Duration::from_secs(60));
    let slots = [
        store.take_slot(10, PATIENCE, later).await.unwrap(),
        store.take_slot(10, PATIENCE, later).await.unwrap(),
    ];
    assert_eq!(
        slots,
        [Some(later), Some(later.after(Duration::from_millis(100)))]
    );
}

#[tokio::test]
async fn clock_ahead_delays_other_processes_by_seconds_at_most() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    store
        .take_slot(10, PATIENCE, now.after(Duration::from_secs(9)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        store.take_slot(10, PATIENCE, now).await.unwrap(),
        None,
        "this may be a long queue"
    );
    store
        .take_slot(10, PATIENCE, now.after(Duration::from_secs(90)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(store.take_slot(10, PATIENCE, now).await.unwrap(), Some(now));
    assert_eq!(
        store.take_slot(10, PATIENCE, now).await.unwrap(),
        Some(now.after(Duration::from_millis(100)))
    );
}

#[tokio::test]
async fn rate_not_dividing_a_second_is_exact_to_the_microsecond() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let mut last = now;
    for _ in 0..30 {
        last = store
            .take_slot(30, Duration::from_secs(60), now)
            .await
            .unwrap()
            .unwrap();
    }
    assert_eq!(
        last.since(now),
        Duration::from_millis(967),
        "29 thirtieths of a second"
    );
}
