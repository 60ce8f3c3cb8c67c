//! Bad days of the panel: every answer is whole, and nothing is asked for twice.

use std::{collections::BTreeSet, time::Duration};

use common::{ErrorCode, Message};
use cpanel_client::Patience;
use futures_util::future::join_all;
use local::faults::{Fault, Mode, Service};
use tests::{Answer, World};

use super::{ADD, asked, tried, wish};

const GETS: [&str; 3] = ["/cpanel/subdomain", "/cpanel/domains", "/cpanel/db"];

fn without_detail(answer: &Answer) {
    let text = String::from_utf8_lossy(&answer.body).to_lowercase();
    for detail in [
        "127.0.0.1",
        "token",
        "execute",
        "s’est produite",
        "panic",
        ".rs",
        "reqwest",
        "uapi",
    ] {
        assert!(!text.contains(detail), "{text}");
    }
}

/// Every fault on every function, and what each endpoint tells of it then; `None` where all is well.
#[tokio::test]
async fn each_fault_on_each_endpoint_maps_to_its_error() {
    for (fault, told) in [
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
        (
            Fault {
                delay_ms: Some(20),
                ..Fault::new(Mode::Slow)
            },
            None,
        ),
    ] {
        for path in GETS {
            let (world, admin) = tried().await;
            world.inject_fault_in(Service::Cpanel, fault.clone());
            let answer = admin.get(path).await;
            match told {
                Some(refusal) => answer.expect_error(refusal),
                None => drop(answer.expect_ok()),
            }
            without_detail(&answer);
        }
        let (world, admin) = tried().await;
        world.inject_fault_in(Service::Cpanel, fault.clone());
        let answer = admin.post("/cpanel/subdomain", wish("cours")).await;
        match told {
            Some(refusal) => answer.expect_error(refusal),
            None => drop(answer.expect_success(Message::SubdomainCreated)),
        }
        without_detail(&answer);
        assert_eq!(asked(&world, ADD), usize::from(told.is_none()), "{fault:?}");
    }
}

