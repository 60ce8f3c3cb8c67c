//! Reads: GetItem, BatchGetItem and Query, with metering and retries.
//!
//! The SDK's futures take tens of kilobytes each, so they are boxed: a handler that joins several of them would
//! overflow a thread's stack.

use std::{
    array,
    collections::{HashMap, HashSet},
    hash::Hash,
};

use aws_sdk_dynamodb::{
    operation::query::builders::QueryFluentBuilder,
    types::{AttributeValue, KeysAndAttributes},
};
use domain::Instant;
use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;
use serde_dynamo::from_item;

use crate::{
    Store, StoreError,
    keys::{DUE, DueList, IndexKey, Key, List, Table},
    meter::{counted, request_id},
    retry::Retries,
};

/// Most keys of one BatchGetItem
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>).
pub(crate) const MAX_KEYS: usize = 100;

pub(crate) type Item = HashMap<String, AttributeValue>;

/// One page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// The position after this page, for the next call; `None` at the end of the list.
    pub last: Option<String>,
}

impl<T> Page<T> {
    /// The page with each item converted.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(convert).collect(), last: self.last }
    }

    /// The first `limit` items of several lists in `order`, of each of which `pages` has the page after the same
    /// position. An item is at `position`; of several with one `id` only the first is kept: while it moves from one
    /// list to another, an eventually consistent index may show it in both.
    pub(crate) fn merged<I: Eq + Hash>(
        pages: Vec<Self>,
        limit: u16,
        order: Order,
        position: impl Fn(&T) -> String,
        id: impl Fn(&T) -> I,
    ) -> Self {
        let compare = |one: &String, other: &String| match order {
            Order::Ascending => one.cmp(other),
            Order::Descending => other.cmp(one),
        };
        // After this position one of the lists has not been read yet, so items of the others belong to later pages.
        let read_until = pages.iter().filter_map(|page| page.last.clone()).min_by(compare);
        let mut items: Vec<(String, T)> = pages
            .into_iter()
            .flat_map(|page| page.items)
            .map(|item| (position(&item), item))
            .filter(|(sk, _)| read_until.as_ref().is_none_or(|end| compare(sk, end).is_le()))
            .collect();
        items.sort_by(|(one, _), (other, _)| compare(one, other));
        let mut seen = HashSet::new();
        items.retain(|(_, item)| seen.insert(id(item)));
        let last = if items.len() > usize::from(limit) {
            items.truncate(limit.into());
            items.last().map(|(sk, _)| sk.clone())
        } else {
            read_until
        };
        Self { last, items: items.into_iter().map(|(_, item)| item).collect() }
    }

    /// The page up to the first item for which `is_kept` is false; the list ends there. For lists that begin with the
    /// newest item, in which every later item has expired as well.
    pub(crate) fn take_while(mut self, is_kept: impl Fn(&T) -> bool) -> Self {
        if let Some(end) = self.items.iter().position(|item| !is_kept(item)) {
            self.items.truncate(end);
            self.last = None;
        }
        self
    }
}

/// All entries of a list. `page` reads the page after a position.
pub async fn all_pages<T, E, F: Future<Output = Result<Page<T>, E>>>(
    page: impl Fn(Option<String>) -> F,
) -> Result<Vec<T>, E> {
    let (mut entries, mut position) = (Vec::new(), None);
    loop {
        let read = page(position).await?;
        entries.extend(read.items);
        position = read.last;
        if position.is_none() {
            return Ok(entries);
        }
    }
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Ascending,
    Descending,
}

/// Whether a read sees all writes that were acknowledged before it. One that need not costs half the units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consistency {
    Strong,
    Eventual,
}

#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct ListedItem<T> {
    pub(crate) card: T,
}

impl Store {
    pub(crate) fn name(&self, table: Table) -> &str {
        match table {
            Table::Records => &self.names.records,
            Table::Transient => &self.names.transient,
        }
    }

