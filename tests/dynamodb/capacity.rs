//! Consumed capacity, from which `shared/store/src/keys/costs.rs` and `infra/cost.md` follow
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html>).

use aws_sdk_dynamodb::types::{
    ConditionCheck, ConsumedCapacity, Get, KeysAndAttributes, Put, ReturnConsumedCapacity::Total,
    TransactGetItem, TransactWriteItem,
};
use cloud::faults::{Fault, Mode, Service};
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, outcome};

/// The units of a response.
fn units<'a>(consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) -> Value {
    let units = consumed.into_iter().filter_map(ConsumedCapacity::capacity_units);
    json!(units.sum::<f64>())
}

#[tokio::test]
async fn write_takes_a_unit_per_kilobyte_of_the_larger_item() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.transient("write units");
    for (size, expected) in [(100, 1.0), (1024, 1.0), (1025, 2.0), (4097, 5.0)] {
        let request = endpoint.client.put_item().table_name(partition.table);
        let request = request.set_item(Some(partition.sized("a", size)));
        let response = request.return_consumed_capacity(Total).send().await;
        let found = outcome(response, |put| units(put.consumed_capacity()));
        endpoint.check(&format!("put of {size} bytes"), found, json!(expected));
    }
    let request = partition.updating("a", "REMOVE d", &json!({}));
    let response = request.return_consumed_capacity(Total).send().await;
    let found = outcome(response, |updated| units(updated.consumed_capacity()));
    endpoint.check("update that shrinks an item", found, json!(5.0));
    let request = endpoint.client.delete_item().table_name(partition.table);
    let request = request.set_key(Some(partition.key("missing")));
    let response = request.return_consumed_capacity(Total).send().await;
    let found = outcome(response, |deleted| units(deleted.consumed_capacity()));
    endpoint.check("deletion of a missing item", found, json!(1.0));
}

#[tokio::test]
async fn read_takes_a_unit_per_four_kilobytes_and_half_if_eventual() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.transient("read units");
    partition.put(partition.sized("4096", 4096)).await;
    partition.put(partition.sized("4097", 4097)).await;
    for (case, sk, is_consistent, projection, expected) in [
        ("consistent read of 4,096 bytes", "4096", true, None, 1.0),
        ("eventually consistent read of 4,096 bytes", "4096", false, None, 0.5),
        ("consistent read of 4,097 bytes", "4097", true, None, 2.0),
        ("eventually consistent read of 4,097 bytes", "4097", false, None, 1.0),
        ("read of one attribute of 4,097 bytes", "4097", true, Some("sk"), 2.0),
        ("consistent read of a missing item", "missing", true, None, 1.0),
        ("eventually consistent read of a missing item", "missing", false, None, 0.5),
    ] {
        let request = endpoint.client.get_item().table_name(partition.table);
        let request = request
            .set_key(Some(partition.key(sk)))
            .consistent_read(is_consistent)
            .set_projection_expression(projection.map(str::to_owned));
        let response = request.return_consumed_capacity(Total).send().await;
        let found = outcome(response, |read| units(read.consumed_capacity()));
        endpoint.check(case, found, json!(expected));
    }
}

#[tokio::test]
async fn query_is_charged_for_the_sum_of_what_it_reads() {
    let endpoint = Endpoint::new().await;
    let (partition, empty) = (endpoint.transient("query units"), endpoint.transient("no items"));
    for sk in ["a", "b", "c"] {
        partition.put(partition.sized(sk, 2048)).await;
    }
    for (case, partition, is_consistent, filter, expected) in [
        ("consistent query of 6 KB", &partition, true, None, 2.0),
        ("eventually consistent query of 6 KB", &partition, false, None, 1.0),
        ("query of 6 KB with a filter", &partition, false, Some("attribute_exists(absent)"), 1.0),
        ("query without a result", &empty, false, None, 0.5),
    ] {
        let request = partition.query("", &json!({})).consistent_read(is_consistent);
        let request = request.set_filter_expression(filter.map(str::to_owned));
        let response = request.return_consumed_capacity(Total).send().await;
        let found = outcome(response, |page| units(page.consumed_capacity()));
        endpoint.check(case, found, json!(expected));
    }
}

