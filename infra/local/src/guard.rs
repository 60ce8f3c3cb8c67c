//! Who may do what: on AWS a function's role says so. Here each function may have an access key of its own, and
//! somebody who knows the roles, such as a test that has read the template, says yes or no.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use http::{Method, Request};
use serde_json::Value;

/// What a request asks to be allowed, in the words of a policy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessRequest {
    /// Which function.
    pub role: String,
    /// Such as `dynamodb:GetItem`.
    pub action: String,
    /// `records`, `records/index/due`, `files/a/b` below the bucket, or nothing where a service has one thing.
    pub resource: String,
}

/// Says whether something is allowed.
pub type Answer = Box<dyn Fn(&AccessRequest) -> bool + Send + Sync>;

/// Allows everything until somebody says who decides. Cloning shares it.
#[derive(Clone, Default)]
pub struct Authorizer {
    decides: Arc<OnceLock<Answer>>,
    asked: Arc<Mutex<BTreeSet<AccessRequest>>>,
}

impl Authorizer {
    /// From now on `answer` decides. The first who says so is heard.
    pub fn set(&self, answer: Answer) {
        let _ = self.decides.set(answer);
    }

    /// What functions asked so far, whether it was allowed or not.
    pub fn asked(&self) -> BTreeSet<AccessRequest> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether `role` may do all of `asked`, which is looked at when somebody decides. Who has no role may do everything.
    pub(crate) fn allows(
        &self,
        role: Option<&str>,
        asked: impl FnOnce() -> Vec<(String, String)>,
    ) -> bool {
        let (Some(role), Some(decides)) = (role, self.decides.get()) else {
            return true;
        };
        let asks: Vec<AccessRequest> = asked()
            .into_iter()
            .map(|(action, resource)| AccessRequest {
                role: role.to_owned(),
                action,
                resource,
            })
            .collect();
        let is_allowed = asks.iter().all(decides);
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(asks);
        is_allowed
    }
}

/// The access key of `role`: `key` and its name.
pub(crate) fn key_of(key: &str, role: &str) -> String {
    format!("{key}.{role}")
}

/// Which role stands behind the signature in `text`, which names the access key.
pub(crate) fn role_in<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(key)?;
    rest.strip_prefix('.')?
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .next()
}

/// What a call of DynamoDB asks; each part of a transaction is asked by itself
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html>).
pub(crate) fn of_tables(operation: &str, body: &[u8]) -> Vec<(String, String)> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let named = |operation: &str, request: &Value| {
        let table = request["TableName"].as_str().unwrap_or_default();
        let resource = request["IndexName"].as_str().map_or_else(
            || table.to_owned(),
            |index| format!("{table}/index/{index}"),
        );
        (format!("dynamodb:{operation}"), resource)
    };
    match operation {
        "TransactWriteItems" | "TransactGetItems" => {
            let parts = body["TransactItems"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_object)
                .flatten();
            let operation = |part: &str| {
                if part == "ConditionCheck" {
                    "ConditionCheckItem".to_owned()
                } else {
                    format!("{part}Item")
                }
            };
            parts
                .map(|(part, request)| named(&operation(part), request))
                .collect()
        }
        "BatchGetItem" => {
            let tables = body["RequestItems"].as_object().into_iter().flatten();
            tables
                .map(|(table, _)| ("dynamodb:BatchGetItem".to_owned(), table.clone()))
                .collect()
        }
        _ => vec![named(operation, &body)],
    }
}

/// The start of a form, where its fields are: the file comes last
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTForms.html>).
pub(crate) fn head(form: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&form[..form.len().min(8 * 1024)])
}

/// What a request to the bucket asks: the key is what stands behind the bucket's name, or in the form.
pub(crate) fn of_files<B: AsRef<[u8]>>(request: &Request<B>) -> Vec<(String, String)> {
    let key = request
        .uri()
        .path()
        .trim_start_matches('/')
        .split_once('/')
        .map_or("", |(_, key)| key);
    let action = match *request.method() {
        Method::PUT | Method::POST => "s3:PutObject",
        Method::DELETE => "s3:DeleteObject",
        _ => "s3:GetObject",
    };
    let form = head(request.body().as_ref());
    let in_form = || {
        form.split("name=\"key\"")
            .nth(1)
            .and_then(|rest| rest.trim_start().lines().next())
    };
    let key = if *request.method() == Method::POST {
        in_form().unwrap_or_default()
    } else {
        key
    };
    vec![(action.to_owned(), key.to_owned())]
}
