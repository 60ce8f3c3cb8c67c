//! The IAM permissions of the template for tables, bucket and messages.

use std::{collections::BTreeMap, fs, sync::OnceLock};

use cloud::guard::AccessRequest;
use serde_json::Value;
use serde_yaml_ng::Value as Yaml;

/// `infra/template.yaml` as JSON. Tags such as `!Ref` are dropped and their values kept.
pub fn template() -> &'static Value {
    static TEMPLATE: OnceLock<Value> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let text =
            fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/template.yaml"))
                .expect("the template is there");
        let tagged = serde_yaml_ng::from_str(&text).expect("the template is YAML");
        serde_json::to_value(untagged(tagged)).expect("without tags it is JSON")
    })
}

fn untagged(value: Yaml) -> Yaml {
    match value {
        Yaml::Tagged(tagged) => untagged(tagged.value),
        Yaml::Sequence(items) => items.into_iter().map(untagged).collect(),
        Yaml::Mapping(items) => {
            Yaml::Mapping(items.into_iter().map(|(key, value)| (key, untagged(value))).collect())
        }
        plain => plain,
    }
}

/// One action on one resource; a `*` at the end of the resource matches any suffix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// The action, such as `dynamodb:GetItem`.
    pub action: String,
    /// The resource in the notation of [`AccessRequest`].
    pub resource: String,
}

impl Right {
    /// Whether this permits `request`.
    pub fn covers(&self, request: &AccessRequest) -> bool {
        let fits = match self.resource.strip_suffix('*') {
            Some(start) => request.resource.starts_with(start),
            None => request.resource == self.resource,
        };
        self.action == request.action && fits
    }
}

/// The permissions of each function, by its name in lower case. The hook of deployments has none that is not conditional;
/// `tests/template` checks its one right to a table.
pub fn rights() -> &'static BTreeMap<String, Vec<Right>> {
    static RIGHTS: OnceLock<BTreeMap<String, Vec<Right>>> = OnceLock::new();
    RIGHTS.get_or_init(|| {
        let resources = template()["Resources"].as_object().expect("resources");
        let functions = resources
            .iter()
            .filter(|(_, resource)| resource["Type"] == "AWS::Serverless::Function");
        functions
            .filter(|(name, _)| *name != "PreTraffic")
            .map(|(name, _)| (name.to_lowercase(), rights_of(&resources[&format!("{name}Role")])))
            .collect()
    })
}

/// The policies that deny something, which [`allow`] evaluates.
const DENIALS: [&str; 2] = ["AuditEntries", "AccountSecrets"];

/// The statements of the role's own policies and of those that are always attached to it, without [`DENIALS`].
pub fn statements(role: &Value) -> impl Iterator<Item = &Value> {
    let own = role["Properties"]["Policies"].as_array().expect("a role has policies").iter();
    let attached = role["Properties"]["ManagedPolicyArns"].as_array().into_iter().flatten();
    let attached = attached.filter_map(Value::as_str).filter(|name| !DENIALS.contains(name));
    let attached = attached.map(|name| &template()["Resources"][name]["Properties"]);
    own.chain(attached)
        .flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().expect("statements"))
}

fn rights_of(role: &Value) -> Vec<Right> {
    let texts = |value: &Value| match value {
        Value::String(text) => vec![text.clone()],
        list => list
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    };
    let mut rights = Vec::new();
    for statement in statements(role) {
        assert!(
            statement["Effect"] == "Allow" && statement["Condition"].is_null(),
            "only Allow without conditions is supported: {statement}"
        );
        for action in texts(&statement["Action"]) {
            if ["sns:Publish", "ses:SendEmail"].contains(&action.as_str()) {
                rights.push(Right { action: action.clone(), resource: String::new() });
            }
            for resource in texts(&statement["Resource"]) {
                if let Some(resource) = named(&resource) {
                    rights.push(Right { action: action.clone(), resource });
                }
            }
        }
    }
    rights
}

/// A table, an index or objects of the bucket in the notation of [`AccessRequest`]; `None` for other resources.
fn named(resource: &str) -> Option<String> {
    let resource = resource.replace("${", "").replace('}', "");
    let table = |name: &str| {
        resource
            .split_once(&format!(":table/{name}Name.Value"))
            .map(|(_, rest)| format!("{}{rest}", name.to_lowercase()))
    };
    let bucket = || {
        resource
            .split_once(":s3:::FilesName.Value")
            .map(|(_, rest)| rest.trim_start_matches('/').to_owned())
    };
    table("Records")
        .or_else(|| table("Transient"))
        .or_else(bucket)
        .filter(|resource| !resource.contains("stream"))
}

/// Whether `function` has HTTP routes.
pub fn has_routes(function: &str) -> bool {
    !["canary", "dispatcher", "pretraffic", "worker"].contains(&function)
}

/// Whether `policy` denies `request` to the roles that have it.
fn denies(policy: &str, request: &AccessRequest) -> bool {
    let resources = &template()["Resources"];
    let statement = &resources[policy]["Properties"]["PolicyDocument"]["Statement"][0];
    let role = |function: &str| {
        let name = format!("{}{}Role", function[..1].to_uppercase(), &function[1..]);
        resources[&name]["Properties"]["ManagedPolicyArns"].to_string().contains(policy)
    };
    let tables = statement["Resource"].as_array().expect("tables").iter();
    let mut tables = tables.filter_map(Value::as_str).filter_map(named);
    let keys = &statement["Condition"]["ForAnyValue:StringLike"]["dynamodb:LeadingKeys"];
    let mut keys = keys.as_array().expect("leading keys").iter().filter_map(Value::as_str);
    let actions = statement["Action"].as_array().expect("actions");
    (request.role == "edge" || role(&request.role))
        && actions.iter().any(|action| *action == request.action.as_str())
        && tables.any(|table| table == request.resource)
        && keys.any(|key| request.leading_key.starts_with(key.trim_end_matches('*')))
}

/// Whether the template permits `request`. Requests of the shared edge must be permitted to all functions with routes.
pub fn allow(request: &AccessRequest) -> bool {
    if DENIALS.iter().any(|policy| denies(policy, request)) {
        return false;
    }
    let may = |rights: &Vec<Right>| rights.iter().any(|right| right.covers(request));
    match request.role.as_str() {
        "edge" => {
            rights().iter().filter(|(name, _)| has_routes(name)).all(|(_, rights)| may(rights))
        }
        function => rights().get(function).is_some_and(may),
    }
}
