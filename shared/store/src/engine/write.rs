//! Writes: a put, update, delete or condition check of one item, alone or in a transaction.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    operation::{transact_write_items::TransactWriteItemsError, update_item::UpdateItemError},
    types::{
        AttributeValue, CancellationReason, ConditionCheck, Delete, Put, ReturnValue,
        ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
    },
};
use domain::Instant;
use serde::{Serialize, de::DeserializeOwned};
use serde_dynamo::{to_attribute_value, to_item};

use crate::{
    Store, StoreError,
    keys::{Key, Table},
    meter::counted,
    retry::{Retries, cancellation, random_bytes},
    table::{Item, LAST_ACTIVE, number, parsed, text, ttl},
};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Put,
    Update,
    Delete,
    Check,
}

/// A write of one item. A serialisation error is kept in `failure` and returned when the write is sent.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    table: Table,
    /// The key and, for a put, the other attributes.
    item: Item,
    condition: Option<String>,
    expression: String,
    sets: Vec<String>,
    removes: Vec<String>,
    names: HashMap<String, String>,
    values: Item,
    failure: Option<String>,
}

impl Write {
    pub(crate) fn at(key: &Key) -> Self {
        Self {
            table: key.table,
            item: key.item(),
            condition: None,
            expression: String::new(),
            sets: Vec::new(),
            removes: Vec::new(),
            names: HashMap::new(),
            values: Item::new(),
            failure: None,
        }
    }

