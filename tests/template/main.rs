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

use cloud::guard::AccessRequest;
use domain::{FileId, times};
use serde_json::{Value, json};
use store::keys::TABLES;
use tests::{
    World,
    policies::{self, template},
};

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

/// The resources of the template.
fn resources() -> &'static serde_json::Map<String, Value> {
    template()["Resources"].as_object().unwrap()
}

/// The functions of the template: logical names and resources.
fn function_resources() -> impl Iterator<Item = (&'static String, &'static Value)> {
    resources().iter().filter(|(_, resource)| resource["Type"] == "AWS::Serverless::Function")
}

/// A text, or a list of texts.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        list => list.as_array().into_iter().flatten().map(|one| one.as_str().unwrap()).collect(),
    }
}

/// The names of the fields of an object.
fn names(object: &Value) -> impl Iterator<Item = String> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.clone())
}

/// The settings that functions and shared crates read, which are the names passed to the methods of `Settings`. With the
/// default that follows the name, which is empty here if it is a constant; `None` if one reader has no default.
fn settings_read() -> BTreeMap<String, Option<String>> {
    let mut paths: Vec<_> = ["functions", "shared"].map(|path| Path::new(ROOT).join(path)).into();
    let mut found = BTreeMap::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(path).unwrap();
            for (name, default) in read_by(text.split("#[cfg(test)]").next().unwrap()) {
                let known = found.entry(name).or_insert_with(|| default.clone());
                *known = known.take().and(default);
            }
        }
    }
    found
}

/// The settings read by the source text of one file.
fn read_by(source: &str) -> Vec<(String, Option<String>)> {
    let with_default = ["number", "seconds", "days", "parse", "list"];
    let without = ["optional", "required", "url"];
    let parts: Vec<&str> = source.split('"').collect();
    let mut found = Vec::new();
    for (at, call) in parts.iter().enumerate() {
        let call = call.trim_end().strip_suffix('(').unwrap_or_default();
        let is_call = |readers: &[&str]| readers.iter().any(|reader| call.ends_with(reader));
        let (Some(name), Some(after)) = (parts.get(at + 1), parts.get(at + 2)) else { continue };
        if name.len() > 3 && name.bytes().all(|one| one.is_ascii_uppercase() || one == b'_') {
            let argument = after.trim_matches([',', ' ', '\n']).split([',', ')']).next().unwrap();
            let default = match parts.get(at + 3) {
                Some(text) if argument.is_empty() => (*text).to_owned(),
                _ if argument.starts_with(|one: char| one.is_ascii_digit()) => {
                    argument.replace('_', "")
                }
                _ => String::new(),
            };
            if is_call(&with_default) {
                found.push(((*name).to_owned(), Some(default)));
            } else if is_call(&without) {
                found.push(((*name).to_owned(), None));
            }
        }
    }
    found
}

