//! The verbs of the tables. Every request of ours passes here, so here it is counted, and
//! here stands what may be tried again. The SDK's futures are tens of kilobytes each: they live on
//! the heap, or a handler that joins a few of them outgrows a thread's stack.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    operation::query::builders::QueryFluentBuilder,
    types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity},
};
use domain::Instant;
use serde::{Serialize, de::DeserializeOwned};
use serde_dynamo::{from_item, from_items, to_attribute_value};
use tokio::time::sleep;

use crate::{
    Store, StoreError,
    keys::{DUE, IndexSchema, Key, Place, Table},
    meter::Trip,
    retry::{TRIES, pause},
};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// A part of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Where the next part begins; `None` at the end.
    pub last: Option<String>,
}

impl<T> Page<T> {
    pub(crate) fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(convert).collect(),
            last: self.last,
        }
    }
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Ascending,
    Descending,
}

/// An item that lists show.
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct Carded<T> {
    pub(crate) card: T,
}

impl Store {
    pub(crate) fn name(&self, table: Table) -> &str {
        match table {
            Table::Records => &self.names.records,
            Table::Transient => &self.names.transient,
        }
    }

    /// The item at `key`, as it stands after every write that was acknowledged.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        key: &Key,
    ) -> Result<Option<T>, StoreError> {
        let trip = Trip::start();
        let request = self
            .reads
            .get_item()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .consistent_read(true);
        let answer = Box::pin(
            request
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send(),
        )
        .await;
        trip.read(&answer, |answer| answer.consumed_capacity());
        Ok(answer?.item.map(from_item).transpose()?)
    }

    /// The card of the item at `key`.
    pub(crate) async fn card<T: DeserializeOwned>(
        &self,
        key: &Key,
    ) -> Result<Option<T>, StoreError> {
        let item: Option<Carded<T>> = self.get(key).await?;
        Ok(item.map(|item| item.card))
    }

    /// At most `limit` items of partition `pk` whose sort key begins with `prefix`, from the greatest
    /// down, below the sort key `after`.
    pub(crate) async fn newest<T: DeserializeOwned>(
        &self,
        table: Table,
        pk: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<T>, StoreError> {
        let request = self
            .reads
            .query()
            .table_name(self.name(table))
            .consistent_read(true)
            .scan_index_forward(false);
        let request = request
            .key_condition_expression("pk = :pk AND begins_with(sk, :prefix)")
            .expression_attribute_values(":pk", text(pk))
            .expression_attribute_values(":prefix", text(prefix));
        let start = after
            .map(|sk| HashMap::from([("pk".to_owned(), text(pk)), ("sk".to_owned(), text(sk))]));
        self.page(request.set_exclusive_start_key(start), "sk", limit)
            .await
    }

    /// At most `limit` items of the list `pk` of `index` after the sort key `after`, in `order`. Eventually
    /// consistent, as indexes are.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        index: &IndexSchema,
        pk: &str,
        after: Option<&str>,
        limit: u16,
        order: Order,
    ) -> Result<Page<T>, StoreError> {
        let request = self
            .reads
            .query()
            .table_name(self.name(Table::Records))
            .index_name(index.name);
        let request = request
            .scan_index_forward(order == Order::Ascending)
            .expression_attribute_values(":pk", text(pk));
        let request = request.expression_attribute_names("#pk", index.pk);
        let request = match after {
            None => request.key_condition_expression("#pk = :pk"),
            Some(after) => {
                let condition = if order == Order::Ascending {
                    "#pk = :pk AND #sk > :after"
                } else {
                    "#pk = :pk AND #sk < :after"
                };
                let request = request
                    .key_condition_expression(condition)
                    .expression_attribute_names("#sk", index.sk.0);
                request.expression_attribute_values(":after", text(after))
            }
        };
        self.page(request, index.sk.0, limit).await
    }

    /// The cards of [`list`](Self::list).
    pub(crate) async fn cards<T: DeserializeOwned>(
        &self,
        index: &IndexSchema,
        pk: &str,
        after: Option<&str>,
        limit: u16,
        order: Order,
    ) -> Result<Page<T>, StoreError> {
        let page: Page<Carded<T>> = self.list(index, pk, after, limit, order).await?;
        Ok(page.map(|item| item.card))
    }

    /// All items of partition `pk` in the order of their sort keys, consistently. For partitions that are
    /// bounded by what is put into them.
    pub(crate) async fn partition(&self, pk: &str) -> Result<Vec<Item>, StoreError> {
        let (mut items, mut start) = (Vec::new(), None);
        loop {
            let trip = Trip::start();
            let request = self
                .reads
                .query()
                .table_name(self.name(Table::Records))
                .consistent_read(true);
            let request = request
                .key_condition_expression("pk = :pk")
                .expression_attribute_values(":pk", text(pk));
            let request = request
                .set_exclusive_start_key(start)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let answer = Box::pin(request.send()).await;
            trip.read(&answer, |answer| answer.consumed_capacity());
            let answer = answer?;
            items.extend(answer.items.unwrap_or_default());
            start = answer.last_evaluated_key;
            if start.is_none() {
                return Ok(items);
            }
        }
    }

    /// The items at `keys`, in their order, each as it stands after every write that was acknowledged. One request for
    /// all of them: what a request costs in CPU is most of what a small answer costs.
    pub(crate) async fn get_each<const N: usize>(
        &self,
        keys: [Key; N],
    ) -> Result<[Option<Item>; N], StoreError> {
        let mut wanted = HashMap::new();
        for table in [Table::Records, Table::Transient] {
            let keys: Vec<Item> = keys
                .iter()
                .filter(|key| key.table == table)
                .map(Key::item)
                .collect();
            if !keys.is_empty() {
                let keys = KeysAndAttributes::builder()
                    .set_keys(Some(keys))
                    .consistent_read(true)
                    .build()?;
                wanted.insert(self.name(table).to_owned(), keys);
            }
        }
        let mut found = self.batch_get(wanted).await?;
        Ok(keys.map(|key| {
            let items = found.get_mut(self.name(key.table))?;
            let place = key.item();
            let there = items.iter().position(|item| {
                place
                    .iter()
                    .all(|(name, value)| item.get(name) == Some(value))
            })?;
            Some(items.swap_remove(there))
        }))
    }

    /// The attribute `projected`, beside the key, of the items at `keys`, a hundred at most, in no order; those
    /// that are not there are left out. Eventually consistent, for what is only looked at.
    pub(crate) async fn get_many<T: DeserializeOwned>(
        &self,
        keys: &[Key],
        projected: &str,
    ) -> Result<Vec<T>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys =
            KeysAndAttributes::builder().set_keys(Some(keys.iter().map(Key::item).collect()));
        let keys = keys
            .projection_expression("pk, #projected")
            .expression_attribute_names("#projected", projected)
            .build()?;
        let found = self
            .batch_get(HashMap::from([(
                self.name(Table::Records).to_owned(),
                keys,
            )]))
            .await?;
        Ok(from_items(
            found.into_values().flatten().collect::<Vec<Item>>(),
        )?)
    }

    /// What there is of `wanted`, by table. What DynamoDB leaves undone is asked for again
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>).
    async fn batch_get(
        &self,
        mut wanted: HashMap<String, KeysAndAttributes>,
    ) -> Result<HashMap<String, Vec<Item>>, StoreError> {
        let mut found: HashMap<String, Vec<Item>> = HashMap::new();
        for tries in 1..=TRIES {
            let trip = Trip::start();
            let request = self.reads.batch_get_item().set_request_items(Some(wanted));
            let answer = Box::pin(
                request
                    .return_consumed_capacity(ReturnConsumedCapacity::Total)
                    .send(),
            )
            .await;
            trip.read(&answer, |answer| answer.consumed_capacity());
            let answer = answer?;
            for (table, items) in answer.responses.unwrap_or_default() {
                found.entry(table).or_default().extend(items);
            }
            wanted = answer.unprocessed_keys.unwrap_or_default();
            if wanted.is_empty() {
                return Ok(found);
            }
            sleep(pause(tries)?).await;
        }
        Err(StoreError::Throttled)
    }

    /// One more is read than asked for, so that the last page is known for it.
    pub(crate) async fn page<T: DeserializeOwned>(
        &self,
        request: QueryFluentBuilder,
        sort: &str,
        limit: u16,
    ) -> Result<Page<T>, StoreError> {
        let trip = Trip::start();
        let request = request
            .limit(i32::from(limit) + 1)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let answer = Box::pin(request.send()).await;
        trip.read(&answer, |answer| answer.consumed_capacity());
        let answer = answer?;
        // DynamoDB ends a page at a megabyte, too.
        let has_more = answer.last_evaluated_key().is_some();
        let mut items = answer.items.unwrap_or_default();
        let has_more = has_more || items.len() > usize::from(limit);
        items.truncate(limit.into());
        let place = |item: &Item| item.get(sort).and_then(|sk| sk.as_s().ok()).cloned();
        let last = items.last().filter(|_| has_more).and_then(place);
        Ok(Page {
            items: from_items(items)?,
            last,
        })
    }
}

/// What `item` holds, if there is one.
pub(crate) fn read<T: DeserializeOwned>(item: Option<Item>) -> Result<Option<T>, StoreError> {
    Ok(item.map(from_item).transpose()?)
}

impl Place {
    pub(crate) fn attributes(self) -> [(String, AttributeValue); 2] {
        [
            (self.index.pk.to_owned(), AttributeValue::S(self.pk)),
            (self.index.sk.0.to_owned(), AttributeValue::S(self.sk)),
        ]
    }
}

pub(crate) fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

pub(crate) fn number(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

pub(crate) fn value<T: Serialize>(value: &T) -> Result<AttributeValue, StoreError> {
    Ok(to_attribute_value(value)?)
}

/// The mark of what is still to be done, at `at`: the place in the index `due`.
pub(crate) fn due(pk: &str, at: Instant) -> [(String, AttributeValue); 2] {
    [
        (DUE.pk.to_owned(), text(pk)),
        (DUE.sk.0.to_owned(), number(at.unix_milliseconds())),
    ]
}

/// The attribute by which DynamoDB removes an item some time after `end`.
pub(crate) fn ttl(end: Instant) -> (String, AttributeValue) {
    ("ttl".to_owned(), number(end.unix_seconds()))
}
