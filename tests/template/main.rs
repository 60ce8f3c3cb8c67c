//! The SAM template against the code, and the binaries that it deploys.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod binaries;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use domain::FileId;
use serde_json::Value;
use store::keys::TABLES;
use tests::policies::template;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The text of the file at `path` below the root.
fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names in the folder `path` below the root.
fn entries(path: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(ROOT).join(path)).expect("the folder is there");
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// The crate names of the functions.
fn functions() -> Vec<String> {
    entries("functions")
}

/// The logical name of `function` in the template.
fn logical(function: &str) -> String {
    format!("{}{}", function[..1].to_uppercase(), &function[1..])
}

/// The settings that functions and shared crates read: the names passed to the methods of `Settings`.
fn settings_read() -> BTreeSet<String> {
    let mut folders: Vec<_> =
        ["functions", "shared"].map(|folder| Path::new(ROOT).join(folder)).into();
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs")
            {
                let text = fs::read_to_string(path).unwrap();
                found.extend(names_read(text.split("#[cfg(test)]").next().unwrap()));
            }
        }
    }
    found
}

fn names_read(source: &str) -> Vec<String> {
    let readers = ["optional", "required", "number", "seconds", "days", "url", "parse", "list"];
    let parts: Vec<&str> = source.split('"').collect();
    let calls = parts.windows(2).filter(|pair| {
        let call = pair[0].trim_end().strip_suffix('(').unwrap_or_default();
        readers.iter().any(|reader| call.ends_with(reader))
    });
    let names = calls.map(|pair| pair[1].to_owned());
    let is_name = |name: &String| {
        name.len() > 3 && name.bytes().all(|one| one.is_ascii_uppercase() || one == b'_')
    };
    names.filter(is_name).collect()
}

/// The routes of each function: method and path.
fn gateway() -> BTreeMap<String, Vec<(String, String)>> {
    let template = template();
    let resources = template["Resources"].as_object().unwrap();
    let functions =
        resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::Serverless::Function");
    functions
        .map(|(name, resource)| {
            let events = resource["Properties"]["Events"].as_object().unwrap();
            let route = |event: &Value| {
                let properties = &event["Properties"];
                let text = |key: &str| properties[key].as_str().unwrap_or("ANY").to_owned();
                (text("Method"), properties["Path"].as_str().unwrap_or("$default").to_owned())
            };
            (
                name.to_lowercase(),
                events.values().filter(|event| event["Type"] == "HttpApi").map(route).collect(),
            )
        })
        .collect()
}

/// The function to which the gateway routes `path`: a literal segment has priority over a variable, a greedy variable
/// matches one or more segments, and `$default` matches everything else.
fn sent_to(gateway: &BTreeMap<String, Vec<(String, String)>>, path: &str) -> String {
    let path: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let mut best: Option<(usize, String)> = None;
    for (function, routes) in gateway {
        for (_, template) in routes.iter().filter(|(_, template)| template != "$default") {
            let template: Vec<&str> = template.split('/').collect();
            let greedy = template.last().is_some_and(|last| last.ends_with("+}"));
            let literal = if greedy { template.len() - 1 } else { template.len() };
            let long_enough = if greedy { path.len() > literal } else { path.len() == literal };
            if long_enough
                && template[..literal] == path[..literal]
                && best.as_ref().is_none_or(|(length, _)| literal > *length)
            {
                best = Some((literal, function.clone()));
            }
        }
    }
    best.map_or_else(|| "fallback".to_owned(), |(_, function)| function)
}

#[test]
fn gateway_routes_every_path_to_its_function() {
    let gateway = gateway();
    let default: Vec<&String> = gateway
        .iter()
        .filter(|(_, routes)| routes.iter().any(|(_, path)| path == "$default"))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(default, ["fallback"]);
    for function in entries("events").iter().filter(|folder| *folder != "odd") {
        for event in entries(&format!("events/{function}")) {
            let event: Value =
                serde_json::from_str(&read(&format!("events/{function}/{event}"))).unwrap();
            // Dispatcher and worker have events without a path.
            let Some(path) = event["rawPath"].as_str() else { continue };
            for path in [path.to_owned(), format!("{path}/"), path.replace("/v1/", "/dev/")] {
                assert_eq!(sent_to(&gateway, &path), *function, "{path}");
            }
        }
    }
    assert_eq!(sent_to(&gateway, "/api/v1/nowhere"), "fallback");
}

