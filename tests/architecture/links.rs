//! Links of the Markdown files: files, and headings in Markdown files, must exist.

use std::{collections::BTreeSet, path::Path};

use crate::{files, root};

/// The Markdown files of the repository.
pub(crate) fn pages() -> Vec<(String, String)> {
    let folders = "functions shared infra tests events .github README.md".split(' ');
    let mut all: Vec<_> = folders.flat_map(|folder| files(folder, ".md")).collect();
    all.retain(|(file, _)| !file.contains("/target/") && !file.contains("/node_modules/"));
    all
}

/// The lines of `text` outside code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut in_block = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            lines.push(line);
        }
    }
    lines
}

/// The anchors of the headings of `text`, as GitHub makes them: lower case, spaces as hyphens, without punctuation.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|one| one.is_alphanumeric() || " -_".contains(*one));
            kept.map(|one| if one == ' ' { '-' } else { one }).collect()
        })
        .collect()
}

/// The targets of the links in `text` that lead to files of the repository.
fn targets(text: &str) -> Vec<String> {
    let text = prose(text).join("\n");
    let links = text.split("](").skip(1);
    let targets = links.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn relative_links_lead_to_files_and_headings() {
    let (mut checked, mut broken) = (0, Vec::new());
    for (page, text) in pages() {
        let folder = Path::new(&page).parent().unwrap();
        for target in targets(&text) {
            checked += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((target.as_str(), ""));
            let file = match path {
                "" => root().join(&page),
                path => root().join(folder).join(path),
            };
            let leads = match std::fs::read_to_string(&file) {
                Ok(text) if !anchor.is_empty() => anchors(&text).contains(anchor),
                // a folder, a picture, or a file without an anchor
                _ => file.exists(),
            };
            if !leads {
                broken.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(checked > 50, "only {checked} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# Alarm: server errors\n```sh\n# no heading\n```\n## `cargo dev` only";
    let expected = ["alarm-server-errors", "cargo-dev-only"];
    assert_eq!(anchors(text), BTreeSet::from(expected.map(String::from)));
}
