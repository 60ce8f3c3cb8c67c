//! Requests about the items of one partition. Items are shown without their primary key.

use aws_sdk_dynamodb::{
    Client,
    operation::{
        query::builders::QueryFluentBuilder, update_item::builders::UpdateItemFluentBuilder,
    },
    types::{AttributeValue, ReturnValue},
};
use serde_json::{Value, json};
use store::keys::IndexSchema;

use crate::{
    attributes::{self, Item, names},
    endpoint::outcome,
};

pub(crate) struct Partition<'a> {
    client: &'a Client,
    pub(crate) table: &'static str,
    pub(crate) pk: &'a str,
}

impl<'a> Partition<'a> {
    pub(crate) fn new(client: &'a Client, table: &'static str, pk: &'a str) -> Self {
        Self { client, table, pk }
    }

    /// The primary key with the sort key `sk`.
    pub(crate) fn key(&self, sk: &str) -> Item {
        attributes::item(&json!({ "pk": self.pk, "sk": sk }))
    }

    /// The item with the sort key `sk` and `attributes`.
    pub(crate) fn item(&self, sk: &str, attributes: &Value) -> Item {
        let mut item = self.key(sk);
        item.extend(attributes::item(attributes));
        item
    }

    /// The item with the sort key `sk` and one attribute, of `size` bytes with all names and values
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>).
    pub(crate) fn sized(&self, sk: &str, size: usize) -> Item {
        let text =
            "x".repeat(size - "pk".len() - self.pk.len() - "sk".len() - sk.len() - "d".len());
        self.item(sk, &json!({ "d": text }))
    }

    /// Writes `item`; null.
    pub(crate) async fn put(&self, item: Item) -> Value {
        let request = self.client.put_item().table_name(self.table);
        let response = request.set_item(Some(item)).send().await;
        outcome(response, |_| Value::Null)
    }

    /// An update of the item `sk` that returns it as it is afterwards.
    pub(crate) fn updating(
        &self,
        sk: &str,
        expression: &str,
        values: &Value,
    ) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(self.table)
            .set_key(Some(self.key(sk)))
            .update_expression(expression)
            .set_expression_attribute_names(names(expression))
            .set_expression_attribute_values(attributes::values(values))
            .return_values(ReturnValue::AllNew)
    }

    /// The returned attributes of [`updating`](Self::updating).
    pub(crate) async fn update(&self, sk: &str, expression: &str, values: &Value) -> Value {
        let response = self.updating(sk, expression, values).send().await;
        outcome(response, |updated| shown(updated.attributes))
    }

    /// Updates the item `sk` if `condition` holds, which also uses the value `:touched`.
    pub(crate) async fn touch_if(&self, sk: &str, condition: &str, values: &Value) -> Value {
        let mut values = values.clone();
        values[":touched"] = json!(1);
        let request = self
            .updating(sk, "SET touched = :touched", &values)
            .set_expression_attribute_names(names(condition))
            .condition_expression(condition)
            .return_values(ReturnValue::None);
        outcome(request.send().await, |_| Value::Null)
    }

    /// The item `sk`; null if there is none.
    pub(crate) async fn get(&self, sk: &str) -> Value {
        let request = self.client.get_item().table_name(self.table);
        let request = request.set_key(Some(self.key(sk))).consistent_read(true);
        outcome(request.send().await, |found| shown(found.item))
    }

    /// A query of the partition with a further condition such as `sk > :a`, or none.
    pub(crate) fn query(&self, condition: &str, values: &Value) -> QueryFluentBuilder {
        let request = self.client.query().table_name(self.table);
        self.with_condition(request, "pk", condition, values)
    }

    /// A query of the partition of `index` with the same name.
    pub(crate) fn listed(
        &self,
        index: &IndexSchema,
        condition: &str,
        values: &Value,
    ) -> QueryFluentBuilder {
        let request = self.client.query().table_name(self.table);
        self.with_condition(request.index_name(index.name), index.pk, condition, values)
    }

    fn with_condition(
        &self,
        request: QueryFluentBuilder,
        key: &str,
        condition: &str,
        values: &Value,
    ) -> QueryFluentBuilder {
        let condition = match condition {
            "" => format!("{key} = :pk"),
            condition => format!("{key} = :pk AND {condition}"),
        };
        request
            .key_condition_expression(condition)
            .set_expression_attribute_values(attributes::values(values))
            .expression_attribute_values(":pk", AttributeValue::S(self.pk.to_owned()))
    }
}

fn shown(item: Option<Item>) -> Value {
    item.map_or(Value::Null, |mut item| {
        item.retain(|name, _| name != "pk" && name != "sk");
        attributes::json(&item)
    })
}

/// The sort key of `item`.
pub(crate) fn sk(item: &Item) -> Value {
    attributes::json(item)["sk"].clone()
}

/// The sort keys of a page.
pub(crate) async fn sort_keys(query: QueryFluentBuilder) -> Value {
    outcome(query.send().await, |page| page.items().iter().map(sk).collect())
}

/// The sort keys of a page, and of its `LastEvaluatedKey` or null.
pub(crate) async fn page(query: QueryFluentBuilder) -> Value {
    outcome(query.send().await, |page| {
        let sort_keys: Value = page.items().iter().map(sk).collect();
        json!([sort_keys, page.last_evaluated_key().map(sk)])
    })
}
