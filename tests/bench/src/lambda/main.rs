//! `cargo bench-lambda [FUNCTION]...`: runs release binaries as Lambda does, and compares them with a function that
//! does nothing, `tests/bench/floor`.
//!
//! Each function has its own Runtime API and its own core; the local cloud is behind TLS. The cases alternate in
//! rounds, so that other load on the machine affects all alike. Read the ratios. Without arguments it writes
//! `lambda.md`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod function;
mod tls;

use std::{fs, path::PathBuf, process::Command};

use bench::{Result, table, write_page};
use dev::home::LocalSettings;
use serde_json::{Value, json};
use tests::{PASSWORD, World};

use crate::function::Case;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const USUAL: [&str; 7] =
    ["fallback", "auth", "courses", "registrations", "certificates", "sms", "canary"];
/// The events of each function; without an event, only the start is measured.
const EVENTS: [(&str, &str); 13] = [
    ("fallback", "health"),
    ("auth", "show-current-user"),
    ("auth", "login"),
    ("courses", "search-courses"),
    ("registrations", "list-my-registrations"),
    ("sms", "list-sms"),
    ("certificates", "show-certificate"),
    ("certificates", "download-certificate"),
    ("committees", "list-committees"),
    ("users", "list-activity"),
    ("files", "list-my-files"),
    ("dispatcher", "sweep"),
    ("worker", "sweep"),
];
/// The calls of each round, the last of which shows the memory.
const CALLS: [u32; 11] = [150, 150, 150, 150, 150, 150, 150, 150, 150, 150, 1800];
const EMAIL: &str = "admin@example.org";

// On one thread, which stays on its cores.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    function::leave_last_core()?;
    let named: Vec<String> = std::env::args().skip(1).collect();
    let world = World::new().await;
    world.seed().await;
    let cloud = world.setting("AWS_ENDPOINT_URL").trim_start_matches("http://").parse()?;
    let bundle = world.folder().join("bundle.pem");
    let endpoint = tls::open(cloud, &bundle).await?;
    let mut settings = world.settings();
    settings.set("AWS_ENDPOINT_URL", endpoint);
    settings.set("SSL_CERT_FILE", bundle.display().to_string());
    settings.set("CANARY_URL", "http://127.0.0.1");
    settings.set("RATE_LIMIT", "4000000000");
    let token = world.admin().await.token().to_owned();

    let mut cases = vec![floor(&token)?];
    let usual = USUAL.map(str::to_owned).to_vec();
    for function in if named.is_empty() { &usual } else { &named } {
        cases.extend(cases_of(&settings, function, &token)?);
    }
    for calls in CALLS {
        for case in &mut cases {
            let failed = format!("{} failed", case.name());
            case.measure_round(calls).await.map_err(|cause| format!("{failed}: {cause}"))?;
        }
    }
    let targets = cases[1..].iter().flat_map(|case| targets_of(case, &cases[0]));
    let page = format!(
        "# Functions as Lambda runs them, beside one that does nothing\n\n\
        This page is for engineers who change the start of a function or the path of a request. Written by \
        `cargo bench-lambda`. Times are milliseconds of one machine: read the ratios to the floor, a bare `lambda_http` \
        function.\n\n{}\nMemory is the peak after 1,800 calls, of sign-ins after 120.\n\n## Targets\n\n{}",
        figures(&cases),
        table(&["what", "measured", "target", ""], targets)
    );
    println!("{page}");
    if named.is_empty() {
        write_page("lambda", &page)?;
    }
    Ok(())
}

fn floor(token: &str) -> Result<Case> {
    build(&["--manifest-path", "tests/bench/floor/Cargo.toml", "--target-dir", "target/floor"])?;
    let path = PathBuf::from(ROOT).join("target/floor/release/floor");
    let (function, event) = ("floor".to_owned(), event("fallback", "health", token)?.into());
    Ok(Case { function, event_name: "health".to_owned(), path, event, ..Case::default() })
}

