//! Condition expressions
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html>).

use aws_sdk_dynamodb::{
    operation::update_item::UpdateItemError, types::ReturnValuesOnConditionCheckFailure,
};
use serde_json::{Value, json};

use crate::{
    CONDITION_FAILED,
    attributes::{self, words},
    endpoint::{Endpoint, outcome},
};

/// The conditions of the table, with those of `values` that they use.
async fn check(endpoint: &Endpoint, sk: &str, values: &Value, conditions: &[(&str, bool)]) {
    let partition = endpoint.records("conditions");
    for (condition, holds) in conditions {
        let mut used = values.clone();
        let has = |name: &String| words(condition).any(|word| word == name);
        used.as_object_mut().unwrap().retain(|name, _| has(name));
        let found = partition.touch_if(sk, condition, &used).await;
        let failed = json!(CONDITION_FAILED);
        endpoint.check(condition, found, if *holds { Value::Null } else { failed });
    }
}

#[tokio::test]
async fn condition_holds_for_an_item_or_not() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("conditions");
    let card = json!({ "version": 1, "status": "QUEUED" });
    let attributes =
        json!({ "n": 5, "s": "bcd", "set": { "SS": ["x", "y"] }, "l": [1, 2], "card": card });
    partition.put(partition.item("a", &attributes)).await;
    let values = json!({
        ":1": 1, ":2": 2, ":4": 4, ":5": 5, ":6": 6, ":five": "5", ":b": "b", ":x": "x", ":z": "z", ":queued": "QUEUED", ":N": "N",
    });
    let conditions = [
        ("attribute_exists(pk)", true),
        ("attribute_not_exists(pk)", false),
        ("attribute_exists(card.version)", true),
        ("attribute_not_exists(card.absent)", true),
        ("attribute_not_exists(absent) OR absent <= :5", true),
        ("absent <= :5", false),
        ("absent.deep = :x", false),
        ("card.#status.deep = :x", false),
        ("card.#status = :queued AND card.version = :1", true),
        ("l[1] = :2", true),
        ("n >= :5", true),
        ("n > :5", false),
        ("n <> :6", true),
        ("n BETWEEN :4 AND :5", true),
        ("n IN (:4, :5)", true),
        ("n IN (:4, :6)", false),
        ("n = :five", false),
        ("n < :five", false),
        ("attribute_type(n, :N)", true),
        ("begins_with(s, :b)", true),
        ("begins_with(s, :x)", false),
        ("contains(s, :b)", true),
        ("contains(#set, :x)", true),
        ("contains(#set, :z)", false),
        ("NOT contains(#set, :z)", true),
        ("size(#set) > :1", true),
        ("size(#set) > :2", false),
        ("size(card) = :2", true),
        ("size(absent) > :1", false),
        ("n = :5 OR n = :6 AND n = :4", true),
        ("(n = :5 OR n = :6) AND n = :4", false),
        ("NOT n = :6 AND n = :5", true),
    ];
    check(&endpoint, "a", &values, &conditions).await;
}

#[tokio::test]
async fn condition_on_a_missing_item_sees_no_attribute() {
    let endpoint = Endpoint::new().await;
    let refused = [
        ("attribute_exists(pk)", false),
        ("n <= :5", false),
        ("attribute_exists(n) AND n <= :5", false),
    ];
    check(&endpoint, "missing", &json!({ ":5": 5 }), &refused).await;
    let written = endpoint.records("conditions").get("missing").await;
    endpoint.check("refused write", written, Value::Null);
    let holds = [("attribute_not_exists(pk)", true)];
    check(&endpoint, "missing", &json!({}), &holds).await;
}

#[tokio::test]
async fn delete_of_a_missing_item_succeeds_unless_conditional() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("conditional delete");
    for (condition, expected) in [
        (None, Value::Null),
        (Some("attribute_exists(pk)"), json!(CONDITION_FAILED)),
        (Some("attribute_not_exists(pk)"), Value::Null),
    ] {
        let request = endpoint.client.delete_item().table_name(partition.table);
        let request = request.set_key(Some(partition.key("a")));
        let request = request.set_condition_expression(condition.map(str::to_owned));
        let found = outcome(request.send().await, |_| Value::Null);
        endpoint.check(&format!("delete if {condition:?}"), found, expected);
    }
}

/// <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html>.
#[tokio::test]
async fn failed_condition_returns_the_item_on_request() {
    use ReturnValuesOnConditionCheckFailure::{AllOld, None as Nothing};
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("old item");
    partition.put(partition.item("a", &json!({ "n": 1 }))).await;
    for (sk, returned, expected) in [
        ("a", AllOld, json!({ "pk": "old item", "sk": "a", "n": 1 })),
        ("a", Nothing, Value::Null),
        ("missing", AllOld, Value::Null),
    ] {
        let request = partition
            .updating(sk, "SET n = :n", &json!({ ":n": 2 }))
            .condition_expression("n = :n")
            .return_values_on_condition_check_failure(returned.clone());
        let error = request.send().await.unwrap_err().into_service_error();
        let item = match &error {
            UpdateItemError::ConditionalCheckFailedException(failed) => failed.item(),
            _ => None,
        };
        let case = format!("{returned:?} of {sk}");
        assert!(error.is_conditional_check_failed_exception(), "{case}");
        endpoint.check(&case, item.map_or(Value::Null, attributes::json), expected);
    }
}
