use std::time::Duration;

use cloud::faults::{Fault, Mode, Service};
use common::ErrorCode;
use futures_util::future::join_all;
use tests::{Person, World};

use super::{payload, world_with_used_token};

const MINUTE: Duration = Duration::from_secs(60);

fn calls(world: &World) -> usize {
    world.cloud().uapi().calls().len()
}

/// The statuses of `count` concurrent requests.
async fn at_once(admin: &Person, count: usize, path: &'static str) -> Vec<u16> {
    let calls = (0..count).map(|_| {
        let admin = admin.clone();
        tokio::spawn(async move { admin.get(path).await.status })
    });
    join_all(calls).await.into_iter().map(Result::unwrap).collect()
}

#[tokio::test]
async fn rejected_token_opens_breaker_for_fifteen_minutes_in_all_processes() {
    let (world, admin) = world_with_used_token().await;
    world.inject_fault_in(Service::Cpanel, Fault::named("token"));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelAuth);
    let before = calls(&world);
    let elsewhere = admin.via(&world.another_process());
    for person in [&admin, &elsewhere] {
        for path in ["/cpanel/subdomain", "/cpanel/domains", "/cpanel/db"] {
            let answer = person.get(path).await;
            answer.expect_error(ErrorCode::CpanelUnavailable);
            // the value of the rate limit, as on every response
            assert_eq!(
                answer
                    .header("retry-after")
                    .split('.')
                    .next()
                    .unwrap()
                    .parse::<u64>()
                    .map(|seconds| seconds <= 60),
                Ok(true)
            );
        }
        let answer = person.post("/cpanel/subdomain", payload("cours")).await;
        answer.expect_error(ErrorCode::CpanelUnavailable);
    }
    world.clock().advance(Duration::from_secs(14 * 60));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnavailable);
    assert_eq!(calls(&world), before, "no request was sent");

    // Then one request is sent, and the breaker opens for another 15 minutes.
    world.clock().advance(MINUTE + Duration::from_secs(1));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelAuth);
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnavailable);
    assert_eq!(calls(&world), before + 1);
    world.clear_faults();
    world.clock().advance(Duration::from_secs(15 * 60 + 1));
    admin.get("/cpanel/domains").await.expect_ok();
    elsewhere.get("/cpanel/domains").await.expect_ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_concurrent_calls_with_bad_token_send_at_most_two_requests() {
    for path in ["/cpanel/domains", "/cpanel/db"] {
        // a token that never worked, and one that was revoked
        let never = World::with(&[("RATE_LIMIT", "1000"), ("CPANEL_TOKEN", "WRONG")]).await;
        let revoked = world_with_used_token().await.0;
        revoked.inject_fault_in(Service::Cpanel, Fault::named("token"));
        for world in [never, revoked] {
            let (admin, before) = (world.admin().await, calls(&world));
            let statuses = at_once(&admin, 20, path).await;
            assert!(statuses.iter().all(|status| [502, 503].contains(status)), "{statuses:?}");
            assert!((1..=2).contains(&(calls(&world) - before)), "{}", calls(&world) - before);
        }
    }
}

#[tokio::test]
async fn new_token_is_tried_at_once() {
    let world = World::with(&[("CPANEL_TOKEN", "WRONG")]).await;
    let admin = world.admin().await;
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelAuth);
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnavailable);
    let [_, _, (_, token)] = world.cloud().uapi().settings();
    let renewed = world.another_process_with(&[("CPANEL_TOKEN", &token)]);
    admin.via(&renewed).get("/cpanel/domains").await.expect_ok();
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnavailable);
}

#[tokio::test]
async fn three_consecutive_failures_open_breaker_for_a_minute() {
    let (world, admin) = world_with_used_token().await;
    let lost = || Fault::new(Mode::Silent);
    world.inject_fault_in(Service::Cpanel, lost().times(2));
    for _ in 0..2 {
        admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnreachable);
    }
    // A valid response resets the count, an unreadable one does not.
    admin.get("/cpanel/domains").await.expect_ok();
    world.inject_fault_in(Service::Cpanel, lost().times(2));
    for _ in 0..2 {
        admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnreachable);
    }
    world.inject_fault_in(Service::Cpanel, Fault::named("broken"));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelRefused);
    world.inject_fault_in(Service::Cpanel, lost());
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnreachable);
    let before = calls(&world);
    world.clear_faults();
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnavailable);
    assert_eq!(calls(&world), before);
    world.clock().advance(MINUTE + Duration::from_secs(1));
    admin.get("/cpanel/domains").await.expect_ok();
    admin.get("/cpanel/db").await.expect_ok();
}

#[tokio::test]
async fn half_open_breaker_failure_reopens_unreadable_response_does_not() {
    let (world, admin) = world_with_used_token().await;
    world.inject_fault_in(Service::Cpanel, Fault::new(Mode::Silent));
    for _ in 0..3 {
        admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnreachable);
    }
    world.clock().advance(MINUTE + Duration::from_secs(1));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnreachable);
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnavailable);
    world.clock().advance(MINUTE + Duration::from_secs(1));
    world.inject_fault_in(Service::Cpanel, Fault::named("html"));
    for _ in 0..2 {
        admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelRefused);
    }
    world.clear_faults();
    admin.get("/cpanel/domains").await.expect_ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_open_breaker_lets_one_caller_through_and_rejects_others() {
    let (world, admin) = world_with_used_token().await;
    world.inject_fault_in(Service::Cpanel, Fault::named("token").times(1));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelAuth);
    world.clock().advance(Duration::from_secs(15 * 60 + 1));
    world.inject_fault_in(
        Service::Cpanel,
        Fault { delay_ms: Some(1_500), ..Fault::new(Mode::Slow) },
    );
    let before = calls(&world);
    let statuses = at_once(&admin, 20, "/cpanel/domains").await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 19, "{statuses:?}");
    assert_eq!(calls(&world), before + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn untried_token_is_tried_by_one_caller_while_others_wait() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = world.admin().await;
    world.inject_fault_in(
        Service::Cpanel,
        Fault { delay_ms: Some(300), ..Fault::new(Mode::Slow).times(1) },
    );
    assert_eq!(at_once(&admin, 10, "/cpanel/domains").await, [200; 10]);
    // If the caller who tries it disappears, another may try.
    let (world, admin) = World::with_admin().await;
    world.inject_fault_in(
        Service::Cpanel,
        Fault { delay_ms: Some(60_000), ..Fault::new(Mode::Slow) },
    );
    let given_up = tokio::time::timeout(Duration::from_millis(300), admin.get("/cpanel/domains"));
    assert!(given_up.await.is_err());
    world.clear_faults();
    world.clock().advance(Duration::from_secs(31));
    admin.get("/cpanel/domains").await.expect_ok();
}
