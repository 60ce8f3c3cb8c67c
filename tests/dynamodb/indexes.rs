//! Global secondary indexes (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html>). A partition
//! of the index has the name of the items' partition.

use serde_json::{Value, json};
use store::keys::{DUE, LISTING};

use crate::{
    INVALID,
    attributes::{self, Item},
    endpoint::{Endpoint, outcome},
    partition::{Partition, page, sk, sort_keys},
};

/// Writes an item with the sort key `sk`, in the index `listing` at `list_sk` unless that is null.
async fn put(partition: &Partition<'_>, sk: &str, list_sk: Option<&str>) {
    let mut attributes = json!({ "listPk": partition.pk, "card": { "of": sk }, "extra": 1 });
    if let Some(list_sk) = list_sk {
        attributes["listSk"] = json!(list_sk);
    }
    let item = partition.item(sk, &attributes);
    assert!(partition.put(item).await.is_null());
}

async fn listed(partition: &Partition<'_>) -> Value {
    sort_keys(partition.listed(&LISTING, "", &json!({}))).await
}

#[tokio::test]
async fn item_is_in_the_index_while_it_has_both_keys() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("sparse");
    put(&partition, "a", Some("2")).await;
    put(&partition, "b", Some("1")).await;
    put(&partition, "c", None).await;
    endpoint.check("both keys", listed(&partition).await, json!(["b", "a"]));
    for (sk, expression, values, expected) in [
        ("c", "SET listSk = :3", json!({ ":3": "3" }), json!(["b", "a", "c"])),
        ("b", "SET listSk = :4", json!({ ":4": "4" }), json!(["a", "c", "b"])),
        ("a", "REMOVE listSk", json!({}), json!(["c", "b"])),
        ("b", "SET listPk = :other", json!({ ":other": "sparse, other" }), json!(["c"])),
    ] {
        partition.update(sk, expression, &values).await;
        endpoint.check(expression, listed(&partition).await, expected);
    }
    let request = endpoint.client.delete_item().table_name(partition.table);
    request.set_key(Some(partition.key("c"))).send().await.unwrap();
    endpoint.check("deleted item", listed(&partition).await, json!([]));
}

#[tokio::test]
async fn index_has_its_projected_attributes_only() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("projected");
    put(&partition, "a", Some("1")).await;
    let due = json!({ "duePk": partition.pk, "dueAt": 1, "card": { "of": "b" } });
    partition.put(partition.item("b", &due)).await;
    let entry = |items: &[Item]| items.first().map_or(Value::Null, attributes::json);
    for (index, expected) in [
        (
            &LISTING,
            json!({ "pk": "projected", "sk": "a", "listPk": "projected", "listSk": "1", "card": { "of": "a" } }),
        ),
        (&DUE, json!({ "pk": "projected", "sk": "b", "duePk": "projected", "dueAt": 1 })),
    ] {
        let response = partition.listed(index, "", &json!({})).send().await;
        let found = outcome(response, |page| entry(page.items()));
        endpoint.check(index.name, found, expected);
    }
    let query = partition.listed(&LISTING, "", &json!({})).projection_expression("extra");
    let case = "projection of an attribute that the index lacks";
    endpoint.check(case, sort_keys(query).await, json!(INVALID));
    let query = partition.listed(&LISTING, "", &json!({})).consistent_read(true);
    endpoint.check("consistent read of an index", sort_keys(query).await, json!(INVALID));
}

#[tokio::test]
async fn change_of_a_projected_attribute_reaches_the_index() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("changes");
    put(&partition, "a", Some("1")).await;
    partition.update("a", "SET card = :card", &json!({ ":card": 9 })).await;
    let response = partition.listed(&LISTING, "", &json!({})).send().await;
    let found = outcome(response, |page| {
        page.items().iter().map(|item| attributes::json(item)["card"].clone()).collect()
    });
    endpoint.check("changed card", found, json!([9]));
}

/// Items with the same keys in the index are told apart by their primary keys, which the `LastEvaluatedKey` has too.
#[tokio::test]
async fn pages_of_an_index_skip_and_repeat_no_item() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("index pages");
    for sk in ["a", "b", "c"] {
        put(&partition, sk, Some("the same")).await;
    }
    for is_ascending in [true, false] {
        let (mut found, mut start): (Vec<String>, Option<Item>) = (Vec::new(), None);
        loop {
            let query = partition.listed(&LISTING, "", &json!({})).limit(1);
            let query = query.set_exclusive_start_key(start).scan_index_forward(is_ascending);
            let page = query.send().await.unwrap();
            found.extend(
                page.items().iter().filter_map(|item| sk(item).as_str().map(str::to_owned)),
            );
            start = page.last_evaluated_key;
            let Some(start) = &start else { break };
            let mut names: Vec<&String> = start.keys().collect();
            names.sort();
            assert_eq!(names, ["listPk", "listSk", "pk", "sk"]);
        }
        found.sort();
        let case = format!("ascending: {is_ascending}");
        endpoint.check(&case, json!(found), json!(["a", "b", "c"]));
    }
}

#[tokio::test]
async fn numbers_in_an_index_are_ordered_by_value() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("due");
    for at in ["10", "9", "100", "-1", "0.5"] {
        let due = json!({ "duePk": partition.pk, "dueAt": { "N": at } });
        partition.put(partition.item(at, &due)).await;
    }
    let query = partition.listed(&DUE, "dueAt <= :now", &json!({ ":now": 10 }));
    let expected = json!([["-1", "0.5", "9", "10"], null]);
    endpoint.check("due", page(query).await, expected);
}
