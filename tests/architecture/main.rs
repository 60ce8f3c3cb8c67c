//! Rules of the workspace that its files must follow: dependencies, document, template, keys and names.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crates;
mod cycles;
mod document;
mod keys;
mod language;
mod links;
mod sdks;
mod security;
mod source;
mod template;
mod words;

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

/// Every route of the functions, with its function.
fn all_routes() -> Vec<(&'static str, Route)> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(World::new());
    dev::routes(world.setup()).unwrap()
}

/// Every route of the functions: function, and `GET /path`.
fn routes() -> Vec<(String, String)> {
    let name = |route: Route| format!("{} {}", route.method, route.path);
    all_routes().into_iter().map(|(function, route)| (function.to_owned(), name(route))).collect()
}

/// The paths whose GET changes or sends something.
fn effects() -> BTreeSet<String> {
    let routes = all_routes().into_iter().filter(|(_, route)| route.has_effect);
    routes.map(|(_, route)| route.path.to_owned()).collect()
}

/// The crate names of the functions.
fn functions() -> Vec<String> {
    files("functions", "Cargo.toml")
        .into_iter()
        .map(|(file, _)| file.split('/').nth(1).unwrap().to_owned())
        .collect()
}

/// The settings that functions and shared crates read: the names passed to the methods of `Settings`.
fn settings_read() -> BTreeSet<String> {
    let readers = ["optional", "required", "number", "seconds", "days", "url", "parse", "list"];
    let is_name = |text: &String| {
        text.len() > 3 && text.bytes().all(|one| one.is_ascii_uppercase() || one == b'_')
    };
    let sources = ["functions", "shared"].map(|folder| source::code(folder, ".rs"));
    let calls = sources.into_iter().flatten().flat_map(|(_, source)| source.calls);
    calls
        .filter(|call| readers.iter().any(|reader| call.name.ends_with(reader)))
        .filter_map(|call| call.text.filter(is_name))
        .collect()
}
