//! `cargo dev event`: writes the API Gateway event of a request to `events/`.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::Value;

use crate::endpoints::{Endpoint, FALLBACK, endpoint_of, endpoints, gateway_route};
use cloud::LocalError;

const DOMAIN: &str = "a1b2c3d4e5.execute-api.eu-south-1.amazonaws.com";
const ADDRESS: &str = "203.0.113.7";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";

/// An event of an HTTP API in format 2.0
/// (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    version: &'a str,
    route_key: &'a str,
    raw_path: &'a str,
    raw_query_string: &'a str,
    headers: BTreeMap<&'a str, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    query_string_parameters: BTreeMap<String, String>,
    request_context: Context<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_parameters: Option<PathParameters<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    is_base64_encoded: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    account_id: &'a str,
    api_id: &'a str,
    domain_name: &'a str,
    domain_prefix: &'a str,
    http: Http<'a>,
    request_id: &'a str,
    route_key: &'a str,
    stage: &'a str,
    time: &'a str,
    time_epoch: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Http<'a> {
    method: &'a str,
    path: &'a str,
    protocol: &'a str,
    source_ip: &'a str,
    user_agent: &'a str,
}

#[derive(Serialize)]
struct PathParameters<'a> {
    proxy: &'a str,
}

/// Writes the event of the request `method` `target`, a path that may have a prefix and a query, with the JSON `body` to
/// the folder of its function in the repository at `root`. Returns the path of the file below `root`.
///
/// # Errors
/// When no function has such a route, `body` is not JSON, or the file exists or cannot be written.
pub fn write(
    root: &Path,
    method: &str,
    target: &str,
    body: Option<&str>,
) -> Result<PathBuf, LocalError> {
    let target = target.strip_prefix("/api/v1").unwrap_or(target);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let endpoints = endpoints(root)?;
    let endpoint = endpoint_of(&endpoints, method, path).ok_or_else(|| {
        LocalError::new(format!("No function has the route {method} {path}: add it first."))
    })?;
    if let Some(body) = body {
        serde_json::from_str::<Value>(body)
            .map_err(|error| LocalError::new(format!("The body is not JSON: {error}.")))?;
    }
    let file = file_of(endpoint);
    let unwritable = |error: &dyn std::fmt::Display| {
        LocalError::new(format!("{} cannot be written: {error}.", file.display()))
    };
    let event = event(endpoint, method, path, query, body).map_err(|error| unwritable(&error))?;
    let target = root.join(&file);
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(|error| unwritable(&error))?;
    }
    let mut created = File::create_new(&target).map_err(|error| unwritable(&error))?;
    writeln!(created, "{event}").map_err(|error| unwritable(&error))?;
    Ok(file)
}

/// `events/<function>/<method>-<words of the path>.json`.
fn file_of(endpoint: &Endpoint) -> PathBuf {
    let mut segments = endpoint.route.split('/');
    let method = segments.next().unwrap_or_default().trim().to_lowercase();
    let words = segments.filter(|segment| !segment.starts_with('{'));
    let name: Vec<&str> = [method.as_str()].into_iter().chain(words).collect();
    let folder = Path::new("events").join(&endpoint.function);
    folder.join(format!("{}.json", name.join("-")))
}

fn event(
    endpoint: &Endpoint,
    method: &str,
    path: &str,
    query: &str,
    body: Option<&str>,
) -> serde_json::Result<String> {
    let gateway_route = gateway_route(&endpoint.route);
    let route_key = if endpoint.function == FALLBACK {
        "$default".to_owned()
    } else {
        format!("ANY {gateway_route}")
    };
    let prefix = if gateway_route.starts_with("/api/v1") { "/api/v1" } else { "" };
    let raw_path = format!("{prefix}{path}");
    let mut headers: BTreeMap<&str, String> = [
        ("accept", "application/json"),
        ("accept-encoding", "gzip, deflate, br"),
        ("accept-language", "fr-TN,fr;q=0.8"),
        ("authorization", "Bearer <ACCESS_TOKEN>"),
        ("host", DOMAIN),
        ("user-agent", BROWSER),
        ("x-amzn-trace-id", "Root=1-6b001734-44d79b38ae2c8fb5159ccea2"),
        ("x-forwarded-for", ADDRESS),
        ("x-forwarded-port", "443"),
        ("x-forwarded-proto", "https"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into();
    if let Some(body) = body {
        headers.insert("content-length", body.len().to_string());
        headers.insert("content-type", "application/json; charset=utf-8".to_owned());
    }
    let below = path.trim_start_matches('/').split_once('/');
    serde_json::to_string_pretty(&Event {
        version: "2.0",
        route_key: &route_key,
        raw_path: &raw_path,
        raw_query_string: query,
        headers,
        query_string_parameters: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        request_context: Context {
            account_id: "123456789012",
            api_id: "a1b2c3d4e5",
            domain_name: DOMAIN,
            domain_prefix: "a1b2c3d4e5",
            http: Http {
                method,
                path: &raw_path,
                protocol: "HTTP/1.1",
                source_ip: ADDRESS,
                user_agent: BROWSER,
            },
            request_id: "Q2BVdrw7gwyeFqQ=",
            route_key: &route_key,
            stage: "$default",
            time: "20/Nov/2026:09:47:32 +0000",
            time_epoch: 1_795_168_052_512,
        },
        path_parameters: below.map(|(_, proxy)| PathParameters { proxy }),
        body,
        is_base64_encoded: false,
    })
}
