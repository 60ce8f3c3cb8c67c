use std::time::Duration;

use cloud::faults::{Fault, Service};
use common::ErrorCode;
use tests::World;

use super::{payload, world_with_used_token};

const MINUTE: Duration = Duration::from_secs(60);

fn calls(world: &World) -> usize {
    world.cloud().uapi().calls().len()
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

    // Then a request is sent, and the breaker opens for another 15 minutes.
    world.clock().advance(MINUTE + Duration::from_secs(1));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelAuth);
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelUnavailable);
    assert_eq!(calls(&world), before + 1);
    world.clear_faults();
    world.clock().advance(Duration::from_secs(15 * 60 + 1));
    admin.get("/cpanel/domains").await.expect_ok();
    elsewhere.get("/cpanel/domains").await.expect_ok();
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
async fn closed_breaker_is_read_and_not_written() {
    let (_, admin) = world_with_used_token().await;
    let cost = admin.get("/cpanel/domains").await.cost;
    assert_eq!((cost.round_trips, cost.writes), (2, 1.0), "only the write of the rate limit");
}
