//! `cargo dev check`: says which parts of an endpoint are missing, which stand in different files. An architecture test
//! runs it too.

use std::{collections::BTreeSet, fs, io, path::Path};

use serde_json::Value;
use store::keys::COSTS;

use cloud::LocalError;

/// Reads no table.
const WITHOUT_COSTS: &str = "GET /media/{key}";
/// The function behind the gateway's route `$default`.
pub(crate) const FALLBACK: &str = "fallback";

/// An endpoint, as its function declares it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// The function.
    pub function: String,
    /// Method and path, such as `GET /users/{userId}`.
    pub route: String,
}

/// The endpoints of all functions of the repository at `root`.
///
/// # Errors
/// When a file cannot be read.
pub fn endpoints(root: &Path) -> Result<Vec<Endpoint>, LocalError> {
    let mut endpoints = Vec::new();
    for function in names(root, "functions")? {
        let source = read(root, &format!("functions/{function}/src/lib.rs"))?;
        endpoints.extend(
            routes_in(&source)
                .into_iter()
                .map(|route| Endpoint { function: function.clone(), route }),
        );
    }
    Ok(endpoints)
}

/// One line per missing part of an endpoint of the repository at `root`, and per operation or event that has no route.
///
/// # Errors
/// When a file cannot be read, or an event is not JSON.
pub fn missing(root: &Path) -> Result<Vec<String>, LocalError> {
    let endpoints = endpoints(root)?;
    let operations = operations_in(&read(root, "infra/api/openapi.yaml")?);
    let gateway = gateway_routes_in(&read(root, "infra/template.yaml")?);
    let matrix = read(root, "tests/api/matrix.rs")?;
    let (with_event, mut lines) = events(root, &endpoints)?;
    for operation in &operations {
        if !endpoints.iter().any(|one| one.route == *operation) {
            lines.push(format!("{operation}: no route in functions/*/src/lib.rs"));
        }
    }
    for Endpoint { function, route } in &endpoints {
        let test = format!("tests/api/{}.rs", test_file(route));
        let has_row = COSTS.iter().any(|budget| budget.route == route);
        let is_fallback = function == FALLBACK;
        for (is_there, what) in [
            (operations.contains(route), "no operation in infra/api/openapi.yaml".to_owned()),
            (
                has_row || route == WITHOUT_COSTS,
                "no row of COSTS in shared/store/src/keys/costs.rs".to_owned(),
            ),
            (with_event.contains(route), format!("no event in events/{function}/")),
            (
                matrix.contains(&format!("\"{route}\"")),
                "no row of endpoints() in tests/api/matrix.rs".to_owned(),
            ),
            (is_fallback || root.join(&test).is_file(), format!("no {test}")),
            (
                is_fallback || gateway.contains(&(function.clone(), gateway_route(route))),
                format!("no event of {function} in infra/template.yaml"),
            ),
        ] {
            if !is_there {
                lines.push(format!("{route}: {what}"));
            }
        }
    }
    Ok(lines)
}

/// The routes that have an event, and a line per event that belongs to no route of its function.
fn events(
    root: &Path,
    endpoints: &[Endpoint],
) -> Result<(BTreeSet<String>, Vec<String>), LocalError> {
    let (mut with_event, mut lines) = (BTreeSet::new(), Vec::new());
    let functions: BTreeSet<&str> = endpoints.iter().map(|one| one.function.as_str()).collect();
    for function in functions {
        let folder = format!("events/{function}");
        if !root.join(&folder).is_dir() {
            continue;
        }
        for name in names(root, &folder)? {
            let file = format!("{folder}/{name}");
            let event: Value = serde_json::from_str(&read(root, &file)?)
                .map_err(|error| LocalError::new(format!("{file} is not JSON: {error}.")))?;
            let method = event["requestContext"]["http"]["method"].as_str();
            let path = event["rawPath"].as_str().unwrap_or_default();
            let path = path.strip_prefix("/api/v1").unwrap_or(path);
            match endpoint_of(endpoints, method.unwrap_or_default(), path) {
                Some(endpoint) if endpoint.function == function => {
                    with_event.insert(endpoint.route.clone());
                }
                _ => lines.push(format!("{file}: no route of {function}")),
            }
        }
    }
    Ok((with_event, lines))
}

/// The endpoint that answers a request for `path`, without the API prefix: the one with the fewest parameters.
pub(crate) fn endpoint_of<'a>(
    endpoints: &'a [Endpoint],
    method: &str,
    path: &str,
) -> Option<&'a Endpoint> {
    let given: Vec<&str> = path.split('/').collect();
    let fits = |endpoint: &&Endpoint| {
        endpoint.route.split_once(' ').is_some_and(|(verb, path)| {
            let template: Vec<&str> = path.split('/').collect();
            verb == method
                && template.len() == given.len()
                && template
                    .iter()
                    .zip(&given)
                    .all(|(part, given)| part.starts_with('{') || part == given)
        })
    };
    endpoints.iter().filter(fits).min_by_key(|endpoint| endpoint.route.matches('{').count())
}

/// The routes that `source` declares, formatted by rustfmt: one for each handler of each `.route(…)`.
fn routes_in(source: &str) -> Vec<String> {
    let mut routes = Vec::new();
    for call in source.split(".route(").skip(1) {
        let mut depth = 1;
        let is_inside = |&character: &char| {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth > 0
        };
        let arguments: String = call.chars().take_while(is_inside).collect();
        let path = arguments.split('"').nth(1).unwrap_or_default();
        for (handler, method) in [
            ("get", "GET"),
            // A GET that changes something.
            ("effect", "GET"),
            ("post", "POST"),
            ("put", "PUT"),
            ("delete", "DELETE"),
        ] {
            if calls(&arguments, handler) {
                routes.push(format!("{method} {path}"));
            }
        }
    }
    routes
}

