//! Compares the keys of the tables with the key schema in `shared/store/src/keys.rs`.

use std::collections::{BTreeMap, BTreeSet};

use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, World};

use crate::{read, source};

#[test]
fn key_prefixes_are_documented_once() {
    let text = read("shared/store/src/keys.rs");
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| {
        line.starts_with("//! |")
            && (line.contains("| records |") || line.contains("| transient |"))
    }) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let kind = cells[5].trim_matches('`').split(['#', '<']).next().unwrap().to_owned();
        let prefix = cells[4].trim_matches('`').split(['#', '<']).next().unwrap().to_owned();
        assert!(
            rows.insert((cells[3].to_owned(), prefix, kind), cells[2].to_owned()).is_none(),
            "{line}"
        );
    }
    assert!(rows.len() >= 9, "{rows:?}");
}

#[tokio::test]
async fn written_items_have_documented_keys() {
    let world = World::new().await;
    let member = world.member().await;
    world.anonymous().login("unknown@example.org", "x").await;
    member
        .put(
            "/users/reset-password",
            json!({ "oldPassword": "x", "newPassword": "y", "confirmPassword": "z" }),
        )
        .await;
    world.person(NewPerson::with(Profile::Trainer)).await;
    let grammar = read("shared/store/src/keys.rs");
    for table in ["records", "transient"] {
        let prefix = |item: &Value, key: &str| {
            item[key]["S"].as_str().unwrap().split('#').next().unwrap().to_owned()
        };
        let seen: BTreeSet<(String, String)> = world
            .items(table)
            .iter()
            .map(|item| (prefix(item, "pk"), prefix(item, "sk")))
            .collect();
        assert!(!seen.is_empty());
        for (pk, sk) in seen {
            let rows = grammar
                .lines()
                .filter(|line| line.starts_with("//! |") && line.contains(&format!("| {table} |")));
            let names = |cell: Option<&str>, word: &str| {
                cell.is_some_and(|cell| {
                    cell.trim().trim_start_matches('`').split(['#', '`', '<']).next() == Some(word)
                })
            };
            let known = rows
                .filter(|line| {
                    names(line.split('|').nth(3), &pk) && names(line.split('|').nth(4), &sk)
                })
                .count();
            assert_eq!(known, 1, "{table}: {pk} {sk}");
        }
    }
}

#[test]
fn tests_named_in_the_key_schema_exist() {
    let text = read("shared/store/src/keys.rs");
    let named: Vec<(&str, &str)> =
        text.split('`').filter_map(|word| word.split_once(".rs::")).collect();
    assert!(named.len() >= 30, "{named:?}");
    for (file, test) in named {
        let sources = source::whole(&format!("tests/api/{file}.rs"), ".rs").into_iter();
        let mut tests = sources.flat_map(|(_, source)| source.tests);
        assert!(tests.any(|(_, name)| name == test), "{file}.rs::{test}");
    }
}

#[test]
fn store_never_scans_a_table() {
    // The only crate that names the DynamoDB SDK.
    for (file, source) in source::whole("shared/store", ".rs") {
        let calls_scan = source.calls.iter().any(|call| call.name == "scan");
        assert!(!calls_scan, "{file} calls Scan");
    }
}