/// The same on the change alone: how it is told, and whether it is there afterwards.
#[tokio::test]
async fn failed_creation_is_looked_up_and_never_sent_twice() {
    let created = || Err(Message::SubdomainCreated);
    for (fault, told, is_there) in [
        (
            Fault::new(Mode::Throttle),
            Ok(ErrorCode::CpanelRefused),
            false,
        ),
        (
            Fault::new(Mode::Refuse),
            Ok(ErrorCode::CpanelRefused),
            false,
        ),
        (Fault::new(Mode::Silent), created(), true),
        (Fault::named("token"), Ok(ErrorCode::CpanelAuth), false),
        (Fault::named("forbidden"), Ok(ErrorCode::CpanelAuth), false),
        (Fault::named("status0"), Ok(ErrorCode::CpanelRefused), false),
        (Fault::named("missing"), Ok(ErrorCode::CpanelRefused), false),
        (Fault::named("wrapped"), created(), true),
        (Fault::named("oversized"), created(), true),
        (Fault::named("broken"), created(), true),
        (
            Fault::named("redirect"),
            Ok(ErrorCode::CpanelRefused),
            false,
        ),
        (Fault::named("html"), Ok(ErrorCode::CpanelRefused), false),
    ] {
        let (world, admin) = tried().await;
        world.inject_fault_in(Service::Cpanel, fault.clone().on("addsubdomain"));
        let answer = admin.post("/cpanel/subdomain", wish("cours")).await;
        match told {
            Ok(refusal) => answer.expect_error(refusal),
            Err(message) => drop(answer.expect_success(message)),
        }
        assert_eq!(asked(&world, ADD), 1, "{fault:?}");
        world.clear_faults();
        let subdomains = world.cloud().uapi().shown()["subDomains"].to_string();
        assert_eq!(
            subdomains.contains("\"cours.formation.example.org\""),
            is_there,
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn concurrent_creation_of_the_same_subdomain_returns_409() {
    let (world, admin) = tried().await;
    // the panel says no to the second, whom the list did not stop
    let (one, other) = tokio::join!(
        admin.post("/cpanel/subdomain", wish("cours")),
        admin.post("/cpanel/subdomain", wish("cours"))
    );
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    assert!(asked(&world, ADD) <= 2);
}

#[tokio::test]
async fn blank_account_listing_is_a_panel_error() {
    let (world, admin) = tried().await;
    world.inject_fault_in(Service::Cpanel, Fault::named("blank"));
    admin
        .get("/cpanel/domains")
        .await
        .expect_error(ErrorCode::CpanelRefused);
    admin
        .get("/cpanel/subdomain")
        .await
        .expect_error(ErrorCode::CpanelRefused);
    admin
        .post("/cpanel/subdomain", wish("cours"))
        .await
        .expect_error(ErrorCode::CpanelRefused);
    admin.get("/cpanel/db").await.expect_ok();
    assert_eq!(asked(&world, ADD), 0);
}

/// A World whose token has been tried and whose function waits no longer than a moment.
async fn impatient() -> World {
    let (world, _) = tried().await;
    let moment = Duration::from_millis(400);
    let routes = cpanel::routes_with(
        world.setup(),
        Patience {
            connect: moment,
            whole: moment,
            again: moment,
        },
    )
    .unwrap();
    world.another_process_of(routes)
}

fn slow() -> Fault {
    Fault {
        delay_ms: Some(5_000),
        ..Fault::new(Mode::Slow)
    }
}

#[tokio::test]
async fn slow_panel_returns_504() {
    for path in GETS {
        let world = impatient().await;
        world.inject_fault_in(Service::Cpanel, slow());
        world
            .admin()
            .await
            .get(path)
            .await
            .expect_error(ErrorCode::CpanelTimeout);
    }
    let world = impatient().await;
    world.inject_fault_in(Service::Cpanel, slow());
    world
        .admin()
        .await
        .post("/cpanel/subdomain", wish("cours"))
        .await
        .expect_error(ErrorCode::CpanelTimeout);
    assert_eq!(asked(&world, ADD), 0, "the list came first");
}

#[tokio::test]
async fn creation_without_response_returns_504_unless_it_exists() {
    let world = impatient().await;
    let admin = world.admin().await;
    world.inject_fault_in(Service::Cpanel, slow().on("addsubdomain"));
    admin
        .post("/cpanel/subdomain", wish("cours"))
        .await
        .expect_error(ErrorCode::CpanelTimeout);
    assert_eq!(asked(&world, ADD), 1);
    // Nobody knows: the list that would say so does not come either.
    let world = impatient().await;
    let admin = world.admin().await;
    world.inject_fault_in(Service::Cpanel, slow().on("addsubdomain"));
    let waiting = tokio::spawn(async move { admin.post("/cpanel/subdomain", wish("cours")).await });
    while asked(&world, ADD) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    world.inject_fault_in(Service::Cpanel, Fault::new(Mode::Silent).on("list_domains"));
    waiting
        .await
        .unwrap()
        .expect_error(ErrorCode::CpanelTimeout);
    assert_eq!(asked(&world, ADD), 1);
}

#[tokio::test]
async fn unreachable_panel_returns_502() {
    let world = World::with(&[("CPANEL_URL", "http://127.0.0.1:9")]).await;
    let admin = world.admin().await;
    for path in ["/cpanel/domains", "/cpanel/db"] {
        admin
            .get(path)
            .await
            .expect_error(ErrorCode::CpanelUnreachable);
    }
    admin
        .post("/cpanel/subdomain", wish("cours"))
        .await
        .expect_error(ErrorCode::CpanelUnreachable);
    // the third in a row was the last
    admin
        .get("/cpanel/domains")
        .await
        .expect_error(ErrorCode::CpanelUnavailable);
}

#[tokio::test]
async fn store_failure_sends_no_request_to_the_panel() {
    let (world, admin) = tried().await;
    let before = world.cloud().uapi().calls().len();
    world.inject_fault(Fault::new(Mode::Refuse).on("GetItem"));
    for path in GETS {
        admin.get(path).await.expect_error(ErrorCode::Unavailable);
    }
    assert_eq!(world.cloud().uapi().calls().len(), before);
}

#[tokio::test]
async fn callers_timing_out_in_the_queue_do_not_open_the_breaker() {
    let world = impatient().await;
    let admin = world.admin().await;
    // two at once, each for more than half of the time that there is
    world.inject_fault_in(
        Service::Cpanel,
        Fault {
            delay_ms: Some(250),
            ..Fault::new(Mode::Slow)
        },
    );
    let answers = join_all((0..12).map(|_| admin.get("/cpanel/domains"))).await;
    let told: BTreeSet<u16> = answers.iter().map(|answer| answer.status).collect();
    assert!(
        told.is_subset(&[200, 503, 504].into()) && told.contains(&200) && told.len() > 1,
        "{told:?}"
    );
    world.clear_faults();
    admin.get("/cpanel/domains").await.expect_ok();
}
