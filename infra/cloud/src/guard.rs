//! Access control, which the execution roles of functions provide on AWS. Here a function can have its own access key,
//! and a callback decides, such as one of a test that has read the policies of the template.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
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
    /// The values of condition keys: `dynamodb:LeadingKeys`, the partition keys of the items; `dynamodb:Attributes`, the
    /// attributes that are written, named by an expression or part of the key; `dynamodb:EnclosingOperation` of a part of a
    /// transaction; `ses:FromAddress`.
    pub context: BTreeMap<&'static str, BTreeSet<String>>,
}

/// What `dynamodb:LeadingKeys` and `dynamodb:Attributes` hold when IAM decides on a part of a transaction, which AWS does
/// not document (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html>).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionKeys {
    /// The keys and attributes of this part.
    #[default]
    OfPart,
    /// Those of all parts of the transaction.
    OfAllParts,
    /// Nothing.
    Absent,
}

impl TransactionKeys {
    /// All meanings.
    pub const ALL: [Self; 3] = [Self::OfPart, Self::OfAllParts, Self::Absent];
}

/// The partition keys and attributes that a request, or a part of it, names.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Names {
    keys: Vec<String>,
    attributes: BTreeSet<String>,
}

/// A transaction.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Whole {
    operation: String,
    /// What all parts name.
    names: Names,
}

/// A permission that a request needs, before it is known what IAM sees of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NeededPermission {
    pub(crate) action: String,
    pub(crate) resource: String,
    names: Names,
    /// Of a part of a transaction.
    transaction: Option<Arc<Whole>>,
    /// Of a mail: the address of its sender.
    sender: Option<String>,
}

impl NeededPermission {
    pub(crate) fn new(action: &str, resource: &str) -> Self {
        Self {
            action: action.to_owned(),
            resource: resource.to_owned(),
            names: Names::default(),
            transaction: None,
            sender: None,
        }
    }

    /// The partition keys of the items, in the order of the request.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.names.keys.iter().map(String::as_str)
    }

    fn seen(&self, role: &str, meaning: TransactionKeys) -> AccessRequest {
        let names = match (&self.transaction, meaning) {
            (Some(_), TransactionKeys::Absent) => None,
            (Some(whole), TransactionKeys::OfAllParts) => Some(&whole.names),
            _ => Some(&self.names),
        };
        let mut context: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        if let Some(names) = names {
            context.insert("dynamodb:LeadingKeys", names.keys.iter().cloned().collect());
            context.insert("dynamodb:Attributes", names.attributes.clone());
        }
        if let Some(whole) = &self.transaction {
            let operation = BTreeSet::from([whole.operation.clone()]);
            context.insert("dynamodb:EnclosingOperation", operation);
        }
        if let Some(sender) = &self.sender {
            context.insert("ses:FromAddress", BTreeSet::from([sender.clone()]));
        }
        context.retain(|_, values| !values.is_empty());
        AccessRequest {
            role: role.to_owned(),
            action: self.action.clone(),
            resource: self.resource.clone(),
            context,
        }
    }
}

/// Decides whether a request is allowed.
pub type Answer = Box<dyn Fn(&AccessRequest) -> bool + Send + Sync>;

/// Checks access; allows everything until a callback is set. Clones share it.
#[derive(Clone, Default)]
pub struct Authorizer {
    callback: Arc<OnceLock<Answer>>,
    meaning: Arc<Mutex<TransactionKeys>>,
    asked: Arc<Mutex<BTreeSet<(String, NeededPermission)>>>,
}

impl Authorizer {
    /// Sets the callback that decides. Later calls are ignored.
    pub fn set(&self, answer: Answer) {
        let _ = self.callback.set(answer);
    }

    /// Sets what the callback sees of a part of a transaction.
    pub fn set_transaction_keys(&self, meaning: TransactionKeys) {
        *self.meaning.lock().unwrap_or_else(PoisonError::into_inner) = meaning;
    }