    /// The item at `key`, strongly consistent.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        key: &Key,
    ) -> Result<Option<T>, StoreError> {
        let request = self
            .reads
            .get_item()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .consistent_read(true);
        Ok(counted(request.send()).await?.item.map(parsed).transpose()?)
    }

    pub(crate) async fn card<T: DeserializeOwned>(
        &self,
        key: &Key,
    ) -> Result<Option<T>, StoreError> {
        let item: Option<ListedItem<T>> = self.get(key).await?;
        Ok(item.map(|item| item.card))
    }

    /// At most `limit` items of partition `pk` whose sort key begins with `prefix`, in descending order, below
    /// the sort key `after`; strongly consistent.
    pub(crate) async fn newest<T: DeserializeOwned>(
        &self,
        table: Table,
        pk: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<T>, StoreError> {
        let values = [(":pk", text(pk)), (":prefix", text(prefix))];
        let start = after
            .map(|sk| HashMap::from([("pk".to_owned(), text(pk)), ("sk".to_owned(), text(sk))]));
        let request = self
            .select(table, "pk = :pk AND begins_with(sk, :prefix)", values)
            .consistent_read(true)
            .scan_index_forward(false)
            .set_exclusive_start_key(start);
        self.page(request, "sk", limit).await
    }

    /// At most `limit` items of `list`, which has no shards, after the sort key `after`, in `order`. Eventually
    /// consistent, as all reads of a global secondary index are.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        List { index, pk, .. }: &List,
        after: Option<&str>,
        limit: u16,
        order: Order,
    ) -> Result<Page<T>, StoreError> {
        let (partition, sort) = (index.pk, index.sk.0);
        let condition = match (after, order) {
            (None, _) => format!("{partition} = :pk"),
            (Some(_), Order::Ascending) => format!("{partition} = :pk AND {sort} > :after"),
            (Some(_), Order::Descending) => format!("{partition} = :pk AND {sort} < :after"),
        };
        let after = after.map(|after| (":after", text(after)));
        let request = self
            .select(Table::Records, &condition, [(":pk", text(pk))].into_iter().chain(after))
            .index_name(index.name)
            .scan_index_forward(order == Order::Ascending);
        self.page(request, sort, limit).await
    }

    /// The cards of [`list`](Self::list).
    pub(crate) async fn cards<T: DeserializeOwned>(
        &self,
        list: &List,
        after: Option<&str>,
        limit: u16,
        order: Order,
    ) -> Result<Page<T>, StoreError> {
        let page: Page<ListedItem<T>> = self.list(list, after, limit, order).await?;
        Ok(page.map(|item| item.card))
    }

    /// The cards of a list in shards, in descending order: one query of each shard. `id` is the sort key of a card.
    pub(crate) async fn newest_cards<T: DeserializeOwned>(
        &self,
        list: List,
        after: Option<&str>,
        limit: u16,
        id: impl Fn(&T) -> String,
    ) -> Result<Page<T>, StoreError> {
        let shards = list.shards();
        let pages = shards.iter().map(|list| self.cards(list, after, limit, Order::Descending));
        Ok(Page::merged(try_join_all(pages).await?, limit, Order::Descending, &id, &id))
    }

    /// The items at `keys`, in that order, each strongly consistent. A single BatchGetItem, because most of the
    /// CPU cost of a small response is the cost of the request.
    pub(crate) async fn get_each<const N: usize>(
        &self,
        keys: [Key; N],
    ) -> Result<[Option<Item>; N], StoreError> {
        let mut found = self.get_all(&keys).await?.into_iter();
        Ok(array::from_fn(|_| found.next().flatten()))
    }

    /// As [`get_each`](Self::get_each), for at most [`MAX_KEYS`] keys.
    pub(crate) async fn get_all(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, StoreError> {
        self.get_batch(keys, Consistency::Strong).await
    }

    /// As [`get_all`](Self::get_all), with this consistency.
    pub(crate) async fn get_batch(
        &self,
        keys: &[Key],
        consistency: Consistency,
    ) -> Result<Vec<Option<Item>>, StoreError> {
        // DynamoDB refuses a request for no item.
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut wanted = HashMap::new();
        for table in [Table::Records, Table::Transient] {
            let keys: Vec<Item> =
                keys.iter().filter(|key| key.table == table).map(Key::item).collect();
            if !keys.is_empty() {
                let keys = KeysAndAttributes::builder()
                    .set_keys(Some(keys))
                    .consistent_read(consistency == Consistency::Strong)
                    .build()?;
                wanted.insert(self.name(table).to_owned(), keys);
            }
        }
        let mut found = self.batch_get(wanted).await?;
        let mut take = |key: &Key| {
            let items = found.get_mut(self.name(key.table))?;
            let attributes = key.item();
            let index = items.iter().position(|item| {
                attributes.iter().all(|(name, value)| item.get(name) == Some(value))
            })?;
            Some(items.swap_remove(index))
        };
        Ok(keys.iter().map(&mut take).collect())
    }

    /// The key, [`LAST_ACTIVE`] and the attribute `projected` of the items at `keys` (at most 100), in no particular order and
    /// without missing items. Eventually consistent.
    pub(crate) async fn get_many<T: DeserializeOwned>(
        &self,
        keys: &[Key],
        projected: &str,
    ) -> Result<Vec<T>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys = KeysAndAttributes::builder()
            .set_keys(Some(keys.iter().map(Key::item).collect()))
            .projection_expression("pk, #projected, lastActive")
            .expression_attribute_names("#projected", projected)
            .build()?;
        let found =
            self.batch_get(HashMap::from([(self.name(Table::Records).to_owned(), keys)])).await?;
        Ok(found.into_values().flatten().map(parsed).collect::<Result<_, _>>()?)
    }

    /// The existing items of `wanted`, by table. Requests `UnprocessedKeys` again
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>).
    async fn batch_get(
        &self,
        mut wanted: HashMap<String, KeysAndAttributes>,
    ) -> Result<HashMap<String, Vec<Item>>, StoreError> {
        let mut found: HashMap<String, Vec<Item>> = HashMap::new();
        let mut retries = Retries::new();
        let keys = |wanted: &HashMap<String, KeysAndAttributes>| {
            wanted.values().map(|of_table| of_table.keys.len()).sum::<usize>()
        };
        loop {
            let asked = keys(&wanted);
            let request = self.reads.batch_get_item().set_request_items(Some(wanted));
            let response = counted(request.send()).await?;
            for (table, items) in response.responses.unwrap_or_default() {
                found.entry(table).or_default().extend(items);
            }
            wanted = response.unprocessed_keys.unwrap_or_default();
            if wanted.is_empty() {
                return Ok(found);
            }
            if keys(&wanted) < asked {
                retries.progressed();
            }
            retries.pause(StoreError::Throttled).await?;
        }
    }

    /// A query of the items of `table` that meet the key `condition`, with these `values`.
    pub(crate) fn select(
        &self,
        table: Table,
        condition: &str,
        values: impl IntoIterator<Item = (&'static str, AttributeValue)>,
    ) -> QueryFluentBuilder {
        let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.reads
            .query()
            .table_name(self.name(table))
            .key_condition_expression(condition)
            .set_expression_attribute_values(Some(values))
    }

    /// One query of at most `limit` items, and the key to go on from if there may be more.
    pub(crate) async fn query(
        &self,
        request: QueryFluentBuilder,
        limit: usize,
    ) -> Result<(Vec<Item>, Option<Item>), StoreError> {
        let request = request.limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let response = counted(request.send()).await?;
        Ok((response.items.unwrap_or_default(), response.last_evaluated_key))
    }

    /// Reads one item more than `limit` to know whether this is the last page.
    pub(crate) async fn page<T: DeserializeOwned>(
        &self,
        request: QueryFluentBuilder,
        sort: &str,
        limit: u16,
    ) -> Result<Page<T>, StoreError> {
        // DynamoDB also ends a page after 1 MB.
        let (mut items, next) = self.query(request, usize::from(limit) + 1).await?;
        let has_more = next.is_some() || items.len() > usize::from(limit);
        items.truncate(limit.into());
        let position = |item: &Item| item.get(sort).and_then(|sk| sk.as_s().ok()).cloned();
        let last = items.last().filter(|_| has_more).and_then(position);
        Ok(Page { items: items.into_iter().map(parsed).collect::<Result<_, _>>()?, last })
    }
}

