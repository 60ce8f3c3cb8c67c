//! SSM Parameter Store: the operations that functions and operators use, in the JSON 1.1 protocol.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use domain::Instant;
use http::{Response, StatusCode};
use http_body_util::Full;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tables;

/// The parameters by name. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parameters(Arc<Mutex<BTreeMap<String, Parameter>>>);

#[derive(Debug)]
struct Parameter {
    value: String,
    /// In Unix seconds.
    written_at: i64,
}

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
    /// Sets `name` to `value`, as if that had been long ago.
    pub(crate) fn put(&self, name: &str, value: &str) {
        let parameter = Parameter { value: value.to_owned(), written_at: 0 };
        self.lock().insert(name.to_owned(), parameter);
    }

    /// The value of `name`.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.lock().get(name).map(|parameter| parameter.value.clone())
    }

    /// The response to `operation` at `now`, or the code of the error.
    pub(crate) fn answer(
        &self,
        operation: &str,
        body: &[u8],
        now: Instant,
    ) -> Result<Response<Full<Bytes>>, &'static str> {
        let request: Request = serde_json::from_slice(body).unwrap_or_default();
        let (name, mut stored) = (request.name, self.lock());
        let response = match (operation, request.value) {
            ("GetParameters", _) => {
                let (valid, invalid): (Vec<_>, Vec<_>) =
                    request.names.into_iter().partition(|name| stored.contains_key(name));
                let found: Vec<Value> = valid
                    .iter()
                    .filter_map(|name| Some((name, stored.get(name)?)))
                    .map(|(name, Parameter { value, written_at })| {
                        json!({ "Name": name, "Value": value, "LastModifiedDate": written_at })
                    })
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
                stored.insert(name, Parameter { value, written_at: now.unix_seconds() });
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

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Parameter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
