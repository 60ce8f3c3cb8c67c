//! Compares the SAM template with the code.

use std::collections::{BTreeMap, BTreeSet};

use domain::FileId;
use serde_json::Value;
use store::keys::TABLES;
use tests::{Document, policies::template};

use crate::{functions, read, routes, settings_read, source};

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
    for (function, route) in routes() {
        let path = route.split_once(' ').unwrap().1.replace(['{', '}'], "x");
        let prefixes: &[&str] =
            if path.starts_with("/media") { &[""] } else { &["/api/v1", "/api/dev"] };
        for prefix in prefixes {
            assert_eq!(sent_to(&gateway, &format!("{prefix}{path}")), function, "{prefix}{path}");
            assert_eq!(sent_to(&gateway, &format!("{prefix}{path}/")), function, "{prefix}{path}/");
        }
    }
    assert_eq!(sent_to(&gateway, "/api/v1/nowhere"), "fallback");
    assert!(Document::get().operations().len() == routes().len());
}

#[test]
fn template_tables_and_indexes_match_the_store() {
    let template = template();
    for table in &TABLES {
        let mut logical = table.name.to_owned();
        logical[..1].make_ascii_uppercase();
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

#[test]
fn role_has_no_wildcards_and_reads_only_its_own_keys() {
    let resources = template()["Resources"].as_object().unwrap();
    for function in functions() {
        let mut logical = function.clone();
        logical[..1].make_ascii_uppercase();
        let statements = &resources[&format!("{logical}Role")]["Properties"]["Policies"][0]["PolicyDocument"]
            ["Statement"];
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
        let is_shared = |key: &String| key == "Key::TokenPublic" || key == "Key::Edge";
        let sources = source::whole(&format!("functions/{function}/src/lib.rs"), "");
        let mut constants = sources.iter().flat_map(|(_, source)| &source.constants);
        let (_, list) = constants.find(|(name, _)| name == "KEYS").unwrap();
        let mut expected = BTreeSet::new();
        // Functions that verify tokens serve HTTP, possibly behind CloudFront: they read the edge's secret.
        if list.iter().any(|key| key == "Key::TokenPublic") {
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

/// The values of `duePk` have a suffix, so the filters are prefixes.
#[test]
fn stream_filters_select_the_kinds_of_work_of_each_function() {
    for (function, kinds) in
        [("Dispatcher", dispatcher::STREAM_KINDS), ("Worker", worker::STREAM_KINDS)]
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
        let kinds: BTreeSet<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
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
    let runbook = read("infra/README.md");
    let alarms = template()["Resources"]
        .as_object()
        .unwrap()
        .values()
        .filter(|resource| resource["Type"] == "AWS::CloudWatch::Alarm");
    let mut pages = BTreeSet::new();
    for alarm in alarms {
        let text = alarm["Properties"]["AlarmDescription"].as_str().unwrap();
        let page = text.rsplit_once("infra/README.md#alarm-").unwrap().1.trim_end_matches('.');
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
            let logical = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
            assert_eq!(reference, format!("${{{logical}.Version}}"));
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
