//! `/_local/tables`: reads the tables by access pattern. Nothing here writes. Values are shown as they are stored, hashes
//! and sealed secrets too: the data is local, and who can open this page can read its files.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use store::keys::{AUTHORED, DUE, DueList, ITEMS, IndexSchema, LISTING, LISTS, PUBLISHED, Table};

use super::{
    Fields,
    markup::{counted, escape, link, page, text},
};
use cloud::{Cloud, LocalError};

/// The most items or keys on the page.
const MAX_SHOWN: usize = 100;

/// One way to read items: a key of a table or an index.
struct Pattern {
    name: &'static str,
    table: &'static str,
    index: Option<&'static IndexSchema>,
    /// Such as `USER#{id}`; empty for any key.
    pk: &'static str,
    sk: &'static str,
}

impl Pattern {
    /// The names of the key attributes, and whether the sort key is a string.
    fn keys(&self) -> (&'static str, &'static str, bool) {
        let of_index = |index: &IndexSchema| (index.pk, index.sk.0, index.sk.1 == "S");
        self.index.map_or(("pk", "sk", true), of_index)
    }

    fn source(&self) -> String {
        self.index.map_or_else(
            || self.table.to_owned(),
            |index| format!("{}, index {}", self.table, index.name),
        )
    }
}

/// The page with the pattern, the partition key `pk` and the beginning of the sort key `sk` in `query`. Without `pk` it
/// lists the keys that exist.
///
/// # Errors
/// When the store rejects the query.
pub(crate) fn browser(cloud: &Cloud, query: &Fields) -> Result<String, LocalError> {
    let patterns = patterns();
    let chosen = query.get("pattern");
    let place: Option<usize> = chosen.parse().ok();
    let pattern = place.and_then(|place| patterns.get(place));
    let found = match pattern {
        None => String::new(),
        Some(pattern) if query.get("pk").is_empty() => existing_keys(cloud, pattern, chosen)?,
        Some(pattern) => items(cloud, pattern, query.get("pk"), query.get("sk"))?,
    };
    let options = patterns.iter().enumerate().map(|(number, pattern)| {
        let selected = if place == Some(number) { " selected" } else { "" };
        let name = format!("{} ({}): {}", pattern.name, pattern.source(), pattern.pk);
        format!("<option value=\"{number}\"{selected}>{}</option>\n", escape(&name))
    });
    let main = format!(
        include_str!("tables.html"),
        options = options.collect::<String>(),
        pk = escape(query.get("pk")),
        sk = escape(query.get("sk")),
        found = found,
    );
    Ok(page("Tables", "/_local/tables", &main))
}

/// The kinds of items, the lists, the lists of pending work, and each index as a whole.
fn patterns() -> Vec<Pattern> {
    let records = Table::Records.name();
    let items = ITEMS.iter().map(|kind| Pattern {
        name: kind.name,
        table: kind.table.name(),
        index: None,
        pk: kind.pk,
        sk: kind.sk,
    });
    let lists = LISTS.iter().map(|kind| Pattern {
        name: kind.name,
        table: records,
        index: Some(kind.index),
        pk: kind.pk,
        sk: "",
    });
    let of_index =
        |name, index, pk| Pattern { name, table: records, index: Some(index), pk, sk: "" };
    let due = DueList::ALL.iter().map(|list| of_index("pending work", &DUE, list.name()));
    let indexes = [&LISTING, &DUE, &AUTHORED, &PUBLISHED];
    let all = indexes.into_iter().map(|index| of_index("everything", index, ""));
    items.chain(lists).chain(due).chain(all).collect()
}

/// What `pattern` has before its first value.
fn prefix(pattern: &str) -> &str {
    pattern.split('{').next().unwrap_or_default()
}

/// The partition keys of the items that follow `pattern`, as links to them. This reads the whole table, which only a
/// local one allows.
fn existing_keys(cloud: &Cloud, pattern: &Pattern, number: &str) -> Result<String, LocalError> {
    let (pk, sk, has_text_sk) = pattern.keys();
    let mut keys: BTreeMap<String, usize> = BTreeMap::new();
    for item in cloud.items(pattern.table)? {
        let key = text(&item[pk]["S"]);
        let is_sort_key = !has_text_sk || text(&item[sk]["S"]).starts_with(prefix(pattern.sk));
        if !key.is_empty() && key.starts_with(prefix(pattern.pk)) && is_sort_key {
            *keys.entry(key.to_owned()).or_default() += 1;
        }
    }
    let rows = keys.iter().take(MAX_SHOWN).map(|(key, count)| {
        let fields = [("pattern", number), ("pk", key.as_str()), ("sk", prefix(pattern.sk))];
        format!(
            "<li><a href=\"{}\"><code>{}</code></a> {}</li>\n",
            link("/_local/tables", &fields),
            escape(key),
            counted(count, "item")
        )
    });
    Ok(format!("<h2>{}</h2>\n<ul>\n{}</ul>", counted(keys.len(), "key"), rows.collect::<String>()))
}

/// The items of a Query by `pattern`, as JSON.
fn items(cloud: &Cloud, pattern: &Pattern, pk: &str, sk: &str) -> Result<String, LocalError> {
    let (pk_name, sk_name, has_text_sk) = pattern.keys();
    let mut wanted = json!({
        "TableName": pattern.table,
        "KeyConditionExpression": "#pk = :pk",
        "ExpressionAttributeNames": { "#pk": pk_name },
        "ExpressionAttributeValues": { ":pk": { "S": pk } },
        "Limit": MAX_SHOWN,
        "ReturnConsumedCapacity": "TOTAL",
    });
    if let Some(index) = pattern.index {
        wanted["IndexName"] = index.name.into();
    }
    if has_text_sk && !sk.is_empty() {
        wanted["KeyConditionExpression"] = "#pk = :pk AND begins_with(#sk, :sk)".into();
        wanted["ExpressionAttributeNames"]["#sk"] = sk_name.into();
        wanted["ExpressionAttributeValues"][":sk"] = json!({ "S": sk });
    }
    let answer = cloud.query(wanted)?;
    let found = answer["Items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shown = found.iter().map(|item| {
        let attributes = item.as_object().into_iter().flatten();
        let plain: Value = attributes.map(|(name, value)| (name.clone(), plain(value))).collect();
        format!("<pre>{}</pre>\n", escape(&format!("{plain:#}")))
    });
    let units = answer["ConsumedCapacity"]["CapacityUnits"].as_f64().unwrap_or_default();
    let more =
        if answer["LastEvaluatedKey"].is_null() { "" } else { ", and more that are not shown" };
    Ok(format!(
        "<h2>{}{more}</h2>\n<p class=\"soft\">One Query, {}.</p>\n{}",
        counted(found.len(), "item"),
        counted(units, "read unit"),
        shown.collect::<String>()
    ))
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
