mod breaker;
mod db;
mod domains;
mod faults;
mod settings;
mod subdomain;

use serde_json::{Value, json};
use tests::{Person, World};

/// A request for the subdomain `label` of the main domain.
fn payload(label: &str) -> Value {
    json!({ "domain": label, "rootdomain": "formation.example.org" })
}

/// A World whose panel token was used successfully, and a super admin.
async fn world_with_used_token() -> (World, Person) {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let admin = world.admin().await;
    admin.get("/cpanel/domains").await.expect_ok();
    (world, admin)
}

/// The number of calls of the UAPI function `function`, such as `SubDomain::addsubdomain`.
fn call_count(world: &World, function: &str) -> usize {
    world.cloud().uapi().calls().iter().filter(|call| call["function"] == function).count()
}

const ADD: &str = "SubDomain::addsubdomain";
