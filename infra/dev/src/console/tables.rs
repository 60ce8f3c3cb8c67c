//! `/_local/tables`: the items of the tables by kind. Nothing here writes. Values are shown as they are stored, hashes
//! and sealed secrets too: the data is local, and who can open this page can read its files.

use serde_json::Value;
use store::keys::{ITEMS, ItemKind};

use super::{
    Query,
    markup::{counted, escape, page, text},
};
use cloud::{Cloud, LocalError};

/// The most items on the page.
const MAX_SHOWN: usize = 100;

/// The page with the items of the kind with the number `kind` in `query`, whose partition keys begin with its `pk`. This
/// reads the whole table, which only a local one allows.
///
/// # Errors
/// When the store fails.
pub(crate) fn browser(cloud: &Cloud, query: &Query) -> Result<String, LocalError> {
    let chosen: Option<usize> = query.get("kind").parse().ok();
    let found = match chosen.and_then(|number| ITEMS.get(number)) {
        Some(kind) => items(cloud, kind, query.get("pk"))?,
        None => String::new(),
    };
    let options = ITEMS.iter().enumerate().map(|(number, kind)| {
        let selected = if chosen == Some(number) { " selected" } else { "" };
        let name = format!("{} ({}): {}, {}", kind.name, kind.table.name(), kind.pk, kind.sk);
        format!("<option value=\"{number}\"{selected}>{}</option>\n", escape(&name))
    });
    let main = format!(
        include_str!("tables.html"),
        options = options.collect::<String>(),
        pk = escape(query.get("pk")),
        found = found,
    );
    Ok(page("Tables", "/_local/tables", &main))
}

/// The items of `kind` as JSON, in the order of their keys.
fn items(cloud: &Cloud, kind: &ItemKind, pk: &str) -> Result<String, LocalError> {
    // What a key has before its first value.
    let prefix = |pattern: &'static str| pattern.split('{').next().unwrap_or_default();
    let mut found = cloud.items(kind.table.name())?;
    found.retain(|item| {
        let [own_pk, own_sk] = key_of(item);
        let is_of_kind = own_pk.starts_with(prefix(kind.pk)) && own_sk.starts_with(prefix(kind.sk));
        is_of_kind && own_pk.starts_with(pk)
    });
    found.sort_by(|one, other| key_of(one).cmp(&key_of(other)));
    let shown = found.iter().take(MAX_SHOWN).map(|item| {
        let attributes = item.as_object().into_iter().flatten();
        let plain: Value = attributes.map(|(name, value)| (name.clone(), plain(value))).collect();
        format!("<pre>{}</pre>\n", escape(&format!("{plain:#}")))
    });
    Ok(format!(
        "<h2>{}, at most {MAX_SHOWN} shown</h2>\n{}",
        counted(found.len(), "item"),
        shown.collect::<String>()
    ))
}

fn key_of(item: &Value) -> [&str; 2] {
    ["pk", "sk"].map(|name| text(&item[name]["S"]))
}

/// `value`, an attribute in DynamoDB's JSON, as plain JSON. Sets and binary values stay as they are.
fn plain(value: &Value) -> Value {
    let kind = value.as_object().and_then(|kinds| kinds.iter().next());
    match kind.map(|(kind, inner)| (kind.as_str(), inner)) {
        Some(("S" | "BOOL", inner)) => inner.clone(),
        Some(("N", Value::String(number))) => {
            serde_json::from_str(number).unwrap_or_else(|_| number.as_str().into())
        }
        Some(("NULL", _)) => Value::Null,
        Some(("L", Value::Array(list))) => list.iter().map(plain).collect(),
        Some(("M", Value::Object(fields))) => {
            fields.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        _ => value.clone(),
    }
}
