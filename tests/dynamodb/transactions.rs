//! TransactWriteItems and TransactGetItems
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>,
//! <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html>).

use std::cell::Cell;

use aws_sdk_dynamodb::{
    operation::transact_write_items::TransactWriteItemsError,
    types::{
        ConditionCheck, Delete, Get, Put, ReturnValuesOnConditionCheckFailure, TransactGetItem,
        TransactWriteItem, Update, builders::UpdateBuilder,
    },
};
use cloud::strict::Strictness;
use serde_json::{Value, json};

use crate::{
    INVALID, attributes,
    endpoint::{Endpoint, outcome},
    partition::Partition,
};

/// An update that adds 1 to the number `n` of the item `sk`.
fn adding(partition: &Partition<'_>, sk: &str) -> UpdateBuilder {
    Update::builder()
        .table_name(partition.table)
        .set_key(Some(partition.key(sk)))
        .update_expression("ADD n :n")
        .set_expression_attribute_values(attributes::values(&json!({ ":n": 1 })))
}

fn part(update: UpdateBuilder) -> TransactWriteItem {
    let update = update.build().unwrap();
    TransactWriteItem::builder().update(update).build()
}

fn add(partition: &Partition<'_>, sk: &str) -> TransactWriteItem {
    part(adding(partition, sk))
}

fn add_if(partition: &Partition<'_>, sk: &str, condition: &str) -> TransactWriteItem {
    part(adding(partition, sk).condition_expression(condition))
}

fn check_exists(partition: &Partition<'_>, sk: &str) -> TransactWriteItem {
    let check = ConditionCheck::builder()
        .table_name(partition.table)
        .set_key(Some(partition.key(sk)))
        .condition_expression("attribute_exists(pk)");
    TransactWriteItem::builder().condition_check(check.build().unwrap()).build()
}

fn put(partition: &Partition<'_>, sk: &str, size: usize) -> TransactWriteItem {
    let put = Put::builder().table_name(partition.table);
    let put = put.set_item(Some(partition.sized(sk, size)));
    TransactWriteItem::builder().put(put.build().unwrap()).build()
}

/// The result of a transaction: null, the codes of its cancellation reasons, or another error code.
async fn commit(endpoint: &Endpoint, parts: Vec<TransactWriteItem>, token: Option<&str>) -> Value {
    let request = endpoint.client.transact_write_items().set_transact_items(Some(parts));
    let request = request.set_client_request_token(token.map(str::to_owned));
    let response = request.send().await;
    if let Err(error) = &response
        && let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) =
            error.as_service_error()
    {
        let reasons = cancelled.cancellation_reasons().iter();
        return reasons.map(|reason| json!(reason.code())).collect();
    }
    outcome(response, |_| Value::Null)
}

#[tokio::test]
async fn transaction_writes_all_of_its_items_or_none() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("all or none");
    let other = endpoint.transient("all or none");
    let delete = Delete::builder().table_name("records").set_key(Some(partition.key("missing")));
    let delete = TransactWriteItem::builder().delete(delete.build().unwrap()).build();
    let parts = vec![add(&partition, "a"), put(&partition, "b", 100), add(&other, "a"), delete];
    endpoint.check("all", commit(&endpoint, parts, None).await, Value::Null);
    endpoint.check("in the other table", other.get("a").await, json!({ "n": 1 }));
    let parts = vec![
        add(&partition, "c"),
        add_if(&partition, "a", "n > :n"),
        check_exists(&partition, "b"),
        add_if(&partition, "d", "attribute_exists(pk)"),
    ];
    let expected = json!(["None", "ConditionalCheckFailed", "None", "ConditionalCheckFailed"]);
    endpoint.check("a reason per item", commit(&endpoint, parts, None).await, expected);
    endpoint.check("nothing written", partition.get("c").await, Value::Null);
}

#[tokio::test]
async fn transaction_names_each_item_once_and_at_most_100() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("parts");
    let adds =
        |count: usize| (0..count).map(|sk| add(&partition, &sk.to_string())).collect::<Vec<_>>();
    for (case, parts, expected) in [
        ("100 items", adds(100), Value::Null),
        ("101 items", adds(101), json!(INVALID)),
        ("no items", adds(0), json!(INVALID)),
        ("an item twice", vec![add(&partition, "a"), add(&partition, "a")], json!(INVALID)),
        (
            "check and update",
            vec![check_exists(&partition, "a"), add(&partition, "a")],
            json!(INVALID),
        ),
        (
            "an item twice, one condition fails",
            vec![add_if(&partition, "a", "attribute_exists(pk)"), add(&partition, "a")],
            json!(INVALID),
        ),
    ] {
        endpoint.check(case, commit(&endpoint, parts, None).await, expected);
    }
}

#[tokio::test]
async fn impossible_part_cancels_and_a_malformed_one_is_refused() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("impossible");
    partition.put(partition.item("text", &json!({ "n": "x" }))).await;
    let malformed = part(adding(&partition, "a").update_expression("ADD n"));
    let large: Vec<_> = (0..11).map(|sk| put(&partition, &sk.to_string(), 390_000)).collect();
    for (case, parts, expected) in [
        (
            "number added to a text",
            vec![add(&partition, "a"), add(&partition, "text")],
            json!(["None", "ValidationError"]),
        ),
        ("malformed expression", vec![add(&partition, "b"), malformed], json!(INVALID)),
        ("more than 4 MB", large, json!(INVALID)),
    ] {
        endpoint.check(case, commit(&endpoint, parts, None).await, expected);
    }
    endpoint.check("nothing written", partition.get("a").await, Value::Null);
}

