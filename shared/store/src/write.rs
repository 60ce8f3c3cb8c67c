//! One write: what is put, changed, removed or checked at a key, and under which condition.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::{transact_write_items::TransactWriteItemsError, update_item::UpdateItemError},
    types::{
        AttributeValue, ConditionCheck, Delete, Put, ReturnConsumedCapacity, ReturnValue,
        TransactWriteItem, Update,
    },
};
use serde::{
    Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_dynamo::{from_item, to_attribute_value, to_item};
use tokio::time::{Instant as Monotonic, sleep};

use crate::{
    Store, StoreError,
    keys::{Key, Table},
    meter::Trip,
    retry::{TRIES, pause, random_bytes},
    table::{Item, number, text},
};

/// No further try begins after this long.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What a part of a transaction does with its item.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Put,
    Update,
    Delete,
    Check,
}

/// A write of one item. A value that cannot be serialised is kept as a failure, which the request that
/// sends the write returns.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    table: Table,
    /// The key, and beside it what a put writes.
    item: Item,
    condition: Option<String>,
    expression: String,
    names: HashMap<String, String>,
    values: Item,
    failure: Option<String>,
}

impl Write {
    /// A write of the item at `key`.
    pub(crate) fn at(key: &Key) -> Self {
        Self {
            table: key.table,
            item: key.item(),
            condition: None,
            expression: String::new(),
            names: HashMap::new(),
            values: Item::new(),
            failure: None,
        }
    }

