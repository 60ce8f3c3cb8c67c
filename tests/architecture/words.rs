//! Rules about names, file sizes, and where codes, settings and the clock may appear.

use std::{collections::BTreeSet, process::Command};

use crate::{files, read, root, settings_read, source};

#[test]
fn repository_root_has_only_the_listed_entries() {
    // Files that are not in Git are no one else's concern.
    let listed = Command::new("git").arg("ls-files").current_dir(root()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let entries = listed.lines().filter_map(|path| path.split('/').next());
    let visible: BTreeSet<&str> = entries.filter(|name| !name.starts_with('.')).collect();
    assert_eq!(
        Vec::from_iter(visible),
        [
            "Cargo.lock",
            "Cargo.toml",
            "LICENSE",
            "README.md",
            "events",
            "functions",
            "infra",
            "rust-toolchain.toml",
            "shared",
            "tests"
        ]
    );
}

#[test]
fn module_names_say_what_they_contain() {
    for folder in ["functions", "shared", "infra", "tests"] {
        for (file, _) in files(folder, ".rs") {
            let name = file.rsplit('/').next().unwrap().trim_end_matches(".rs").to_owned();
            assert!(
                !["util", "utils", "helper", "helpers", "misc", "manager", "common_utils", "types"]
                    .contains(&name.as_str()),
                "{file}"
            );
        }
    }
}

#[test]
fn source_files_stay_below_the_line_limit() {
    for folder in ["functions", "shared", "infra"] {
        for (file, source) in source::code(folder, ".rs") {
            // A table of texts, and the operators' key commands.
            let is_longer = ["shared/messaging/src/texts.rs", "infra/ops/src/keys.rs"];
            let most = if is_longer.contains(&file.as_str()) { 480 } else { 405 };
            assert!(source.lines <= most, "{file} has {} lines", source.lines);
        }
    }
}

#[test]
fn response_codes_are_written_in_the_table_only() {
    for folder in ["functions", "shared"] {
        for (file, source) in source::code(folder, ".rs") {
            let mut strings = source.strings.iter();
            let quoted = strings.any(|text| text.ends_with("_MESSAGE"));
            assert_eq!(quoted, file == "shared/common/src/codes.rs", "{file}");
        }
    }
}

#[test]
fn environment_and_clock_are_read_in_the_runtime_crate_only() {
    for folder in ["functions", "shared"] {
        for (file, source) in source::whole(folder, ".rs") {
            for (path, place) in [
                ("env::var", "shared/runtime/src/settings.rs"),
                ("SystemTime::now", "shared/runtime/src/clock.rs"),
            ] {
                assert!(
                    !source.has_path(path) || file == place || !file.contains("/src/"),
                    "{file} contains {path}"
                );
            }
        }
    }
}

#[test]
fn function_main_has_at_most_seven_lines() {
    for (file, text) in files("functions", "src/main.rs") {
        assert!(text.lines().count() <= 7, "{file}");
    }
}

#[test]
fn every_setting_is_documented() {
    let page = read("infra/settings.md");
    for name in settings_read() {
        assert!(page.contains(&format!("`{name}`")), "{name} is not in infra/settings.md");
    }
}
