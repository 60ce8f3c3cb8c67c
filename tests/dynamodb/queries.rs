//! Queries of a table (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html>).

use aws_sdk_dynamodb::types::Select;
use serde_json::{Value, json};

use crate::{
    INVALID, attributes,
    endpoint::{Endpoint, outcome},
    partition::{Partition, page, sk, sort_keys},
};

/// Writes an item per sort key, whose number `n` is its place.
async fn fill(partition: &Partition<'_>, sort_keys: &[&str]) {
    for (n, sk) in sort_keys.iter().enumerate() {
        let item = partition.item(sk, &json!({ "n": n, "s": "x" }));
        assert!(partition.put(item).await.is_null());
    }
}

#[tokio::test]
async fn sort_keys_are_ordered_by_their_utf8_bytes() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("order");
    let mut expected = ["10", "9", "Z", "a", "a#1", "ab", "b", "é", "\u{ffff}", "😀"];
    fill(&partition, &expected).await;
    for is_ascending in [true, false] {
        let query = partition.query("", &json!({}));
        let found = sort_keys(query.scan_index_forward(is_ascending)).await;
        endpoint.check(&format!("ascending: {is_ascending}"), found, json!(expected));
        expected.reverse();
    }
}

#[tokio::test]
async fn key_condition_selects_a_range() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("ranges");
    fill(&partition, &["9", "Z", "a", "a#1", "ab", "b"]).await;
    for (condition, values, expected) in [
        ("begins_with(sk, :a)", json!({ ":a": "a" }), json!(["a", "a#1", "ab"])),
        ("sk BETWEEN :a AND :b", json!({ ":a": "a", ":b": "ab" }), json!(["a", "a#1", "ab"])),
        ("sk BETWEEN :b AND :a", json!({ ":a": "a", ":b": "ab" }), json!(INVALID)),
        ("sk > :a", json!({ ":a": "a#1" }), json!(["ab", "b"])),
        ("sk >= :a", json!({ ":a": "b" }), json!(["b"])),
        ("sk < :a", json!({ ":a": "Z" }), json!(["9"])),
        ("sk <= :a", json!({ ":a": "Z" }), json!(["9", "Z"])),
        ("sk = :a", json!({ ":a": "a" }), json!(["a"])),
        ("sk <> :a", json!({ ":a": "a" }), json!(INVALID)),
        ("sk > :a AND sk < :b", json!({ ":a": "a", ":b": "b" }), json!(INVALID)),
        ("contains(sk, :a)", json!({ ":a": "a" }), json!(INVALID)),
    ] {
        let found = sort_keys(partition.query(condition, &values)).await;
        endpoint.check(condition, found, expected);
    }
}

/// The store reads one item more than it returns, because a full page has a `LastEvaluatedKey` even at the end.
#[tokio::test]
async fn full_page_has_a_last_evaluated_key_even_at_the_end() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("pages");
    fill(&partition, &["0", "1", "2", "3"]).await;
    for (limit, expected) in [
        (3, json!([["0", "1", "2"], "2"])),
        (4, json!([["0", "1", "2", "3"], "3"])),
        (5, json!([["0", "1", "2", "3"], null])),
        (0, json!(INVALID)),
    ] {
        let found = page(partition.query("", &json!({})).limit(limit)).await;
        endpoint.check(&format!("limit {limit}"), found, expected);
    }
}

#[tokio::test]
async fn page_starts_after_a_key_that_need_not_exist() {
    let endpoint = Endpoint::new().await;
    let (partition, other) = (endpoint.records("starts"), endpoint.records("starts elsewhere"));
    fill(&partition, &["0", "1", "2", "3"]).await;
    for (case, start, is_ascending, expected) in [
        ("after the last", partition.key("3"), true, json!([[], null])),
        ("after a missing one", partition.key("15"), true, json!([["2", "3"], null])),
        ("descending", partition.key("2"), false, json!([["1", "0"], null])),
        ("in another partition", other.key("1"), true, json!(INVALID)),
    ] {
        let query = partition.query("", &json!({})).set_exclusive_start_key(Some(start));
        let found = page(query.scan_index_forward(is_ascending)).await;
        endpoint.check(case, found, expected);
    }
}

/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.FilterExpression.html>.
#[tokio::test]
async fn filter_applies_after_the_limit_and_not_to_keys() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("filters");
    fill(&partition, &["0", "1", "2", "3"]).await;
    let query = partition.query("", &json!({ ":n": 2 })).filter_expression("n >= :n");
    let found = outcome(query.limit(3).send().await, |page| {
        let last = page.last_evaluated_key().map(sk);
        json!([page.count(), page.scanned_count(), last])
    });
    endpoint.check("filter", found, json!([1, 3, "2"]));
    let query = partition.query("", &json!({ ":a": "0" })).filter_expression("sk = :a");
    endpoint.check("filter on a key", sort_keys(query).await, json!(INVALID));
}

#[tokio::test]
async fn count_has_no_items_and_a_projection_only_its_attributes() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("projections");
    fill(&partition, &["0", "1"]).await;
    let query = partition.query("", &json!({})).select(Select::Count);
    let found = outcome(query.send().await, |page| json!([page.count(), page.items().len()]));
    endpoint.check("count", found, json!([2, 0]));
    let query = partition.query("", &json!({})).projection_expression("n");
    let found =
        outcome(query.send().await, |page| page.items().iter().map(attributes::json).collect());
    endpoint.check("projection", found, json!([{ "n": 0 }, { "n": 1 }]));
    let card = json!({ "card": { "version": 1, "status": "QUEUED" }, "l": [5, 6] });
    partition.put(partition.item("card", &card)).await;
    let request = endpoint.client.get_item().table_name(partition.table);
    let request = request.set_key(Some(partition.key("card")));
    let response = request.projection_expression("card.version, absent, l[1]").send().await;
    let found =
        outcome(response, |found| found.item.as_ref().map_or(Value::Null, attributes::json));
    endpoint.check("paths", found, json!({ "card": { "version": 1 }, "l": [6] }));
}

#[tokio::test]
async fn page_ends_after_one_megabyte() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("megabytes");
    let mut expected = Vec::new();
    for number in 0..4 {
        let sk = number.to_string();
        partition.put(partition.sized(&sk, 390_000)).await;
        expected.push(sk);
    }
    let (mut found, mut pages, mut start) = (Vec::new(), 0, None);
    loop {
        let query = partition.query("", &json!({})).set_exclusive_start_key(start);
        let page = query.send().await.unwrap();
        found.extend(page.items().iter().map(sk));
        pages += 1;
        start = page.last_evaluated_key;
        if start.is_none() {
            break;
        }
    }
    endpoint.check("1 MB", json!([pages > 1, found]), json!([true, expected]));
}