    /// Sets the condition expression.
    pub(crate) fn when(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Adds `condition` to the condition expression, if there is one.
    pub(crate) fn and(self, condition: &str) -> Self {
        let both = match &self.condition {
            Some(first) => format!("{first} AND {condition}"),
            None => condition.to_owned(),
        };
        self.when(both)
    }

    /// Sets the update expression.
    pub(crate) fn expression(mut self, expression: impl Into<String>) -> Self {
        self.expression = expression.into();
        self
    }

    /// Sets an expression attribute name.
    pub(crate) fn name(mut self, placeholder: impl Into<String>, name: impl Into<String>) -> Self {
        self.names.insert(placeholder.into(), name.into());
        self
    }

    pub(crate) fn text(self, placeholder: impl Into<String>, value: &str) -> Self {
        self.attribute(placeholder, text(value))
    }

    pub(crate) fn number(self, placeholder: impl Into<String>, value: impl ToString) -> Self {
        self.attribute(placeholder, number(value))
    }

    /// Sets an expression attribute value to the serialised `value`.
    pub(crate) fn value<T: Serialize>(mut self, placeholder: &str, value: &T) -> Self {
        let value = self.converted(value);
        self.attribute(placeholder, value)
    }

    /// Sets an expression attribute value.
    pub(crate) fn attribute(
        mut self,
        placeholder: impl Into<String>,
        value: AttributeValue,
    ) -> Self {
        self.values.insert(placeholder.into(), value);
        self
    }

    /// Sets the expression attribute name `#ttl` and value `:ttl`: DynamoDB may delete the item some time after `end`.
    pub(crate) fn expiring(self, end: Instant) -> Self {
        let (name, value) = ttl(end);
        self.name("#ttl", name).attribute(":ttl", value)
    }

    /// Adds attributes to a put.
    pub(crate) fn with(
        mut self,
        attributes: impl IntoIterator<Item = (String, AttributeValue)>,
    ) -> Self {
        self.item.extend(attributes);
        self
    }

    /// Adds an attribute to a put: the serialised `value`.
    pub(crate) fn with_value<T: Serialize>(mut self, name: &str, value: &T) -> Self {
        let value = self.converted(value);
        self.with([(name.to_owned(), value)])
    }

    /// Moves the field `name` out of the card of a put, to an attribute of its own.
    pub(crate) fn beside_card(mut self, name: &str) -> Self {
        if let Some(AttributeValue::M(card)) = self.item.get_mut("card")
            && let Some(value) = card.remove(name)
        {
            self.item.insert(name.to_owned(), value);
        }
        self
    }

    /// Sets the attribute at `path`, the names of nested maps, to `value`.
    pub(crate) fn set(mut self, path: &[&str], value: AttributeValue) -> Self {
        let (name, placeholder) = (self.path(path), format!(":s{}", self.sets.len()));
        self.sets.push(format!("{name} = {placeholder}"));
        self.attribute(placeholder, value).composed()
    }

    /// Sets the attribute at `path` to the serialised `value`.
    pub(crate) fn set_value<T: Serialize>(mut self, path: &[&str], value: &T) -> Self {
        let value = self.converted(value);
        self.set(path, value)
    }

    /// Removes the attribute at `path`.
    pub(crate) fn unset(mut self, path: &[&str]) -> Self {
        let name = self.path(path);
        self.removes.push(name);
        self.composed()
    }

    /// Whether [`set`](Self::set) or [`unset`](Self::unset) was called.
    pub(crate) fn has_changes(&self) -> bool {
        !(self.sets.is_empty() && self.removes.is_empty())
    }

    /// Sets the fields of `card` in which `after` differs from `before`, and removes those that it lacks.
    pub(crate) fn set_changed<T: Serialize>(mut self, before: &T, after: &T) -> Self {
        let (was, is) = (self.serialised(before), self.serialised(after));
        let set = is.iter().filter(|(field, value)| was.get(*field) != Some(*value));
        let set = set.filter(|(field, _)| field.as_str() != LAST_ACTIVE);
        let update =
            set.fold(self, |update, (field, value)| update.set(&["card", field], value.clone()));
        let removed = was.keys().filter(|field| !is.contains_key(*field));
        removed.fold(update, |update, field| update.unset(&["card", field]))
    }

    /// Adds the condition that the fields of `card` to which `after` gives another value still have that of `before`.
    pub(crate) fn when_unchanged<T: Serialize>(mut self, before: &T, after: &T) -> Self {
        let (was, is) = (self.serialised(before), self.serialised(after));
        let changed =
            was.into_iter().filter(|(field, old)| is.get(field).is_some_and(|new| new != old));
        changed.enumerate().fold(self, |mut update, (number, (field, old))| {
            let (name, placeholder) = (update.path(&["card", &field]), format!(":w{number}"));
            update.and(&format!("{name} = {placeholder}")).attribute(placeholder, old)
        })
    }

    fn path(&mut self, path: &[&str]) -> String {
        let parts = path.iter().map(|part| {
            let number = self.names.len();
            let placeholder = format!("#p{number}");
            self.names.insert(placeholder.clone(), (*part).to_owned());
            placeholder
        });
        parts.collect::<Vec<_>>().join(".")
    }

    fn composed(self) -> Self {
        let clause = |verb: &str, parts: &[String]| match parts {
            [] => String::new(),
            parts => format!("{verb} {} ", parts.join(", ")),
        };
        let expression = clause("SET", &self.sets) + &clause("REMOVE", &self.removes);
        self.expression(expression)
    }

    /// `value` as an attribute. If it cannot be one, the failure is kept.
    fn converted<T: Serialize>(&mut self, value: &T) -> AttributeValue {
        to_attribute_value(value).unwrap_or_else(|error: serde_dynamo::Error| {
            self.failure = Some(error.to_string());
            AttributeValue::Null(true)
        })
    }

    fn serialised<T: Serialize>(&mut self, value: &T) -> Item {
        to_item(value).unwrap_or_else(|error: serde_dynamo::Error| {
            self.failure = Some(error.to_string());
            Item::new()
        })
    }

    pub(crate) fn into_transact_write_item(
        self,
        action: Action,
        store: &Store,
    ) -> Result<TransactWriteItem, StoreError> {
        self.check()?;
        let (table, key) = (store.name(self.table), Some(self.item));
        let (names, values) = (some(self.names), some(self.values));
        // The builders have these methods in common, but no trait.
        macro_rules! built {
            ($builder:expr) => {
                $builder
                    .table_name(table)
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()?
            };
        }
        let item = TransactWriteItem::builder();
        let item = match action {
            Action::Put => item.put(built!(Put::builder().set_item(key))),
            Action::Update => {
                let update = Update::builder().set_key(key).update_expression(self.expression);
                item.update(built!(update))
            }
            Action::Delete => item.delete(built!(Delete::builder().set_key(key))),
            Action::Check => item.condition_check(built!(ConditionCheck::builder().set_key(key))),
        };
        Ok(item.build())
    }

    fn check(&self) -> Result<(), StoreError> {
        match &self.failure {
            None => Ok(()),
            Some(failure) => Err(StoreError::Unexpected(failure.clone())),
        }
    }
}

/// DynamoDB rejects empty maps.
fn some<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    Some(map).filter(|map| !map.is_empty())
}

impl Key {
    pub(crate) fn item(&self) -> Item {
        HashMap::from([("pk".to_owned(), text(&self.pk)), ("sk".to_owned(), text(&self.sk))])
    }

    /// A put of `value` at this key.
    pub(crate) fn holding<T: Serialize>(&self, value: &T) -> Write {
        let mut put = Write::at(self);
        let attributes = put.serialised(value);
        put.item.extend(attributes);
        put
    }
}

/// What became of the update of one item.
pub(crate) enum UpdateOutcome<T> {
    /// The item as it is afterwards.
    Updated(T),
    /// The item as it is; empty when there is none.
    ConditionFailed(Item),
}

