//! Rules of the workspace that its files must follow: dependencies, document, template, keys and names.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod crates;
mod cycles;
mod document;
mod events;
mod keys;
mod sdks;
mod security;
mod template;
mod words;

use std::{collections::BTreeSet, fs, path::PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The text of the file at `path` below the root.
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files below `folder` whose names end with `ending`: path below the root, and text.
fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                let name = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The source files of the crates below `folder`, without their integration tests.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut all = files(folder, ".rs");
    all.retain(|(file, _)| file.contains("/src/"));
    all
}

/// Function, path and handlers (source text) of every `.route(` in the functions' `lib.rs`.
fn paths() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for (file, text) in files("functions", "src/lib.rs") {
        let function = file.split('/').nth(1).unwrap();
        for part in text.split(".route(").skip(1) {
            let path = part.split('"').nth(1).unwrap();
            let handlers = part.split(".with_state").next().unwrap();
            let handlers = handlers.split("\n}\n").next().unwrap();
            all.push((function.to_owned(), path.to_owned(), handlers.to_owned()));
        }
    }
    assert!(all.len() > 10, "{all:?}");
    all
}

/// Every route of the functions: function, and `GET /path`.
fn routes() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (function, path, handlers) in paths() {
        for method in ["get", "post", "put", "delete"] {
            let is_effect = method == "get" && handlers.contains("effect(");
            if is_effect || handlers.contains(&format!("{method}(")) {
                let route = format!("{} {path}", method.to_uppercase());
                all.push((function.clone(), route));
            }
        }
    }
    all
}

/// The paths whose GET changes or sends something.
fn effects() -> BTreeSet<String> {
    let effects = paths()
        .into_iter()
        .filter(|(_, _, handlers)| handlers.contains("effect("));
    effects.map(|(_, path, _)| path).collect()
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
    let readers = [
        "optional(",
        "required(",
        "number(",
        "seconds(",
        "days(",
        "url(",
        "parse(",
        "list(",
    ];
    let mut names = BTreeSet::new();
    for (_, text) in ["functions", "shared"]
        .into_iter()
        .flat_map(|folder| files(folder, ".rs"))
    {
        let code = text.split("#[cfg(test)]").next().unwrap();
        let parts: Vec<&str> = code.split('"').collect();
        for pair in parts.windows(2) {
            let is_read = readers
                .iter()
                .any(|reader| pair[0].trim_end().ends_with(reader));
            let is_name = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
            if is_read && pair[1].len() > 3 && pair[1].bytes().all(is_name) {
                names.insert(pair[1].to_owned());
            }
        }
    }
    names
}
