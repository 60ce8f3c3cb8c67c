//! SSM Parameter Store: the operations that functions and operators use, in the JSON 1.1 protocol.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::Full;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tables;

/// The parameters by name. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parameters(Arc<Mutex<BTreeMap<String, String>>>);

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Request {
    name: String,
    names: Vec<String>,
    parameter_filters: Vec<Filter>,
    value: Option<String>,
    overwrite: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Filter {
    values: Vec<String>,
}

impl Parameters {
    /// Sets `name` to `value`.
    pub(crate) fn put(&self, name: &str, value: &str) {
        self.lock().insert(name.to_owned(), value.to_owned());
    }

    /// The value of `name`.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.lock().get(name).cloned()
    }

    /// The response to `operation`, or the code of the error.
    pub(crate) fn answer(
        &self,
        operation: &str,
        body: &[u8],
    ) -> Result<Response<Full<Bytes>>, &'static str> {
        let request: Request = serde_json::from_slice(body).unwrap_or_default();
        let (name, mut stored) = (request.name, self.lock());
        let response = match (operation, request.value) {
            ("GetParameters", _) => {
                let (valid, invalid): (Vec<_>, Vec<_>) =
                    request.names.into_iter().partition(|name| stored.contains_key(name));
                let found: Vec<Value> = valid
                    .iter()
                    .map(|name| json!({ "Name": name, "Value": stored.get(name) }))
                    .collect();
                json!({ "Parameters": found, "InvalidParameters": invalid })
            }
            ("DescribeParameters", _) => {
                let paths: Vec<String> =
                    request.parameter_filters.into_iter().flat_map(|one| one.values).collect();
                let is_below =
                    |name: &&String| paths.iter().any(|path| name.starts_with(&format!("{path}/")));
                let found: Vec<Value> =
                    stored.keys().filter(is_below).map(|name| json!({ "Name": name })).collect();
                json!({ "Parameters": found })
            }
            ("PutParameter", Some(_)) if stored.contains_key(&name) && !request.overwrite => {
                return Err("ParameterAlreadyExists");
            }
            ("PutParameter", Some(value)) => {
                stored.insert(name, value);
                json!({ "Version": 1, "Tier": "Standard" })
            }
            ("DeleteParameter", _) => match stored.remove(&name) {
                Some(_) => json!({}),
                None => return Err("ParameterNotFound"),
            },
            _ => return Err("ValidationException"),
        };
        Ok(tables::response(StatusCode::OK, response.to_string()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
