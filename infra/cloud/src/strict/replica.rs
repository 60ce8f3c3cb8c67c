//! A copy of the tables that gets each change late.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use dynoxide::{Database, errors::DynoxideError};
use serde_json::{Value, json};
use store::keys::TABLES;

use crate::{LocalError, strict::item_key::ItemKey, tables};

pub(crate) struct Replica {
    copy: Database,
    /// Changes that are not visible yet: the item, or `None` when it was deleted, by the time when it becomes visible
    /// and a number.
    pending: BTreeMap<(Instant, u64), (ItemKey, Option<Value>)>,
    /// When the newest pending change of an item becomes visible: changes of one item keep their order.
    newest: HashMap<(String, String, String), Instant>,
    count: u64,
}

impl Replica {
    /// A copy of `database`.
    pub(crate) fn of(database: &Database) -> Result<Self, LocalError> {
        let failed = |error: DynoxideError| {
            LocalError::new(format!("The tables cannot be copied: {error}."))
        };
        let copy = Database::memory().map_err(failed)?;
        for table in &TABLES {
            tables::make(&copy, table)?;
            for item in tables::items(database, table.name)? {
                let put = json!({ "TableName": table.name, "Item": item });
                copy.put_item(tables::request(put)?).map_err(failed)?;
            }
        }
        Ok(Self { copy, pending: BTreeMap::new(), newest: HashMap::new(), count: 0 })
    }

    /// Plans that the present state of the item at `key` becomes visible in `lag`.
    pub(crate) fn note(&mut self, database: &Database, key: &ItemKey, lag: Duration) {
        let item = Some(key.item(database)).filter(|item| !item.is_null());
        let id = (key.table.clone(), key.pk.clone(), key.sk.clone());
        let visible = Instant::now() + lag;
        let visible = self.newest.get(&id).map_or(visible, |newest| visible.max(*newest));
        self.newest.insert(id, visible);
        self.count += 1;
        self.pending.insert((visible, self.count), (key.clone(), item));
    }

    /// The copy with the changes that are visible by now.
    pub(crate) fn current(&mut self) -> &Database {
        self.apply(Some(Instant::now()));
        &self.copy
    }

    /// Makes all changes visible.
    pub(crate) fn settle(&mut self) {
        self.apply(None);
        self.newest.clear();
    }

    fn apply(&mut self, until: Option<Instant>) {
        while let Some(entry) = self.pending.first_entry() {
            if until.is_some_and(|until| entry.key().0 > until) {
                return;
            }
            let (key, item) = entry.remove();
            // A copy of an item that the tables accepted.
            let _ = match item {
                Some(item) => {
                    let put = json!({ "TableName": key.table, "Item": item });
                    tables::request(put).map(|put| self.copy.put_item(put).is_ok())
                }
                None => {
                    let delete = json!({ "TableName": key.table, "Key": key.attributes() });
                    tables::request(delete).map(|delete| self.copy.delete_item(delete).is_ok())
                }
            };
        }
    }
}
