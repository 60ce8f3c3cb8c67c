//! Modules of a crate do not use each other in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{self, Source};

/// The modules that `source` uses. The root is left out because every module may use it.
fn used(source: &Source, modules: &BTreeSet<String>, root: Option<&Source>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for path in &source.paths {
        let Some(rest) = path.strip_prefix("crate::") else {
            continue;
        };
        let name = rest.split("::").next().unwrap_or_default();
        // What the root re-exports belongs to the module from which it comes.
        let exports = root.into_iter().flat_map(|root| &root.uses);
        let from = exports.filter(|export| export.rsplit("::").next() == Some(name));
        let from = from.filter_map(|export| export.split("::").next());
        used.extend(from.chain([name]).map(str::to_owned));
    }
    used.retain(|name| modules.contains(name));
    used
}

#[test]
fn modules_of_a_crate_have_no_cycle() {
    for folder in ["functions", "shared", "infra", "tests/bench"] {
        let mut crates: BTreeMap<String, Vec<(String, Source)>> = BTreeMap::new();
        for (file, source) in source::code(folder, ".rs") {
            if let Some((krate, path)) = file.split_once("/src/") {
                let path = path.trim_end_matches(".rs").to_owned();
                crates.entry(krate.to_owned()).or_default().push((path, source));
            }
        }
        for (krate, sources) in crates {
            let root = sources.iter().find(|(path, _)| path == "lib").map(|(_, root)| root);
            // Submodules count as their top-level module.
            let module = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
            let modules: BTreeSet<String> = sources
                .iter()
                .map(|(path, _)| module(path))
                .filter(|name| !["lib", "main"].contains(&name.as_str()))
                .collect();
            let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (path, source) in &sources {
                let from = module(path);
                let mut used = used(source, &modules, root);
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
            assert!(uses.is_empty(), "{krate}: these modules form a cycle: {uses:?}");
        }
    }
}