/// The environment variables that the template sets, for all functions or for one.
fn settings_of_template() -> BTreeMap<String, Value> {
    let own = resources().values().chain([&template()["Globals"]["Function"]]);
    let own = own.flat_map(|one| [&one["Properties"]["Environment"], &one["Environment"]]);
    let variables = own.filter_map(|one| one["Variables"].as_object());
    variables.flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The function to which the gateway routes `path`: a literal segment has priority over a variable, a greedy variable
/// matches one or more segments, and `$default` matches everything else.
fn sent_to(path: &str) -> String {
    let path: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let mut best = (0, "fallback".to_owned());
    for (function, resource) in function_resources() {
        for event in resource["Properties"]["Events"].as_object().unwrap().values() {
            let Some(route) = event["Properties"]["Path"].as_str() else { continue };
            let route: Vec<&str> = route.split('/').collect();
            let is_greedy = route.last().is_some_and(|last| last.ends_with("+}"));
            let literal = if is_greedy { route.len() - 1 } else { route.len() };
            let fits = if is_greedy { path.len() > literal } else { path.len() == literal };
            if fits && route[..literal] == path[..literal] && literal > best.0 {
                best = (literal, function.to_lowercase());
            }
        }
    }
    best.1
}

#[test]
fn gateway_routes_every_path_to_its_function() {
    let takes_the_rest = |resource: &Value| {
        let events = resource["Properties"]["Events"].as_object().unwrap();
        events.values().any(|one| one["Type"] == "HttpApi" && one["Properties"]["Path"].is_null())
    };
    let default = function_resources().filter(|(_, resource)| takes_the_rest(resource));
    assert_eq!(default.map(|(name, _)| name).collect::<Vec<_>>(), ["Fallback"]);
    for function in entries("events").iter().filter(|folder| *folder != "odd") {
        for event in entries(&format!("events/{function}")) {
            let event: Value =
                serde_json::from_str(&read(&format!("events/{function}/{event}"))).unwrap();
            // Dispatcher and worker have events without a path.
            let Some(path) = event["rawPath"].as_str() else { continue };
            for path in [path.to_owned(), format!("{path}/")] {
                assert_eq!(sent_to(&path), *function, "{path}");
            }
        }
    }
    assert_eq!(sent_to("/api/v1/nowhere"), "fallback");
}

#[test]
fn template_tables_and_indexes_match_the_store() {
    let key = |keys: &Value| -> Vec<String> {
        let keys = keys.as_array().unwrap().iter();
        keys.map(|key| key["AttributeName"].as_str().unwrap().to_owned()).collect()
    };
    for table in &TABLES {
        let properties = &resources()[&logical(table.name)]["Properties"];
        assert_eq!(key(&properties["KeySchema"]), ["pk", "sk"], "{}", table.name);
        assert_eq!(properties["TimeToLiveSpecification"]["AttributeName"], "ttl");
        assert_eq!(properties["BillingMode"], "PAY_PER_REQUEST");
        let view = &properties["StreamSpecification"]["StreamViewType"];
        assert_eq!(view == "NEW_AND_OLD_IMAGES", table.has_stream);
        let indexes = properties["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default();
        assert_eq!(indexes.len(), table.indexes.len());
        for (index, schema) in indexes.iter().zip(table.indexes) {
            assert_eq!(index["IndexName"], schema.name);
            assert_eq!(key(&index["KeySchema"]), [schema.pk, schema.sk.0]);
            assert_eq!(texts(&index["Projection"]["NonKeyAttributes"]), schema.projected);
            let mut definitions = properties["AttributeDefinitions"].as_array().unwrap().iter();
            let sort = definitions.find(|definition| definition["AttributeName"] == schema.sk.0);
            assert_eq!(sort.unwrap()["AttributeType"], schema.sk.1);
        }
    }
}

#[test]
fn template_sets_every_setting_that_has_no_default() {
    let set = settings_of_template();
    // Keys come from SSM. Lambda sets AWS_*, except the endpoint, which only the local cloud sets.
    let is_elsewhere = |name: &String| {
        name.starts_with("AWS_")
            || ["_KEY", "_KEYS", "_SECRETS"].iter().any(|end| name.ends_with(end))
            || ["CPANEL_TOKEN", "CANARY_SIGN_IN"].contains(&name.as_str())
    };
    let read = settings_read();
    for (name, default) in &read {
        assert!(
            set.contains_key(name) || default.is_some() || is_elsewhere(name),
            "{name} is missing"
        );
    }
    for name in set.keys() {
        assert!(read.contains_key(name) && !is_elsewhere(name), "no function reads {name}");
    }
    assert_eq!(set["API_PREFIXES"], "/api/v1", "the other prefix is for `cargo dev`");
}

/// cfn-lint does not compare the names in `FindInMap` with the map.
#[test]
fn template_map_has_the_values_that_are_looked_up() {
    let text = read("infra/template.yaml");
    let lookups = text.split("!FindInMap [Settings, ").skip(1);
    let lookups = lookups.map(|rest| rest.split_once(", !Ref Stage]").unwrap().0.to_owned());
    let settings = &template()["Mappings"]["Settings"];
    assert_eq!(lookups.collect::<BTreeSet<_>>(), names(settings).collect());
    let mut stages = texts(&template()["Parameters"]["Stage"]["AllowedValues"]);
    stages.sort_unstable();
    for (name, values) in settings.as_object().unwrap() {
        assert!(names(values).eq(stages.iter().copied()), "{name}");
    }
}

#[tokio::test]
async fn functions_start_with_the_map_values_of_every_stage() {
    let world = World::new().await;
    let settings = &template()["Mappings"]["Settings"];
    for stage in texts(&template()["Parameters"]["Stage"]["AllowedValues"]) {
        let mut environment = settings_of_template();
        environment.retain(|_, value| value[0] == "Settings");
        let value = |lookup: &Value| settings[lookup[1].as_str().unwrap()][stage].as_str().unwrap();
        let environment: Vec<_> =
            environment.iter().map(|(name, lookup)| (name.as_str(), value(lookup))).collect();
        assert!(!environment.is_empty());
        world.another_process_with(&environment);
    }
}

/// The names after `Key::` in the constant `KEYS` of `function`.
fn keys_of(function: &str) -> Vec<String> {
    let text = read(&format!("functions/{function}/src/lib.rs"));
    let list = text.split("const KEYS").nth(1).expect("a function names its keys");
    let list = list.split(';').find(|part| part.contains('=')).unwrap();
    let names = list.split("Key::").skip(1);
    let name =
        |text: &str| text.split(|end: char| !end.is_alphanumeric()).next().unwrap().to_owned();
    names.map(name).collect()
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
    for function in functions() {
        let name = logical(&function);
        let own = format!("{}{}", resources()[&name], resources()[&format!("{name}Role")]);
        let manifest = read(&format!("functions/{function}/Cargo.toml"));
        for (krate, action) in [
            ("storage", "s3:"),
            ("background", "sns:Publish"),
            ("messaging", "ses:SendEmail"),
            ("cpanel-client", "CPANEL_URL"),
        ] {
            let depends = manifest.contains(&format!("\n{krate}.workspace = true"));
            assert_eq!(own.contains(action), depends, "{function}: {krate} and {action}");
        }
    }
}

#[test]
fn every_setting_is_documented_with_its_default() {
    let page = read("infra/settings.md");
    let mut missing = settings_read();
    missing.retain(|name, default| {
        let mut rows = page.lines().filter(|row| row.contains(&format!("`{name}`")));
        !rows.any(|row| row.contains(default.as_deref().unwrap_or_default()))
    });
    assert!(missing.is_empty(), "not in infra/settings.md: {missing:?}");
}

#[test]
fn role_reads_only_its_own_keys() {
    for function in functions() {
        let role = &resources()[&format!("{}Role", logical(&function))];
        let statements = policies::statements(role);
        let keys: BTreeSet<&str> = statements
            .filter(|statement| statement["Action"] == "ssm:GetParameters")
            .flat_map(|statement| texts(&statement["Resource"]))
            .map(|resource| resource.split(":parameter").nth(1).unwrap())
            .collect();
        let list = keys_of(&function);
        let is_shared = |key: &String| key == "TokenPublic" || key == "Edge";
        let own = format!("/halqa/${{Stage}}/{function}/*");
        // Functions that verify tokens serve HTTP, possibly behind CloudFront: they read the edge's secret.
        let expected = [
            (list.iter().any(|key| key == "TokenPublic"), "/halqa/${Stage}/public/*"),
            (list.iter().any(is_shared), "/halqa/${Stage}/edge/EDGE_SECRETS"),
            (!list.iter().all(is_shared), &*own),
        ];
        let expected = expected.into_iter().filter(|(is_read, _)| *is_read);
        assert_eq!(keys, expected.map(|(_, path)| path).collect(), "{function}");
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
    for (name, resource) in resources() {
        for statement in statements(&resource["Properties"]) {
            let action = &statement["Action"];
            assert!(
                !action.to_string().contains('*') && statement["NotAction"].is_null(),
                "{name}: {action}"
            );
            // A phone number has no ARN, so the statement excludes all topics instead.
            if let Some(excluded) = statement["NotResource"].as_str() {
                let is_publish = action == "sns:Publish" && statement["Resource"].is_null();
                assert!(is_publish && excluded.ends_with(":sns:*:*:*"), "{name}: {statement}");
            }
            let is_any = texts(&statement["Resource"]).contains(&"*");
            let has_no_resource = action[0] == "backup:CopyFromBackupVault";
            assert!(!is_any || has_no_resource, "{name}: {action} on all resources");
        }
        let arns = resource["Properties"]["ManagedPolicyArns"].to_string();
        assert!(!arns.contains("arn:aws"), "{name} has a policy that AWS may change");
    }
}

/// The functions that may perform one of `actions` on items with all of `keys`, of which it names `attributes`.
fn with_right(actions: &[&str], keys: &[&str], attributes: &[&str]) -> Vec<String> {
    let set = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let may = |function: &String| {
        // The transient table has no audit entries.
        let tables = ["records", "transient"];
        let tables =
            if keys.iter().any(|key| key.contains("AUDIT#")) { &tables[..1] } else { &tables };
        let mut pairs =
            actions.iter().flat_map(|action| tables.iter().map(move |table| (*action, *table)));
        pairs.any(|(action, table)| {
            policies::allow(&AccessRequest {
                role: function.clone(),
                action: format!("dynamodb:{action}"),
                resource: table.to_owned(),
                context: BTreeMap::from([
                    ("dynamodb:LeadingKeys", set(keys)),
                    ("dynamodb:Attributes", set(attributes)),
                ]),
            })
        })
    };
    let mut functions = functions();
    functions.retain(may);
    functions.sort_unstable();
    functions
}

const WRITES: [&str; 3] = ["DeleteItem", "PutItem", "UpdateItem"];
const CHANGES: [&str; 2] = ["DeleteItem", "UpdateItem"];

#[test]
fn no_function_may_change_an_audit_entry() {
    for keys in [&["AUDIT#1"][..], &["PERSON-AUDIT#1"], &["AUDIT#1", "PERSON-AUDIT#1"]] {
        assert_eq!(with_right(&CHANGES, keys, &["pk", "sk", "card"]), [""; 0]);
    }
}

/// What IAM cannot tell from a change with its entry, if it sees the keys of a whole transaction.
#[test]
fn audit_entry_beside_another_item_is_open_to_its_writers() {
    let mut found = BTreeSet::new();
    for kind in ["CERTIFICATE", "COMMITTEE", "COURSE", "EMAIL", "FILE", "OPTOUT", "SEATS", "USER"] {
        let key = &*format!("{kind}#1");
        found.extend(with_right(&CHANGES, &["AUDIT#1", key], &["pk", "sk", "card"]));
    }
    let writers = [
        "certificates",
        "committees",
        "courses",
        "files",
        "registrations",
        "sms",
        "team",
        "users",
        "worker",
    ];
    assert_eq!(found, writers.map(str::to_owned).into());
}

#[test]
fn accounts_and_sign_ins_are_written_by_functions_that_need_it() {
    let with_sessions = ["auth", "otp", "passkeys", "team", "users", "worker"];
    let attributes = &["pk", "sk", "card"];
    assert_eq!(with_right(&WRITES, &["USER#1"], attributes), with_sessions);
    assert_eq!(with_right(&WRITES, &["USER#1"], &["pk", "sk", "epoch"]), with_sessions);
    assert_eq!(with_right(&WRITES, &["ADMINS"], attributes), ["auth", "team", "users"]);
    assert_eq!(with_right(&WRITES, &["EMAIL#1"], attributes), ["team", "users", "worker"]);
    assert_eq!(with_right(&WRITES, &["CODE#1"], attributes), ["auth", "team", "users"]);
    assert_eq!(with_right(&WRITES, &["SECRET#1"], attributes), with_sessions);
    let active = with_right(&WRITES, &["USER#1"], &["pk", "sk", "lastActive"]);
    assert!(["courses", "fallback", "sms"].iter().all(|one| active.contains(&(*one).to_owned())));
}

#[test]
fn account_secrets_are_for_functions_that_need_them() {
    let actions = ["BatchGetItem", "GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"];
    let with_secrets = ["auth", "otp", "passkeys", "team", "users", "worker"];
    assert_eq!(with_right(&actions, &["SECRET#1"], &["pk", "sk"]), with_secrets);
    assert_eq!(with_right(&actions, &["SECRET#1", "USER#1"], &["pk", "sk"]), with_secrets);
}

/// CloudFront accepts a time for these statuses and caches them
/// (<https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html>). It caches 412 and 415
/// only with a max-age, which no error has, and 416 never.
#[test]
fn edge_keeps_no_error_and_replaces_no_body() {
    let config = &resources()["Edge"]["Properties"]["DistributionConfig"];
    let errors = config["CustomErrorResponses"].as_array().unwrap().iter();
    let mut codes: Vec<u64> = errors.map(|error| error["ErrorCode"].as_u64().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [400, 403, 404, 405, 414, 500, 501, 502, 503, 504]);
    for error in config["CustomErrorResponses"].as_array().unwrap() {
        assert!(error["ErrorCachingMinTTL"] == 0 && names(error).count() == 2, "{error}");
    }
    // A policy would add it to errors, too; pictures have it from the bucket.
    assert!(!resources()["EdgePicturesHeaders"].to_string().contains("Cache-Control"));
}

/// What callers send but path and query must not divide the cache, and nothing but GET and HEAD is kept.
#[test]
fn edge_keeps_the_catalogue_by_path_and_query_for_a_minute() {
    let config = &resources()["Edge"]["Properties"]["DistributionConfig"];
    let behaviors = config["CacheBehaviors"].as_array().unwrap();
    let catalogue =
        behaviors.iter().find(|one| one["PathPattern"] == "/api/v1/catalogue*").unwrap();
    assert!(catalogue["CachedMethods"].is_null(), "GET and HEAD, unless it says otherwise");
    let policy = catalogue["CachePolicyId"].as_str().unwrap();
    let policy = &resources()[policy]["Properties"]["CachePolicyConfig"];
    let key = &policy["ParametersInCacheKeyAndForwardedToOrigin"];
    assert_eq!(key["HeadersConfig"]["HeaderBehavior"], "none");
    assert_eq!(key["CookiesConfig"]["CookieBehavior"], "none");
    assert_eq!(key["QueryStringsConfig"]["QueryStringBehavior"], "all");
    for name in ["EnableAcceptEncodingBrotli", "EnableAcceptEncodingGzip"] {
        assert_eq!(key[name], false);
    }
    let lives = ["MinTTL", "DefaultTTL", "MaxTTL"].map(|name| policy[name].as_u64());
    assert_eq!(lives, [Some(0), Some(0), Some(60)]);
}

/// The values of `duePk` have a suffix, so the filters are prefixes.
#[test]
fn stream_filters_select_the_kinds_of_work_of_each_function() {
    for (function, kinds) in
        [("Dispatcher", dispatcher::STREAM_LISTS), ("Worker", worker::STREAM_LISTS)]
    {
        let stream = &resources()[function]["Properties"]["Events"]["Stream"]["Properties"];
        let mut selected = BTreeSet::new();
        for filter in stream["FilterCriteria"]["Filters"].as_array().unwrap() {
            let pattern: Value = serde_json::from_str(filter["Pattern"].as_str().unwrap()).unwrap();
            let due = pattern["dynamodb"]["NewImage"]["duePk"]["S"].as_array().unwrap();
            selected.extend(due.iter().map(|one| one["prefix"].as_str().unwrap().to_owned()));
        }
        let kinds: BTreeSet<String> = kinds.iter().map(|list| list.code().to_owned()).collect();
        assert_eq!(selected, kinds, "{function}");
    }
}

#[test]
fn uploads_expire_after_a_day_and_served_objects_do_not() {
    let id = FileId::NONE;
    let rules = &resources()["FilesBucket"]["Properties"]["LifecycleConfiguration"]["Rules"];
    let mut uploads = 0;
    for rule in rules.as_array().unwrap() {
        let prefix = rule["Prefix"].as_str().unwrap_or_default();
        if !rule["ExpirationInDays"].is_null() {
            let is_served =
                storage::file_key(id).starts_with(prefix) || "media/".starts_with(prefix);
            assert!(!is_served, "{rule}");
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
    let sections = runbook.lines().filter_map(|line| line.strip_prefix("### Alarm: "));
    let sections: BTreeSet<String> = sections.map(|name| name.replace(' ', "-")).collect();
    let alarms = resources().values().filter(|one| one["Type"] == "AWS::CloudWatch::Alarm");
    let texts = alarms.map(|one| one["Properties"]["AlarmDescription"].as_str().unwrap());
    let page = |text: &str| {
        let (_, anchor) = text.rsplit_once("infra/alarms.md#alarm-").unwrap();
        anchor.trim_end_matches('.').to_owned()
    };
    assert_eq!(texts.map(page).collect::<BTreeSet<_>>(), sections);
}

#[test]
fn function_has_its_own_folder_keys_and_role() {
    for (name, resource) in function_resources() {
        // The hook of deployments has the canary's code and keys.
        let function = name.to_lowercase().replace("pretraffic", "canary");
        let text = resource.to_string();
        assert!(text.contains(&format!("../target/lambda/{function}/")), "{name}");
        assert!(text.contains(&format!("/{function}")), "{name} has no path for its keys");
        assert_eq!(resource["Properties"]["Role"], format!("{name}Role.Arn"));
    }
}

/// The checks of a new version call each function once; `infra/bin/processed` compares the processed template.
#[test]
fn deployment_hook_knows_every_function() {
    let environment = &resources()["PreTraffic"]["Properties"]["Environment"]["Variables"];
    let versions = texts(&environment["NEW_VERSIONS"]["Fn::Join"][1]);
    let functions = functions().into_iter().filter(|name| name != "canary");
    let expected = functions.map(|name| format!("{name}=${{{}.Version}}", logical(&name)));
    let versions = versions.into_iter().map(str::to_owned);
    assert_eq!(versions.collect::<BTreeSet<_>>(), expected.collect());
    let other = environment["OTHER_FUNCTIONS"].as_str().unwrap();
    let names =
        ["Canary", "PreTraffic"].map(|name| &resources()[name]["Properties"]["FunctionName"]);
    assert_eq!(other.split(',').collect::<Vec<_>>(), names);
}

/// Without a version, `DeleteFunction` would delete the function.
#[test]
fn deployment_hook_may_delete_versions_only() {
    let statements = statements(&resources()["PreTrafficRole"]["Properties"]["Policies"]);
    let deletes: Vec<&str> = statements
        .into_iter()
        .filter(|one| texts(&one["Action"]).contains(&"lambda:DeleteFunction"))
        .flat_map(|one| texts(&one["Resource"]))
        .collect();
    assert_eq!(deletes.iter().filter(|one| one.ends_with(":*")).count(), 2, "{deletes:?}");
    assert_eq!(deletes.len(), 2);
}

#[test]
fn deployment_hook_may_change_items_of_releases_only() {
    let statements = statements(&resources()["PreTrafficRole"]["Properties"]["Policies"]);
    let of_tables: Vec<&Value> =
        statements.into_iter().filter(|one| one.to_string().contains("dynamodb")).collect();
    assert_eq!(of_tables.len(), 1, "{of_tables:?}");
    assert_eq!(of_tables[0]["Action"], "dynamodb:UpdateItem");
    assert!(of_tables[0]["Resource"].as_str().unwrap().ends_with(":table/${TransientName.Value}"));
    let condition = json!({ "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["RELEASE#*"] } });
    assert_eq!(of_tables[0]["Condition"], condition);
}

/// Beside its longest work, a function counts the request, reads the caller and writes audit entries.
#[test]
fn functions_have_the_time_that_their_longest_work_takes() {
    let panel = cpanel_client::Timeouts::default();
    let default = &template()["Globals"]["Function"]["Timeout"];
    for (name, resource) in function_resources() {
        let properties = &resource["Properties"];
        let timeout = properties.get("Timeout").unwrap_or(default).as_u64().unwrap();
        let longest = match name.as_str() {
            "Users" => storage::EXPORT_TIME + storage::TIMEOUT,
            "Registrations" => (storage::EXPORT_TIME + storage::TIMEOUT)
                .max(registrations::RUSH_TIME + common::UPDATE_DEADLINE),
            "Files" => storage::MOVE_TIME,
            "Cpanel" => panel.whole + panel.again,
            "PreTraffic" => canary::HOOK_TIME,
            "Dispatcher" | "Worker" => times::SWEEP_TIME + times::CARRIER_TIMEOUT,
            _ => common::UPDATE_DEADLINE,
        };
        assert!(longest.as_secs() < timeout, "{name} has {timeout} s for {longest:?}");
        // The gateway waits for 30 seconds.
        let events = properties["Events"].as_object().into_iter().flat_map(|all| all.values());
        let is_called = events.into_iter().any(|event| event["Type"] == "HttpApi");
        assert!(!is_called || timeout < 30, "{name}");
    }
    assert!(!settings_of_template().contains_key("SMS_CLAIM_SECONDS"), "its default holds");
    for name in ["Dispatcher", "Worker"] {
        let timeout = resources()[name]["Properties"]["Timeout"].as_u64().unwrap();
        assert!(
            timeout <= times::CLAIM.as_secs(),
            "{name} may still send when its claim has ended"
        );
    }
}
