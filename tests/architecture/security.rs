//! The security page (`shared/identity/README.md`) lists all requirements, each with something that proves it.

use std::collections::BTreeSet;

use crate::{links::pages, read, root};

const PAGE: &str = "shared/identity/README.md";

/// ASVS 5.0.0: for each chapter, the number of level 1 and 2 requirements of each section. Requirements of level 3
/// come last in their section and are not counted.
const ASVS: &str = "2 9 11 3 2, 3 3 4 1, 0 2 4 6 5 0 2, 3 1 2 4, 1 3 2 3, 3 12 4 4 5 3 0 4, 3 4 2 5 2 2, 2 3 1 1, 3 4, \
    2 2 4 11 5 2 3, 2 3 3 4 1 1 0, 3 2 4, 1 5 2 5, 2 4 3, 3 3 7 0, 1 5 4 3 3, 1 4 2";

#[test]
fn asvs_level_1_and_2_requirements_are_listed_once() {
    let mut expected = Vec::new();
    for (chapter, sections) in (1..).zip(ASVS.split(", ")) {
        for (section, last) in (1..).zip(sections.split(' ')) {
            let numbers = 1..=last.parse::<u32>().unwrap();
            expected.extend(numbers.map(|number| format!("V{chapter}.{section}.{number}")));
        }
    }
    let page = read(PAGE);
    let words = page.split(|letter: char| !(letter.is_ascii_digit() || "V.".contains(letter)));
    let words = words.map(|word| word.trim_end_matches('.'));
    let mut listed: Vec<&str> =
        words.filter(|word| word.starts_with('V') && word.matches('.').count() == 2).collect();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected);
}

/// The texts in backquotes on `line`.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The last cell of every row of a table whose last column has proofs.
#[test]
fn proofs_name_existing_files_and_tests() {
    let page = read(PAGE);
    let (mut has_proofs, mut checked) = (false, 0);
    for row in page.lines() {
        if !row.starts_with('|') || row.ends_with("| Proof |") || row.ends_with("| Tests |") {
            has_proofs = row.starts_with('|');
        } else if has_proofs && !row.starts_with("|---") {
            let mut files =
                quoted(row.trim_end_matches('|').rsplit_once(" | ").unwrap().1).peekable();
            assert!(files.peek().is_some(), "{row}: no proof");
            let mut files = files.map(|proof| proof.split("::").next().unwrap());
            assert!(files.all(|file| root().join(file).is_file()), "{row}");
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} proofs were found");
}

#[test]
fn tests_named_on_pages_exist() {
    let mut named = BTreeSet::new();
    for (page, text) in pages() {
        let tests = text.lines().flat_map(quoted).filter_map(|word| word.split_once(".rs::"));
        named.extend(
            tests.map(|(file, test)| (page.clone(), format!("{file}.rs"), test.to_owned())),
        );
    }
    assert!(named.len() > 100, "{named:?}");
    for (page, file, test) in named {
        assert!(read(&file).contains(&format!("fn {test}(")), "{page}: {file}::{test}");
    }
}

#[test]
fn interpreters_and_foreign_processes_are_not_used() {
    let files = ["functions", "shared"].iter().flat_map(|folder| crate::files(folder, ".rs"));
    for (file, text) in files.filter(|(file, _)| file.contains("/src/")) {
        for unwanted in ["process::Command", "danger", "include!", "Uuid::new_v4", "Uuid::now_v7"] {
            assert!(!text.contains(unwanted), "{file} contains {unwanted}");
        }
    }
}
