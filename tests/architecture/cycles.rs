//! Modules of a crate do not use each other in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use crate::files;

/// The next names of a path that continues with `rest`: one, or those of a list in braces.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect()
    };
    let Some(list) = rest.strip_prefix('{') else {
        return vec![name(rest)];
    };
    let (mut depth, mut heads, mut start) = (1, Vec::new(), 0);
    for (place, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && letter == ',') {
            heads.push(name(&list[start..place]));
            start = place + 1;
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

/// The names that a crate's root re-exports, each with its module.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for statement in root.split("use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let Some((module, rest)) = statement.split_once("::") else {
            continue;
        };
        for head in heads(rest) {
            exports.insert(head, module.trim().to_owned());
        }
    }
    exports
}

/// The modules that `text` uses. The root is left out because every module may use it.
fn used(
    text: &str,
    modules: &BTreeSet<String>,
    exports: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    let paths = code.match_indices("crate::").flat_map(|(place, _)| {
        let is_path =
            !code[..place].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        if is_path {
            heads(&code[place + "crate::".len()..])
        } else {
            Vec::new()
        }
    });
    paths
        .filter_map(|name| {
            let module = exports.get(&name).cloned().unwrap_or(name);
            modules.contains(&module).then_some(module)
        })
        .collect()
}

#[test]
fn modules_of_a_crate_have_no_cycle() {
    for folder in ["functions", "shared", "infra", "tests/bench"] {
        let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for (file, text) in files(folder, ".rs") {
            if let Some((krate, path)) = file.split_once("/src/") {
                let path = path.trim_end_matches(".rs").to_owned();
                crates
                    .entry(krate.to_owned())
                    .or_default()
                    .push((path, text));
            }
        }
        for (krate, sources) in crates {
            let root = sources.iter().find(|(path, _)| path == "lib");
            let exports = root.map(|(_, text)| exports(text)).unwrap_or_default();
            // Submodules count as their top-level module.
            let module = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
            let modules: BTreeSet<String> = sources
                .iter()
                .map(|(path, _)| module(path))
                .filter(|name| !["lib", "main"].contains(&name.as_str()))
                .collect();
            let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (path, text) in &sources {
                let from = module(path);
                let mut used = used(text, &modules, &exports);
                used.remove(&from);
                if modules.contains(&from) {
                    uses.entry(from).or_default().extend(used);
                }
            }
            // Remove leaves until none is left; what remains is a cycle.
            while let Some(leaf) = uses
                .iter()
                .find(|(_, used)| used.iter().all(|name| !uses.contains_key(name)))
                .map(|(name, _)| name.clone())
            {
                uses.remove(&leaf);
            }
            assert!(
                uses.is_empty(),
                "{krate}: these modules form a cycle: {uses:?}"
            );
        }
    }
}
