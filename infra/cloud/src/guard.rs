//! Access control, which the execution roles of functions provide on AWS. Here a function can have its own access key,
//! and a callback decides, such as one of a test that has read the policies of the template.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use http::{Method, Request};
use serde_json::Value;

/// One permission that a request needs, in the terms of an IAM policy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessRequest {
    /// The name of the function.
    pub role: String,
    /// The action, such as `dynamodb:GetItem`.
    pub action: String,
    /// A table or index (`records`, `records/index/due`), an object key (`files/a/b`), or empty for SNS and SES.
    pub resource: String,
    /// The partition key of the item, which IAM calls the leading key. A request of several items asks once for each of them.
    pub leading_key: String,
}

/// What a request asks for: action, resource and leading key.
type Asked = (String, String, String);

/// Decides whether a request is allowed.
pub type Answer = Box<dyn Fn(&AccessRequest) -> bool + Send + Sync>;

/// Checks access; allows everything until a callback is set. Clones share it.
#[derive(Clone, Default)]
pub struct Authorizer {
    callback: Arc<OnceLock<Answer>>,
    asked: Arc<Mutex<BTreeSet<AccessRequest>>>,
}

impl Authorizer {
    /// Sets the callback that decides. Later calls are ignored.
    pub fn set(&self, answer: Answer) {
        let _ = self.callback.set(answer);
    }

    /// The permissions that functions needed so far, allowed or not.
    pub fn asked(&self) -> BTreeSet<AccessRequest> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether `role` has all permissions of `asked`, which is evaluated only with a callback. Requests without a role
    /// are allowed.
    pub(crate) fn allows(&self, role: Option<&str>, asked: impl FnOnce() -> Vec<Asked>) -> bool {
        let (Some(role), Some(callback)) = (role, self.callback.get()) else {
            return true;
        };
        let requests: Vec<AccessRequest> = asked()
            .into_iter()
            .map(|(action, resource, leading_key)| AccessRequest {
                role: role.to_owned(),
                action,
                resource,
                leading_key,
            })
            .collect();
        let is_allowed = requests.iter().all(callback);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).extend(requests);
        is_allowed
    }
}

/// The role in the id of the access key that `text`, a signature, contains; `key` is the id without the role.
pub(crate) fn role_in<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(key)?;
    rest.strip_prefix('.')?.split(|c: char| !c.is_ascii_alphanumeric()).next()
}

/// The permissions that a DynamoDB request needs; a transaction needs one per part
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html>).
pub(crate) fn of_tables(operation: &str, body: &[u8]) -> Vec<Asked> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let named = |operation: &str, request: &Value| {
        let table = request["TableName"].as_str().unwrap_or_default();
        let resource = request["IndexName"]
            .as_str()
            .map_or_else(|| table.to_owned(), |index| format!("{table}/index/{index}"));
        // A query names the partition `:pk`.
        let of_query = &request["ExpressionAttributeValues"][":pk"]["S"];
        let keys = [&request["Key"]["pk"]["S"], &request["Item"]["pk"]["S"], of_query];
        let leading_key = keys.into_iter().find_map(Value::as_str).unwrap_or_default();
        (format!("dynamodb:{operation}"), resource, leading_key.to_owned())
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
            parts.map(|(part, request)| named(&operation(part), request)).collect()
        }
        "BatchGetItem" => {
            let tables = body["RequestItems"].as_object().into_iter().flatten();
            let keys = tables.flat_map(|(table, request)| {
                let keys = request["Keys"].as_array().into_iter().flatten();
                keys.map(move |key| (table, key["pk"]["S"].as_str().unwrap_or_default()))
            });
            let action = "dynamodb:BatchGetItem";
            keys.map(|(table, key)| (action.to_owned(), table.clone(), key.to_owned())).collect()
        }
        _ => vec![named(operation, &body)],
    }
}

/// The start of a form with its fields: the file comes last
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTForms.html>).
pub(crate) fn head(form: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&form[..form.len().min(8 * 1024)])
}

/// The header that makes a PUT a copy: bucket and key of the source
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html>).
pub(crate) const COPY_SOURCE: &str = "x-amz-copy-source";

/// The permissions that an S3 request needs; a copy also reads. The key follows the bucket's name in the path, or is in
/// the form.
pub(crate) fn of_files<B: AsRef<[u8]>>(request: &Request<B>) -> Vec<Asked> {
    let key = key_in(request.uri().path());
    let source = request.headers().get(COPY_SOURCE);
    let source = source.and_then(|source| source.to_str().ok());
    let action = match *request.method() {
        Method::PUT | Method::POST => "s3:PutObject",
        Method::DELETE => "s3:DeleteObject",
        _ => "s3:GetObject",
    };
    let form = head(request.body().as_ref());
    let in_form =
        || form.split("name=\"key\"").nth(1).and_then(|rest| rest.trim_start().lines().next());
    let key = if *request.method() == Method::POST { in_form().unwrap_or_default() } else { key };
    let read = source.map(|source| ("s3:GetObject", key_in(source)));
    [(action, key)]
        .into_iter()
        .chain(read)
        .map(|(action, key)| (action.to_owned(), key.to_owned(), String::new()))
        .collect()
}

/// The object key in `path`, which begins with the bucket's name.
fn key_in(path: &str) -> &str {
    path.trim_start_matches('/').split_once('/').map_or("", |(_, key)| key)
}
