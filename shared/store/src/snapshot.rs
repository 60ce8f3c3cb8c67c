//! Several items as they stood at one moment.

use aws_sdk_dynamodb::{
    operation::transact_get_items::TransactGetItemsError,
    types::{Get, ReturnConsumedCapacity, TransactGetItem},
};
use tokio::time::sleep;

use crate::{
    Store, StoreError,
    keys::Key,
    meter::Trip,
    retry::{TRIES, pause},
    table::Item,
};

impl Store {
    /// The items at `keys`, in their order, as they stood together: what is then written under the condition
    /// that one of them is as it was, and that changes whenever the others do, is written to all as they were
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html>).
    pub(crate) async fn snapshot(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, StoreError> {
        let gets = keys.iter().map(|key| {
            let get = Get::builder()
                .table_name(self.name(key.table))
                .set_key(Some(key.item()))
                .build()?;
            Ok(TransactGetItem::builder().get(get).build())
        });
        let gets = gets.collect::<Result<Vec<_>, StoreError>>()?;
        for tries in 1.. {
            let trip = Trip::start();
            let request = self
                .reads
                .transact_get_items()
                .set_transact_items(Some(gets.clone()));
            let answer = Box::pin(
                request
                    .return_consumed_capacity(ReturnConsumedCapacity::Total)
                    .send(),
            )
            .await;
            trip.read(&answer, |answer| answer.consumed_capacity());
            match answer {
                Ok(answer) => {
                    return Ok(answer
                        .responses
                        .unwrap_or_default()
                        .into_iter()
                        .map(|response| response.item)
                        .collect());
                }
                // One of them is being written at this moment.
                Err(error)
                    if tries < TRIES
                        && error.as_service_error().is_some_and(
                            TransactGetItemsError::is_transaction_canceled_exception,
                        ) =>
                {
                    sleep(pause(tries)?).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::TransactionConflict)
    }
}
