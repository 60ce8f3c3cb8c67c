//! What `.deny.toml` cannot hold of the dependencies: which crates may depend on which one stands there.

use std::{collections::BTreeSet, process::Command};

use crate::{files, read, root};

/// The direct dependencies in the manifest at `path`.
pub(crate) fn dependencies(path: &str) -> BTreeSet<String> {
    let text = read(path);
    let section = text.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let names = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn domain_and_identity_have_no_io_dependencies() {
    for krate in ["tokio", "axum", "http", "tracing", "getrandom"] {
        let names_it = dependencies("shared/domain/Cargo.toml").contains(krate);
        assert!(!names_it, "domain depends on {krate}");
    }
    for krate in ["axum", "http", "tracing"] {
        let names_it = dependencies("shared/identity/Cargo.toml").contains(krate);
        assert!(!names_it, "identity depends on {krate}");
    }
}

#[test]
fn function_does_not_depend_on_a_local_crate() {
    for (manifest, _) in files("functions", "Cargo.toml") {
        for krate in ["cloud", "dev", "tests"] {
            assert!(!dependencies(&manifest).contains(krate), "{manifest} names {krate}");
        }
    }
}

/// The first build of a newcomer does not wait for it.
#[test]
fn local_process_links_no_ssm() {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--offline", "--locked", "--package", "dev", "--edges", "normal"]);
    let output = tree.current_dir(root()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains(" aws-sdk-s3 "), "{output:?}");
    assert!(!text.contains(" aws-sdk-ssm "), "dev links the SDK of SSM");
}
