//! The dependencies that crates of the workspace may have.

use std::{collections::BTreeSet, process::Command};

use crate::{files, functions, read, source};

pub(crate) fn dependencies(manifest: &str) -> BTreeSet<String> {
    let text = read(manifest);
    let section = text.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn workspace_crates_depend_in_one_direction() {
    let functions = functions();
    let usual = ["accounts", "common", "domain", "identity", "runtime", "store"];
    let and = |more: &[&'static str]| [&usual[..], more].concat();
    for (name, allowed) in [
        ("shared/domain", vec![]),
        ("shared/identity", vec!["domain"]),
        ("shared/runtime", vec!["domain"]),
        ("shared/store", vec!["domain", "runtime"]),
        ("shared/storage", vec!["domain", "runtime"]),
        ("shared/messaging", vec!["domain", "runtime"]),
        ("shared/cpanel-client", vec!["domain", "runtime"]),
        ("shared/common", vec!["domain", "identity", "runtime", "store"]),
        ("shared/accounts", vec!["common", "domain", "identity", "runtime", "store"]),
        ("shared/background", vec!["domain", "identity", "messaging", "runtime", "store"]),
        ("functions/auth", and(&[])),
        ("functions/canary", vec!["runtime"]),
        ("functions/committees", and(&[])),
        ("functions/courses", and(&[])),
        ("functions/cpanel", and(&["cpanel-client"])),
        (
            "functions/dispatcher",
            vec!["background", "domain", "identity", "messaging", "runtime", "store"],
        ),
        ("functions/fallback", and(&[])),
        ("functions/files", and(&["storage"])),
        ("functions/otp", and(&[])),
        ("functions/passkeys", and(&[])),
        ("functions/sms", and(&[])),
        ("functions/team", and(&[])),
        ("functions/users", and(&["storage"])),
        (
            "functions/worker",
            vec!["background", "domain", "identity", "runtime", "storage", "store"],
        ),
        ("infra/ops", usual.iter().copied().chain(functions.iter().map(String::as_str)).collect()),
    ] {
        let ours = [
            "domain",
            "identity",
            "store",
            "runtime",
            "storage",
            "messaging",
            "cpanel-client",
            "accounts",
            "background",
            "common",
            "cloud",
            "dev",
            "tests",
            "bench",
            "ops",
        ];
        let ours: BTreeSet<String> =
            ours.into_iter().map(str::to_owned).chain(functions.clone()).collect();
        let named: BTreeSet<String> = dependencies(&format!("{name}/Cargo.toml"))
            .into_iter()
            .filter(|name| ours.contains(name))
            .collect();
        assert!(
            named.iter().all(|name| allowed.contains(&name.as_str())),
            "{name} depends on {named:?}"
        );
    }
}

#[test]
fn external_crate_is_a_dependency_of_one_crate() {
    for (krate, room) in [
        ("totp-rs", "shared/identity"),
        ("webauthn_rp", "shared/identity"),
        ("image", "shared/storage"),
        ("multer", "functions/users"),
        ("jsonwebtoken", "shared/identity"),
        ("argon2", "shared/identity"),
        ("aes-gcm", "shared/identity"),
        ("chacha20poly1305", "shared/identity"),
        ("dynoxide-rs", "infra/cloud"),
        ("lambda_http", "shared/common"),
        ("reqwest", "shared/cpanel-client"),
    ] {
        for folder in ["functions", "shared", "infra"] {
            for (manifest, _) in files(folder, "Cargo.toml") {
                let names_it = dependencies(&manifest).contains(krate);
                assert_eq!(
                    names_it,
                    manifest == format!("{room}/Cargo.toml"),
                    "{krate} in {manifest}"
                );
            }
        }
    }
}

#[test]
fn domain_and_identity_have_no_io_dependencies() {
    for krate in ["tokio", "axum", "http", "tracing", "getrandom", "aws-sdk-dynamodb"] {
        assert!(
            !dependencies("shared/domain/Cargo.toml").contains(krate),
            "domain depends on {krate}"
        );
    }
    for krate in ["axum", "http", "store", "tracing"] {
        assert!(
            !dependencies("shared/identity/Cargo.toml").contains(krate),
            "identity depends on {krate}"
        );
    }
}

/// The crates that the package `function` links for Lambda on arm64, as `name version`.
pub(crate) fn linked(function: &str) -> BTreeSet<String> {
    let mut tree = Command::new(env!("CARGO"));
    tree.args([
        "tree",
        "--offline",
        "--locked",
        "--package",
        function,
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    tree.args(["--target", "aarch64-unknown-linux-gnu"]);
    let output = tree.current_dir(crate::root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn function_links_no_second_tls_or_http_stack() {
    for function in functions() {
        let linked = linked(&function);
        let named = |name: &str| {
            linked.iter().filter(|krate| krate.split(' ').next() == Some(name)).count()
        };
        // aws-lc takes 22 ms of CPU at the first handshake; others are a second HTTP or TLS stack, or the local cloud.
        for slow in [
            "aws-lc-rs",
            "aws-lc-sys",
            "aws-config",
            "openssl",
            "native-tls",
            "h3",
            "hyper-tls",
            "dynoxide-rs",
            "s3s",
        ] {
            assert_eq!(named(slow), 0, "{function} links {slow}");
        }
        // Functions without HTTP routes link no router.
        let is_http = tests::policies::has_routes(&function);
        for http in ["axum", "lambda_http"] {
            assert_eq!(named(http), usize::from(is_http), "{function} and {http}");
        }
        // Only the cPanel client has a second HTTP client.
        assert_eq!(named("reqwest"), usize::from(function == "cpanel"), "{function} links reqwest");
        for single in ["hyper", "hyper-rustls", "hyper-util", "rustls", "tokio", "http", "ring"] {
            assert_eq!(named(single), 1, "{function} links {single} more than once, or not at all");
        }
    }
}

#[test]
fn function_does_not_depend_on_another_function() {
    for function in functions() {
        let dependencies = dependencies(&format!("functions/{function}/Cargo.toml"));
        assert!(functions().iter().all(|other| !dependencies.contains(other)), "{function}");
    }
}

#[test]
fn token_signing_key_is_requested_by_sign_in_functions_only() {
    for (file, source) in source::whole("functions", "src/lib.rs") {
        let signs_people_in = ["auth", "otp", "passkeys"]
            .map(|function| format!("functions/{function}/src/lib.rs"))
            .contains(&file);
        assert_eq!(source.has_path("Key::TokenSigning"), signs_people_in, "{file}");
    }
}

/// A function has a service's actions or settings in the template exactly if it depends on the service's crate.
#[test]
fn service_permissions_match_the_function_dependencies() {
    let template = read("infra/template.yaml");
    for function in functions() {
        let mut logical = function.clone();
        logical[..1].make_ascii_uppercase();
        let start = template
            .find(&format!("\n  {logical}:\n"))
            .unwrap_or_else(|| panic!("{logical} is in the template"));
        let statement = template[start..].split(&format!("\n  {logical}Log:")).next().unwrap();
        let dependencies = dependencies(&format!("functions/{function}/Cargo.toml"));
        let reaches = [
            ("storage", ["s3:"].as_slice()),
            ("background", &["sns:Publish"]),
            ("messaging", &["ses:SendEmail"]),
            ("cpanel-client", &["CPANEL_URL", "CPANEL_USER"]),
        ];
        for (krate, actions) in reaches {
            for action in actions {
                assert_eq!(
                    statement.contains(action),
                    dependencies.contains(krate),
                    "{function}: {krate} and {action}"
                );
            }
        }
    }
}
