//! `cargo dev update`: writes what is computed: from the routes and the OpenAPI document sample events, the table of
//! functions in the README and the routes of `cargo lambda watch`; from the key schema its page; from the texts of mails theirs.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use cloud::LocalError;
use common::Route;
use data_encoding::BASE64;
use serde_json::{Value, json};
use store::keys::{DueList, ITEMS, LISTS};

use crate::{
    mails,
    operations::{Operation, operations},
};

/// The tests that write the pictures of certificates, the snapshot of the costs of all endpoints, and the examples of their
/// answers.
pub const WRITING_TESTS: [&str; 3] = [
    "certificates::pages::pages_match_their_pictures",
    "costs::endpoint_costs_match_the_snapshot",
    "examples::examples_are_answers_of_the_seeded_service",
];

/// A route and the function that serves it.
type Served = (&'static str, Route);

/// The function behind the gateway's route `$default`.
const FALLBACK: &str = "fallback";
/// Prefixes of two segments that another function serves than the rest of their first segment.
const OWN_PREFIXES: [&str; 1] = ["/auth/passkey"];
const DOMAIN: &str = "a1b2c3d4e5.execute-api.eu-west-3.amazonaws.com";
const ADDRESS: &str = "203.0.113.7";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";
/// The body of the operation that takes a picture.
const PICTURE: &[u8] = include_bytes!("../../../tests/fuzz/corpus/avatar/rgb.png");

/// Writes everything in the repository at `root`. `routes` are those of all functions.
///
/// # Errors
/// When an operation has no route or a route no operation, or a file cannot be read or written.
pub fn run(root: &Path, routes: &[Served]) -> Result<(), LocalError> {
    let operations = operations();
    for (function, route) in routes {
        if !operations.iter().any(|one| is_route_of(route, one)) {
            return Err(LocalError::new(format!(
                "{} {} has no operation in functions/{function}/openapi.yaml.",
                route.method, route.path
            )));
        }
    }
    write_events(root, routes, &operations)?;
    write(root, "shared/store/keys.md", &keys())?;
    write(root, "functions/dispatcher/mails.md", &mails::page()?)?;
    replace(root, "README.md", ["<!-- functions -->\n", "<!-- end -->"], &functions(routes))?;
    replace(root, "Cargo.toml", ["watch.router]\n", "\n["], &watch_routes(routes))
}

fn is_route_of(route: &Route, operation: &Operation) -> bool {
    route.method == operation.method && route.path == operation.path
}

/// Writes `events/<function>/<operation>.json` for every operation, and removes other events of these functions.
fn write_events(
    root: &Path,
    routes: &[Served],
    operations: &[Operation],
) -> Result<(), LocalError> {
    let mut events: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for operation in operations {
        let (function, _) =
            routes.iter().find(|(_, route)| is_route_of(route, operation)).ok_or_else(|| {
                LocalError::new(format!("No function has a route for {}.", operation.id))
            })?;
        let event = format!("{:#}\n", event(function, operation));
        events.entry(function).or_default().insert(file_name(&operation.id), event);
    }
    for (function, events) in events {
        let folder = format!("events/{function}");
        let path = root.join(&folder);
        fs::create_dir_all(&path).map_err(failed(&folder))?;
        for entry in fs::read_dir(&path).map_err(failed(&folder))? {
            let entry = entry.map_err(failed(&folder))?;
            if !events.contains_key(entry.file_name().to_string_lossy().as_ref()) {
                fs::remove_file(entry.path()).map_err(failed(&folder))?;
            }
        }
        for (name, event) in events {
            write(root, &format!("{folder}/{name}"), &event)?;
        }
    }
    Ok(())
}

/// `listMyFiles` → `list-my-files.json`.
fn file_name(operation_id: &str) -> String {
    let mut name = String::new();
    for letter in operation_id.chars() {
        if letter.is_ascii_uppercase() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name + ".json"
}

/// The event of an HTTP API in format 2.0 for the example of `operation`
/// (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>).
pub fn event(function: &str, operation: &Operation) -> Value {
    let gateway_path = gateway_path(&operation.path);
    let route_key = match function {
        FALLBACK => "$default".to_owned(),
        _ => format!("ANY {gateway_path}"),
    };
    let (path, query) = operation.target.split_once('?').unwrap_or((&operation.target, ""));
    let prefix = if operation.path.starts_with("/media/") { "" } else { "/api/v1" };
    let raw_path = format!("{prefix}{path}");
    let mut headers = json!({
        "accept": "application/json",
        "accept-encoding": "gzip, deflate, br",
        "accept-language": "fr-TN,fr;q=0.8",
        "host": DOMAIN,
        "user-agent": BROWSER,
        "x-amzn-trace-id": "Root=1-6b001734-44d79b38ae2c8fb5159ccea2",
        "x-forwarded-for": ADDRESS,
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
    });
    if operation.access != "public" {
        headers["authorization"] = json!("Bearer <ACCESS_TOKEN>");
    }
    let body = match (&operation.body, operation.content_type.is_some()) {
        (Some(body), _) => Some((body.to_string(), "application/json", false)),
        (None, true) => Some((BASE64.encode(PICTURE), "image/png", true)),
        (None, false) => None,
    };
    let mut event = json!({
        "version": "2.0",
        "routeKey": route_key,
        "rawPath": raw_path,
        "rawQueryString": query,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "a1b2c3d4e5",
            "domainName": DOMAIN,
            "domainPrefix": "a1b2c3d4e5",
            "http": {
                "method": operation.method,
                "path": raw_path,
                "protocol": "HTTP/1.1",
                "sourceIp": ADDRESS,
                "userAgent": BROWSER,
            },
            "requestId": "Q2BVdrw7gwyeFqQ=",
            "routeKey": route_key,
            "stage": "$default",
            "time": "20/Nov/2026:09:47:32 +0000",
            "timeEpoch": 1_795_168_052_512_u64,
        },
        "isBase64Encoded": false,
    });
    if !query.is_empty() {
        let pairs: BTreeMap<String, String> =
            form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        event["queryStringParameters"] = json!(pairs);
    }
    if let Some(proxy) =
        gateway_path.strip_suffix("{proxy+}").and_then(|base| raw_path.strip_prefix(base))
    {
        event["pathParameters"] = json!({ "proxy": proxy });
    }
    if let Some((body, content_type, is_base64)) = body {
        headers["content-type"] = json!(content_type);
        event["body"] = json!(body);
        event["isBase64Encoded"] = json!(is_base64);
    }
    event["headers"] = headers;
    event
}

/// The path of the gateway's route for `path`: that of its prefix, or all below it.
pub fn gateway_path(path: &str) -> String {
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

/// The page of the key schema.
fn keys() -> String {
    let shards = |is_sharded| if is_sharded { ", 16 shards" } else { "" };
    let items = ITEMS.iter().map(|kind| {
        format!("| {} | {} | `{}` | `{}` |\n", kind.name, kind.table.name(), kind.pk, kind.sk)
    });
    let lists = LISTS.iter().map(|kind| {
        let sharded = shards(kind.is_sharded);
        format!("| {} | `{}` | `{}`{sharded} |\n", kind.name, kind.index.name, kind.pk)
    });
    let due = DueList::ALL.iter();
    let due = due.map(|list| format!("| `{}`{} |\n", list.code(), shards(list.is_sharded())));
    format!(
        "# Keys of the tables\n\nWritten by `cargo dev update` from `shared/store/src/keys`, whose documentation has the \
         costs and the races.\n\n| item | table | `pk` | `sk` |\n|---|---|---|---|\n{}\n| list | index | partition key \
         |\n|---|---|---|\n{}\n| list of pending work, index `due` |\n|---|\n{}",
        items.collect::<String>(),
        lists.collect::<String>(),
        due.collect::<String>(),
    )
}

/// The table of functions in the README.
fn functions(routes: &[Served]) -> String {
    let mut table = "| Function | Routes |\n|---|---|\n".to_owned();
    let mut functions: Vec<&str> = routes.iter().map(|(function, _)| *function).collect();
    functions.dedup();
    for function in functions {
        let mut paths: Vec<(&str, String)> = Vec::new();
        for (_, route) in routes.iter().filter(|(of, _)| *of == function) {
            match paths.iter_mut().find(|(path, _)| *path == route.path) {
                Some((_, methods)) => *methods = format!("{methods}` `{}", route.method),
                None => paths.push((route.path, route.method.to_owned())),
            }
        }
        let routes: Vec<String> =
            paths.iter().map(|(path, methods)| format!("`{methods} {path}`")).collect();
        // Writing to a string does not fail.
        let _ = writeln!(table, "| `{function}` | {} |", routes.join(", "));
    }
    table
}

/// The table `[workspace.metadata.lambda.watch.router]`: the emulator has no `$default` route, so the fallback's paths
/// are listed.
fn watch_routes(routes: &[Served]) -> String {
    let mut table: BTreeMap<String, &str> = BTreeMap::new();
    table.insert("/".to_owned(), FALLBACK);
    table.insert("/{*path}".to_owned(), FALLBACK);
    for (function, route) in routes.iter().filter(|(function, _)| *function != FALLBACK) {
        let path = gateway_path(route.path);
        let prefix = path.trim_end_matches("/{proxy+}");
        if !prefix.starts_with("/api/v1") {
            table.insert(format!("{prefix}/{{*path}}"), function);
            continue;
        }
        for prefix in [prefix.to_owned(), prefix.replace("/api/v1", "/api/dev")] {
            table.insert(format!("{prefix}/{{*path}}"), function);
            table.insert(prefix, function);
        }
    }
    table.iter().map(|(path, function)| format!("\"{path}\" = \"{function}\"\n")).collect()
}

/// Replaces what stands between the first `marks[0]` in `file` and the next `marks[1]` by `text`.
fn replace(root: &Path, file: &str, marks: [&str; 2], text: &str) -> Result<(), LocalError> {
    let old = fs::read_to_string(root.join(file)).map_err(failed(file))?;
    let parts = old.split_once(marks[0]).and_then(|(before, rest)| {
        let end = rest.find(marks[1])?;
        Some((before, rest.get(end..)?))
    });
    let Some((before, after)) = parts else {
        return Err(LocalError::new(format!("{file} has no part between {marks:?}.")));
    };
    write(root, file, &format!("{before}{}{text}{after}", marks[0]))
}

fn write(root: &Path, file: &str, text: &str) -> Result<(), LocalError> {
    fs::write(root.join(file), text).map_err(failed(file))
}

fn failed(file: &str) -> impl Fn(std::io::Error) -> LocalError {
    move |error| LocalError::new(format!("{file} cannot be written: {error}."))
}