impl Store {
    /// Updates one item and returns it as it is afterwards, or `None` when the condition fails. For counters and
    /// idempotent changes, because a lost response leaves the outcome unknown; a change whose outcome must be
    /// known is a transaction, even of one part.
    pub(crate) async fn update_item<T: DeserializeOwned>(
        &self,
        update: Write,
    ) -> Result<Option<T>, StoreError> {
        match self.update_or_current(update).await? {
            UpdateOutcome::Updated(updated) => Ok(Some(updated)),
            UpdateOutcome::ConditionFailed(_) => Ok(None),
        }
    }

    /// Like [`update_item`](Self::update_item), but returns the current item when the condition fails. It costs no read
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html>).
    pub(crate) async fn update_or_current<T: DeserializeOwned>(
        &self,
        update: Write,
    ) -> Result<UpdateOutcome<T>, StoreError> {
        let on_failure = ReturnValuesOnConditionCheckFailure::AllOld;
        Ok(match self.send_update(update, ReturnValue::AllNew, on_failure).await? {
            UpdateOutcome::Updated(item) => UpdateOutcome::Updated(parsed(item)?),
            UpdateOutcome::ConditionFailed(current) => UpdateOutcome::ConditionFailed(current),
        })
    }

    /// Updates one item and returns the attributes that `returned` names, or those that `on_failure` names when the
    /// condition fails.
    async fn send_update(
        &self,
        update: Write,
        returned: ReturnValue,
        on_failure: ReturnValuesOnConditionCheckFailure,
    ) -> Result<UpdateOutcome<Item>, StoreError> {
        update.check()?;
        let mut retries = Retries::new();
        loop {
            let Write { table, item, condition, expression, names, values, .. } = update.clone();
            let request = self
                .writes
                .update_item()
                .table_name(self.name(table))
                .set_key(Some(item))
                .set_condition_expression(condition)
                .update_expression(expression)
                .set_expression_attribute_names(some(names))
                .set_expression_attribute_values(some(values))
                .return_values(returned.clone())
                .return_values_on_condition_check_failure(on_failure.clone());
            match counted(request.send()).await {
                Ok(response) => {
                    let item = response.attributes.unwrap_or_default();
                    return Ok(UpdateOutcome::Updated(item));
                }
                Err(error) => {
                    if let Some(UpdateItemError::ConditionalCheckFailedException(failed)) =
                        error.as_service_error()
                    {
                        let current = failed.item().cloned().unwrap_or_default();
                        return Ok(UpdateOutcome::ConditionFailed(current));
                    }
                    // After a conflict the write was not done; after any other error it may have been.
                    match StoreError::from(error) {
                        conflict @ StoreError::TransactionConflict => {
                            retries.pause(conflict).await?
                        }
                        error => return Err(error),
                    }
                }
            }
        }
    }

    /// Updates one item and returns whether the condition held. Reads no attribute, so that a policy can permit it for the
    /// attributes of the update alone
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html>).
    pub(crate) async fn apply(&self, update: Write) -> Result<bool, StoreError> {
        let on_failure = ReturnValuesOnConditionCheckFailure::None;
        let sent = self.send_update(update, ReturnValue::None, on_failure).await?;
        Ok(matches!(sent, UpdateOutcome::Updated(_)))
    }

    /// Writes all of `parts` or none, and returns the index of the first part whose condition failed. All
    /// attempts have the same client request token, so a retry after a lost response reports the actual outcome
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
    pub(crate) async fn transact(
        &self,
        parts: &[TransactWriteItem],
    ) -> Result<Option<usize>, StoreError> {
        let mut retries = Retries::new();
        let token = uuid::Builder::from_random_bytes(random_bytes()?).into_uuid().to_string();
        // An attempt without an answer may have taken effect, whatever the later ones report.
        let mut unanswered = None;
        loop {
            let request = self
                .transactions
                .transact_write_items()
                .set_transact_items(Some(parts.to_vec()))
                .client_request_token(&token);
            let error = match counted(request.send()).await {
                Ok(_) => return Ok(None),
                Err(error) => error,
            };
            let error = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    let reasons = cancelled.cancellation_reasons();
                    if let Some(part) = reasons.iter().position(is_condition_failed) {
                        return Ok(Some(part));
                    }
                    cancellation(reasons)
                }
                _ => StoreError::from(error),
            };
            if let StoreError::Unavailable(cause) = &error {
                unanswered = Some(cause.clone());
            }
            if let Err(error) = retries.pause(error).await {
                return Err(unanswered.map_or(error, StoreError::Unavailable));
            }
        }
    }
}

fn is_condition_failed(reason: &CancellationReason) -> bool {
    reason.code() == Some("ConditionalCheckFailed")
}
