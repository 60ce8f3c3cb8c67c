//! Which crates may depend on which AWS SDK, which functions link it, and which IAM actions its calls need.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    crates::{dependencies, linked},
    files, functions, source,
};

/// Each SDK with the only crates that may depend on it directly.
const SDKS: [(&str, &[&str]); 6] = [
    ("aws-sdk-dynamodb", &["shared/store"]),
    ("aws-sdk-s3", &["shared/storage"]),
    ("aws-sigv4", &["functions/canary", "shared/storage", "infra/cloud"]),
    ("aws-sdk-sns", &["shared/messaging", "infra/ops"]),
    ("aws-sdk-sesv2", &["shared/messaging"]),
    ("aws-sdk-ssm", &["shared/runtime", "infra/ops"]),
];

#[test]
fn each_sdk_is_named_by_its_crates_only() {
    let manifests: Vec<String> = ["functions", "shared", "infra", "tests"]
        .into_iter()
        .flat_map(|folder| files(folder, "Cargo.toml"))
        .map(|(manifest, _)| manifest)
        .filter(|manifest| !manifest.starts_with("tests/fuzz"))
        .collect();
    for manifest in &manifests {
        let named = dependencies(manifest);
        let expected: BTreeSet<&str> = SDKS
            .into_iter()
            .filter(|(_, crates)| {
                crates.iter().any(|krate| *manifest == format!("{krate}/Cargo.toml"))
            })
            .map(|(sdk, _)| sdk)
            .collect();
        let found: BTreeSet<&str> = named
            .iter()
            .map(String::as_str)
            .filter(|name| name.starts_with("aws-sdk-") || *name == "aws-sigv4")
            .collect();
        assert_eq!(found, expected, "{manifest}");
    }
}

#[test]
fn each_function_links_its_sdks_only() {
    for function in functions() {
        let mut expected = BTreeSet::from(["aws-sdk-ssm"]);
        if function != "canary" {
            expected.insert("aws-sdk-dynamodb");
        }
        if ["files", "users", "worker"].contains(&function.as_str()) {
            expected.insert("aws-sdk-s3");
        }
        // The worker sends text messages only; its role has no right for mails.
        if ["dispatcher", "worker"].contains(&function.as_str()) {
            expected.extend(["aws-sdk-sesv2", "aws-sdk-sns"]);
        }
        let linked = linked(&function);
        let sdks: Vec<&str> = linked
            .iter()
            .filter_map(|krate| krate.split(' ').next())
            .filter(|name| name.starts_with("aws-sdk-"))
            .collect();
        assert_eq!(sdks, Vec::from_iter(expected), "{function}");
    }
}

#[test]
fn local_process_links_no_ssm() {
    let linked = linked("dev");
    assert!(linked.iter().any(|krate| krate.starts_with("aws-sdk-s3 ")));
    assert!(linked.iter().all(|krate| !krate.starts_with("aws-sdk-ssm ")));
}

/// The roles allow exactly the S3, SES, SNS and SSM actions that the shared crates call, and `s3:ListBucket`: without
/// it S3 answers 403 instead of 404 for a missing object.
#[test]
fn roles_allow_the_actions_of_the_sdk_calls() {
    let mut called = BTreeSet::from(["s3:ListBucket".to_owned()]);
    for (krate, client, service) in [
        ("storage", "client", "s3"),
        ("messaging", "ses", "ses"),
        ("messaging", "sns", "sns"),
        ("runtime", "ssm", "ssm"),
    ] {
        for (_, source) in source::whole(&format!("shared/{krate}/src"), ".rs") {
            let calls = source.calls.iter().filter(|call| call.receiver == client);
            called.extend(calls.map(|call| format!("{service}:{}", action_of(&call.name))));
        }
    }
    let template = tests::policies::template();
    let allowed: BTreeSet<String> = functions()
        .iter()
        .map(|function| format!("{}{}Role", function[..1].to_uppercase(), &function[1..]))
        .flat_map(|role| actions(&template["Resources"][&role]))
        .filter(|action| {
            let service = action.split(':').next().unwrap_or_default();
            ["s3", "ses", "sns", "ssm"].contains(&service)
        })
        .collect();
    assert_eq!(allowed, called);
}

/// `PutObject` for `put_object`. `HeadObject` and `CopyObject` have no actions of their own: the first needs `GetObject`,
/// the second also `PutObject`.
fn action_of(operation: &str) -> String {
    let words = operation.split('_');
    let action: String =
        words.map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..])).collect();
    action.replace("HeadObject", "GetObject").replace("CopyObject", "PutObject")
}

/// The actions in the policies of `role`.
fn actions(role: &Value) -> Vec<String> {
    let policies = role["Properties"]["Policies"].as_array();
    let statements = policies
        .into_iter()
        .flatten()
        .filter_map(|policy| policy["PolicyDocument"]["Statement"].as_array())
        .flatten();
    statements
        .flat_map(|statement| match &statement["Action"] {
            Value::String(action) => vec![action.clone()],
            actions => actions
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|action| action.as_str().map(str::to_owned))
                .collect(),
        })
        .collect()
}
