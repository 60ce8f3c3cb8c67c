//! The cost table of the store, measured.

use std::collections::BTreeSet;

use common::Message;
use domain::Profile;
use serde_json::json;
use store::{
    Cost,
    keys::{Budget, COSTS},
};
use tests::{Document, PASSWORD, Someone, World};

/// The row of the cost table that this cost makes.
fn row(route: &str, cost: Cost) -> String {
    format!("{route}: {} round trips, {} read units, {} write units", cost.round_trips, cost.reads, cost.writes)
}

#[tokio::test]
async fn every_endpoint_costs_what_the_table_says() {
    let world = World::new().await;
    let (admin, member, stranger) = (world.admin().await, world.member().await, world.stranger());
    let other = world.account(&Someone::with(Profile::Member)).await;
    let mut measured = Vec::new();
    let mut within = |route: &str, cost: Cost| measured.push(row(route, cost));
    // the first call of a window opens it, so that what follows counts
    for person in [&admin, &member, &stranger] {
        person.get("/nowhere").await;
    }
    within("GET /health", stranger.get("/health").await.cost);
    within("GET /nowhere", stranger.get("/nowhere").await.cost);
    within("POST /auth/login", world.stranger().login(other.email.as_str(), PASSWORD).await.cost);
    within("GET /auth/check", member.get("/auth/check").await.cost);
    within("GET /auth/current-user", member.get("/auth/current-user").await.cost);
    within("GET /auth/sessions", member.get("/auth/sessions").await.cost);
    within("GET /users/{userId}", member.get(&format!("/users/{}", other.user_id)).await.cost);

    let wish = json!({ "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": "clé de sol et fa", "committeeID": world.committee() });
    let registered = world.stranger().post("/users/register", wish).await;
    registered.tells(Message::UserRegistered);
    within("POST /users/register", registered.cost);

    within("GET /committees", stranger.get("/committees").await.cost);
    within("GET /committees/{committeeId}", stranger.get(&format!("/committees/{}", world.committee())).await.cost);
    let committee = json!({
        "nameArabe": "أ", "nameLatin": "Ariana", "type": "X", "dateOfEst": "2000-01-01", "region": "A", "city": "A",
        "postalCode": 1, "primaryEmail": "a@example.org", "primaryPhone": "+21671123456",
    });
    let created = admin.post("/committees", committee).await;
    within("POST /committees", created.cost);
    let path = format!("/committees/{}", created.json()["committee"]["committeeID"].as_str().unwrap());
    within("PUT /committees/{committeeId}", admin.put(&path, json!({ "nameLatin": "Bizerte" })).await.cost);

    let again = world.signed_in(member.user().clone()).await;
    let sid = again.get("/auth/sessions").await.shows()["sessions"][0]["sid"].as_str().unwrap().to_owned();
    within("DELETE /auth/sessions/{sid}", member.delete(&format!("/auth/sessions/{sid}")).await.cost);
    let change = json!({ "oldPassword": PASSWORD, "newPassword": "quatre figuiers sous la pluie", "confirmPassword": "quatre figuiers sous la pluie" });
    within("PUT /users/reset-password", member.put("/users/reset-password", change).await.cost);
    within("POST /auth/logout", member.post("/auth/logout", json!({})).await.cost);

    let promised = |Budget { route, round_trips, reads, writes }: &Budget| {
        row(route, Cost { round_trips: *round_trips, reads: *reads, writes: *writes, ..Cost::default() })
    };
    let promised: BTreeSet<String> = COSTS.iter().map(promised).collect();
    assert_eq!(BTreeSet::from_iter(measured), promised);
}

#[test]
fn every_operation_has_a_row_and_every_row_an_operation() {
    let rows: BTreeSet<String> = COSTS.iter().map(|budget| budget.route.to_owned()).collect();
    let mut operations: BTreeSet<String> = Document::get().operations().into_iter().collect();
    operations.remove("GET /media/{key}");
    operations.insert("GET /nowhere".to_owned());
    assert_eq!(rows, operations);
}

#[tokio::test]
async fn an_authenticated_read_waits_once_in_front_of_its_own_work() {
    let world = World::new().await;
    let member = world.member().await;
    member.get("/auth/check").await;
    let cost = member.get("/auth/current-user").await.cost;
    assert_eq!((cost.round_trips, cost.requests), (1, 4), "limit, session, user, committee side by side");
}
