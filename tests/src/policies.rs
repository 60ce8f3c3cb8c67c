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

/// A statement of a policy, as far as it is about tables, objects and messages.
#[derive(Debug)]
pub struct Statement {
    /// Whether it allows; else it denies.
    pub is_allow: bool,
    /// The actions, such as `dynamodb:GetItem`.
    pub actions: Vec<String>,
    /// The resources in the notation of [`AccessRequest`]; a `*` at the end matches any suffix.
    pub resources: Vec<String>,
    /// The condition, an object of operators.
    pub condition: Value,
}

impl Statement {
    fn of(statement: &Value) -> Self {
        let actions = texts(&statement["Action"]);
        let resources = texts(&statement["Resource"]);
        let is_message = ["sns:Publish", "ses:SendEmail"].iter().any(|one| actions.contains(one));
        let resources = if is_message {
            vec![String::new()]
        } else {
            resources.into_iter().filter_map(named).collect()
        };
        Self {
            is_allow: statement["Effect"] == "Allow",
            actions: actions.into_iter().map(str::to_owned).collect(),
            resources,
            condition: statement["Condition"].clone(),
        }
    }

    /// Whether this is about `request`.
    pub fn covers(&self, request: &AccessRequest) -> bool {
        self.actions.contains(&request.action)
            && self.resources.iter().any(|resource| fits(resource, &request.resource))
            && holds(&self.condition, request)
    }

    /// Each action with each resource.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let resources =
            |action| self.resources.iter().map(move |one: &String| (action, one.as_str()));
        self.actions.iter().flat_map(move |action| resources(action.as_str()))
    }

    /// The patterns of partition keys for which it is.
    pub fn keys(&self) -> Vec<&str> {
        let operators = self.condition.as_object().into_iter().flatten();
        let operators = operators.filter(|(operator, _)| operator.starts_with("ForAllValues"));
        operators.flat_map(|(_, keys)| texts(&keys["dynamodb:LeadingKeys"])).collect()
    }
}

/// The domain of the address from which mails are sent by default.
const DOMAIN: &str = "example.org";

/// Whether `text` matches `pattern`, in which a `*` stands at the end or at the beginning.
pub fn fits(pattern: &str, text: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => text.ends_with(end),
        (None, Some(start)) => text.starts_with(start),
        (None, None) => text == pattern,
    }
}

/// Whether a condition holds, as IAM evaluates it
/// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html>).
fn holds(condition: &Value, request: &AccessRequest) -> bool {
    let mut tests = condition.as_object().into_iter().flatten().flat_map(|(operator, keys)| {
        let keys = keys.as_object().expect("a condition names keys");
        keys.iter().map(move |(key, patterns)| (operator.as_str(), key.as_str(), texts(patterns)))
    });
    tests.all(|(operator, key, patterns)| {
        let values = request.context.get(key);
        let mut each = values.into_iter().flatten();
        let is_like = |value: &String| {
            patterns.iter().any(|pattern| fits(&pattern.replace("${MailIdentity}", DOMAIN), value))
        };
        match operator {
            "ForAllValues:StringEquals" | "ForAllValues:StringLike" => each.all(is_like),
            "ForAnyValue:StringEquals" | "ForAnyValue:StringLike" | "StringLike" => {
                each.any(is_like)
            }
            "Null" => (patterns == ["true"]) == values.is_none(),
            _ => panic!("the operator {operator} is not supported"),
        }
    })
}

/// The statements of the role's own policies and of those that are always attached to it.
pub fn statements(role: &Value) -> impl Iterator<Item = &Value> {
    let own = role["Properties"]["Policies"].as_array().expect("a role has policies").iter();
    let attached = role["Properties"]["ManagedPolicyArns"].as_array().into_iter().flatten();
    let attached =
        attached.filter_map(Value::as_str).map(|name| &template()["Resources"][name]["Properties"]);
    own.chain(attached)
        .flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().expect("statements"))
}

/// The statements of each role, by its name in lower case and without `Role`: for a function that of the function.
pub fn policies() -> &'static BTreeMap<String, Vec<Statement>> {
    static POLICIES: OnceLock<BTreeMap<String, Vec<Statement>>> = OnceLock::new();
    POLICIES.get_or_init(|| {
        let resources = template()["Resources"].as_object().expect("resources");
        let roles = resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::IAM::Role");
        let named = |(name, role): (&String, &Value)| {
            let name = name.trim_end_matches("Role").to_lowercase();
            (name, statements(role).map(Statement::of).collect())
        };
        roles.map(named).collect()
    })
}

/// Whether `role`, a name of [`policies`], is that of a function.
pub fn is_function(role: &str) -> bool {
    let resources = template()["Resources"].as_object().expect("resources");
    resources.iter().any(|(name, resource)| {
        resource["Type"] == "AWS::Serverless::Function" && name.to_lowercase() == role
    })
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        list => list.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    }
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

/// Whether the template permits `request`. Requests of the shared edge must be permitted to all functions with routes.
pub fn allow(request: &AccessRequest) -> bool {
    let may = |statements: &Vec<Statement>| {
        let covering = |is_allow: bool| {
            statements.iter().any(|one| one.is_allow == is_allow && one.covers(request))
        };
        covering(true) && !covering(false)
    };
    match request.role.as_str() {
        "edge" => {
            let functions = policies().iter().filter(|(name, _)| is_function(name));
            functions.filter(|(name, _)| has_routes(name)).all(|(_, own)| may(own))
        }
        function => policies().get(function).is_some_and(may),
    }
}