    /// The condition expression.
    pub(crate) fn when(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// The update expression.
    pub(crate) fn expression(mut self, expression: impl Into<String>) -> Self {
        self.expression = expression.into();
        self
    }

    /// What `placeholder` stands for in the expressions: the attribute `name`.
    pub(crate) fn name(mut self, placeholder: impl Into<String>, name: impl Into<String>) -> Self {
        self.names.insert(placeholder.into(), name.into());
        self
    }

    /// What `placeholder` stands for in the expressions: a string.
    pub(crate) fn text(self, placeholder: impl Into<String>, value: &str) -> Self {
        self.attribute(placeholder, text(value))
    }

    /// What `placeholder` stands for in the expressions: a number.
    pub(crate) fn number(self, placeholder: impl Into<String>, value: impl ToString) -> Self {
        self.attribute(placeholder, number(value))
    }

    /// What `placeholder` stands for in the expressions: `value` as it is serialised.
    pub(crate) fn value<T: Serialize>(mut self, placeholder: &str, value: &T) -> Self {
        match to_attribute_value(value) {
            Ok(value) => self.attribute(placeholder, value),
            Err(error) => {
                self.failure = Some(error.to_string());
                self
            }
        }
    }

    /// What `placeholder` stands for in the expressions.
    pub(crate) fn attribute(
        mut self,
        placeholder: impl Into<String>,
        value: AttributeValue,
    ) -> Self {
        self.values.insert(placeholder.into(), value);
        self
    }

    /// Further attributes of a put.
    pub(crate) fn with(
        mut self,
        attributes: impl IntoIterator<Item = (String, AttributeValue)>,
    ) -> Self {
        self.item.extend(attributes);
        self
    }

    /// A further attribute of a put: `value` as it is serialised.
    pub(crate) fn with_value<T: Serialize>(mut self, name: &str, value: &T) -> Self {
        match to_attribute_value(value) {
            Ok(value) => self.with([(name.to_owned(), value)]),
            Err(error) => {
                self.failure = Some(error.to_string());
                self
            }
        }
    }

    /// The attributes of `value`, for expressions that name them one by one.
    pub(crate) fn serialised<T: Serialize>(&mut self, value: &T) -> Item {
        to_item(value).unwrap_or_else(|error: serde_dynamo::Error| {
            self.failure = Some(error.to_string());
            Item::new()
        })
    }

    /// The item that a put writes.
    pub(crate) fn into_item(self) -> Result<Item, StoreError> {
        self.check()?;
        Ok(self.item)
    }

    /// This write as a part of a transaction.
    pub(crate) fn into_item_of_transaction(
        self,
        action: Action,
        store: &Store,
    ) -> Result<TransactWriteItem, StoreError> {
        self.check()?;
        let table = store.name(self.table);
        let (names, values) = (some(self.names), some(self.values));
        let item = TransactWriteItem::builder();
        let item = match action {
            Action::Put => {
                let put = Put::builder().table_name(table).set_item(Some(self.item));
                let put = put.set_condition_expression(self.condition);
                item.put(
                    put.set_expression_attribute_names(names)
                        .set_expression_attribute_values(values)
                        .build()?,
                )
            }
            Action::Update => {
                let update = Update::builder().table_name(table).set_key(Some(self.item));
                let update = update
                    .set_condition_expression(self.condition)
                    .update_expression(self.expression);
                item.update(
                    update
                        .set_expression_attribute_names(names)
                        .set_expression_attribute_values(values)
                        .build()?,
                )
            }
            Action::Delete => {
                let delete = Delete::builder().table_name(table).set_key(Some(self.item));
                let delete = delete.set_condition_expression(self.condition);
                item.delete(
                    delete
                        .set_expression_attribute_names(names)
                        .set_expression_attribute_values(values)
                        .build()?,
                )
            }
            Action::Check => {
                let check = ConditionCheck::builder()
                    .table_name(table)
                    .set_key(Some(self.item));
                let check = check.set_condition_expression(self.condition);
                item.condition_check(
                    check
                        .set_expression_attribute_names(names)
                        .set_expression_attribute_values(values)
                        .build()?,
                )
            }
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

/// DynamoDB refuses empty maps.
fn some<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    Some(map).filter(|map| !map.is_empty())
}

impl Key {
    pub(crate) fn item(&self) -> Item {
        HashMap::from([
            ("pk".to_owned(), text(&self.pk)),
            ("sk".to_owned(), text(&self.sk)),
        ])
    }

    /// The put of `value` as the item at this key.
    pub(crate) fn holding<T: Serialize>(&self, value: &T) -> Write {
        let mut put = Write::at(self);
        let attributes = put.serialised(value);
        put.item.extend(attributes);
        put
    }
}

impl Store {
    /// One conditional update: the item as it is afterwards, or `None` when the condition did not
    /// hold. For counting, and for setting values that may be set twice; what must be told exactly
    /// once is a transaction, even of one part.
    pub(crate) async fn update_item<T: DeserializeOwned>(
        &self,
        update: Write,
    ) -> Result<Option<T>, StoreError> {
        update.check()?;
        for tries in 1.. {
            let trip = Trip::start();
            let Write {
                table,
                item,
                condition,
                expression,
                names,
                values,
                ..
            } = update.clone();
            let request = self
                .writes
                .update_item()
                .table_name(self.name(table))
                .set_key(Some(item))
                .set_condition_expression(condition)
                .update_expression(expression)
                .set_expression_attribute_names(some(names))
                .set_expression_attribute_values(some(values))
                .return_values(ReturnValue::AllNew);
            match Box::pin(
                request
                    .return_consumed_capacity(ReturnConsumedCapacity::Total)
                    .send(),
            )
            .await
            {
                Ok(answer) => {
                    trip.wrote(answer.consumed_capacity());
                    return Ok(answer.attributes.map(from_item).transpose()?);
                }
                Err(error) => {
                    trip.refused();
                    if error
                        .as_service_error()
                        .is_some_and(UpdateItemError::is_conditional_check_failed_exception)
                    {
                        return Ok(None);
                    }
                    try_again_after_conflict(error, tries).await?;
                }
            }
        }
        Err(StoreError::TransactionConflict)
    }

    /// The same, where only whether the condition held is asked.
    pub(crate) async fn apply(&self, update: Write) -> Result<bool, StoreError> {
        Ok(self.update_item::<IgnoredAny>(update).await?.is_some())
    }

    /// All of `parts` or nothing. One token stands for all tries, so a success whose answer was
    /// lost is told as the success that it was
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
    /// The number of the first part whose condition did not hold, when nothing was done for it.
    pub(crate) async fn transact(
        &self,
        parts: &[TransactWriteItem],
    ) -> Result<Option<usize>, StoreError> {
        let token = uuid::Builder::from_random_bytes(random_bytes()?)
            .into_uuid()
            .to_string();
        let start = Monotonic::now();
        for tries in 1.. {
            let trip = Trip::start();
            let request = self
                .writes
                .transact_write_items()
                .set_transact_items(Some(parts.to_vec()))
                .client_request_token(&token);
            let error = match Box::pin(
                request
                    .return_consumed_capacity(ReturnConsumedCapacity::Total)
                    .send(),
            )
            .await
            {
                Ok(answer) => {
                    trip.wrote(answer.consumed_capacity());
                    return Ok(None);
                }
                Err(error) => error,
            };
            trip.refused();
            let (refused, conflict) = reasons(&error);
            if let Some(part) = refused {
                return Ok(Some(part));
            }
            let error = if conflict {
                StoreError::TransactionConflict
            } else {
                StoreError::from(error)
            };
            let may_help = matches!(
                error,
                StoreError::TransactionConflict
                    | StoreError::Throttled
                    | StoreError::Unavailable(_)
            );
            if !may_help || tries == TRIES || start.elapsed() > PATIENCE {
                return Err(error);
            }
            sleep(pause(tries)?).await;
        }
        Err(StoreError::TransactionConflict)
    }
}

/// The first part whose condition did not hold, and whether any met another transaction.
fn reasons<R>(error: &SdkError<TransactWriteItemsError, R>) -> (Option<usize>, bool) {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) =
        error.as_service_error()
    else {
        return (None, false);
    };
    let codes = cancelled
        .cancellation_reasons()
        .iter()
        .map(|reason| reason.code());
    let refused = codes
        .clone()
        .position(|code| code == Some("ConditionalCheckFailed"));
    (
        refused,
        codes
            .clone()
            .any(|code| code == Some("TransactionConflict")),
    )
}

/// A single write that met a transaction was not done, so it may be tried again; nothing else may.
async fn try_again_after_conflict(
    error: impl Into<StoreError>,
    tries: u32,
) -> Result<(), StoreError> {
    match error.into() {
        StoreError::TransactionConflict if tries < TRIES => {
            sleep(pause(tries)?).await;
            Ok(())
        }
        error => Err(error),
    }
}
