//! What the policies of the template hold inside a transaction. AWS does not document what `dynamodb:LeadingKeys` is there
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html>).

use std::error::Error;

use aws_sdk_dynamodb::{
    Client,
    error::{BuildError, ProvideErrorMetadata, SdkError},
    types::{AttributeValue, Get, Put, TransactGetItem, TransactWriteItem, Update},
};
use domain::Instant;
use runtime::{Aws, cause};

/// The partition keys for which the role `PolicyCheckRole` has its permissions.
const ITEM: &str = "POLICY-CHECK";
const ENTRY: &str = "AUDIT#POLICY-CHECK";
const SECRET: &str = "SECRET#POLICY-CHECK";

/// What `dynamodb:LeadingKeys` holds when IAM decides on a part of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadingKeys {
    /// The key of that part.
    OfPart,
    /// The keys of all parts.
    OfAllParts,
    /// Nothing.
    Absent,
}

/// What [`policies`] found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policies {
    /// What the keys of a part of a transaction are.
    pub keys: LeadingKeys,
    /// Whether a transaction reads secrets that the policies deny to the function.
    pub reads_secrets: bool,
}

/// Tries transactions with the credentials of `aws`, which are those of the role `PolicyCheckRole`, on items of its own in
/// `table`, which expire an hour after `now`.
///
/// # Errors
/// When an audited write is refused, which no meaning of the keys explains, or a policy has no effect outside of a
/// transaction: then nothing is known about it inside.
pub async fn policies(aws: &Aws, table: &str, now: Instant) -> Result<Policies, String> {
    let items = Items { client: Client::new(aws.sdk()), table: table.to_owned(), now };
    if !items.writes(vec![items.update(ITEM)?, items.put(ENTRY)?]).await? {
        return Err("A change with its audit entry is refused: no audited write works.".to_owned());
    }
    if items.updates_alone(ENTRY).await? || items.reads_alone(SECRET).await? {
        return Err("A policy that denies has no effect even outside of a transaction.".to_owned());
    }
    let keys = if items.writes(vec![items.update(ENTRY)?]).await? {
        LeadingKeys::Absent
    } else if items.writes(vec![items.update(ITEM)?, items.update(ENTRY)?]).await? {
        LeadingKeys::OfAllParts
    } else {
        LeadingKeys::OfPart
    };
    Ok(Policies { keys, reads_secrets: items.reads(&[ITEM, SECRET]).await? })
}

/// The requests, each of which returns whether IAM allows it.
struct Items {
    client: Client,
    table: String,
    now: Instant,
}

impl Items {
    async fn writes(&self, parts: Vec<TransactWriteItem>) -> Result<bool, String> {
        let request = self.client.transact_write_items().set_transact_items(Some(parts));
        is_allowed(request.send().await)
    }

    async fn reads(&self, keys: &[&str]) -> Result<bool, String> {
        let gets = keys.iter().map(|key| {
            let get = Get::builder().table_name(&self.table).set_key(Some(attributes(key).into()));
            Ok(TransactGetItem::builder().get(get.build().map_err(malformed)?).build())
        });
        let gets = gets.collect::<Result<_, String>>()?;
        is_allowed(self.client.transact_get_items().set_transact_items(Some(gets)).send().await)
    }

    async fn updates_alone(&self, key: &str) -> Result<bool, String> {
        let request = self.client.update_item().table_name(&self.table);
        let request = request.set_key(Some(attributes(key).into())).update_expression(EXPIRE);
        let request = request.expression_attribute_names("#ttl", "ttl");
        is_allowed(request.expression_attribute_values(":ttl", self.end()).send().await)
    }

    async fn reads_alone(&self, key: &str) -> Result<bool, String> {
        let request = self.client.get_item().table_name(&self.table);
        is_allowed(request.set_key(Some(attributes(key).into())).send().await)
    }

    fn update(&self, key: &str) -> Result<TransactWriteItem, String> {
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(attributes(key).into()))
            .update_expression(EXPIRE)
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":ttl", self.end())
            .build();
        Ok(TransactWriteItem::builder().update(update.map_err(malformed)?).build())
    }

    fn put(&self, key: &str) -> Result<TransactWriteItem, String> {
        let put = Put::builder().table_name(&self.table).set_item(Some(attributes(key).into()));
        let put = put.item("ttl", self.end()).build();
        Ok(TransactWriteItem::builder().put(put.map_err(malformed)?).build())
    }

    fn end(&self) -> AttributeValue {
        AttributeValue::N((self.now.unix_seconds() + 3_600).to_string())
    }
}

const EXPIRE: &str = "SET #ttl = :ttl";

fn attributes(key: &str) -> [(String, AttributeValue); 2] {
    ["pk", "sk"].map(|name| (name.to_owned(), AttributeValue::S(key.to_owned())))
}

fn malformed(error: BuildError) -> String {
    format!("The request is malformed: {error}.")
}

fn is_allowed<T, E>(response: Result<T, SdkError<E>>) -> Result<bool, String>
where
    E: Error + ProvideErrorMetadata + 'static,
{
    match response {
        Ok(_) => Ok(true),
        Err(error) if error.code() == Some("AccessDeniedException") => Ok(false),
        Err(error) => Err(format!("DynamoDB did not answer: {}.", cause(&error))),
    }
}
