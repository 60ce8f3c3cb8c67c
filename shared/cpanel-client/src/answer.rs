//! What UAPI answers: `status`, `errors` and `data`, flat or inside `result`. Of its own facts only `status` is
//! believed; its texts are in the language of the account.

use domain::subdomain::Domains;
use serde::Serialize;
use serde_json::Value;

use crate::Trouble;

/// How much of what cPanel says is kept for the log.
const MAX_CAUSE: usize = 300;

/// What a database runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// MySQL, or MariaDB.
    Mysql,
    /// PostgreSQL.
    Postgresql,
}

/// A database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Database {
    /// What it runs on.
    pub engine: Engine,
    /// Its name.
    pub name: String,
    /// What it takes, in bytes.
    pub disk_usage_bytes: u64,
    /// Who may use it, in the database.
    pub users: Vec<String>,
}

/// The `data` of a success.
pub(crate) fn data(body: &[u8]) -> Result<Value, Trouble> {
    let mut answer: Value = serde_json::from_slice(body).map_err(|_| malformed("it is no JSON"))?;
    if let Some(result) = answer.get_mut("result").filter(|result| result.is_object()) {
        answer = result.take();
    }
    // Perl writes numbers as it likes.
    match number(&answer["status"]) {
        Some(1) => Ok(answer["data"].take()),
        Some(0) => Err(Trouble::Refused(said(&answer["errors"]))),
        _ => Err(malformed("it has no status")),
    }
}

/// Its texts in one line.
fn said(errors: &Value) -> String {
    let texts: Vec<&str> = match errors {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    texts
        .join("; ")
        .chars()
        .filter(|letter| !letter.is_control())
        .take(MAX_CAUSE)
        .collect()
}

/// The domains in `data`. Without the right to look cPanel shows blanks instead of an error.
pub(crate) fn domains(data: Value) -> Result<Domains, Trouble> {
    let list = |name: &str| -> Result<Vec<String>, Trouble> {
        Ok(texts(&data[name])?
            .into_iter()
            .map(|name| name.to_lowercase())
            .collect())
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

/// The databases in `data`, by name.
pub(crate) fn databases(engine: Engine, data: Value) -> Result<Vec<Database>, Trouble> {
    let list = match data {
        Value::Null => Vec::new(),
        Value::Array(list) => list,
        _ => return Err(malformed("there is no list of databases")),
    };
    let one = |item: Value| {
        let name = item["database"]
            .as_str()
            .ok_or_else(|| malformed("a database has no name"))?
            .to_owned();
        // A server that is not asked for sizes tells none.
        let disk_usage_bytes = number(&item["disk_usage"]).unwrap_or(0);
        Ok(Database {
            engine,
            name,
            disk_usage_bytes,
            users: texts(&item["users"])?,
        })
    };
    let mut all = list
        .into_iter()
        .map(one)
        .collect::<Result<Vec<Database>, Trouble>>()?;
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

/// A list of texts; null is none.
fn texts(value: &Value) -> Result<Vec<String>, Trouble> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => {
            let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
            texts
                .collect::<Option<_>>()
                .ok_or_else(|| malformed("a list holds something that is no text"))
        }
        _ => Err(malformed("there is no list")),
    }
}

/// A number from 0 up, perhaps written as a text, without what stands behind its point.
fn number(value: &Value) -> Option<u64> {
    let number: f64 = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    // As many as a double counts one by one.
    (0.0..=9_007_199_254_740_992.0)
        .contains(&number)
        .then_some(number as u64)
}

fn malformed(cause: &str) -> Trouble {
    Trouble::Malformed(cause.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flat_or_wrapped_it_is_the_same_answer() {
        for (body, expected) in [
            (
                json!({ "status": 1, "data": [1], "errors": null }),
                Ok(json!([1])),
            ),
            (
                json!({ "apiversion": 3, "func": "f", "module": "M", "result": { "status": 1, "data": [1] } }),
                Ok(json!([1])),
            ),
            (json!({ "status": "1" }), Ok(Value::Null)),
            (
                json!({ "status": 0, "errors": ["Le domaine existe déjà.", "Non."] }),
                Err(Trouble::Refused("Le domaine existe déjà.; Non.".into())),
            ),
            (
                json!({ "result": { "status": 0, "errors": null } }),
                Err(Trouble::Refused(String::new())),
            ),
            (
                json!({ "status": 0, "errors": "a\r\nb" }),
                Err(Trouble::Refused("ab".into())),
            ),
            (json!({}), Err(malformed("it has no status"))),
            (json!([]), Err(malformed("it has no status"))),
            (json!({ "status": 2 }), Err(malformed("it has no status"))),
            (
                json!({ "status": null, "data": {} }),
                Err(malformed("it has no status")),
            ),
        ] {
            assert_eq!(data(body.to_string().as_bytes()), expected, "{body}");
        }
        for body in ["", "<html>", "{\"status\":1,", "\u{0}"] {
            assert_eq!(
                data(body.as_bytes()),
                Err(malformed("it is no JSON")),
                "{body}"
            );
        }
    }

    #[test]
    fn domains_have_a_main_one() {
        let whole = json!({ "main_domain": "Example.org", "addon_domains": null, "parked_domains": [], "sub_domains": ["Blog.example.org"] });
        let read = domains(whole.clone()).unwrap();
        assert_eq!(
            (read.main_domain.as_str(), read.sub_domains),
            ("example.org", vec!["blog.example.org".to_owned()])
        );
        for main in [json!(""), json!(" "), json!(null), json!(7)] {
            let mut blank = whole.clone();
            blank["main_domain"] = main;
            assert!(domains(blank).is_err());
        }
        for list in [json!("example.net"), json!([7]), json!({})] {
            let mut odd = whole.clone();
            odd["parked_domains"] = list;
            assert!(domains(odd).is_err());
        }
        assert!(domains(Value::Null).is_err());
    }

    #[test]
    fn databases_stand_by_name() {
        let data = json!([
            { "database": "b", "disk_usage": "12", "users": null },
            { "database": "a", "disk_usage": 673.9, "users": ["u"] },
            { "database": "c", "disk_usage": null, "users": [] },
            { "database": "d", "disk_usage": "1.5e+9", "users": [] },
            { "database": "e", "disk_usage": "n/a", "users": [] },
        ]);
        let read: Vec<(String, u64, usize)> = databases(Engine::Mysql, data)
            .unwrap()
            .into_iter()
            .map(|one| (one.name, one.disk_usage_bytes, one.users.len()))
            .collect();
        assert_eq!(
            read,
            [
                ("a".to_owned(), 673, 1),
                ("b".to_owned(), 12, 0),
                ("c".to_owned(), 0, 0),
                ("d".to_owned(), 1_500_000_000, 0),
                ("e".to_owned(), 0, 0)
            ]
        );
        for odd in [
            json!({}),
            json!([{}]),
            json!([{ "database": "a", "users": "u" }]),
        ] {
            assert!(databases(Engine::Mysql, odd.clone()).is_err(), "{odd}");
        }
    }
}
