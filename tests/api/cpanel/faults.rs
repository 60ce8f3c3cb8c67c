//! Faults of cPanel: responses are complete, and no change is requested twice.

use std::time::Duration;

use cloud::faults::{Fault, Mode, Service};
use common::{ErrorCode, Message};
use cpanel_client::Timeouts;
use tests::{Answer, World};

use super::{ADD, call_count, payload, world_with_used_token};

const GETS: [&str; 3] = ["/cpanel/subdomain", "/cpanel/domains", "/cpanel/db"];

fn without_detail(answer: &Answer) {
    let text = String::from_utf8_lossy(&answer.body).to_lowercase();
    for detail in
        ["127.0.0.1", "token", "execute", "s’est produite", "panic", ".rs", "reqwest", "uapi"]
    {
        assert!(!text.contains(detail), "{text}");
    }
}

/// Each fault on all functions with the resulting error; `None` if requests succeed.
#[tokio::test]
async fn each_fault_on_each_endpoint_maps_to_its_error() {
    for (fault, expected) in [
        (Fault::new(Mode::Throttle), Some(ErrorCode::CpanelRefused)),
        (Fault::new(Mode::Refuse), Some(ErrorCode::CpanelRefused)),
        (Fault::new(Mode::Silent), Some(ErrorCode::CpanelUnreachable)),
        (Fault::named("token"), Some(ErrorCode::CpanelAuth)),
        (Fault::named("forbidden"), Some(ErrorCode::CpanelAuth)),
        (Fault::named("status0"), Some(ErrorCode::CpanelRefused)),
        (Fault::named("missing"), Some(ErrorCode::CpanelRefused)),
        (Fault::named("oversized"), Some(ErrorCode::CpanelRefused)),
        (Fault::named("broken"), Some(ErrorCode::CpanelRefused)),
        (Fault::named("redirect"), Some(ErrorCode::CpanelRefused)),
        (Fault::named("html"), Some(ErrorCode::CpanelRefused)),
        (Fault::named("wrapped"), None),
        (Fault { delay_ms: Some(20), ..Fault::new(Mode::Slow) }, None),
    ] {
        for path in GETS {
            let (world, admin) = world_with_used_token().await;
            world.inject_fault_in(Service::Cpanel, fault.clone());
            let answer = admin.get(path).await;
            match expected {
                Some(error_code) => answer.expect_error(error_code),
                None => drop(answer.expect_ok()),
            }
            without_detail(&answer);
        }
        let (world, admin) = world_with_used_token().await;
        world.inject_fault_in(Service::Cpanel, fault.clone());
        let answer = admin.post("/cpanel/subdomain", payload("cours")).await;
        match expected {
            Some(error_code) => answer.expect_error(error_code),
            None => drop(answer.expect_success(Message::SubdomainCreated)),
        }
        without_detail(&answer);
        assert_eq!(call_count(&world, ADD), usize::from(expected.is_none()), "{fault:?}");
    }
}

/// Each fault on `addsubdomain` alone: the response, and whether the subdomain exists afterwards.
#[tokio::test]
async fn failed_creation_is_looked_up_and_never_sent_twice() {
    let created = || Err(Message::SubdomainCreated);
    for (fault, expected, is_there) in [
        (Fault::new(Mode::Throttle), Ok(ErrorCode::CpanelRefused), false),
        (Fault::new(Mode::Refuse), Ok(ErrorCode::CpanelRefused), false),
        (Fault::new(Mode::Silent), created(), true),
        (Fault::named("token"), Ok(ErrorCode::CpanelAuth), false),
        (Fault::named("forbidden"), Ok(ErrorCode::CpanelAuth), false),
        (Fault::named("status0"), Ok(ErrorCode::CpanelRefused), false),
        (Fault::named("missing"), Ok(ErrorCode::CpanelRefused), false),
        (Fault::named("wrapped"), created(), true),
        (Fault::named("oversized"), created(), true),
        (Fault::named("broken"), created(), true),
        (Fault::named("redirect"), Ok(ErrorCode::CpanelRefused), false),
        (Fault::named("html"), Ok(ErrorCode::CpanelRefused), false),
    ] {
        let (world, admin) = world_with_used_token().await;
        world.inject_fault_in(Service::Cpanel, fault.clone().on("addsubdomain"));
        let answer = admin.post("/cpanel/subdomain", payload("cours")).await;
        match expected {
            Ok(error_code) => answer.expect_error(error_code),
            Err(message) => drop(answer.expect_success(message)),
        }
        assert_eq!(call_count(&world, ADD), 1, "{fault:?}");
        world.clear_faults();
        let subdomains = world.cloud().uapi().shown()["subDomains"].to_string();
        assert_eq!(subdomains.contains("\"cours.formation.example.org\""), is_there, "{fault:?}");
    }
}

