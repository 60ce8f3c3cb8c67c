//! Checks the security page (`shared/identity/README.md`), and rules on it that no other test checks.

use std::collections::BTreeSet;

use crate::{crates::dependencies, files, read, root, source};

const PAGE: &str = "shared/identity/README.md";

/// ASVS 5.0.0: for each chapter, the number of level 1 and 2 requirements of each section. Requirements of level 3
/// come last in their section and are not counted.
const LINES: [&[u32]; 17] = [
    &[2, 9, 11, 3, 2],
    &[3, 3, 4, 1],
    &[0, 2, 4, 6, 5, 0, 2],
    &[3, 1, 2, 4],
    &[1, 3, 2, 3],
    &[3, 12, 4, 4, 5, 3, 0, 4],
    &[3, 4, 2, 5, 2, 2],
    &[2, 3, 1, 1],
    &[3, 4],
    &[2, 2, 4, 11, 5, 2, 3],
    &[2, 3, 3, 4, 1, 1, 0],
    &[3, 2, 4],
    &[1, 5, 2, 5],
    &[2, 4, 3],
    &[3, 3, 7, 0],
    &[1, 5, 4, 3, 3],
    &[1, 4, 2],
];

/// The requirement identifiers in `text`, for example `V6.2.1`.
fn ids(text: &str) -> Vec<String> {
    let words =
        text.split(|letter: char| !(letter.is_ascii_digit() || ['V', '.'].contains(&letter)));
    let words = words.map(|word| word.trim_end_matches('.'));
    words
        .filter(|word| word.starts_with('V') && word.matches('.').count() == 2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn asvs_level_1_and_2_requirements_are_listed_once() {
    let mut expected = BTreeSet::new();
    for (chapter, sections) in (1..).zip(LINES) {
        for (section, last) in (1..).zip(sections) {
            expected.extend((1..=*last).map(|number| format!("V{chapter}.{section}.{number}")));
        }
    }
    let mut left = expected.clone();
    for id in ids(&read(PAGE)) {
        assert!(expected.contains(&id), "{id} is not a requirement of level 1 or 2");
        assert!(left.remove(&id), "{id} is on the page twice");
    }
    assert!(left.is_empty(), "not on the page: {left:?}");
}

/// The last cell of every row of a table whose last column has proofs.
fn proofs(page: &str) -> Vec<(&str, &str)> {
    let mut has_proofs = false;
    let mut cells = Vec::new();
    for line in page.lines() {
        if line.ends_with("| Proof |") || line.ends_with("| Tests |") {
            has_proofs = true;
        } else if !line.starts_with('|') {
            has_proofs = false;
        } else if has_proofs && !line.starts_with("|---") {
            cells.push(line.trim_matches('|').rsplit_once(" | ").unwrap());
        }
    }
    cells
}

/// Whether the file at `path` has a function `name` under an attribute such as `#[test]`.
fn is_test(path: &str, name: &str) -> bool {
    let text = read(path);
    let before = text.split_once(&format!("fn {name}(")).map_or("", |(before, _)| before);
    let attributes = before.rsplit("\n\n").next().unwrap_or_default();
    attributes.contains("#[test]") || attributes.contains("::test")
}

#[test]
fn proofs_name_existing_files_and_tests() {
    let page = read(PAGE);
    let cells = proofs(&page);
    assert!(cells.len() > 100, "only {} proofs were found", cells.len());
    for (row, cell) in cells {
        let named: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "{row}: no proof");
        for proof in named {
            let (path, test) = proof.split_once("::").unwrap_or((proof, ""));
            assert!(root().join(path).is_file(), "{row}: {path} does not exist");
            assert!(test.is_empty() || is_test(path, test), "{row}: {proof} is not a test");
        }
    }
}

#[test]
fn interpreters_and_weak_cryptography_are_not_used() {
    let unwanted = [
        "bincode",
        "boa_engine",
        "cbc",
        "ciborium",
        "des",
        "ecb",
        "handlebars",
        "ldap3",
        "libloading",
        "md-5",
        "md5",
        "minijinja",
        "mlua",
        "quick-xml",
        "rc4",
        "regex",
        "rhai",
        "rmp-serde",
        "roxmltree",
        "rsa",
        "serde_yaml",
        "tera",
        "wasmtime",
        "xml-rs",
    ];
    for folder in ["functions", "shared"] {
        for (manifest, _) in files(folder, "Cargo.toml") {
            let named = dependencies(&manifest);
            assert!(unwanted.iter().all(|name| !named.contains(*name)), "{manifest}");
            // SHA-1 is used only for entity tags, which are not secret.
            assert!(
                !named.contains("sha1") || manifest == "shared/common/Cargo.toml",
                "{manifest} depends on sha1"
            );
        }
        for (file, source) in source::whole(folder, ".rs") {
            if !file.contains("/src/") {
                continue;
            }
            for path in ["process::Command", "extern::"] {
                assert!(!source.has_path(path), "{file} contains {path}");
            }
            for call in ["danger", "include!"] {
                assert!(!source.has_call(call), "{file} calls {call}");
            }
        }
    }
}

#[test]
fn random_bytes_come_from_the_operating_system() {
    for folder in ["functions", "shared"] {
        for (manifest, _) in files(folder, "Cargo.toml") {
            let named = dependencies(&manifest);
            // `identity` makes secrets; `store` needs jitter for its retries.
            let may = ["shared/identity/Cargo.toml", "shared/store/Cargo.toml"]
                .contains(&manifest.as_str());
            assert_eq!(named.contains("getrandom"), may, "{manifest} and getrandom");
            assert!(
                ["fastrand", "rand", "rand_core"].iter().all(|name| !named.contains(*name)),
                "{manifest}"
            );
        }
        for (file, source) in source::whole(folder, ".rs") {
            let mut paths = ["Uuid::new_v4", "Uuid::now_v7"].into_iter();
            assert!(!paths.any(|path| source.has_path(path)), "{file}");
        }
    }
}

#[test]
fn every_crate_uses_the_workspace_lints() {
    assert!(read("Cargo.toml").contains("unsafe_code = \"forbid\""));
    for folder in ["functions", "shared", "infra", "tests"] {
        for (manifest, text) in files(folder, "Cargo.toml") {
            // A package in its own workspace cannot inherit lints.
            let is_alone = text.contains("\n[workspace]\n") && text.contains("\nunsafe_code = ");
            assert!(is_alone || text.contains("[lints]\nworkspace = true"), "{manifest}");
        }
    }
}
