//! BatchGetItem and BatchWriteItem
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>,
//! <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html>).

use aws_sdk_dynamodb::types::{DeleteRequest, KeysAndAttributes, PutRequest, WriteRequest};
use serde_json::{Value, json};

use crate::{
    INVALID,
    attributes::{self, Item},
    endpoint::{Endpoint, outcome},
    partition::Partition,
};

/// The keys with the sort keys 0 to below `count`.
fn keys(partition: &Partition<'_>, count: usize) -> Vec<Item> {
    (0..count).map(|number| partition.key(&number.to_string())).collect()
}

fn puts(items: Vec<Item>) -> Vec<WriteRequest> {
    let put = |item| PutRequest::builder().set_item(Some(item)).build().unwrap();
    let request = |item| WriteRequest::builder().put_request(put(item)).build();
    items.into_iter().map(request).collect()
}

async fn write(endpoint: &Endpoint, requests: Vec<WriteRequest>) -> Value {
    let request = endpoint.client.batch_write_item();
    let response = request.request_items("records", requests).send().await;
    outcome(response, |written| json!(written.unprocessed_items.unwrap_or_default().len()))
}

/// The number of items that were read.
async fn read(endpoint: &Endpoint, keys: Vec<Item>) -> Value {
    let keys = KeysAndAttributes::builder().set_keys(Some(keys)).build().unwrap();
    let request = endpoint.client.batch_get_item().request_items("records", keys);
    outcome(request.send().await, |read| {
        let responses = read.responses.unwrap_or_default();
        json!(responses.values().map(Vec::len).sum::<usize>())
    })
}

#[tokio::test]
async fn batch_has_at_most_25_writes_and_100_reads() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("batches");
    let mut all = keys(&partition, 101);
    for some in all[..100].chunks(25) {
        endpoint.check("25 writes", write(&endpoint, puts(some.to_vec())).await, json!(0));
    }
    let found = write(&endpoint, puts(all[..26].to_vec())).await;
    endpoint.check("26 writes", found, json!(INVALID));
    endpoint.check("101 reads", read(&endpoint, all.clone()).await, json!(INVALID));
    all.pop();
    endpoint.check("100 reads", read(&endpoint, all).await, json!(100));
}

#[tokio::test]
async fn batch_names_each_item_once_and_leaves_out_missing_ones() {
    let endpoint = Endpoint::new().await;
    let partition = endpoint.records("batched items");
    let (one, missing) = (partition.key("0"), partition.key("missing"));
    write(&endpoint, puts(vec![one.clone()])).await;
    let found = read(&endpoint, vec![one.clone(), missing]).await;
    endpoint.check("missing item", found, json!(1));
    let found = read(&endpoint, vec![one.clone(), one.clone()]).await;
    endpoint.check("the same key twice", found, json!(INVALID));
    let delete = DeleteRequest::builder().set_key(Some(one.clone())).build().unwrap();
    let mut requests = puts(vec![one]);
    requests.push(WriteRequest::builder().delete_request(delete).build());
    endpoint.check("put and delete", write(&endpoint, requests).await, json!(INVALID));
}

#[tokio::test]
async fn batch_reads_a_projection_from_two_tables() {
    let endpoint = Endpoint::new().await;
    let (records, transient) = (endpoint.records("two tables"), endpoint.transient("two tables"));
    records.put(records.item("a", &json!({ "n": 1, "ttl": 4_000_000_000_u64 }))).await;
    let keys = |partition: &Partition<'_>| {
        let keys = KeysAndAttributes::builder().keys(partition.key("a"));
        let keys = keys.projection_expression("pk, #ttl").expression_attribute_names("#ttl", "ttl");
        keys.build().unwrap()
    };
    let request = endpoint.client.batch_get_item().request_items("records", keys(&records));
    let response = request.request_items("transient", keys(&transient)).send().await;
    let found = outcome(response, |read| {
        let responses = read.responses.unwrap_or_default().into_iter();
        responses
            .map(|(table, items)| (table, items.iter().map(attributes::json).collect::<Value>()))
            .collect()
    });
    let expected =
        json!({ "records": [{ "pk": "two tables", "ttl": 4_000_000_000_u64 }], "transient": [] });
    endpoint.check("two tables", found, expected);
}