#[tokio::test]
async fn client_request_token_makes_a_repetition_succeed_without_effect() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("tokens");
    let mismatch = json!("IdempotentParameterMismatchException");
    for (case, sk, token, expected, n) in [
        ("first", "a", "token-1", Value::Null, 1),
        ("the same again", "a", "token-1", Value::Null, 1),
        ("other items", "b", "token-1", mismatch, 1),
        ("another token", "a", "token-2", Value::Null, 2),
    ] {
        let found = commit(&endpoint, vec![add(&partition, sk)], Some(token)).await;
        endpoint.check(case, found, expected);
        endpoint.check(case, partition.get("a").await, json!({ "n": n }));
    }
}

/// Also while another transaction has one of its items, although its own condition no longer holds.
#[tokio::test]
async fn written_transaction_under_its_token_has_no_conflicts() {
    let endpoint = Endpoint::new().await;
    let Some(cloud) = endpoint.embedded() else {
        return;
    };
    cloud.set_strictness(Strictness { transaction_ms: 200, ..Strictness::default() });
    let partition = endpoint.records("conflicts");
    let parts = || {
        let new = add_if(&partition, "new", "attribute_not_exists(pk)");
        vec![new, add(&partition, "shared")]
    };
    let written = commit(&endpoint, parts(), Some("token-4")).await;
    endpoint.check("written", written, Value::Null);
    let holding = async {
        let mut held = 0;
        while held < 5 {
            let added = commit(&endpoint, vec![add(&partition, "shared")], None).await;
            held += u32::from(added.is_null());
        }
    };
    let conflicts = Cell::new(0);
    let repeating = async {
        loop {
            let other = commit(&endpoint, parts(), Some("token-5")).await;
            let is_conflict = other == json!(["ConditionalCheckFailed", "TransactionConflict"]);
            conflicts.set(conflicts.get() + u32::from(is_conflict));
            let again = commit(&endpoint, parts(), Some("token-4")).await;
            endpoint.check("again", again, Value::Null);
        }
    };
    tokio::select! {
        () = holding => {}
        () = repeating => {}
    }
    assert!(conflicts.get() > 0, "the item was never held");
    endpoint.check("once", partition.get("new").await, json!({ "n": 1 }));
}

/// A cancelled transaction is not remembered: the store may repeat it under the same token.
#[tokio::test]
async fn cancelled_transaction_is_decided_again_under_its_token() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("cancelled");
    let parts = || vec![add_if(&partition, "a", "attribute_exists(pk)")];
    let found = commit(&endpoint, parts(), Some("token-3")).await;
    endpoint.check("cancelled", found, json!(["ConditionalCheckFailed"]));
    partition.put(partition.key("a")).await;
    let found = commit(&endpoint, parts(), Some("token-3")).await;
    endpoint.check("repeated", found, Value::Null);
    endpoint.check("written", partition.get("a").await, json!({ "n": 1 }));
}

#[tokio::test]
async fn cancellation_reason_has_the_item_on_request() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("reasons");
    partition.put(partition.item("a", &json!({ "n": 1 }))).await;
    let returning =
        |sk: &str| {
            let update = adding(&partition, sk).condition_expression("n > :n");
            part(update.return_values_on_condition_check_failure(
                ReturnValuesOnConditionCheckFailure::AllOld,
            ))
        };
    let request = endpoint.client.transact_write_items();
    let request = request.transact_items(returning("missing")).transact_items(returning("a"));
    let error = request.send().await.unwrap_err().into_service_error();
    let items: Value = match &error {
        TransactWriteItemsError::TransactionCanceledException(cancelled) => {
            let reasons = cancelled.cancellation_reasons().iter();
            reasons.map(|reason| reason.item().map_or(Value::Null, attributes::json)).collect()
        }
        _ => Value::Null,
    };
    let expected = json!([null, { "pk": "reasons", "sk": "a", "n": 1 }]);
    endpoint.check("items of the reasons", items, expected);
}

#[tokio::test]
async fn transactional_read_has_a_place_per_key() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("snapshots");
    for sk in ["a", "b"] {
        partition.put(partition.key(sk)).await;
    }
    let many: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (case, sort_keys, expected) in [
        ("order of the request", &["b", "missing", "a"][..], json!([true, false, true])),
        ("100 keys", &many[..100], json!(vec![false; 100])),
        ("101 keys", &many[..], json!(INVALID)),
        ("a key twice", &["a", "a"][..], json!(INVALID)),
    ] {
        let gets = sort_keys.iter().map(|sk| {
            let get = Get::builder().table_name("records").set_key(Some(partition.key(sk)));
            TransactGetItem::builder().get(get.build().unwrap()).build()
        });
        let request = endpoint.client.transact_get_items();
        let response = request.set_transact_items(Some(gets.collect())).send().await;
        let found = outcome(response, |read| {
            read.responses().iter().map(|response| response.item().is_some()).collect()
        });
        endpoint.check(case, found, expected);
    }
}