#[tokio::test]
async fn concurrent_creation_of_the_same_subdomain_returns_409() {
    let (world, admin) = world_with_used_token().await;
    // The panel refuses the second request, which passed the check of the list.
    let (one, other) = tokio::join!(
        admin.post("/cpanel/subdomain", payload("cours")),
        admin.post("/cpanel/subdomain", payload("cours"))
    );
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    assert!(call_count(&world, ADD) <= 2);
}

#[tokio::test]
async fn blank_account_listing_is_a_panel_error() {
    let (world, admin) = world_with_used_token().await;
    world.inject_fault_in(Service::Cpanel, Fault::named("blank"));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelRefused);
    admin.get("/cpanel/subdomain").await.expect_error(ErrorCode::CpanelRefused);
    admin.post("/cpanel/subdomain", payload("cours")).await.expect_error(ErrorCode::CpanelRefused);
    admin.get("/cpanel/db").await.expect_ok();
    assert_eq!(call_count(&world, ADD), 0);
}

/// A World whose panel token was used successfully, with timeouts of 400 ms.
async fn world_with_short_timeouts() -> World {
    let (world, _) = world_with_used_token().await;
    let moment = Duration::from_millis(400);
    let routes = cpanel::routes_with(
        world.setup(),
        Timeouts { connect: moment, whole: moment, again: moment },
    )
    .unwrap();
    world.another_process_of(routes)
}

fn slow() -> Fault {
    Fault { delay_ms: Some(5_000), ..Fault::new(Mode::Slow) }
}

#[tokio::test]
async fn slow_panel_returns_504() {
    for path in GETS {
        let world = world_with_short_timeouts().await;
        world.inject_fault_in(Service::Cpanel, slow());
        world.admin().await.get(path).await.expect_error(ErrorCode::CpanelTimeout);
    }
    let world = world_with_short_timeouts().await;
    world.inject_fault_in(Service::Cpanel, slow());
    let answer = world.admin().await.post("/cpanel/subdomain", payload("cours")).await;
    answer.expect_error(ErrorCode::CpanelTimeout);
    assert_eq!(call_count(&world, ADD), 0, "the list is read first");
}

#[tokio::test]
async fn creation_without_response_returns_504_unless_it_exists() {
    let world = world_with_short_timeouts().await;
    let admin = world.admin().await;
    world.inject_fault_in(Service::Cpanel, slow().on("addsubdomain"));
    admin.post("/cpanel/subdomain", payload("cours")).await.expect_error(ErrorCode::CpanelTimeout);
    assert_eq!(call_count(&world, ADD), 1);
    // The list that would show the subdomain cannot be read either.
    let world = world_with_short_timeouts().await;
    let admin = world.admin().await;
    world.inject_fault_in(Service::Cpanel, slow().on("addsubdomain"));
    let waiting =
        tokio::spawn(async move { admin.post("/cpanel/subdomain", payload("cours")).await });
    while call_count(&world, ADD) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    world.inject_fault_in(Service::Cpanel, Fault::new(Mode::Silent).on("list_domains"));
    waiting.await.unwrap().expect_error(ErrorCode::CpanelTimeout);
    assert_eq!(call_count(&world, ADD), 1);
}

#[tokio::test]
async fn unreachable_panel_returns_502() {
    let world = World::with(&[("CPANEL_URL", "http://127.0.0.1:9")]).await;
    let admin = world.admin().await;
    for path in ["/cpanel/domains", "/cpanel/db"] {
        admin.get(path).await.expect_error(ErrorCode::CpanelUnreachable);
    }
    let answer = admin.post("/cpanel/subdomain", payload("cours")).await;
    answer.expect_error(ErrorCode::CpanelUnreachable);
}

#[tokio::test]
async fn store_failure_sends_no_request_to_the_panel() {
    let (world, admin) = world_with_used_token().await;
    let before = world.cloud().uapi().calls().len();
    world.inject_fault(Fault::new(Mode::Refuse).on("GetItem"));
    for path in GETS {
        admin.get(path).await.expect_error(ErrorCode::Unavailable);
    }
    assert_eq!(world.cloud().uapi().calls().len(), before);
}