#[test]
fn template_tables_and_indexes_match_the_store() {
    let template = template();
    for table in &TABLES {
        let logical = logical(table.name);
        let properties = &template["Resources"][&logical]["Properties"];
        let key = |keys: &Value| {
            keys.as_array()
                .unwrap()
                .iter()
                .map(|key| key["AttributeName"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(key(&properties["KeySchema"]), ["pk", "sk"], "{logical}");
        assert_eq!(properties["TimeToLiveSpecification"]["AttributeName"], "ttl");
        assert_eq!(properties["BillingMode"], "PAY_PER_REQUEST");
        assert_eq!(
            properties["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES",
            table.has_stream
        );
        let indexes = properties["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default();
        assert_eq!(indexes.len(), table.indexes.len());
        for (index, schema) in indexes.iter().zip(table.indexes) {
            assert_eq!(index["IndexName"], schema.name);
            assert_eq!(key(&index["KeySchema"]), [schema.pk, schema.sk.0]);
            let projected: Vec<&str> = index["Projection"]["NonKeyAttributes"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|name| name.as_str().unwrap())
                .collect();
            assert_eq!(projected, schema.projected);
            let definitions = properties["AttributeDefinitions"].as_array().unwrap();
            let kind = definitions
                .iter()
                .find(|definition| definition["AttributeName"] == schema.sk.0)
                .unwrap();
            assert_eq!(kind["AttributeType"], schema.sk.1);
        }
    }
}

#[test]
fn template_environment_equals_the_settings_read() {
    let template = template();
    let names = |variables: &Value| {
        variables
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    let mut set: BTreeSet<String> =
        names(&template["Globals"]["Function"]["Environment"]["Variables"]).into_iter().collect();
    for (_, resource) in template["Resources"].as_object().unwrap() {
        set.extend(names(&resource["Properties"]["Environment"]["Variables"]));
    }
    let read_by_code = settings_read();
    // Keys come from SSM. Lambda sets AWS_*, except the endpoint, which only the local cloud sets.
    let elsewhere = |name: &&String| {
        name.starts_with("AWS_")
            || name.ends_with("_KEY")
            || name.ends_with("_KEYS")
            || name.ends_with("_SECRETS")
            || ["CPANEL_TOKEN", "CANARY_SIGN_IN"].contains(&name.as_str())
    };
    let expected: BTreeSet<String> =
        read_by_code.iter().filter(|name| !elsewhere(name)).cloned().collect();
    assert_eq!(set, expected);
}

/// The names after `Key::` in the constant `KEYS` of `function`.
fn keys_of(function: &str) -> Vec<String> {
    let text = read(&format!("functions/{function}/src/lib.rs"));
    let list = text.split("const KEYS").nth(1).expect("a function names its keys");
    let list = list.split(';').find(|part| part.contains('=')).unwrap();
    let names = list.split("Key::").skip(1);
    names
        .map(|name| name.split(|end: char| !end.is_alphanumeric()).next().unwrap().to_owned())
        .collect()
}

#[test]
fn token_signing_key_is_requested_by_sign_in_functions_only() {
    for function in functions() {
        let signs_people_in = ["auth", "otp", "passkeys"].contains(&function.as_str());
        let requests_it = keys_of(&function).contains(&"TokenSigning".to_owned());
        assert_eq!(requests_it, signs_people_in, "{function}");
    }
}

/// A function has a service's actions or settings exactly if it depends on the service's crate.
#[test]
fn service_permissions_match_the_function_dependencies() {
    let template = read("infra/template.yaml");
    for function in functions() {
        let start = template.find(&format!("\n  {}:\n", logical(&function))).expect("a function");
        let end = format!("\n  {}Log:", logical(&function));
        let statement = template[start..].split(&end).next().unwrap();
        let manifest = read(&format!("functions/{function}/Cargo.toml"));
        for (krate, action) in [
            ("storage", "s3:"),
            ("background", "sns:Publish"),
            ("messaging", "ses:SendEmail"),
            ("cpanel-client", "CPANEL_URL"),
        ] {
            let depends = manifest.contains(&format!("\n{krate}.workspace = true"));
            assert_eq!(statement.contains(action), depends, "{function}: {krate} and {action}");
        }
    }
}

#[test]
fn every_setting_is_documented() {
    let page = read("infra/settings.md");
    for name in settings_read() {
        assert!(page.contains(&format!("`{name}`")), "{name} is not in infra/settings.md");
    }
}

#[test]
fn role_has_no_wildcards_and_reads_only_its_own_keys() {
    let resources = template()["Resources"].as_object().unwrap();
    for function in functions() {
        let statements = &resources[&format!("{}Role", logical(&function))]["Properties"]["Policies"]
            [0]["PolicyDocument"]["Statement"];
        let mut keys = BTreeSet::new();
        for statement in statements.as_array().unwrap() {
            let texts = |value: &Value| match value {
                Value::String(text) => vec![text.clone()],
                list => list
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|text| text.as_str().unwrap().to_owned())
                    .collect(),
            };
            let actions = texts(&statement["Action"]);
            assert!(actions.iter().all(|action| !action.contains('*')), "{function}: {actions:?}");
            // A phone number has no ARN, so the statement excludes all topics instead.
            if actions == ["sns:Publish"] {
                assert!(
                    statement["Resource"].is_null()
                        && statement["NotResource"].as_str().unwrap().ends_with(":sns:*:*:*")
                );
                continue;
            }
            assert!(
                texts(&statement["Resource"]).iter().all(|resource| resource != "*"),
                "{function}: {actions:?}"
            );
            if actions == ["ssm:GetParameters"] {
                keys.extend(
                    texts(&statement["Resource"])
                        .iter()
                        .map(|resource| resource.split(":parameter").nth(1).unwrap().to_owned()),
                );
            }
        }
        let own = format!("/halqa/${{Stage}}/{function}/*");
        let public = "/halqa/${Stage}/public/*".to_owned();
        let edge = "/halqa/${Stage}/edge/EDGE_SECRETS".to_owned();
        let is_shared = |key: &String| key == "TokenPublic" || key == "Edge";
        let list = keys_of(&function);
        let mut expected = BTreeSet::new();
        // Functions that verify tokens serve HTTP, possibly behind CloudFront: they read the edge's secret.
        if list.iter().any(|key| key == "TokenPublic") {
            expected.insert(public);
        }
        if list.iter().any(is_shared) {
            expected.insert(edge);
        }
        if !list.iter().all(is_shared) {
            expected.insert(own);
        }
        assert_eq!(keys, expected, "{function}");
    }
}

/// The statements at any depth of `value` that allow something.
fn statements(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(fields) if fields.contains_key("Effect") => {
            Vec::from_iter((fields["Effect"] == "Allow").then_some(value))
        }
        Value::Object(fields) => fields.values().flat_map(statements).collect(),
        Value::Array(values) => values.iter().flat_map(statements).collect(),
        _ => Vec::new(),
    }
}

/// Of functions, backups and deliveries.
#[test]
fn policy_has_no_wildcards_but_for_actions_without_a_resource() {
    for (name, resource) in template()["Resources"].as_object().unwrap() {
        for statement in statements(&resource["Properties"]) {
            let action = &statement["Action"];
            assert!(
                !action.to_string().contains('*') && statement["NotAction"].is_null(),
                "{name}: {action}"
            );
            let is_any = statement["Resource"] == "*";
            let has_no_resource = action[0] == "backup:CopyFromBackupVault" || name == "Traces";
            assert!(!is_any || has_no_resource, "{name}: {action} on all resources");
        }
        let arns = resource["Properties"]["ManagedPolicyArns"].to_string();
        assert!(!arns.contains("arn:aws"), "{name} has a policy that AWS may change");
    }
}

/// CloudFront accepts a time for these statuses and caches them
/// (<https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html>). It caches 412 and 415
/// only with a max-age, which no error has, and 416 never.
#[test]
fn edge_keeps_no_error_and_replaces_no_body() {
    let config = &template()["Resources"]["Edge"]["Properties"]["DistributionConfig"];
    let mut codes = Vec::new();
    for error in config["CustomErrorResponses"].as_array().unwrap() {
        assert_eq!(
            (error["ErrorCachingMinTTL"].as_u64(), error.as_object().unwrap().len()),
            (Some(0), 2)
        );
        codes.push(error["ErrorCode"].as_u64().unwrap());
    }
    codes.sort_unstable();
    assert_eq!(codes, [400, 403, 404, 405, 414, 500, 501, 502, 503, 504]);
}

/// The values of `duePk` have a suffix, so the filters are prefixes.
#[test]
fn stream_filters_select_the_kinds_of_work_of_each_function() {
    for (function, kinds) in
        [("Dispatcher", dispatcher::STREAM_LISTS), ("Worker", worker::STREAM_LISTS)]
    {
        let stream = &template()["Resources"][function]["Properties"]["Events"]["Stream"];
        let filters = stream["Properties"]["FilterCriteria"]["Filters"].as_array();
        let mut selected = BTreeSet::new();
        for filter in filters.unwrap() {
            let pattern = filter["Pattern"].as_str().unwrap();
            let pattern: Value = serde_json::from_str(pattern).unwrap();
            let due = &pattern["dynamodb"]["NewImage"]["duePk"]["S"];
            let prefixes = due.as_array().unwrap().iter();
            selected.extend(prefixes.map(|one| one["prefix"].as_str().unwrap().to_owned()));
        }
        let kinds: BTreeSet<String> = kinds.iter().map(|list| list.name().to_owned()).collect();
        assert_eq!(selected, kinds, "{function}");
    }
}

#[test]
fn uploads_expire_after_a_day_and_served_objects_do_not() {
    let id = FileId::NONE;
    let rules =
        &template()["Resources"]["FilesBucket"]["Properties"]["LifecycleConfiguration"]["Rules"];
    let mut uploads = 0;
    for rule in rules.as_array().unwrap() {
        let prefix = rule["Prefix"].as_str().unwrap_or_default();
        if !rule["ExpirationInDays"].is_null() {
            assert!(!storage::file_key(id).starts_with(prefix), "{rule}");
            assert!(!"media/".starts_with(prefix), "{rule}");
        }
        if !prefix.is_empty() && storage::upload_key(id).starts_with(prefix) {
            assert_eq!(rule["ExpirationInDays"], 1);
            assert_eq!(rule["NoncurrentVersionExpiration"]["NoncurrentDays"], 1);
            uploads += 1;
        }
    }
    assert_eq!(uploads, 1);
}

#[test]
fn every_alarm_has_a_runbook_section() {
    let runbook = read("infra/alarms.md");
    let alarms = template()["Resources"]
        .as_object()
        .unwrap()
        .values()
        .filter(|resource| resource["Type"] == "AWS::CloudWatch::Alarm");
    let mut pages = BTreeSet::new();
    for alarm in alarms {
        let text = alarm["Properties"]["AlarmDescription"].as_str().unwrap();
        let page = text.rsplit_once("infra/alarms.md#alarm-").unwrap().1.trim_end_matches('.');
        let heading = |line: &str| {
            line.strip_prefix("### Alarm: ").is_some_and(|name| name.replace(' ', "-") == page)
        };
        assert!(runbook.lines().any(heading), "the runbook has no section {page}");
        pages.insert(page);
    }
    assert_eq!(
        runbook.matches("\n### Alarm: ").count(),
        pages.len(),
        "the runbook has a section without an alarm"
    );
}

#[test]
fn function_has_its_own_folder_keys_and_role() {
    let template = template();
    for (name, resource) in template["Resources"].as_object().unwrap() {
        if resource["Type"] != "AWS::Serverless::Function" {
            continue;
        }
        // The hook of deployments has the canary's code and keys.
        let function = name.to_lowercase().replace("pretraffic", "canary");
        let text = resource.to_string();
        assert!(text.contains(&format!("../target/lambda/{function}/")), "{name}");
        assert!(text.contains(&format!("/{function}")), "{name} has no path for its keys");
        assert_eq!(
            resource["Properties"]["Role"],
            format!("{name}Role.Arn"),
            "{name} does not have its own role"
        );
    }
}

/// The checks of a new version call each function once; `infra/bin/processed` compares the processed template.
#[test]
fn deployment_hook_knows_every_function() {
    let resources = &template()["Resources"];
    let environment = &resources["PreTraffic"]["Properties"]["Environment"]["Variables"];
    let versions = environment["NEW_VERSIONS"]["Fn::Join"][1].as_array();
    let named: BTreeSet<String> = versions
        .unwrap()
        .iter()
        .map(|version| version.as_str().unwrap())
        .map(|version| {
            let (name, reference) = version.split_once('=').unwrap();
            assert_eq!(reference, format!("${{{}.Version}}", logical(name)));
            name.to_owned()
        })
        .collect();
    let expected: BTreeSet<String> =
        functions().into_iter().filter(|name| name != "canary").collect();
    assert_eq!(named, expected);
    let other = environment["OTHER_FUNCTIONS"].as_str().unwrap();
    let names = ["Canary", "PreTraffic"].map(|name| &resources[name]["Properties"]["FunctionName"]);
    assert_eq!(other.split(',').collect::<Vec<_>>(), names);
}

/// Without a version, `DeleteFunction` would delete the function.
#[test]
fn deployment_hook_may_delete_versions_only() {
    let policies = &template()["Resources"]["PreTrafficRole"]["Properties"]["Policies"];
    let statements = policies[0]["PolicyDocument"]["Statement"].as_array();
    let mut deletes = 0;
    for statement in statements.unwrap() {
        let text = statement["Action"].to_string();
        assert!(!text.contains('*'), "{text}");
        if text.contains("lambda:DeleteFunction") {
            for resource in statement["Resource"].as_array().unwrap() {
                assert!(resource.as_str().unwrap().ends_with(":*"), "{resource}");
                deletes += 1;
            }
        }
    }
    assert_eq!(deletes, 2);
}