    /// The permissions that functions needed so far, allowed or not, as IAM sees them under `meaning`.
    pub fn asked(&self, meaning: TransactionKeys) -> BTreeSet<AccessRequest> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().map(|(role, asked)| asked.seen(role, meaning)).collect()
    }

    /// Whether `role` has all permissions of `asked`, which is evaluated only with a callback. Requests without a role
    /// are allowed.
    pub(crate) fn allows(
        &self,
        role: Option<&str>,
        asked: impl FnOnce() -> Vec<NeededPermission>,
    ) -> bool {
        let (Some(role), Some(callback)) = (role, self.callback.get()) else {
            return true;
        };
        let asked = asked();
        let meaning = *self.meaning.lock().unwrap_or_else(PoisonError::into_inner);
        let is_allowed = asked.iter().all(|asked| callback(&asked.seen(role, meaning)));
        let asked = asked.into_iter().map(|asked| (role.to_owned(), asked));
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).extend(asked);
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
pub(crate) fn of_tables(operation: &str, body: &[u8]) -> Vec<NeededPermission> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    match operation {
        "TransactWriteItems" | "TransactGetItems" => {
            let parts = body["TransactItems"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_object)
                .flatten();
            let operation_of = |part: &str| match part {
                "ConditionCheck" => "ConditionCheckItem".to_owned(),
                part => format!("{part}Item"),
            };
            let mut asked: Vec<NeededPermission> =
                parts.map(|(part, request)| of_request(&operation_of(part), request)).collect();
            let mut all = Names::default();
            for part in &asked {
                all.keys.extend(part.names.keys.clone());
                all.attributes.extend(part.names.attributes.clone());
            }
            let transaction = Arc::new(Whole { operation: operation.to_owned(), names: all });
            for part in &mut asked {
                part.transaction = Some(transaction.clone());
            }
            asked
        }
        "BatchGetItem" => {
            let tables = body["RequestItems"].as_object().into_iter().flatten();
            let of_table = |(table, request): (&String, &Value)| {
                let keys = request["Keys"].as_array().into_iter().flatten();
                let keys = keys.filter_map(|key| key["pk"]["S"].as_str().map(str::to_owned));
                let mut asked = NeededPermission::new("dynamodb:BatchGetItem", table);
                asked.names = Names { keys: keys.collect(), attributes: attributes(request) };
                asked
            };
            tables.map(of_table).collect()
        }
        _ => vec![of_request(operation, &body)],
    }
}

/// The permission of `operation` on the item or the partition that `request` names.
fn of_request(operation: &str, request: &Value) -> NeededPermission {
    let table = request["TableName"].as_str().unwrap_or_default();
    let resource = request["IndexName"]
        .as_str()
        .map_or_else(|| table.to_owned(), |index| format!("{table}/index/{index}"));
    // A query names the partition `:pk`.
    let of_query = &request["ExpressionAttributeValues"][":pk"]["S"];
    let keys = [&request["Key"]["pk"]["S"], &request["Item"]["pk"]["S"], of_query];
    let key = keys.into_iter().find_map(Value::as_str).map(str::to_owned);
    let mut asked = NeededPermission::new(&format!("dynamodb:{operation}"), &resource);
    asked.names = Names { keys: key.into_iter().collect(), attributes: attributes(request) };
    asked
}

/// The words of expressions that are no attributes
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html>).
const WORDS: [&str; 14] = [
    "SET",
    "REMOVE",
    "ADD",
    "DELETE",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "attribute_exists",
    "attribute_not_exists",
    "begins_with",
    "if_not_exists",
    "size",
];

/// The top-level attributes that `request` writes, uses in an expression or names as key.
fn attributes(request: &Value) -> BTreeSet<String> {
    let names = &request["ExpressionAttributeNames"];
    let expressions = [
        "ConditionExpression",
        "FilterExpression",
        "KeyConditionExpression",
        "ProjectionExpression",
        "UpdateExpression",
    ];
    let expressions = expressions.iter().filter_map(|name| request[*name].as_str());
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_#:.".contains(letter);
    let words = expressions.flat_map(|text| text.split(move |letter| !is_part(letter)));
    let used = words.filter_map(|word| {
        let word = word.split('.').next().unwrap_or_default();
        let is_name = word.starts_with(|first: char| first == '#' || first.is_ascii_alphabetic());
        let name = names[word].as_str().unwrap_or(word);
        (is_name && !WORDS.contains(&word)).then(|| name.to_owned())
    });
    let keys = request["Keys"].as_array().into_iter().flatten();
    let items = [&request["Key"], &request["Item"]].into_iter().chain(keys);
    let written = items.filter_map(Value::as_object).flat_map(|item| item.keys().cloned());
    used.chain(written).collect()
}

/// The permission to send the mail in `body`, of the API of 2019.
pub(crate) fn of_mail(body: &[u8]) -> Vec<NeededPermission> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let from = body["FromEmailAddress"].as_str().unwrap_or_default();
    let address = from.rsplit('<').next().unwrap_or_default().trim_end_matches('>');
    vec![NeededPermission {
        sender: Some(address.to_owned()),
        ..NeededPermission::new("ses:SendEmail", "")
    }]
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
pub(crate) fn of_files<B: AsRef<[u8]>>(request: &Request<B>) -> Vec<NeededPermission> {
    let key = key_in(request.uri().path());
    let source = request.headers().get(COPY_SOURCE).and_then(|source| source.to_str().ok());
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
        .map(|(action, key)| NeededPermission::new(action, key))
        .collect()
}

/// The object key in `path`, which begins with the bucket's name.
fn key_in(path: &str) -> &str {
    path.trim_start_matches('/').split_once('/').map_or("", |(_, key)| key)
}
