//! Consistent reads of several items (TransactGetItems).

use aws_sdk_dynamodb::{
    operation::transact_get_items::TransactGetItemsError,
    types::{Get, TransactGetItem},
};

use crate::{
    Store, StoreError,
    keys::Key,
    meter::counted,
    retry::{Retries, cancellation},
    table::Item,
};

impl Store {
    /// The items at `keys`, in that order, as of one moment. If one of them has a version that changes whenever
    /// another one does, a write under this version fails unless all of them are unchanged
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html>).
    pub(crate) async fn snapshot<const N: usize>(
        &self,
        keys: [Key; N],
    ) -> Result<[Option<Item>; N], StoreError> {
        let gets = keys.iter().map(|key| {
            let get = Get::builder()
                .table_name(self.name(key.table))
                .set_key(Some(key.item()))
                .build()?;
            Ok(TransactGetItem::builder().get(get).build())
        });
        let gets = gets.collect::<Result<Vec<_>, StoreError>>()?;
        let mut retries = Retries::new();
        loop {
            let request = self.reads.transact_get_items().set_transact_items(Some(gets.clone()));
            let error = match counted(request.send()).await {
                Ok(response) => {
                    let mut items = response.responses.unwrap_or_default().into_iter();
                    return Ok(keys.map(|_| items.next()?.item));
                }
                Err(error) => error,
            };
            // A concurrent transaction is writing one of them, or they are throttled.
            let error = match error.as_service_error() {
                Some(TransactGetItemsError::TransactionCanceledException(cancelled)) => {
                    cancellation(cancelled.cancellation_reasons())
                }
                _ => return Err(error.into()),
            };
            retries.pause(error).await?;
        }
    }
}
