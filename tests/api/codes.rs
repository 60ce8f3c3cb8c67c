//! One-time codes in the store, before the endpoints that send them.

use std::time::Duration;

use domain::{
    UserId,
    code::{Code, CodeKind, LIFE},
    outbox::{Channel, Outgoing, State},
};
use futures_util::future::join_all;
use identity::chance;
use tests::World;

async fn issue(world: &World, user_id: UserId, digits: &str) {
    let now = world.clock().now();
    let code =
        Code { user_id, kind: CodeKind::Reset, digits: digits.into(), link: format!("link of {digits}"), expires_at: now.after(LIFE) };
    let message = Outgoing {
        outbox_id: chance::id(now),
        channel: Channel::Mail,
        sealed: "sealed".into(),
        state: State::Queued,
        created_at: now,
        due_at: now.after(Duration::from_secs(60)),
    };
    world.setup().store.issue_code(&code, &message).await.unwrap();
}

async fn try_code(world: &World, user: UserId, mac: &str, network: &str) -> bool {
    world.setup().store.use_code(user, CodeKind::Reset, mac, network, world.clock().now()).await.unwrap()
}

async fn world_with_code() -> (World, UserId) {
    let world = World::new().await;
    let user = UserId::new(chance::id(world.clock().now()));
    issue(&world, user, "mac").await;
    (world, user)
}

#[tokio::test]
async fn a_code_works_once_by_its_digits_or_by_its_link() {
    for mac in ["mac", "link of mac"] {
        let (world, user) = world_with_code().await;
        assert!(try_code(&world, user, mac, "10.0.0.1").await);
        assert!(!try_code(&world, user, "mac", "10.0.0.1").await && !try_code(&world, user, "link of mac", "10.0.0.1").await);
    }
}

#[tokio::test]
async fn of_fifty_at_once_exactly_one_uses_it() {
    let (world, user) = world_with_code().await;
    let used = join_all((0..50).map(|number| {
        let (world, network) = (world.clone(), format!("10.0.0.{number}"));
        async move { try_code(&world, user, "mac", &network).await }
    }));
    assert_eq!(used.await.into_iter().filter(|used| *used).count(), 1);
}

#[tokio::test]
async fn five_wrong_tries_kill_it_for_their_network_and_the_owner_elsewhere_gets_in() {
    let (world, user) = world_with_code().await;
    for _ in 0..5 {
        assert!(!try_code(&world, user, "wrong", "10.0.0.1").await);
    }
    assert!(!try_code(&world, user, "mac", "10.0.0.1").await);
    assert!(try_code(&world, user, "mac", "2001:db8:0:1::/64").await);
}

#[tokio::test]
async fn twenty_wrong_tries_kill_it_for_all() {
    let (world, user) = world_with_code().await;
    for number in 0..20 {
        assert!(!try_code(&world, user, "wrong", &format!("10.0.0.{}", number / 4)).await);
    }
    assert!(!try_code(&world, user, "mac", "10.0.9.9").await);
}

#[tokio::test]
async fn it_ends_after_ten_minutes_and_when_a_new_one_is_issued() {
    let (world, user) = world_with_code().await;
    issue(&world, user, "new").await;
    assert!(!try_code(&world, user, "mac", "10.0.0.1").await);
    world.clock().advance(LIFE);
    assert!(!try_code(&world, user, "new", "10.0.0.1").await);
}

#[tokio::test]
async fn its_message_waits_in_the_outbox() {
    let (world, _) = world_with_code().await;
    let items = world.items("records");
    let queued: Vec<_> = items.iter().filter(|item| item["pk"]["S"].as_str().unwrap().starts_with("OUTBOX#")).collect();
    assert_eq!(queued.len(), 1);
    assert_eq!((&queued[0]["state"]["S"], &queued[0]["duePk"]["S"]), (&"QUEUED".into(), &"OUTBOX".into()));
    assert!(queued[0]["dueAt"]["N"].is_string());
}
