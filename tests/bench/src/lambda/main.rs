//! `cargo bench-lambda [FUNCTION]...`: our release binaries as Lambda runs them, beside a function
//! that does nothing, `tests/bench/floor`.
//!
//! Each runs behind a Runtime API of its own, on a core of its own, with the embedded cloud behind
//! TLS, in rounds that take turns, so that a busy machine is busy for all. Read the ratios. Without
//! arguments it writes `lambda.md` and `lambda.svg`.

mod process;
mod report;
mod runtime_api;
mod tls;

use std::{fs, io::Write, path::PathBuf, process::Command};

use bench::{
    Result, Samples, error, print,
    service::{EMAIL, LocalService, PASSWORD, Tables},
    write_page,
};
use bytes::Bytes;
use common::Clock;
use flate2::{Compression, write::DeflateEncoder};
use local::seed;
use serde_json::{Value, json};

use process::Process;
use runtime_api::RuntimeApi;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const USUAL: [&str; 5] = ["fallback", "auth", "courses", "sms", "canary"];
/// What each function is asked; of others only the start is measured.
const EVENTS: [(&str, &str); 9] = [
    ("fallback", "health"),
    ("auth", "current-user"),
    ("auth", "login"),
    ("courses", "search-all"),
    ("sms", "list"),
    ("committees", "list"),
    ("users", "activity"),
    ("files", "my-files"),
    ("dispatcher", "sweep"),
];
const ROUNDS: usize = 15;

/// A function, an event, and what was measured of them.
struct Case {
    name: String,
    function: String,
    path: PathBuf,
    environment: Vec<(String, String)>,
    event: Option<Bytes>,
    /// Calls per round, and calls before memory is read.
    calls: [u32; 2],
    start_cpu: Samples,
    start_faults: Samples,
    first: Samples,
    warm: Samples,
    call_cpu: Samples,
    memory: f64,
    zip: f64,
}

fn main() -> Result<()> {
    process::leave_last_core()?;
    let functions: Vec<String> = std::env::args().skip(1).collect();
    bench::process::runtime(&[String::new()], &[""])?.block_on(run(functions))
}

async fn run(named: Vec<String>) -> Result<()> {
    let mut service = LocalService::start(Tables::Memory, &[]).await?;
    seed::fill(&service.settings, Clock::default(), EMAIL, PASSWORD).await?;
    let body = json!({ "email": EMAIL, "password": PASSWORD });
    let login = service.call("POST", "/auth/login", &body).await?.cost;
    let plain = service.settings.get("AWS_ENDPOINT_URL").unwrap_or_default();
    let cloud = plain.trim_start_matches("http://").parse().map_err(error)?;
    let bundle = service.folder.path().join("bundle.pem");
    let endpoint = tls::open(cloud, &bundle).await?;
    service.settings.set("AWS_ENDPOINT_URL", endpoint);
    service
        .settings
        .set("SSL_CERT_FILE", bundle.display().to_string());
    service.settings.set("CANARY_URL", "http://127.0.0.1");

    let mut cases = vec![floor(&service)?];
    let usual = USUAL.map(str::to_owned).to_vec();
    for function in if named.is_empty() {
        usual
    } else {
        named.clone()
    } {
        cases.extend(cases_of(&service, &function)?);
    }
    for _ in 0..ROUNDS {
        for case in &mut cases {
            let name = case.name.clone();
            let failed = |cause| error(format!("{name}: {cause}"));
            case.measure_round().await.map_err(failed)?;
        }
    }
    for case in &mut cases {
        case.measure_memory().await?;
    }
    let page = report::page(&cases, login);
    print(&page);
    if named.is_empty() {
        write_page("lambda", &page, &report::svg(&cases)?)?;
    }
    Ok(())
}

fn floor(service: &LocalService) -> Result<Case> {
    build(&[
        "--manifest-path",
        "tests/bench/floor/Cargo.toml",
        "--target-dir",
        "target/floor",
    ])?;
    let path = PathBuf::from(ROOT).join("target/floor/release/floor");
    let event = event(service, "fallback", "health")?;
    Case::new("floor", path, Vec::new(), Some(("health", event)))
}

