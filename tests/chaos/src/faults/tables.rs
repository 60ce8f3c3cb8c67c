//! The stored items of both tables, as plain JSON.

use std::collections::HashMap;

use bench::Result;
use cloud::Cloud;
use serde_json::{Map, Value};

pub(crate) struct Tables {
    pub(crate) items: Vec<Value>,
    by_key: HashMap<(String, String), usize>,
}

impl Tables {
    /// Reads all items.
    pub(crate) fn read(cloud: &Cloud) -> Result<Self> {
        let stored = [cloud.items("records")?, cloud.items("transient")?].concat();
        let items: Vec<Value> = stored.iter().map(plain_item).collect();
        let key = |item| (text(item, "pk"), text(item, "sk"));
        let by_key = items.iter().enumerate().map(|(at, item)| (key(item), at));
        let by_key = by_key.collect();
        Ok(Self { items, by_key })
    }

    /// The item with this key.
    pub(crate) fn at(&self, pk: &str, sk: &str) -> Option<&Value> {
        let at = self.by_key.get(&(pk.to_owned(), sk.to_owned()));
        at.map(|at| &self.items[*at])
    }

    /// The items whose partition key starts with `pk`, and whose sort key is `sk`, or starts with it
    /// if it ends with `#`.
    pub(crate) fn of<'a>(&'a self, pk: &'a str, sk: &'a str) -> impl Iterator<Item = &'a Value> {
        let key = |item: &'a Value, name| item[name].as_str().unwrap_or_default();
        self.items.iter().filter(move |item| {
            let own = key(item, "sk");
            let is_sk = own == sk || (sk.ends_with('#') && own.starts_with(sk));
            is_sk && key(item, "pk").starts_with(pk)
        })
    }
}

/// The text of the field `name`, or an empty string.
pub(crate) fn text(value: &Value, name: &str) -> String {
    bench::service::text(&value[name])
}

/// The words of the virtual users in `text`.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_lowercase())
        .filter(|word| word.len() == 10 && word.starts_with("zq"))
}

fn plain_item(item: &Value) -> Value {
    let fields = item.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| (name.clone(), plain(value)));
    fields.collect::<Map<_, _>>().into()
}

/// Converts a value of DynamoDB's JSON into plain JSON.
fn plain(value: &Value) -> Value {
    let only = value.as_object().and_then(|value| value.iter().next());
    let Some((kind, content)) = only else {
        return Value::Null;
    };
    match kind.as_str() {
        "N" => serde_json::from_str(content.as_str().unwrap_or_default()).unwrap_or_default(),
        "L" => content.as_array().into_iter().flatten().map(plain).collect(),
        "M" => plain_item(content),
        "NULL" => Value::Null,
        _ => content.clone(),
    }
}
