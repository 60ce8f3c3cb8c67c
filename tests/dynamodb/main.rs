//! What `store` relies on in DynamoDB, as AWS documents it
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/Welcome.html>). The requests go to the embedded
//! store, or with `DYNAMODB_ENDPOINT` to ministack, an independent emulator: `infra/bin/check-store` starts it.
//!
//! Each test has a partition of its own, because all of them use the same ministack.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use bytes::Bytes;
use canary::AwsApi;
use cloud::{Cloud, create_table_request};
use dev::home::LocalSettings;
use http::Method;
use runtime::{Aws, Clock, Settings};
use serde_json::{Map, Value, json};
use store::keys::{DUE, IndexSchema, LISTING, TABLES};
use tempfile::TempDir;

const INVALID: &str = "ValidationException";

/// The attributes of a JSON object, as DynamoDB writes them; sets are `{"SS": […]}`.
fn item(attributes: &Value) -> Value {
    let attributes = attributes.as_object().into_iter().flatten();
    attributes.map(|(name, json)| (name.clone(), attribute(json))).collect::<Map<_, _>>().into()
}

fn attribute(json: &Value) -> Value {
    match json {
        Value::Number(number) => json!({ "N": number.to_string() }),
        Value::Object(entries) if entries.contains_key("SS") => json.clone(),
        Value::Object(_) => json!({ "M": item(json) }),
        _ => json!({ "S": json }),
    }
}

/// The reverse of [`item`], without the primary key and with the elements of sets in order.
fn shown(item: &Value) -> Value {
    let entries = item.as_object().into_iter().flatten();
    let entries = entries.filter(|(name, _)| !["pk", "sk"].contains(&name.as_str()));
    entries.map(|(name, value)| (name.clone(), shown_value(value))).collect::<Map<_, _>>().into()
}

fn shown_value(value: &Value) -> Value {
    let (kind, value) = value.as_object().and_then(|typed| typed.iter().next()).unwrap();
    match kind.as_str() {
        "N" => value.as_str().unwrap().parse().unwrap(),
        "M" => shown(value),
        "SS" => {
            let mut elements = value.as_array().unwrap().clone();
            elements.sort_by_key(Value::to_string);
            json!({ "SS": elements })
        }
        _ => value.clone(),
    }
}

/// The items of one partition, in an implementation that has the tables of the service.
struct Partition {
    api: AwsApi,
    pk: &'static str,
    /// The embedded store with its folder, which is deleted at the end of the test.
    _embedded: Option<(Cloud, TempDir)>,
}

impl Partition {
    async fn new(pk: &'static str) -> Self {
        if let Some(url) = LocalSettings::of_environment().get("DYNAMODB_ENDPOINT") {
            let fixed = ["eu-west-3", "test", "test"].map(str::to_owned);
            let names = ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
            let settings = names.into_iter().zip(fixed).chain([("AWS_ENDPOINT_URL", url)]);
            let partition = Self { api: api(settings), pk, _embedded: None };
            for table in &TABLES {
                let created = partition.call("CreateTable", create_table_request(table)).await;
                // Another test may have created it.
                assert!(created["code"].is_null() || created["code"] == "ResourceInUseException");
            }
            return partition;
        }
        let folder = tempfile::tempdir().unwrap();
        let cloud = Cloud::in_memory(folder.path()).await.unwrap();
        Self { api: api(cloud.settings()), pk, _embedded: Some((cloud, folder)) }
    }

    /// The response, about the table `records` unless `body` names others; the code of an error is at `code`.
    async fn call(&self, operation: &str, mut body: Value) -> Value {
        let of_tables = ["RequestItems", "TransactItems", "TableName"];
        if of_tables.iter().all(|name| body.get(name).is_none()) {
            body["TableName"] = json!("records");
        }
        let target = format!("DynamoDB_20120810.{operation}");
        let headers = [("content-type", "application/x-amz-json-1.0"), ("x-amz-target", &*target)];
        let body = Bytes::from(body.to_string());
        let response = self.api.send("dynamodb", Method::POST, "/", &headers, body).await.unwrap();
        let mut answer: Value = serde_json::from_slice(response.body()).unwrap();
        if !response.status().is_success() {
            answer["code"] = answer["__type"].as_str().unwrap().rsplit('#').next().into();
        }
        answer
    }

