//! The records of the demonstration data: those in the examples of the OpenAPI document, and those of `seed.json`, which
//! also has what an example cannot show, such as the state before a request.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::operations::DOCUMENT;
use cloud::LocalError;

/// Fields of a record by their names.
type Fields = Map<String, Value>;

/// The kinds of records: name, field of the id, and a field that other objects with such an id do not have.
const KINDS: [[&str; 3]; 10] = [
    ["committees", "committeeID", "nameLatin"],
    ["users", "userID", "lastName"],
    ["sessions", "sid", "ip"],
    ["passkeys", "passkeyID", "name"],
    ["courses", "courseID", "courseTitle"],
    ["questions", "questionID", "question"],
    ["files", "fileID", "status"],
    ["sms", "smsID", "status"],
    ["batches", "batchID", "total"],
    ["optOuts", "number", "createdBy"],
];
/// The operation whose example shows an account that the request creates.
const REGISTRATION: &str = "registerUser";

/// The records of each kind by their ids; read once.
static RECORDS: LazyLock<Result<Records, String>> = LazyLock::new(Records::read);

#[derive(Default)]
struct Records(BTreeMap<&'static str, BTreeMap<String, Fields>>);

/// The records of `kind` by their ids, with `fields` instead of their own.
///
/// # Errors
/// When a record lacks a field or has an invalid one.
pub(super) fn all<T: DeserializeOwned>(kind: &str, fields: &Value) -> Result<Vec<T>, LocalError> {
    let malformed = |error: String| {
        LocalError::new(format!("The demonstration data is malformed: {kind}: {error}."))
    };
    let records = RECORDS.as_ref().map_err(|error| malformed(error.clone()))?;
    let typed = |(id, record): (&String, &Fields)| {
        let mut record = record.clone();
        record.extend(fields.as_object().cloned().unwrap_or_default());
        serde_json::from_value(record.into()).map_err(|error| malformed(format!("{id}: {error}")))
    };
    records.0.get(kind).into_iter().flatten().map(typed).collect()
}

impl Records {
    fn read() -> Result<Self, String> {
        let own: Value = serde_json::from_str(include_str!("../seed.json"))
            .map_err(|error| error.to_string())?;
        let mut records = Self::default();
        records.collect(&own["records"]);
        // A response to GET shows what is stored; others show what the request makes of it.
        for is_get in [true, false] {
            let paths = DOCUMENT["paths"].as_object().into_iter().flatten();
            let operations = paths.filter_map(|(_, path)| path.as_object()).flatten();
            let chosen = operations.filter(|(method, operation)| {
                (*method == "get") == is_get && operation["operationId"] != REGISTRATION
            });
            chosen.for_each(|(_, operation)| records.collect(&operation["responses"]));
        }
        for (kind, found) in &mut records.0 {
            let defaults = own["defaults"][kind].as_object();
            found.values_mut().for_each(|record| fill_in(record, defaults));
        }
        Ok(records)
    }

    /// Adds the records in `value`; fields that are known stay.
    fn collect(&mut self, value: &Value) {
        let object = value.as_object();
        for [kind, id, other] in KINDS {
            let is_record = value.get(other).is_some();
            if let Some(id) = value.get(id).and_then(Value::as_str).filter(|_| is_record) {
                let records = self.0.entry(kind).or_default();
                fill_in(records.entry(id.to_owned()).or_default(), object);
            }
        }
        object.into_iter().flat_map(Map::values).for_each(|value| self.collect(value));
        value.as_array().into_iter().flatten().for_each(|value| self.collect(value));
    }
}

/// Adds those fields of `more` that `record` does not have.
fn fill_in(record: &mut Fields, more: Option<&Fields>) {
    for (name, value) in more.into_iter().flatten() {
        record.entry(name).or_insert_with(|| value.clone());
    }
}
