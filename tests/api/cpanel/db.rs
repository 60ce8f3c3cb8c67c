use cloud::faults::{Fault, Service};
use common::ErrorCode;
use serde_json::{Value, json};

#[tokio::test]
async fn databases_of_both_engines_are_listed() {
    let (_, admin) = super::world_with_used_token().await;
    let expected = json!({ "code": 200, "databases": [
        { "engine": "mysql", "name": "formation_forum", "diskUsageBytes": 7_340_032, "users": ["formation_forum"] },
        { "engine": "mysql", "name": "formation_site", "diskUsageBytes": 48_234_496, "users": ["formation_web"] },
        { "engine": "postgresql", "name": "formation_stats", "diskUsageBytes": 12_582_912, "users": ["formation_stats"] },
    ] });
    assert_eq!(admin.get("/cpanel/db").await.expect_ok(), expected);
}

#[tokio::test]
async fn missing_postgresql_lists_mysql_only() {
    let (world, admin) = super::world_with_used_token().await;
    world
        .inject_fault_in(Service::Cpanel, Fault::named("missing").on("Postgresql::list_databases"));
    let body = admin.get("/cpanel/db").await.expect_ok();
    let engines: Vec<&Value> =
        body["databases"].as_array().unwrap().iter().map(|database| &database["engine"]).collect();
    assert_eq!(engines, ["mysql", "mysql"]);
    world.inject_fault_in(Service::Cpanel, Fault::named("missing").on("Mysql::list_databases"));
    admin.get("/cpanel/db").await.expect_error(ErrorCode::CpanelRefused);
    // An error is not the same as a missing module.
    world.inject_fault_in(Service::Cpanel, Fault::named("broken").on("Postgresql::list_databases"));
    admin.get("/cpanel/db").await.expect_error(ErrorCode::CpanelRefused);
}
