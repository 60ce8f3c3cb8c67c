//! The words of prose, the length of test names, and repeated rustdoc.

use std::collections::BTreeMap;

use crate::{files, source};

const PRONOUNS: &str = "anybody everybody he him himself his nobody somebody whoever";

/// Names and addresses that are no prose, such as `nobody@example.org`, may stay.
const MOST_PRONOUNS: usize = 15;

/// Released documents do not change; inputs of the fuzzer and build output are no prose.
const NO_PROSE: &[&str] =
    &["infra/api/released/", "tests/fuzz/corpus/", "/target/", "tests/architecture/language.rs"];

/// Test names that may be longer.
const LONG_NAMES: &[&str] = &[];

/// Rustdoc lines that may stand more often.
const REPEATED: &[&str] = &[];

/// The lines of the files at or below `path` whose names end with `ending`: file and line number, and text.
fn lines(path: &str, ending: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (file, text) in files(path, ending) {
        if !NO_PROSE.iter().any(|part| file.contains(part)) {
            let lines = (1..).zip(text.lines());
            all.extend(lines.map(|(number, line)| (format!("{file}:{number}"), line.to_owned())));
        }
    }
    all
}

#[test]
fn prose_has_no_private_pronouns() {
    let mut found = Vec::new();
    for path in "functions shared infra tests .github README.md".split(' ') {
        for ending in [".rs", ".md", ".yaml", ".yml", ".py", ".ts", ".html"] {
            for (place, line) in lines(path, ending) {
                let line = line.to_lowercase();
                let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                let pronouns = words.filter(|word| PRONOUNS.split(' ').any(|one| one == *word));
                found.extend(pronouns.map(|word| format!("{place}: {word}")));
            }
        }
    }
    let (count, list) = (found.len(), found.join("\n"));
    assert!(count <= MOST_PRONOUNS, "{count} pronouns, at most {MOST_PRONOUNS}:\n{list}");
}

#[test]
fn test_names_have_at_most_70_characters() {
    let mut long = Vec::new();
    for folder in ["functions", "shared", "infra", "tests"] {
        for (file, source) in source::whole(folder, ".rs") {
            let mut tests = source.tests;
            tests.retain(|(_, name)| name.len() > 70 && !LONG_NAMES.contains(&name.as_str()));
            long.extend(tests.iter().map(|(line, name)| format!("{file}:{line}: {name}")));
        }
    }
    assert!(long.is_empty(), "too long:\n{}", long.join("\n"));
}

#[test]
fn doc_sentences_do_not_repeat() {
    let mut docs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in ["functions", "shared", "infra", "tests/src"] {
        for (place, line) in lines(folder, ".rs") {
            let doc = line.trim().strip_prefix("///").unwrap_or_default().trim();
            if doc.chars().count() >= 12 && doc.split(' ').count() >= 3 {
                docs.entry(doc.to_owned()).or_default().push(place);
            }
        }
    }
    docs.retain(|doc, places| places.len() > 5 && !REPEATED.contains(&doc.as_str()));
    assert!(docs.is_empty(), "more than five times: {docs:#?}");
}
