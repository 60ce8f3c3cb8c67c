//! Compares the parts of each endpoint with its route: operation, costs, event, test and the gateway's route.

use std::collections::BTreeSet;

use dev::endpoints;
use serde_json::Value;

use crate::{files, root, routes};

#[test]
fn every_endpoint_has_all_its_parts() {
    let missing = endpoints::missing(&root()).unwrap();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn check_of_endpoints_sees_every_route() {
    let seen = endpoints::endpoints(&root()).unwrap().into_iter();
    let seen: BTreeSet<(String, String)> = seen.map(|one| (one.function, one.route)).collect();
    assert_eq!(seen, routes().into_iter().collect());
}

#[test]
fn events_of_the_gateway_have_format_2() {
    for (file, text) in files("events", ".json") {
        let event: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        if !file.starts_with("events/dispatcher/") && !file.starts_with("events/worker/") {
            assert_eq!(event["version"], "2.0", "{file}");
        }
    }
}
