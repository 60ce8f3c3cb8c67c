//! Update expressions, values and sizes
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html>,
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html>).

use aws_sdk_dynamodb::types::ReturnValue;
use serde_json::{Value, json};

use crate::{
    INVALID, attributes,
    endpoint::{Endpoint, outcome},
};

/// Each case: the item before, or null; the expression; its values; the item afterwards, or the error code of an update
/// that changes nothing.
async fn check(pk: &str, cases: &[(Value, &str, Value, Value)]) {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records(pk);
    for (number, (before, expression, values, expected)) in cases.iter().enumerate() {
        let sk = number.to_string();
        if !before.is_null() {
            partition.put(partition.item(&sk, before)).await;
        }
        let case = format!("{expression} with {values} on {before}");
        let found = partition.update(&sk, expression, values).await;
        endpoint.check(&case, found, expected.clone());
        let after = if expected == INVALID { before } else { expected };
        endpoint.check(&case, partition.get(&sk).await, after.clone());
    }
}

#[tokio::test]
async fn update_of_a_missing_item_creates_it() {
    let one = json!({ ":n": 1 });
    check(
        "missing item",
        &[
            (Value::Null, "SET n = :n", one.clone(), json!({ "n": 1 })),
            (Value::Null, "ADD n :n", one, json!({ "n": 1 })),
            (Value::Null, "REMOVE n", json!({}), json!({})),
        ],
    )
    .await;
}

#[tokio::test]
async fn add_and_delete_change_numbers_and_sets() {
    let (a, ab, az) =
        (json!({ "SS": ["a"] }), json!({ "SS": ["a", "b"] }), json!({ "SS": ["a", "z"] }));
    check(
        "add and delete",
        &[
            (json!({ "n": 1 }), "ADD n :n", json!({ ":n": -3 }), json!({ "n": -2 })),
            (
                json!({ "n": { "N": "0.1" } }),
                "ADD n :n",
                json!({ ":n": { "N": "0.2" } }),
                json!({ "n": { "N": "0.3" } }),
            ),
            (
                json!({ "m": { "n": 1 } }),
                "ADD m.n :n",
                json!({ ":n": 1 }),
                json!({ "m": { "n": 2 } }),
            ),
            (json!({}), "ADD t :t", json!({ ":t": ab }), json!({ "t": ab })),
            (json!({ "t": a }), "ADD t :t", json!({ ":t": ab }), json!({ "t": ab })),
            (
                json!({ "t": ab }),
                "DELETE t :t",
                json!({ ":t": az }),
                json!({ "t": { "SS": ["b"] } }),
            ),
            // A set is never empty: the attribute goes with its last element.
            (json!({ "t": a, "k": 1 }), "DELETE t :t", json!({ ":t": a }), json!({ "k": 1 })),
            (json!({ "k": 1 }), "DELETE t :t", json!({ ":t": a }), json!({ "k": 1 })),
            (json!({ "n": "x" }), "ADD n :n", json!({ ":n": 1 }), json!(INVALID)),
            (json!({ "n": 1 }), "ADD n :n", json!({ ":n": "x" }), json!(INVALID)),
            (json!({ "n": 1 }), "DELETE n :n", json!({ ":n": 1 }), json!(INVALID)),
        ],
    )
    .await;
}

#[tokio::test]
async fn set_and_remove_change_attributes_and_paths() {
    let two = json!({ ":n": 2 });
    check(
        "set and remove",
        &[
            (json!({ "n": 1 }), "SET n = if_not_exists(n, :n)", two.clone(), json!({ "n": 1 })),
            (json!({}), "SET n = if_not_exists(n, :n)", two.clone(), json!({ "n": 2 })),
            (json!({ "n": 1 }), "SET n = n + :n", two.clone(), json!({ "n": 3 })),
            (json!({}), "SET n = n + :n", two.clone(), json!(INVALID)),
            (json!({ "a": 1, "b": 2 }), "SET a = b, b = a", json!({}), json!({ "a": 2, "b": 1 })),
            (
                json!({ "m": { "k": 1 } }),
                "SET m.#status = :n",
                two.clone(),
                json!({ "m": { "k": 1, "status": 2 } }),
            ),
            (json!({}), "SET m.x = :n", two.clone(), json!(INVALID)),
            (json!({ "m": "text" }), "SET m.x = :n", two.clone(), json!(INVALID)),
            (json!({ "m": { "x": 1 } }), "SET m = :n, m.x = :n", two.clone(), json!(INVALID)),
            (json!({ "k": 1 }), "REMOVE n", json!({}), json!({ "k": 1 })),
            (json!({ "m": { "k": 1 } }), "REMOVE m.x", json!({}), json!({ "m": { "k": 1 } })),
            (json!({}), "SET sk = :n", json!({ ":n": "b" }), json!(INVALID)),
        ],
    )
    .await;
}