fn cases_of(settings: &LocalSettings, function: &str, token: &str) -> Result<Vec<Case>> {
    build(&["--package", function])?;
    let mut events: Vec<_> = EVENTS.iter().filter(|(owner, _)| *owner == function).collect();
    if events.is_empty() {
        events.push(&("", ""));
    }
    let case = |(_, name): &(&str, &str)| {
        let event = if name.is_empty() { String::new() } else { event(function, name, token)? };
        Ok(Case {
            function: function.to_owned(),
            event_name: (*name).to_owned(),
            path: PathBuf::from(ROOT).join("target/release").join(function),
            environment: settings
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            event: event.into(),
            ..Case::default()
        })
    };
    events.into_iter().map(case).collect()
}

/// The event `events/<function>/<name>.json` with the administrator's token, address and password.
fn event(function: &str, name: &str, token: &str) -> Result<String> {
    let path = PathBuf::from(ROOT).join(format!("events/{function}/{name}.json"));
    let mut event: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    event["rawQueryString"] = "".into();
    if let Some(header) = event.pointer_mut("/headers/authorization") {
        *header = token.into();
    }
    if name == "login" {
        event["body"] = json!({ "email": EMAIL, "password": PASSWORD }).to_string().into();
    }
    Ok(event.to_string())
}

fn build(what: &[&str]) -> Result<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--release", "--locked"]).args(what);
    if cargo.current_dir(ROOT).status()?.success() {
        Ok(())
    } else {
        Err(format!("{cargo:?} failed").into())
    }
}

/// A figure of a case.
type Figure = fn(&Case) -> f64;

const START_CPU: Figure = |case| case.start_cpu.milliseconds(0.5);
const START_FAULTS: Figure = |case| case.start_faults.quantile(0.5);
const FIRST: Figure = |case| case.first.milliseconds(0.5);
const WARM: Figure = |case| case.warm.milliseconds(0.5);
const CALL_CPU: Figure = |case| case.call_cpu.milliseconds(0.5);

/// The columns of the table, and whether each has its ratio to the floor beside it.
const COLUMNS: [(&str, Figure, bool); 7] = [
    ("start CPU", START_CPU, true),
    ("start page faults", START_FAULTS, true),
    ("first", FIRST, false),
    ("p50", WARM, true),
    ("p99", |case| case.warm.milliseconds(0.99), false),
    ("CPU per call", CALL_CPU, true),
    ("memory MB", |case| case.memory, false),
];

fn figures(cases: &[Case]) -> String {
    let mut heads = vec!["function, event"];
    let mut rows: Vec<Vec<String>> = cases.iter().map(|case| vec![case.name()]).collect();
    for (head, figure, has_ratio) in COLUMNS {
        heads.extend([head].into_iter().chain(has_ratio.then_some("÷ floor")));
        for (row, case) in rows.iter_mut().zip(cases) {
            row.push(format!("{:.2}", figure(case)));
            row.extend(has_ratio.then(|| format!("{:.2}", figure(case) / figure(&cases[0]))));
        }
    }
    table(&heads, rows)
}

/// The targets of one case, as rows.
fn targets_of(case: &Case, floor: &Case) -> Vec<[String; 4]> {
    let name = case.name();
    let row = |what: &str, value: f64, most: f64| {
        let verdict = if value <= most { "met" } else { "**missed**" };
        let (value, most) = (format!("{value:.2}"), format!("≤ {most:.2}"));
        [format!("{name}: {what}"), value, most, verdict.to_owned()]
    };
    let ratio = |figure: Figure| figure(case) / figure(floor);
    let memory = match name.as_str() {
        "auth, login" => 40.0,
        "sms, list-sms" => 20.0,
        _ => 16.0,
    };
    // It has more code than the others.
    let start = if case.function == "registrations" { 3.6 } else { 3.5 };
    let mut rows = vec![
        row("start CPU ÷ floor", ratio(START_CPU), start),
        row("start page faults ÷ floor", ratio(START_FAULTS), 4.0),
        row("memory, MB", case.memory, memory),
    ];
    if name == "fallback, health" {
        rows.push(row("p50 ÷ floor", ratio(WARM), 1.3));
    }
    if name == "auth, show-current-user" {
        rows.push(row("first ÷ its p50", FIRST(case) / WARM(case), 2.5));
        rows.push(row("CPU per call ÷ floor", ratio(CALL_CPU), 12.0));
    }
    rows
}
