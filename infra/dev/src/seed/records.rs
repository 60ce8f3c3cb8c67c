//! The records of the demonstration data: `seed.json`.

use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use cloud::LocalError;

/// `seed.json`: the `records` of each kind, the `defaults` of their fields, and the `registrations`. Null if it is malformed.
pub(super) static SEED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../seed.json")).unwrap_or_default());

/// The records of `kind`, with `fields` instead of their own.
///
/// # Errors
/// When there is none, a record lacks a field, or it has an invalid one.
pub(crate) fn all<T: DeserializeOwned>(kind: &str, fields: &Value) -> Result<Vec<T>, LocalError> {
    let malformed = |error: String| {
        LocalError::new(format!("The demonstration data is malformed: {kind}: {error}."))
    };
    let records = SEED["records"][kind].as_array();
    let typed = |record: &Value| {
        let layers = [&SEED["defaults"][kind], record, fields];
        let fields = layers.into_iter().filter_map(Value::as_object).flatten();
        let whole: Map<String, Value> =
            fields.map(|(name, value)| (name.clone(), value.clone())).collect();
        serde_json::from_value(whole.into())
            .map_err(|error| malformed(format!("{record}: {error}")))
    };
    records.ok_or_else(|| malformed("it is missing".to_owned()))?.iter().map(typed).collect()
}
