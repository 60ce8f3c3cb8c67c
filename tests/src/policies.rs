//! The roles of the template, as far as tables, bucket and messages go.

use std::{collections::BTreeMap, fs, sync::OnceLock};

use local::guard::AccessRequest;
use serde_json::Value;
use serde_yaml_ng::Value as Yaml;

/// The template; CloudFormation's short tags become plain values.
///
/// # Panics
/// When it is no YAML.
pub fn template() -> &'static Value {
    static TEMPLATE: OnceLock<Value> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let text = fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../infra/template.yaml"
        ))
        .expect("the template is there");
        let tagged = serde_yaml_ng::from_str(&text).expect("the template is YAML");
        serde_json::to_value(untagged(tagged)).expect("without tags it is JSON")
    })
}

fn untagged(value: Yaml) -> Yaml {
    match value {
        Yaml::Tagged(tagged) => untagged(tagged.value),
        Yaml::Sequence(items) => items.into_iter().map(untagged).collect(),
        Yaml::Mapping(items) => Yaml::Mapping(
            items
                .into_iter()
                .map(|(key, value)| (key, untagged(value)))
                .collect(),
        ),
        plain => plain,
    }
}

/// One thing that a role may do: an action and what to, `*` at the end standing for all that begins so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// Such as `dynamodb:GetItem`.
    pub action: String,
    /// In the words of an [`AccessRequest`].
    pub resource: String,
}

impl Right {
    /// Whether it lets `ask` be done.
    pub fn covers(&self, ask: &AccessRequest) -> bool {
        let fits = match self.resource.strip_suffix('*') {
            Some(start) => ask.resource.starts_with(start),
            None => ask.resource == self.resource,
        };
        self.action == ask.action && fits
    }
}

/// What each function may do, by its name.
pub fn rights() -> &'static BTreeMap<String, Vec<Right>> {
    static RIGHTS: OnceLock<BTreeMap<String, Vec<Right>>> = OnceLock::new();
    RIGHTS.get_or_init(|| {
        let resources = template()["Resources"].as_object().expect("resources");
        let functions = resources
            .iter()
            .filter(|(_, resource)| resource["Type"] == "AWS::Serverless::Function");
        functions
            .map(|(name, _)| {
                (
                    name.to_lowercase(),
                    rights_of(&resources[&format!("{name}Role")]),
                )
            })
            .collect()
    })
}

fn rights_of(role: &Value) -> Vec<Right> {
    let policies = role["Properties"]["Policies"]
        .as_array()
        .expect("a role has policies")
        .iter();
    let statements = policies.flat_map(|policy| {
        policy["PolicyDocument"]["Statement"]
            .as_array()
            .expect("statements")
    });
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
    for statement in statements {
        assert!(
            statement["Effect"] == "Allow" && statement["Condition"].is_null(),
            "a right is given, and without conditions: {statement}"
        );
        for action in texts(&statement["Action"]) {
            if ["sns:Publish", "ses:SendEmail"].contains(&action.as_str()) {
                rights.push(Right {
                    action: action.clone(),
                    resource: String::new(),
                });
            }
            for resource in texts(&statement["Resource"]) {
                if let Some(resource) = named(&resource) {
                    rights.push(Right {
                        action: action.clone(),
                        resource,
                    });
                }
            }
        }
    }
    rights
}

/// A table, an index or what is in the bucket, in the words of an [`AccessRequest`]; nothing else.
fn named(resource: &str) -> Option<String> {
    let resource = resource.replace("${", "").replace('}', "");
    let table = |name: &str| {
        resource
            .strip_prefix(&format!("{name}.Arn"))
            .map(|rest| format!("{}{rest}", name.to_lowercase()))
    };
    let bucket = || {
        resource
            .strip_prefix("FilesBucket.Arn")
            .map(|rest| rest.trim_start_matches('/').to_owned())
    };
    table("Records")
        .or_else(|| table("Transient"))
        .or_else(bucket)
        .filter(|resource| !resource.contains("stream"))
}

/// Whether the template lets `ask` be done. What all functions have in common, they all must be able to do.
pub fn allow(ask: &AccessRequest) -> bool {
    let may = |rights: &Vec<Right>| rights.iter().any(|right| right.covers(ask));
    match ask.role.as_str() {
        "edge" => rights()
            .iter()
            .filter(|(name, _)| !["dispatcher", "canary"].contains(&name.as_str()))
            .all(|(_, rights)| may(rights)),
        function => rights().get(function).is_some_and(may),
    }
}