pub(crate) fn read<T: DeserializeOwned>(item: Option<Item>) -> Result<Option<T>, StoreError> {
    Ok(item.map(parsed).transpose()?)
}

/// The attribute of an account that every function with routes writes. It is beside the card, because a policy can permit
/// the writes of one attribute, not of a part of it.
pub(crate) const LAST_ACTIVE: &str = "lastActive";

/// `item` as a `T`, with [`LAST_ACTIVE`] as a field of the card.
pub(crate) fn parsed<T: DeserializeOwned>(mut item: Item) -> Result<T, serde_dynamo::Error> {
    if let Some(AttributeValue::M(mut card)) = item.remove("card") {
        card.extend(item.get_key_value(LAST_ACTIVE).map(|(name, at)| (name.clone(), at.clone())));
        item.insert("card".to_owned(), AttributeValue::M(card));
    }
    from_item(item)
}

/// The `card` of `item`.
pub(crate) fn card<T: DeserializeOwned>(item: Option<Item>) -> Result<Option<T>, StoreError> {
    Ok(read::<ListedItem<T>>(item)?.map(|item| item.card))
}

impl IndexKey {
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

/// The attributes that put the item at `key` into `list`, to be handled at `at` for the current request.
pub(crate) fn due(list: DueList, key: &Key, at: Instant) -> [(String, AttributeValue); 3] {
    [
        (DUE.pk.to_owned(), text(&list.partition_of(&key.pk))),
        (DUE.sk.0.to_owned(), number(at.unix_milliseconds())),
        ("requestId".to_owned(), text(&request_id())),
    ]
}

/// The attribute that lets DynamoDB delete an item some time after `end`.
pub(crate) fn ttl(end: Instant) -> (String, AttributeValue) {
    ("ttl".to_owned(), number(end.unix_seconds()))
}
