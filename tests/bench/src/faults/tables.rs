//! The tables as they lie in the store, behind the service's back, in plain JSON.

use std::collections::HashMap;

use local::{Trouble, cloud::Cloud};
use serde_json::{Map, Value};

pub(crate) struct Tables {
    pub(crate) items: Vec<Value>,
    places: HashMap<(String, String), usize>,
}

impl Tables {
    /// All that `cloud` holds now.
    pub(crate) fn read(cloud: &Cloud) -> Result<Self, Trouble> {
        let mut items = cloud.items("records")?;
        items.extend(cloud.items("transient")?);
        let items: Vec<Value> = items.into_iter().map(item).collect();
        let places = items
            .iter()
            .enumerate()
            .map(|(at, item)| ((text(item, "pk"), text(item, "sk")), at))
            .collect();
        Ok(Self { items, places })
    }

    /// The item at these keys.
    pub(crate) fn at(&self, pk: &str, sk: &str) -> Option<&Value> {
        self.places
            .get(&(pk.to_owned(), sk.to_owned()))
            .map(|at| &self.items[*at])
    }

    /// The items whose partition key begins so, and whose sort key is this.
    pub(crate) fn of<'a>(&'a self, pk: &'a str, sk: &'a str) -> impl Iterator<Item = &'a Value> {
        let begins = |item: &&Value, name: &str, with: &str| {
            item[name]
                .as_str()
                .is_some_and(|text| text.starts_with(with))
        };
        self.items.iter().filter(move |item| {
            begins(item, "pk", pk)
                && (item["sk"] == sk || (sk.ends_with('#') && begins(item, "sk", sk)))
        })
    }
}

/// The text at `name`, or nothing.
pub(crate) fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// The words that the people of this program write, wherever they stand in `text`.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_lowercase())
        .filter(|word| word.len() == 10 && word.starts_with("zq"))
}

fn item(item: Value) -> Value {
    item.as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), plain(value)))
        .collect::<Map<_, _>>()
        .into()
}

/// What a value of DynamoDB's JSON says.
fn plain(value: &Value) -> Value {
    let Some((kind, content)) = value.as_object().and_then(|value| value.iter().next()) else {
        return Value::Null;
    };
    match kind.as_str() {
        "N" => content
            .as_str()
            .and_then(|number| serde_json::from_str(number).ok())
            .unwrap_or_default(),
        "L" => content
            .as_array()
            .into_iter()
            .flatten()
            .map(plain)
            .collect(),
        "M" => item(content.clone()),
        "NULL" => Value::Null,
        _ => content.clone(),
    }
}
