//! `cargo bench-lambda [FUNCTION]...`: runs release binaries as Lambda does, and compares them with a function that
//! does nothing, `tests/bench/floor`.
//!
//! Each function has its own Runtime API and its own core; the local cloud is behind TLS. The cases alternate in
//! rounds, so that other load on the machine affects all alike. Read the ratios. Without arguments it writes
//! `lambda.md`.

mod case;
mod delayed;
mod process;
mod report;
mod tls;

use std::{fs, path::PathBuf, process::Command};

use bench::{
    Result, error, print,
    service::{EMAIL, LocalService, PASSWORD, Tables, call},
    write_page,
};
use bytes::Bytes;
use dev::seed;
use runtime::Clock;
use serde_json::{Value, json};

use case::Case;
use delayed::Delayed;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const USUAL: [&str; 5] = ["fallback", "auth", "courses", "sms", "canary"];
/// The events of each function; without an event, only the start is measured.
const EVENTS: [(&str, &str); 10] = [
    ("fallback", "health"),
    ("auth", "current-user"),
    ("auth", "login"),
    ("courses", "search-all"),
    ("sms", "list"),
    ("committees", "list"),
    ("users", "activity"),
    ("files", "my-files"),
    ("dispatcher", "sweep"),
    ("worker", "sweep"),
];
/// The name of the case that is also measured with a delayed store.
const AUTHENTICATED_READ: &str = "auth, current-user";
const ROUNDS: usize = 15;

fn main() -> Result<()> {
    process::leave_last_core()?;
    let functions: Vec<String> = std::env::args().skip(1).collect();
    bench::process::runtime(&[String::new()], &[""])?.block_on(run(functions))
}

async fn run(named: Vec<String>) -> Result<()> {
    let mut service = LocalService::start(Tables::Memory, &[]).await?;
    seed::fill(&service.settings.setup(Clock::default())?).await?;
    let body = json!({ "email": EMAIL, "password": PASSWORD });
    let login = call(&service.edge, "POST", "/auth/login", "", &body).await?.cost;
    let plain = service.settings.get("AWS_ENDPOINT_URL").unwrap_or_default();
    let cloud = plain.trim_start_matches("http://").parse().map_err(error)?;
    let bundle = service.folder.path().join("bundle.pem");
    let endpoint = tls::open(cloud, &bundle).await?;
    service.settings.set("AWS_ENDPOINT_URL", endpoint);
    service.settings.set("SSL_CERT_FILE", bundle.display().to_string());
    service.settings.set("CANARY_URL", "http://127.0.0.1");

    let mut cases = vec![floor(&service)?];
    let usual = USUAL.map(str::to_owned).to_vec();
    for function in if named.is_empty() { usual } else { named.clone() } {
        cases.extend(cases_of(&service, &function)?);
    }
    let mut delayed = Delayed::new(&service)?;
    for _ in 0..ROUNDS {
        for case in &mut cases {
            let name = case.name.clone();
            let failed = |cause| error(format!("{name}: {cause}"));
            case.measure_round().await.map_err(failed)?;
        }
        if let Some(case) = cases.iter().find(|case| case.name == AUTHENTICATED_READ) {
            delayed.measure_round(&service, case).await?;
        }
    }
    for case in &mut cases {
        case.measure_memory().await?;
    }
    let page = report::page(&cases, &delayed, login);
    print(&page);
    if named.is_empty() {
        write_page("lambda", &page)?;
    }
    Ok(())
}

fn floor(service: &LocalService) -> Result<Case> {
    build(&["--manifest-path", "tests/bench/floor/Cargo.toml", "--target-dir", "target/floor"])?;
    let path = PathBuf::from(ROOT).join("target/floor/release/floor");
    let event = event(service, "fallback", "health")?;
    Case::new("floor", path, Vec::new(), Some(("health", event)))
}

fn cases_of(service: &LocalService, function: &str) -> Result<Vec<Case>> {
    build(&["--package", function])?;
    let path = PathBuf::from(ROOT).join("target/release").join(function);
    let settings = service.settings.iter();
    let environment: Vec<_> = settings.map(|(name, value)| (name.clone(), value.clone())).collect();
    let events: Vec<_> = EVENTS.iter().filter(|(owner, _)| *owner == function).collect();
    if events.is_empty() {
        return Ok(vec![Case::new(function, path, environment, None)?]);
    }
    let case = |(_, name): &(&str, &'static str)| {
        let event = event(service, function, name)?;
        Case::new(function, path.clone(), environment.clone(), Some((name, event)))
    };
    events.into_iter().map(case).collect()
}

/// The event `events/<function>/<name>.json` with the administrator's token.
fn event(service: &LocalService, function: &str, name: &str) -> Result<Bytes> {
    let path = PathBuf::from(ROOT).join(format!("events/{function}/{name}.json"));
    let text = fs::read_to_string(path).map_err(error)?;
    let mut event: Value = serde_json::from_str(&text).map_err(error)?;
    event["rawQueryString"] = "".into();
    if let Some(token) = event.pointer_mut("/headers/authorization") {
        *token = service.token.clone().into();
    }
    Ok(event.to_string().into())
}

fn build(what: &[&str]) -> Result<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--release", "--locked"]).args(what);
    match cargo.current_dir(ROOT).status().map_err(error)?.success() {
        true => Ok(()),
        false => Err(error(format!("{cargo:?} failed"))),
    }
}