    /// `request` with the names and values that its expressions use: DynamoDB rejects unused ones and empty maps.
    /// `#status` is the attribute `status`.
    fn with_values(&self, mut request: Value) -> Value {
        let values = json!({
            ":pk": self.pk, ":1": 1, ":2": 2, ":4": 4, ":5": 5, ":6": 6, ":10": 10, ":one": "1", ":two": "2", ":five": "5",
            ":a": "a", ":ab": "ab", ":b": "b", ":x": "x", ":z": "z", ":queued": "QUEUED", ":set": { "SS": ["a"] },
            ":empty": { "SS": [] }, ":kilobyte": "k".repeat(1024),
        });
        let fields = request.as_object().unwrap().iter();
        let text = fields.filter(|(name, _)| name.ends_with("Expression"));
        let text: String = text.map(|(_, text)| format!("{} ", text.as_str().unwrap())).collect();
        for word in text.split(|letter: char| !letter.is_alphanumeric() && !"#:".contains(letter)) {
            if let Some(name) = word.strip_prefix('#') {
                request["ExpressionAttributeNames"][word] = json!(name);
            } else if word.starts_with(':') {
                request["ExpressionAttributeValues"][word] = attribute(&values[word]);
            }
        }
        request
    }

    fn key(&self, sk: &str) -> Value {
        item(&json!({ "pk": self.pk, "sk": sk }))
    }

    /// An attribute with which the item `sk` has `size` bytes, with all names and values.
    fn filler(&self, sk: &str, size: usize) -> Value {
        json!({ "d": "x".repeat(size - "pkskd".len() - self.pk.len() - sk.len()) })
    }

    async fn put(&self, sk: &str, attributes: &Value) -> Value {
        let mut new = item(attributes);
        (new["pk"], new["sk"]) = (attribute(&json!(self.pk)), attribute(&json!(sk)));
        self.call("PutItem", json!({ "Item": new })).await["code"].clone()
    }

    async fn get(&self, sk: &str) -> Value {
        let request = json!({ "Key": self.key(sk), "ConsistentRead": true });
        self.call("GetItem", request).await.get("Item").map_or(Value::Null, shown)
    }

    async fn update(&self, sk: &str, expression: &str, condition: Option<&str>) -> Value {
        let mut request = json!({
            "Key": self.key(sk), "UpdateExpression": expression, "ReturnValues": "ALL_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD", "ReturnConsumedCapacity": "TOTAL",
        });
        if let Some(condition) = condition {
            request["ConditionExpression"] = json!(condition);
        }
        self.call("UpdateItem", self.with_values(request)).await
    }

    /// A query of the partition, or of that of `index` with the same name, with a further condition such as ` AND sk > :a`.
    async fn query(&self, index: Option<&IndexSchema>, and: &str, further: &Value) -> Value {
        let mut request = further.clone();
        let pk = index.map_or("pk", |index| index.pk);
        request["KeyConditionExpression"] = json!(format!("{pk} = :pk{and}"));
        if let Some(index) = index {
            request["IndexName"] = json!(index.name);
        }
        self.call("Query", self.with_values(request)).await
    }

    /// An addition of 1 to the number `n` of the item `sk`, as part of a transaction.
    fn add(&self, sk: &str, condition: Option<&str>) -> Value {
        let mut update = json!({
            "TableName": "records", "Key": self.key(sk), "UpdateExpression": "ADD n :1",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        });
        if let Some(condition) = condition {
            update["ConditionExpression"] = json!(condition);
        }
        json!({ "Update": self.with_values(update) })
    }

