//! Rules of the workspace that no lint can hold.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crates;
mod document;
mod keys;
mod links;
mod security;

use std::{collections::BTreeSet, fs, path::PathBuf};

use common::Route;
use tests::World;

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The text of the file at `path` below the root.
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files at or below `path` whose names end with `ending`: path below the root, and text.
fn files(path: &str, ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut paths = vec![root().join(path)];
    while let Some(path) = paths.pop() {
        if path.is_file() && path.to_string_lossy().ends_with(ending) {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy();
            found.push((name.into_owned(), fs::read_to_string(&path).unwrap()));
        } else if !path.is_file() {
            let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            paths.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

/// The routes of all functions, each with the name of its function.
fn routes() -> Vec<(&'static str, Route)> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(World::new());
    dev::routes(world.setup()).unwrap()
}

/// The paths whose GET changes or sends something.
fn effects() -> BTreeSet<String> {
    let routes = routes().into_iter().map(|(_, route)| route);
    routes.filter(|route| route.has_effect).map(|route| route.path.to_owned()).collect()
}

#[test]
fn repository_root_has_only_the_listed_entries() {
    let entries = fs::read_dir(root()).unwrap();
    let entries = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let visible: BTreeSet<String> =
        entries.filter(|name| !name.starts_with('.') && name != "target").collect();
    let expected = "Cargo.lock Cargo.toml LICENSE README.md events functions infra rust-toolchain.toml shared tests";
    assert_eq!(Vec::from_iter(visible).join(" "), expected);
}
