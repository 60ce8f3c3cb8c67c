//! What `.deny.toml` cannot hold of the dependencies: crates that others bring in, but that these may not name.

use std::collections::BTreeSet;

use crate::{files, read};

/// The direct dependencies in the manifest at `path`.
fn dependencies(path: &str) -> BTreeSet<String> {
    let text = read(path);
    let section = text.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let names = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn domain_and_identity_have_no_io_dependencies() {
    for (manifest, unwanted) in [
        ("shared/domain/Cargo.toml", "tokio axum http tracing getrandom"),
        ("shared/identity/Cargo.toml", "axum http tracing"),
    ] {
        let named = dependencies(manifest);
        assert!(!unwanted.split(' ').any(|krate| named.contains(krate)), "{manifest}: {named:?}");
    }
}

/// `identity` makes secrets; `store` needs jitter for its retries.
#[test]
fn random_bytes_come_from_the_operating_system() {
    let may = ["shared/identity/Cargo.toml", "shared/store/Cargo.toml"];
    for (manifest, _) in ["functions", "shared"].iter().flat_map(|of| files(of, "Cargo.toml")) {
        let named = dependencies(&manifest);
        assert_eq!(named.contains("getrandom"), may.contains(&&*manifest), "{manifest}");
        let mut others = ["fastrand", "rand", "rand_core"].iter();
        assert!(!others.any(|krate| named.contains(*krate)), "{manifest}: {named:?}");
    }
}

#[test]
fn every_crate_uses_the_workspace_lints() {
    assert!(read("Cargo.toml").contains("unsafe_code = \"forbid\""));
    let folders = ["functions", "shared", "infra", "tests"].iter();
    for (manifest, text) in folders.flat_map(|folder| files(folder, "Cargo.toml")) {
        // A package in its own workspace cannot inherit lints.
        let is_alone = text.contains("\n[workspace]\n") && text.contains("\nunsafe_code = ");
        assert!(is_alone || text.contains("[lints]\nworkspace = true"), "{manifest}");
    }
}