    /// Null, the codes and items of the cancellation reasons, or another error code.
    async fn commit(&self, parts: &[Value], token: Option<&str>) -> Value {
        let mut request = json!({ "TransactItems": parts });
        if let Some(token) = token {
            request["ClientRequestToken"] = json!(token);
        }
        let answer = self.call("TransactWriteItems", request).await;
        let Some(reasons) = answer["CancellationReasons"].as_array() else {
            return answer["code"].clone();
        };
        let shown = |reason: &Value| json!([reason["Code"], reason.get("Item").map(shown)]);
        reasons.iter().map(shown).collect()
    }
}

fn api(settings: impl IntoIterator<Item = (&'static str, String)>) -> AwsApi {
    let settings: Settings =
        settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    AwsApi::new(&Aws::new(&settings).unwrap(), &Clock::default())
}

/// The sort keys of a page, and of its `LastEvaluatedKey` or null; or the error code.
fn page(answer: &Value) -> Value {
    let Some(items) = answer["Items"].as_array() else {
        return answer["code"].clone();
    };
    let sort_keys: Vec<&Value> = items.iter().map(|item| &item["sk"]["S"]).collect();
    json!([sort_keys, answer["LastEvaluatedKey"]["sk"]["S"]])
}

#[tokio::test]
async fn update_changes_numbers_sets_and_paths_or_is_invalid() {
    let partition = Partition::new("updates").await;
    let (a, ab) = (json!({ "SS": ["a"] }), json!({ "SS": ["a", "b"] }));
    let (none, map) = (json!({}), json!({ "m": { "k": 1 } }));
    for (number, (before, update, expected)) in [
        (&Value::Null, "SET n = :2", json!({ "n": 2 })),
        (&Value::Null, "ADD n :2", json!({ "n": 2 })),
        (&json!({ "n": 1 }), "ADD n :2", json!({ "n": 3 })),
        (&none, "ADD t :set", json!({ "t": a })),
        (&json!({ "t": { "SS": ["b"] } }), "ADD t :set", json!({ "t": ab })),
        (&json!({ "t": ab }), "DELETE t :set", json!({ "t": { "SS": ["b"] } })),
        // A set is never empty: the attribute goes with its last element.
        (&json!({ "t": a, "k": 1 }), "DELETE t :set", json!({ "k": 1 })),
        (&json!({ "n": 1 }), "SET n = if_not_exists(n, :2)", json!({ "n": 1 })),
        (&none, "SET n = if_not_exists(n, :2)", json!({ "n": 2 })),
        (&json!({ "n": 1 }), "SET n = n + :2", json!({ "n": 3 })),
        (&map, "SET m.#status = :2", json!({ "m": { "k": 1, "status": 2 } })),
        (&map, "REMOVE m.x", map.clone()),
        (&none, "SET n = n + :2", json!(INVALID)),
        (&none, "SET m.x = :2", json!(INVALID)),
        (&json!({ "n": "x" }), "ADD n :2", json!(INVALID)),
        (&none, "SET ttl = :2", json!(INVALID)),
        (&none, "SET t = :empty", json!(INVALID)),
        (&none, "SET dueAt = :x", json!(INVALID)),
    ]
    .iter()
    .enumerate()
    {
        let sk = number.to_string();
        if !before.is_null() {
            partition.put(&sk, before).await;
        }
        let answer = partition.update(&sk, update, None).await;
        let found = answer.get("Attributes").map_or(answer["code"].clone(), shown);
        assert_eq!(found, *expected, "{update} on {before}");
        let after = if expected == INVALID { *before } else { expected };
        assert_eq!(partition.get(&sk).await, *after, "{update} on {before}");
    }
}

#[tokio::test]
async fn condition_holds_for_an_item_or_rejects_the_write() {
    let partition = Partition::new("conditions").await;
    let card = json!({ "version": 1, "status": "QUEUED" });
    let attributes = json!({ "n": 5, "s": "bcd", "set": { "SS": ["x", "y"] }, "card": card });
    partition.put("a", &attributes).await;
    for (sk, condition, holds) in [
        ("a", "attribute_exists(pk)", true),
        ("a", "attribute_not_exists(card.absent)", true),
        ("a", "attribute_not_exists(absent) OR absent <= :5", true),
        ("a", "absent <= :5", false),
        ("a", "card.#status.deep = :x", false),
        ("a", "card.#status = :queued AND card.version = :1", true),
        ("a", "n > :5", false),
        ("a", "n BETWEEN :4 AND :5", true),
        ("a", "n IN (:4, :6)", false),
        ("a", "n = :five", false),
        ("a", "begins_with(s, :b)", true),
        ("a", "contains(#set, :x) AND NOT contains(#set, :z)", true),
        ("a", "size(#set) > :2", false),
        ("a", "size(absent) > :1", false),
        ("a", "n = :5 OR n = :6 AND n = :4", true),
        ("a", "(n = :5 OR n = :6) AND n = :4", false),
        ("missing", "attribute_exists(pk)", false),
        ("missing", "n <= :5", false),
        ("missing", "attribute_not_exists(pk)", true),
    ] {
        let answer = partition.update(sk, "SET k = :1", Some(condition)).await;
        let expected = if holds { Value::Null } else { json!("ConditionalCheckFailedException") };
        assert_eq!(answer["code"], expected, "{condition}");
    }
    let failed = partition.update("a", "SET n = :6", Some("n = :6")).await;
    assert_eq!(failed["Item"]["n"], json!({ "N": "5" }), "the item as it is");
}

#[tokio::test]
async fn transaction_writes_all_or_none_with_a_reason_per_item() {
    let partition = Partition::new("transactions").await;
    let add = |sk: &str, condition| partition.add(sk, condition);
    let put = json!({ "Put": { "TableName": "transient", "Item": partition.key("a") } });
    assert_eq!(partition.commit(&[add("a", None), put], None).await, Value::Null);
    let parts = [add("c", None), add("a", Some("n > :1")), add("missing", Some("n > :1"))];
    let failed = "ConditionalCheckFailed";
    let reasons = json!([["None", null], [failed, { "n": 1 }], [failed, null]]);
    assert_eq!(partition.commit(&parts, None).await, reasons);
    assert_eq!(partition.get("c").await, Value::Null);
    let many: Vec<Value> = (0..101).map(|sk| add(&sk.to_string(), None)).collect();
    assert_eq!(partition.commit(&many[..100], None).await, Value::Null);
    let check = json!({ "ConditionCheck": {
        "TableName": "records", "Key": partition.key("a"), "ConditionExpression": "attribute_exists(pk)",
    } });
    for invalid in [&many, &vec![add("a", None); 2], &vec![check, add("a", None)]] {
        assert_eq!(partition.commit(invalid, None).await, INVALID);
    }
}

#[tokio::test]
async fn client_request_token_repeats_a_written_transaction_only() {
    let partition = Partition::new("tokens").await;
    let mismatch = json!("IdempotentParameterMismatchException");
    for (sk, token, expected, n) in [
        ("a", "token-1", Value::Null, 1),
        ("a", "token-1", Value::Null, 1),
        ("b", "token-1", mismatch, 1),
        ("a", "token-2", Value::Null, 2),
    ] {
        assert_eq!(partition.commit(&[partition.add(sk, None)], Some(token)).await, expected);
        assert_eq!(partition.get("a").await, json!({ "n": n }));
    }
    // A cancelled transaction is decided again.
    let exists = [partition.add("c", Some("attribute_exists(pk)"))];
    assert!(partition.commit(&exists, Some("token-3")).await.is_array());
    partition.put("c", &json!({})).await;
    assert_eq!(partition.commit(&exists, Some("token-3")).await, Value::Null);
}

#[tokio::test]
async fn many_reads_are_limited_and_name_each_key_once() {
    let partition = Partition::new("reads").await;
    partition.put("0", &json!({})).await;
    let keys: Vec<Value> = (0..101).map(|sk| partition.key(&sk.to_string())).collect();
    let request = |keys: &[Value]| json!({ "RequestItems": { "records": { "Keys": keys } } });
    let batch = partition.call("BatchGetItem", request(&keys[..100])).await;
    // It leaves out missing items; a transaction has a place per key.
    assert_eq!(batch["Responses"]["records"].as_array().unwrap().len(), 1);
    assert_eq!(batch["UnprocessedKeys"], json!({}));
    let get = |key| json!({ "Get": { "TableName": "records", "Key": key } });
    let gets: Vec<Value> = keys.iter().map(get).collect();
    let transaction = json!({ "TransactItems": [gets[1], gets[0]] });
    let read = partition.call("TransactGetItems", transaction).await;
    assert_eq!(read["Responses"], json!([{}, { "Item": keys[0] }]));
    for (keys, gets) in [(&keys, &gets), (&vec![keys[0].clone(); 2], &vec![gets[0].clone(); 2])] {
        assert_eq!(partition.call("BatchGetItem", request(keys)).await["code"], INVALID);
        let transaction = json!({ "TransactItems": gets });
        assert_eq!(partition.call("TransactGetItems", transaction).await["code"], INVALID);
    }
}

#[tokio::test]
async fn query_selects_orders_and_pages_by_utf8_bytes() {
    let partition = Partition::new("queries").await;
    for sk in ["9", "Z", "a", "a#1", "ab", "é", "\u{ffff}", "😀"] {
        partition.put(sk, &json!({})).await;
    }
    for (and, limit, is_ascending, expected) in [
        ("", 8, true, json!([["9", "Z", "a", "a#1", "ab", "é", "\u{ffff}", "😀"], "😀"])),
        ("", 9, false, json!([["😀", "\u{ffff}", "é", "ab", "a#1", "a", "Z", "9"], null])),
        (" AND begins_with(sk, :a)", 9, true, json!([["a", "a#1", "ab"], null])),
        // A full page has a `LastEvaluatedKey` even at the end, so the store reads one item more than it returns.
        (" AND begins_with(sk, :a)", 3, true, json!([["a", "a#1", "ab"], "ab"])),
        (" AND sk BETWEEN :a AND :ab", 9, true, json!([["a", "a#1", "ab"], null])),
        (" AND sk > :ab", 1, true, json!([["é"], "é"])),
        (" AND sk <= :a", 9, false, json!([["a", "Z", "9"], null])),
        (" AND sk > :a AND sk < :b", 9, true, json!(INVALID)),
    ] {
        let further = json!({ "Limit": limit, "ScanIndexForward": is_ascending });
        let answer = partition.query(None, and, &further).await;
        assert_eq!(page(&answer), expected, "{and}, at most {limit}");
    }
    let after = json!({ "ExclusiveStartKey": partition.key("aa"), "Limit": 1 });
    let answer = partition.query(None, "", &after).await;
    assert_eq!(page(&answer), json!([["ab"], "ab"]), "after a missing item");
    let filter = json!({ "FilterExpression": "attribute_exists(absent)", "Limit": 2 });
    let answer = partition.query(None, "", &filter).await;
    assert_eq!(page(&answer), json!([[], "Z"]), "a filter applies after the limit");
}

#[tokio::test]
async fn index_has_items_with_both_keys_and_projected_attributes() {
    let partition = Partition::new("indexes").await;
    partition.put("a", &json!({ "listPk": "indexes", "listSk": "1", "card": 1, "extra": 1 })).await;
    partition.put("b", &json!({ "listPk": "indexes", "card": 2 })).await;
    for (sk, update, expected) in [
        ("a", "SET card = :5", json!([{ "listPk": "indexes", "listSk": "1", "card": 5 }])),
        ("a", "REMOVE listSk", json!([])),
        ("b", "SET listSk = :one", json!([{ "listPk": "indexes", "listSk": "1", "card": 2 }])),
    ] {
        partition.update(sk, update, None).await;
        let answer = partition.query(Some(&LISTING), "", &json!({})).await;
        let found: Value = answer["Items"].as_array().unwrap().iter().map(shown).collect();
        assert_eq!(found, expected, "{update}");
    }
    let answer = partition.query(Some(&LISTING), "", &json!({ "ConsistentRead": true })).await;
    assert_eq!(answer["code"], INVALID, "consistent read");
    for at in [10, 9, 100, -1] {
        partition.put(&at.to_string(), &json!({ "duePk": partition.pk, "dueAt": at })).await;
    }
    let answer = partition.query(Some(&DUE), " AND dueAt <= :10", &json!({})).await;
    assert_eq!(page(&answer), json!([["-1", "9", "10"], null]), "by value");
}

/// Items with the same keys in the index are told apart by their primary keys, which the `LastEvaluatedKey` has too.
#[tokio::test]
async fn pages_of_an_index_skip_and_repeat_no_item() {
    let partition = Partition::new("index pages").await;
    for sk in ["a", "b", "c"] {
        partition.put(sk, &json!({ "listPk": partition.pk, "listSk": "the same" })).await;
    }
    let (mut found, mut further) = (Vec::new(), json!({ "Limit": 1 }));
    loop {
        let answer = partition.query(Some(&LISTING), "", &further).await;
        let items = answer["Items"].as_array().unwrap().iter();
        found.extend(items.filter_map(|item| item["sk"]["S"].as_str().map(str::to_owned)));
        let Some(start) = answer.get("LastEvaluatedKey") else { break };
        assert!(["listPk", "listSk", "pk", "sk"].iter().all(|name| start.get(name).is_some()));
        further["ExclusiveStartKey"] = start.clone();
    }
    found.sort();
    assert_eq!(found, ["a", "b", "c"]);
}

#[tokio::test]
async fn item_has_400_kb_sort_key_1024_bytes_and_page_1_mb() {
    let (partition, none) = (Partition::new("sizes").await, json!({}));
    assert_eq!(partition.put("a", &partition.filler("a", 409_600)).await, Value::Null);
    assert_eq!(partition.put("a", &partition.filler("a", 409_601)).await, INVALID);
    assert_eq!(partition.update("a", "SET e = :1", None).await["code"], INVALID);
    assert_eq!(partition.put(&"s".repeat(1024), &none).await, Value::Null);
    assert_eq!(partition.put(&"s".repeat(1025), &none).await, INVALID);
    assert_eq!(partition.put("", &none).await, INVALID);
    for sk in ["b", "c"] {
        partition.put(sk, &partition.filler(sk, 400_000)).await;
    }
    let answer = partition.query(None, "", &none).await;
    assert!(answer.get("LastEvaluatedKey").is_some(), "more than 1 MB in a page");
}

/// `infra/costs.json` and `infra/cost.md` follow from these.
#[tokio::test]
async fn write_takes_a_unit_per_kilobyte_and_index_entry() {
    let partition = Partition::new("units").await;
    for (update, expected) in [
        ("SET filler = :kilobyte", 2.0),
        ("REMOVE filler", 2.0),
        ("SET listPk = :pk, listSk = :one", 2.0),
        ("SET extra = :1", 1.0),
        ("SET card = :1", 2.0),
        // The old entry is deleted and a new one is written.
        ("SET listSk = :two", 3.0),
        ("REMOVE listSk", 2.0),
    ] {
        let answer = partition.update("a", update, None).await;
        assert_eq!(answer["ConsumedCapacity"]["CapacityUnits"], expected, "{update}");
    }
}