#[tokio::test]
async fn batch_is_charged_per_item_and_a_transaction_twice() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.transient("units of many");
    for sk in ["a", "b"] {
        partition.put(partition.sized(sk, 2048)).await;
    }
    let keys = ["a", "b", "missing"].map(|sk| partition.key(sk));
    let keys = KeysAndAttributes::builder().set_keys(Some(keys.to_vec())).consistent_read(true);
    let request = endpoint.client.batch_get_item();
    let request = request.request_items(partition.table, keys.build().unwrap());
    let response = request.return_consumed_capacity(Total).send().await;
    let found = outcome(response, |read| units(read.consumed_capacity()));
    endpoint.check("batch of three reads", found, json!(3.0));
    let get = |sk| {
        let get = Get::builder().table_name(partition.table).set_key(Some(partition.key(sk)));
        TransactGetItem::builder().get(get.build().unwrap()).build()
    };
    let request = endpoint.client.transact_get_items();
    let request = request.transact_items(get("a")).transact_items(get("missing"));
    let response = request.return_consumed_capacity(Total).send().await;
    let found = outcome(response, |read| units(read.consumed_capacity()));
    endpoint.check("transaction of two reads", found, json!(4.0));
    let put = Put::builder().table_name(partition.table).set_item(Some(partition.sized("c", 100)));
    let check = ConditionCheck::builder()
        .table_name(partition.table)
        .set_key(Some(partition.key("a")))
        .condition_expression("attribute_exists(pk)");
    let part = TransactWriteItem::builder;
    let request = endpoint.client.transact_write_items();
    let request = request
        .transact_items(part().put(put.build().unwrap()).build())
        .transact_items(part().condition_check(check.build().unwrap()).build());
    let response = request.return_consumed_capacity(Total).send().await;
    let found = outcome(response, |written| units(written.consumed_capacity()));
    endpoint.check("transaction of a small put and a check of 2 KB", found, json!(6.0));
}

#[tokio::test]
async fn write_is_charged_for_each_index_entry_that_changes() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("index units");
    for (expression, values, expected) in [
        ("SET listPk = :pk, listSk = :sk", json!({ ":pk": "index units", ":sk": "1" }), 2.0),
        ("SET listPk = :pk, listSk = :sk", json!({ ":pk": "index units", ":sk": "1" }), 1.0),
        ("SET extra = :extra", json!({ ":extra": 1 }), 1.0),
        ("SET card = :card", json!({ ":card": 1 }), 2.0),
        // The old entry is deleted and a new one is written.
        ("SET listSk = :sk", json!({ ":sk": "2" }), 3.0),
        ("REMOVE listSk", json!({}), 2.0),
    ] {
        let request = partition.updating("a", expression, &values);
        let response = request.return_consumed_capacity(Total).send().await;
        let found = outcome(response, |updated| units(updated.consumed_capacity()));
        endpoint.check(&format!("{expression} with {values}"), found, json!(expected));
    }
}

/// A partition takes 1,000 write units in a second
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>).
#[tokio::test]
async fn partition_over_its_bound_is_throttled_and_others_are_not() {
    let endpoint = Endpoint::new().await;
    let Some(cloud) = endpoint.embedded() else {
        return;
    };
    let fault = Fault::new(Mode::Hot);
    cloud.faults().set([(Service::Dynamodb, fault)].into());
    let (hot, cool) = (endpoint.transient("hot"), endpoint.transient("cool"));
    let mut written = Value::Null;
    // Three writes exceed the bound of a second.
    for _ in 0..10 {
        if written.is_null() {
            written = hot.put(hot.sized("a", 390 * 1024)).await;
        }
    }
    let throttled = json!("ProvisionedThroughputExceededException");
    endpoint.check("hot partition", written, throttled);
    endpoint.check("another", cool.put(cool.key("a")).await, Value::Null);
}
