//! What `store` relies on in DynamoDB, request by request, as AWS documents it. The requests go to the embedded store,
//! or with `DYNAMODB_ENDPOINT` to ministack, an independent emulator: `infra/bin/check-store` starts it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod attributes;
mod batches;
mod capacity;
mod conditions;
mod endpoint;
mod indexes;
mod partition;
mod queries;
mod transactions;
mod updates;

use endpoint::Implementation::{self, Embedded, Ministack};

/// The error code of an invalid request.
const INVALID: &str = "ValidationException";
/// The error code of a write whose condition is false.
const CONDITION_FAILED: &str = "ConditionalCheckFailedException";

const API_QUERY: &str =
    "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html";
const KEY_CONDITIONS: &str = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html";
const FILTERS: &str =
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.FilterExpression.html";
const UNITS: &str =
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html";

/// The cases in which an implementation does not do what DynamoDB does, with the page that says so. A case that no
/// longer differs fails until its row is deleted.
const DIFFERENCES: &[(&str, &[Implementation], &str)] = &[
    ("projection of an attribute that the index lacks", &[Embedded, Ministack], API_QUERY),
    ("sk <> :a", &[Ministack], KEY_CONDITIONS),
    ("contains(sk, :a)", &[Ministack], KEY_CONDITIONS),
    ("filter on a key", &[Ministack], FILTERS),
    ("consistent read of 4,097 bytes", &[Ministack], UNITS),
    ("eventually consistent read of 4,097 bytes", &[Ministack], UNITS),
    ("read of one attribute of 4,097 bytes", &[Ministack], UNITS),
    ("consistent query of 6 KB", &[Ministack], UNITS),
    ("eventually consistent query of 6 KB", &[Ministack], UNITS),
    ("query of 6 KB with a filter", &[Ministack], UNITS),
    ("batch of three reads", &[Ministack], UNITS),
];
