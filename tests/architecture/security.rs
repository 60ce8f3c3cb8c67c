//! The security page, and what it says that no other test holds.

use std::collections::BTreeSet;

use crate::{crates::dependencies, files, read, root, sources};

const PAGE: &str = "shared/identity/README.md";

/// ASVS 5.0.0, levels 1 and 2: of each chapter, how many lines each of its sections has. What is of level 3 alone
/// comes last in its section, and is left out.
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

/// The identifiers in `text`, such as `V6.2.1`.
fn ids(text: &str) -> Vec<String> {
    let words =
        text.split(|letter: char| !(letter.is_ascii_digit() || ['V', '.'].contains(&letter)));
    let words = words.map(|word| word.trim_end_matches('.'));
    words
        .filter(|word| word.starts_with('V') && word.matches('.').count() == 2)
        .map(str::to_owned)
        .collect()
}

/// The cells of the rows of the page that begin with an identifier.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let rows = page.lines().filter(|line| line.starts_with("| V"));
    rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

#[test]
fn every_line_of_levels_1_and_2_stands_on_the_page_once() {
    let mut expected = BTreeSet::new();
    for (chapter, sections) in (1..).zip(LINES) {
        for (section, last) in (1..).zip(sections) {
            expected.extend((1..=*last).map(|number| format!("V{chapter}.{section}.{number}")));
        }
    }
    let mut left = expected.clone();
    for id in ids(&read(PAGE)) {
        assert!(expected.contains(&id), "{id} is no line of levels 1 and 2");
        assert!(left.remove(&id), "{id} stands twice");
    }
    assert!(left.is_empty(), "not on the page: {left:?}");
}

#[test]
fn the_page_counts_its_lines() {
    let page = read(PAGE);
    let (mut holds, mut open) = (0, 0);
    for row in rows(&page) {
        match row.as_slice() {
            [id, what, _, _] if ids(id).len() == 1 && what.split(' ').count() <= 12 => holds += 1,
            [id, what, _] if what.split(' ').count() <= 12 => open += ids(id).len(),
            row => panic!("a row of the page reads otherwise: {row:?}"),
        }
    }
    let idle: usize = page
        .lines()
        .filter(|line| line.starts_with("- V") && line.contains(": not applicable: "))
        .map(|line| ids(line).len())
        .sum();
    let told = format!(
        "Of {} requirements {holds} are met, {idle} do not apply, {open} are open.",
        holds + idle + open
    );
    assert!(page.contains(&told), "{told}");
}

#[test]
fn every_proof_is_there() {
    let page = read(PAGE);
    for row in rows(&page).into_iter().filter(|row| row.len() == 4) {
        let proofs: Vec<&str> = row[3].split('`').skip(1).step_by(2).collect();
        assert!(!proofs.is_empty(), "{} has no proof", row[0]);
        for proof in proofs {
            let (path, function) = proof
                .split_once("::")
                .map_or((proof, None), |(path, function)| (path, Some(function)));
            assert!(
                root().join(path).is_file(),
                "{}: {path} is not there",
                row[0]
            );
            let Some(function) = function else { continue };
            let text = read(path);
            let before = text
                .split_once(&format!("fn {function}("))
                .unwrap_or_else(|| panic!("{}: {proof} is not there", row[0]))
                .0;
            let is_test = before.rsplit_once("#[").is_some_and(|(_, attribute)| {
                attribute.contains("test") && !attribute.contains("fn ")
            });
            assert!(is_test, "{}: {proof} is no test", row[0]);
        }
    }
}

#[test]
fn what_could_run_words_or_weaken_a_secret_is_in_no_crate() {
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
            assert!(
                unwanted.iter().all(|name| !named.contains(*name)),
                "{manifest}"
            );
            // for entity tags, which are no secret
            assert!(
                !named.contains("sha1") || manifest == "shared/common/Cargo.toml",
                "{manifest} names sha1"
            );
        }
        for (file, text) in sources(folder) {
            for word in [
                "process::Command",
                "danger_accept_invalid",
                ".dangerous()",
                "include!(",
                "extern \"C\"",
            ] {
                assert!(!text.contains(word), "{file} has {word}");
            }
        }
    }
}

#[test]
fn chance_is_the_operating_systems() {
    for folder in ["functions", "shared"] {
        for (manifest, _) in files(folder, "Cargo.toml") {
            let named = dependencies(&manifest);
            // secrets are made in one room; the store pauses by chance before it tries again
            let may = ["shared/identity/Cargo.toml", "shared/store/Cargo.toml"]
                .contains(&manifest.as_str());
            assert_eq!(named.contains("getrandom"), may, "{manifest} and getrandom");
            assert!(
                ["fastrand", "rand", "rand_core"]
                    .iter()
                    .all(|name| !named.contains(*name)),
                "{manifest}"
            );
        }
        for (file, text) in files(folder, ".rs") {
            assert!(
                !text.contains("Uuid::new_v4") && !text.contains("Uuid::now_v7"),
                "{file}"
            );
        }
    }
}

#[test]
fn every_crate_lives_by_the_lints_of_the_workspace() {
    assert!(read("Cargo.toml").contains("unsafe_code = \"forbid\""));
    for folder in ["functions", "shared", "infra", "tests"] {
        for (manifest, text) in files(folder, "Cargo.toml") {
            // Who has a workspace of his own says so himself.
            let is_alone = text.contains("\n[workspace]\n") && text.contains("\nunsafe_code = ");
            assert!(
                is_alone || text.contains("[lints]\nworkspace = true"),
                "{manifest}"
            );
        }
    }
}
