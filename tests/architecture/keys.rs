//! The keys of the tables: `shared/store/src/keys`.

use dev::seed::fill;
use store::keys::{ITEMS, Table};
use tests::World;

use crate::read;

#[tokio::test]
async fn written_items_have_documented_keys() {
    let world = World::new().await;
    fill(world.setup()).await.unwrap();
    for table in [Table::Records, Table::Transient] {
        let items = world.items(table.name());
        assert!(!items.is_empty());
        for item in items {
            let [pk, sk] = ["pk", "sk"].map(|key| item[key]["S"].as_str().unwrap().to_owned());
            let kinds = ITEMS
                .iter()
                .filter(|kind| kind.table == table && begins(&pk, kind.pk) && begins(&sk, kind.sk));
            let kinds: Vec<&str> = kinds.map(|kind| kind.name).collect();
            assert_eq!(kinds.len(), 1, "{pk} {sk}: {kinds:?}");
        }
    }
}

/// Whether `key` has the segments of `pattern`, whose values are in braces.
fn begins(key: &str, pattern: &str) -> bool {
    let (key, pattern): (Vec<&str>, Vec<&str>) =
        (key.split('#').collect(), pattern.split('#').collect());
    let is_same = |(key, pattern): (&&str, &&str)| pattern.starts_with('{') || key == pattern;
    key.len() >= pattern.len() && key.iter().zip(&pattern).all(is_same)
}

#[test]
fn tests_named_in_the_key_schema_exist() {
    let text = read("shared/store/src/keys.rs");
    let named: Vec<(&str, &str)> =
        text.split('`').filter_map(|word| word.split_once(".rs::")).collect();
    assert!(named.len() >= 30, "{named:?}");
    for (file, test) in named {
        let text = read(&format!("tests/api/{file}.rs"));
        assert!(text.contains(&format!("fn {test}(")), "{file}.rs::{test}");
    }
}
