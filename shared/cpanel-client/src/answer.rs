//! Parses UAPI responses: `status`, `errors` and `data`, flat or inside `result`. Only `status` decides whether a
//! call succeeded; the texts are in the language of the account.

use domain::subdomain::Domains;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::PanelError;

/// The most characters of cPanel's error texts that are kept for the log.
const MAX_CAUSE: usize = 300;

/// A database engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// MySQL, or MariaDB.
    Mysql,
    /// PostgreSQL.
    Postgresql,
}

/// A database of the hosting account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Database {
    /// The engine.
    pub engine: Engine,
    /// The name.
    pub name: String,
    /// The disk usage in bytes; 0 where cPanel does not report it.
    pub disk_usage_bytes: u64,
    /// The database users with access to it.
    pub users: Vec<String>,
}

/// The `data` of a successful response.
pub(crate) fn data(body: &[u8]) -> Result<Value, PanelError> {
    let mut answer: Value = serde_json::from_slice(body).map_err(|_| malformed("it is no JSON"))?;
    if let Some(result) = answer.get_mut("result").filter(|result| result.is_object()) {
        answer = result.take();
    }
    // Perl may encode a number as a string.
    match number(&answer["status"]) {
        Some(1) => Ok(answer["data"].take()),
        Some(0) => Err(PanelError::Refused(join_errors(&answer["errors"]))),
        _ => Err(malformed("it has no status")),
    }
}

/// The error texts in one line.
fn join_errors(errors: &Value) -> String {
    let texts: Vec<&str> = match errors {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    texts.join("; ").chars().filter(|c| !c.is_control()).take(MAX_CAUSE).collect()
}

/// The domains in `data`, in lower case. Without permission cPanel returns blank names instead of an error.
pub(crate) fn domains(data: Value) -> Result<Domains, PanelError> {
    let list = |name: &str| -> Result<Vec<String>, PanelError> {
        Ok(texts(&data[name])?.into_iter().map(|name| name.to_lowercase()).collect())
    };
    let main_domain = data["main_domain"]
        .as_str()
        .map(|name| name.trim().to_lowercase())
        .filter(|name| !name.is_empty());
    Ok(Domains {
        main_domain: main_domain.ok_or_else(|| malformed("the account has no main domain"))?,
        addon_domains: list("addon_domains")?,
        parked_domains: list("parked_domains")?,
        sub_domains: list("sub_domains")?,
    })
}

/// The databases in `data`, sorted by name.
pub(crate) fn databases(engine: Engine, data: Value) -> Result<Vec<Database>, PanelError> {
    let list = Option::<Vec<Value>>::deserialize(data);
    let list = list.map_err(|_| malformed("there is no list of databases"))?.unwrap_or_default();
    let one = |item: Value| {
        let name = item["database"]
            .as_str()
            .ok_or_else(|| malformed("a database has no name"))?
            .to_owned();
        let disk_usage_bytes = number(&item["disk_usage"]).unwrap_or(0);
        Ok(Database { engine, name, disk_usage_bytes, users: texts(&item["users"])? })
    };
    let mut all = list.into_iter().map(one).collect::<Result<Vec<Database>, PanelError>>()?;
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

/// A list of strings; null is an empty list.
fn texts(value: &Value) -> Result<Vec<String>, PanelError> {
    let texts = Option::<Vec<String>>::deserialize(value);
    texts.map(Option::unwrap_or_default).map_err(|_| malformed("there is no list of texts"))
}

/// A non-negative number, possibly encoded as a string, truncated to an integer.
fn number(value: &Value) -> Option<u64> {
    let number: f64 = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    // 2^53: doubles represent all integers up to it exactly.
    (0.0..=9_007_199_254_740_992.0).contains(&number).then_some(number as u64)
}

fn malformed(cause: &str) -> PanelError {
    PanelError::Malformed(cause.to_owned())
}

#[cfg(test)]
mod tests;
