//! Whether each condition of a write has failed at least once in the last whole run of the API tests, and whether items of
//! each kind that expires were read after their time. A condition that never fails is not needed, or nothing would show that
//! it is missing. `cargo test --test conditions -- --nocapture` prints the counts.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "the counts, for `--nocapture`")]

use std::{fs, path::Path};

use cloud::conditions::{Condition, Count};

/// Conditions that no request makes fail: where they stand, the operation, the part, and why.
const EXCEPTIONS: &[(&[&str], &str, &str, &str)] = &[
    (
        &[
            "audit entry of a committee",
            "audit entry of its actor or target user",
            "batch of text messages",
            "certificate",
            "chunk of a batch",
            "committee",
            "common text of a batch",
            "file",
            "passkey",
            "place on a course's waiting list",
            "text message",
            "text of a message",
            "user",
        ],
        "Put",
        "attribute_not_exists(pk)",
        "the identifier is new: 74 random bits or more, or a number that is given once",
    ),
    (&["completed step of a sign-in"], "read", "time", "its token has expired before"),
    (
        &["outbox message"],
        "read",
        "time",
        "one that has ended is not sent, however long it is kept",
    ),
];

/// The lines of `store` that contain `part`.
fn lines_with(part: &str, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(lines_with(part, &entry));
            continue;
        }
        let text = fs::read_to_string(&entry).unwrap();
        let lines = (1..).zip(text.lines()).filter(|(_, line)| line.contains(part));
        found.extend(lines.map(|(number, _)| format!("{}:{number}", entry.display())));
    }
    found
}

#[test]
fn each_condition_has_failed_in_the_run_of_the_api_tests() {
    let stored = fs::read(tests::conditions::file().unwrap())
        .expect("`cargo test --workspace --test api` has run, without a filter");
    let counts: Vec<(Condition, Count)> = serde_json::from_slice(&stored).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/store/src");
    let (mut missed, mut excepted) = (Vec::new(), Vec::new());
    for ([place, operation, whole, part], Count { held, failed }) in &counts {
        println!("{held:>6} {failed:>5}  {place}, {operation}: {part}  [{whole}]");
        let is_of = |(places, by, text, _): &&(&[&str], &str, &str, &str)| {
            places.contains(&place.as_str()) && (*by, *text) == (operation, part)
        };
        match EXCEPTIONS.iter().find(is_of) {
            Some(_) => excepted.push((place.as_str(), part.as_str(), *failed)),
            None if *failed > 0 => {}
            None => missed.push(format!(
                "{part}\n  in {whole}\n  of {place}, {operation}: {}",
                lines_with(part, &source).join(" ")
            )),
        }
    }
    println!("{} conditions, {} exceptions", counts.len(), excepted.len());
    for (places, _, part, _) in EXCEPTIONS {
        for place in *places {
            let found = excepted.iter().find(|(of, text, _)| (of, text) == (place, part));
            assert_eq!(found.map(|(.., failed)| *failed), Some(0), "no exception: {place}, {part}");
        }
    }
    assert!(missed.is_empty(), "{} never failed:\n{}", missed.len(), missed.join("\n"));
}