/// Whether `source` calls `name`, as a function or a method.
fn calls(source: &str, name: &str) -> bool {
    let is_part_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    source.match_indices(name).any(|(at, _)| {
        let (before, found) = source.split_at(at);
        !before.ends_with(is_part_of_name)
            && found.strip_prefix(name).is_some_and(|rest| rest.starts_with('('))
    })
}

/// The operations of the OpenAPI document `text`.
fn operations_in(text: &str) -> BTreeSet<String> {
    let paths = text.split_once("\npaths:\n").map_or("", |(_, paths)| paths);
    let (mut operations, mut path) = (BTreeSet::new(), "");
    // Up to the next key of the document.
    let is_below = |line: &&str| line.is_empty() || line.starts_with([' ', '#']);
    for line in paths.lines().take_while(is_below) {
        let key = line.trim().trim_end_matches(':');
        match line.len() - line.trim_start().len() {
            2 if key.starts_with('/') => path = key,
            4 if ["get", "put", "post", "delete"].contains(&key) => {
                operations.insert(format!("{} {path}", key.to_uppercase()));
            }
            _ => {}
        }
    }
    operations
}

/// The functions and paths of the gateway's routes in the template `text`.
fn gateway_routes_in(text: &str) -> BTreeSet<(String, String)> {
    let (mut routes, mut resource) = (BTreeSet::new(), String::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("  ").and_then(|line| line.strip_suffix(':'))
            && !name.starts_with(' ')
        {
            resource = name.to_lowercase();
        }
        if let Some((_, rest)) = line.split_once("Path: '")
            && let Some((path, _)) = rest.split_once('\'')
        {
            routes.insert((resource.clone(), path.to_owned()));
        }
    }
    routes
}

/// Prefixes of two segments that another function serves than the rest of their first segment.
const OWN_PREFIXES: [&str; 1] = ["/auth/passkey"];

/// The path of the gateway's route for `route`: that of its prefix, or all below it.
pub(crate) fn gateway_route(route: &str) -> String {
    let path = route.split_once(' ').map_or(route, |(_, path)| path);
    let is_below = |prefix: &&str| path == *prefix || path.starts_with(&format!("{prefix}/"));
    let end = match OWN_PREFIXES.iter().copied().find(is_below) {
        Some(prefix) => prefix.len(),
        None => path.match_indices('/').nth(1).map_or(path.len(), |(end, _)| end),
    };
    let (prefix, rest) = path.split_at(end);
    let version = if prefix == "/media" { "" } else { "/api/v1" };
    let below = if rest.is_empty() { "" } else { "/{proxy+}" };
    format!("{version}{prefix}{below}")
}

/// The file below `tests/api` that tests `route`, without its ending: it mirrors the path.
fn test_file(route: &str) -> String {
    let (method, path) = route.split_once(' ').unwrap_or_default();
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match (method, segments.as_slice()) {
        ("DELETE", ["auth", "sessions", _]) => "auth/sessions".to_owned(),
        (_, ["auth", "passkey", ..]) => "passkeys/sign_in".to_owned(),
        ("POST", ["passkeys", _]) => "passkeys/create".to_owned(),
        ("DELETE", ["otp"]) => "otp/disable".to_owned(),
        ("DELETE", ["users", _]) => "users/erase".to_owned(),
        ("DELETE", ["courses", _]) => "courses/archive".to_owned(),
        ("DELETE", ["files", _]) => "files/remove".to_owned(),
        (_, ["sms", "bulk", _]) => "sms/batch".to_owned(),
        (_, ["sms", "opt-outs", _]) => "sms/opt_out".to_owned(),
        (_, ["courses", "questions", _]) => "courses/questions".to_owned(),
        (_, ["courses", "questions", _, _]) => "courses/question".to_owned(),
        (_, ["files", "public", _]) => "files/public".to_owned(),
        (_, ["audit"]) => "users/audit".to_owned(),
        (_, ["media", _]) => "files/media".to_owned(),
        (_, ["users", "user-status", _]) => "users/user_status".to_owned(),
        (_, [noun, id, word]) if id.starts_with('{') => {
            format!("{noun}/{}", word.replace('-', "_"))
        }
        ("GET", [noun, id]) if id.starts_with('{') => format!("{noun}/show"),
        ("PUT", [noun, id]) if id.starts_with('{') => format!("{noun}/change"),
        ("DELETE", [noun, id]) if id.starts_with('{') => format!("{noun}/remove"),
        ("POST", [noun]) => format!("{noun}/create"),
        ("GET", [noun]) => format!("{noun}/list"),
        (_, segments) => {
            let mut words = segments.to_vec();
            words.retain(|word| !word.starts_with('{'));
            words.join("/").replace('-', "_")
        }
    }
}

fn read(root: &Path, path: &str) -> Result<String, LocalError> {
    fs::read_to_string(root.join(path))
        .map_err(|error| LocalError::new(format!("{path} cannot be read: {error}.")))
}

/// The names of the entries of `folder`, sorted.
fn names(root: &Path, folder: &str) -> Result<Vec<String>, LocalError> {
    let list = || -> io::Result<Vec<String>> {
        let entries = fs::read_dir(root.join(folder))?;
        let mut names = entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<String>>>()?;
        names.sort();
        Ok(names)
    };
    list().map_err(|error| LocalError::new(format!("{folder} cannot be read: {error}.")))
}
