//! Small rules that keep the house one house.

use crate::{files, read, root, settings_read, sources};

#[test]
fn the_visible_root_has_seven_rooms_a_lock_file_and_a_licence() {
    let entries = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut visible: Vec<String> = entries
        .filter(|name| !name.starts_with('.') && name != "target")
        .collect();
    visible.sort();
    assert_eq!(
        visible,
        [
            "Cargo.lock",
            "Cargo.toml",
            "LICENSE",
            "README.md",
            "events",
            "functions",
            "infra",
            "shared",
            "tests"
        ]
    );
}

#[test]
fn no_module_is_called_after_nothing() {
    for folder in ["functions", "shared", "infra", "tests"] {
        for (file, _) in files(folder, ".rs") {
            let name = file
                .rsplit('/')
                .next()
                .unwrap()
                .trim_end_matches(".rs")
                .to_owned();
            assert!(
                ![
                    "util",
                    "utils",
                    "helper",
                    "helpers",
                    "misc",
                    "manager",
                    "common_utils",
                    "types"
                ]
                .contains(&name.as_str()),
                "{file}"
            );
        }
    }
}

#[test]
fn files_stay_short_enough_to_read() {
    for folder in ["functions", "shared", "infra"] {
        for (file, text) in files(folder, ".rs") {
            let code = text.split("#[cfg(test)]").next().unwrap().lines().count();
            // a table of texts, and the operator's keys
            let is_longer = ["shared/messaging/src/texts.rs", "infra/ops/src/keys.rs"];
            let most = if is_longer.contains(&file.as_str()) {
                480
            } else {
                405
            };
            assert!(code <= most, "{file} has {code} lines");
        }
    }
}

#[test]
fn codes_and_texts_stand_in_the_table_alone() {
    for folder in ["functions", "shared"] {
        for (file, text) in files(folder, ".rs") {
            let code = text.split("#[cfg(test)]").next().unwrap();
            let quoted = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .any(|line| line.contains("_MESSAGE\""));
            assert_eq!(quoted, file == "shared/common/src/codes.rs", "{file}");
        }
    }
}

#[test]
fn nobody_asks_the_environment_or_a_clock_in_passing() {
    for folder in ["functions", "shared"] {
        for (file, text) in sources(folder) {
            for (word, place) in [
                ("env::var", "shared/runtime/src/settings.rs"),
                ("SystemTime::now", "shared/runtime/src/clock.rs"),
            ] {
                assert!(!text.contains(word) || file == place, "{file} names {word}");
            }
        }
    }
}

#[test]
fn a_functions_main_is_its_start_alone() {
    for (file, text) in files("functions", "src/main.rs") {
        assert!(text.lines().count() <= 7, "{file}");
    }
}

#[test]
fn every_setting_is_in_the_readme() {
    let page = read("infra/settings.md");
    for name in settings_read() {
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not in infra/settings.md"
        );
    }
}
