mod breaker;
mod db;
mod domains;
mod faults;
mod settings;
mod stand_in;
mod subdomain;

use serde_json::{Value, json};
use tests::{Person, World};

/// A label that is asked for below the account's main domain.
fn wish(label: &str) -> Value {
    json!({ "domain": label, "rootdomain": "formation.example.org" })
}

/// A super admin of a World whose token has been tried.
async fn tried() -> (World, Person) {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let admin = world.admin().await;
    admin.get("/cpanel/domains").await.expect_ok();
    (world, admin)
}

/// How often `function`, such as `SubDomain::addsubdomain`, was asked for.
fn asked(world: &World, function: &str) -> usize {
    world
        .cloud()
        .uapi()
        .calls()
        .iter()
        .filter(|call| call["function"] == function)
        .count()
}

const ADD: &str = "SubDomain::addsubdomain";