fn cases_of(service: &LocalService, function: &str) -> Result<Vec<Case>> {
    build(&["--package", function])?;
    let path = PathBuf::from(ROOT).join("target/release").join(function);
    let settings = service.settings.iter();
    let environment: Vec<_> = settings
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let events: Vec<_> = EVENTS
        .iter()
        .filter(|(owner, _)| *owner == function)
        .collect();
    if events.is_empty() {
        return Ok(vec![Case::new(function, path, environment, None)?]);
    }
    let case = |(_, name): &(&str, &'static str)| {
        let event = event(service, function, name)?;
        Case::new(
            function,
            path.clone(),
            environment.clone(),
            Some((name, event)),
        )
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
    cargo
        .args(["build", "--quiet", "--release", "--locked"])
        .args(what);
    match cargo.current_dir(ROOT).status().map_err(error)?.success() {
        true => Ok(()),
        false => Err(error(format!("{cargo:?} failed"))),
    }
}

impl Case {
    fn new(
        function: &str,
        path: PathBuf,
        environment: Vec<(String, String)>,
        event: Option<(&str, Bytes)>,
    ) -> Result<Self> {
        let binary = fs::read(&path).map_err(error)?;
        let mut zip = DeflateEncoder::new(Vec::new(), Compression::best());
        zip.write_all(&binary).map_err(error)?;
        let name = event.as_ref().map_or("start alone", |(name, _)| name);
        Ok(Self {
            name: format!("{function}, {name}"),
            function: function.to_owned(),
            path,
            environment,
            // A sign-in hashes a password.
            calls: if name == "login" {
                [10, 60]
            } else {
                [150, 2000]
            },
            event: event.map(|(_, event)| event),
            start_cpu: Samples::new()?,
            start_faults: Samples::new()?,
            first: Samples::new()?,
            warm: Samples::new()?,
            call_cpu: Samples::new()?,
            memory: 0.0,
            zip: zip.finish().map_err(error)?.len() as f64 / 1e6,
        })
    }

    /// Starts the function, which asks for its first event.
    async fn start(&self) -> Result<(Process, RuntimeApi)> {
        let mut api = RuntimeApi::open().await?;
        let mut environment = self.environment.clone();
        environment.push(("AWS_LAMBDA_RUNTIME_API".to_owned(), api.address.to_string()));
        for name in [
            "FUNCTION_NAME",
            "FUNCTION_VERSION",
            "FUNCTION_MEMORY_SIZE",
            "LOG_GROUP_NAME",
            "LOG_STREAM_NAME",
        ] {
            environment.push((format!("AWS_LAMBDA_{name}"), "128".to_owned()));
        }
        let process = Process::start(&self.path, &environment)?;
        api.wait_for_next().await?;
        Ok((process, api))
    }

    async fn measure_round(&mut self) -> Result<()> {
        let (process, mut api) = self.start().await?;
        let started = process.cpu()?;
        self.start_cpu.record_time(started);
        self.start_faults.record(process.page_faults()?);
        self.memory = self.memory.max(process.peak_memory()?);
        let Some(event) = &self.event else {
            return Ok(());
        };
        self.first.record_time(call(&mut api, event).await?);
        let before = process.cpu()?;
        for _ in 0..self.calls[0] {
            self.warm.record_time(call(&mut api, event).await?);
        }
        self.call_cpu
            .record_time((process.cpu()? - before) / self.calls[0]);
        Ok(())
    }

    async fn measure_memory(&mut self) -> Result<()> {
        let Some(event) = &self.event else {
            return Ok(());
        };
        let (process, mut api) = self.start().await?;
        for _ in 0..self.calls[1] {
            call(&mut api, event).await?;
        }
        self.memory = process.peak_memory()?;
        Ok(())
    }
}

/// How long the answer to `event` took, which is a 200 if it has a status.
async fn call(api: &mut RuntimeApi, event: &Bytes) -> Result<std::time::Duration> {
    let (took, answer) = api.call(event).await?;
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
    if answer["statusCode"]
        .as_u64()
        .is_some_and(|status| status != 200)
    {
        return Err(error(format!("the function answered {answer}")));
    }
    api.wait_for_next().await?;
    Ok(took)
}