#[tokio::test]
async fn reserved_words_and_unused_values_are_refused() {
    let two = json!({ ":n": 2 });
    check(
        "reserved words",
        &[
            (json!({}), "SET ttl = :n", two.clone(), json!(INVALID)),
            (json!({}), "SET #ttl = :n", two.clone(), json!({ "ttl": 2 })),
            (json!({ "m": { "k": 1 } }), "SET m.status = :n", two.clone(), json!(INVALID)),
            (json!({}), "SET n = :n", json!({ ":n": 2, ":unused": 1 }), json!(INVALID)),
            (json!({}), "SET n = :undefined", two, json!(INVALID)),
        ],
    )
    .await;
}

#[tokio::test]
async fn empty_text_is_an_attribute_but_no_key_and_no_set() {
    check(
        "empty values",
        &[
            (json!({}), "SET n = :n", json!({ ":n": "" }), json!({ "n": "" })),
            (json!({}), "SET n = :n", json!({ ":n": {} }), json!({ "n": {} })),
            (json!({}), "SET n = :n", json!({ ":n": { "SS": [] } }), json!(INVALID)),
            (json!({}), "SET n = :n", json!({ ":n": { "SS": ["a", "a"] } }), json!(INVALID)),
            (json!({}), "SET listPk = :n", json!({ ":n": "" }), json!(INVALID)),
            (json!({}), "SET dueAt = :n", json!({ ":n": "a text" }), json!(INVALID)),
        ],
    )
    .await;
    let endpoint = Endpoint::new().await;
    for (pk, sk) in [("", "a"), ("empty values", "")] {
        let partition = endpoint.records(pk);
        let found = partition.put(partition.key(sk)).await;
        endpoint.check(&format!("key {pk:?} {sk:?}"), found, json!(INVALID));
    }
}

/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html>.
#[tokio::test]
async fn numbers_have_38_digits_and_no_trailing_zeros() {
    let digits = "12345678901234567890123456789012345678";
    let too_long = format!("{digits}9");
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("numbers");
    for (number, expected) in [
        ("1704067200000", json!({ "n": 1_704_067_200_000_i64 })),
        ("1.50", json!({ "n": { "N": "1.5" } })),
        ("007", json!({ "n": 7 })),
        ("1e3", json!({ "n": 1000 })),
        ("-0", json!({ "n": 0 })),
        (digits, json!({ "n": { "N": digits } })),
        (too_long.as_str(), json!(INVALID)),
        ("1E126", json!(INVALID)),
        ("1E-131", json!(INVALID)),
        ("NaN", json!(INVALID)),
    ] {
        let values = json!({ ":n": { "N": number } });
        let found = partition.update(number, "SET n = :n", &values).await;
        endpoint.check(number, found, expected);
    }
}

#[tokio::test]
async fn update_returns_what_is_asked_for() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("return values");
    for (returned, expected) in [
        (ReturnValue::None, Value::Null),
        (ReturnValue::AllOld, json!({ "pk": "return values", "sk": "a", "a": 1, "b": 2 })),
        (ReturnValue::AllNew, json!({ "pk": "return values", "sk": "a", "a": 3, "b": 2 })),
        (ReturnValue::UpdatedOld, json!({ "a": 1 })),
        (ReturnValue::UpdatedNew, json!({ "a": 3 })),
    ] {
        partition.put(partition.item("a", &json!({ "a": 1, "b": 2 }))).await;
        let request = partition.updating("a", "SET a = :a", &json!({ ":a": 3 }));
        let response = request.return_values(returned.clone()).send().await;
        let found = outcome(response, |updated| {
            let attributes = updated.attributes.filter(|item| !item.is_empty());
            attributes.map_or(Value::Null, |item| attributes::json(&item))
        });
        endpoint.check(&format!("{returned:?}"), found, expected);
    }
}

#[tokio::test]
async fn items_have_400_kb_and_keys_2048_and_1024_bytes() {
    let endpoint = Endpoint::new().await;
    let (refused, pk) = (json!(INVALID), "k".repeat(2048));
    let (partition, longest) = (endpoint.records("sizes"), endpoint.records(&pk));
    for (size, expected) in [(409_600, Value::Null), (409_601, refused.clone())] {
        let found = partition.put(partition.sized("a", size)).await;
        endpoint.check(&format!("item of {size} bytes"), found, expected);
    }
    let grown = partition.update("a", "SET e = :e", &json!({ ":e": 1 })).await;
    endpoint.check("update beyond 400 KB", grown, refused.clone());
    let pk = format!("{pk}k");
    let too_long = endpoint.records(&pk);
    for (partition, bytes, expected) in
        [(&longest, 1024, Value::Null), (&longest, 1025, refused.clone()), (&too_long, 1, refused)]
    {
        let found = partition.put(partition.key(&"s".repeat(bytes))).await;
        let case = format!("keys of {} and {bytes} bytes", partition.pk.len());
        endpoint.check(&case, found, expected);
    }
}
