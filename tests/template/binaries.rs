//! Sends unusual events to the real binaries as Lambda does: through lambda_runtime, lambda_http and the guard.
#![expect(clippy::print_stdout, reason = "says that a test was skipped")]

use std::{
    collections::{HashMap, hash_map::Entry},
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use bytes::Bytes;
use cloud::runtime_api::RuntimeApi;
use serde_json::{Value, json};
use tests::{LambdaAnswer, World};

use crate::{ROOT, entries};

/// The process of a function and its Runtime API. Dropping it ends the process.
struct Function {
    api: RuntimeApi,
    process: Child,
}

impl Drop for Function {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Function {
    async fn start(binaries: &Path, name: &str, world: &World) -> Self {
        let mut api = RuntimeApi::open().await.expect("a port");
        let process = Command::new(binaries.join(name))
            .env_clear()
            .envs(world.settings().iter())
            .env("EDGE", "optional")
            .env("AWS_LAMBDA_RUNTIME_API", api.address.to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", name)
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")
            .spawn()
            .expect("the binary starts");
        api.wait_for_next().await.expect("the function is ready");
        Self { api, process }
    }

    async fn call(&mut self, event: &Value) -> LambdaAnswer {
        let event = Bytes::from(event.to_string());
        let (_, answer) = self.api.call(&event).await.expect("a response");
        self.api.wait_for_next().await.expect("the next event");
        serde_json::from_slice(&answer).expect("a complete response")
    }
}

/// A command of cargo in the root of the workspace.
fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(ROOT);
    // Cargo describes the package of a running test in its environment, and the build script of ring runs again when
    // that differs: then half of the workspace would be compiled again, here and in the next build.
    for name in [
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_LINKS",
        "CARGO_PKG_NAME",
        "CARGO_PKG_VERSION_MAJOR",
        "CARGO_PKG_VERSION_MINOR",
        "CARGO_PKG_VERSION_PATCH",
        "CARGO_PKG_VERSION_PRE",
    ] {
        cargo.env_remove(name);
    }
    cargo
}

/// Builds the binaries as they are now, in the profile of this test, and returns their folder.
fn binaries() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.ancestors().nth(2).expect("target/<profile>/deps");
    let profile = folder.file_name().map(|name| name.to_string_lossy().replace("debug", "dev"));
    let mut cargo = cargo();
    // With all targets, so that the features are those of the test build and nothing is compiled twice.
    cargo.args(["build", "--workspace", "--all-targets", "--quiet"]);
    cargo.args(["--profile", &profile.expect("a profile")]);
    cargo.env("CARGO_TARGET_DIR", folder.parent().expect("target"));
    assert!(cargo.status().is_ok_and(|status| status.success()), "cargo build");
    folder.to_owned()
}

/// The function to which the gateway routes `path`.
fn function_of(path: &str) -> &'static str {
    let path = path.strip_prefix("/api/v1/");
    let mut names = ["auth", "committees", "users"].into_iter();
    names.find(|name| path.is_some_and(|path| path.starts_with(name))).unwrap_or("fallback")
}

/// A port that is free now.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port().to_string()
}

fn read(name: &str) -> Value {
    serde_json::from_str(&crate::read(&format!("events/{name}"))).expect("the event is JSON")
}

#[tokio::test]
async fn real_binaries_unusual_event_returns_enveloped_response() {
    let (world, binaries) = (World::new().await, binaries());
    let mut functions = HashMap::new();
    let odd = entries("events/odd").into_iter().map(|name| format!("odd/{name}"));
    let mut events: Vec<(String, Value)> = odd.map(|name| (name.clone(), read(&name))).collect();
    for byte in b' '..=0x7f {
        let mut event = read("fallback/health.json");
        event["rawQueryString"] = json!(format!("a={}b", char::from(byte)));
        events.push((format!("query with byte {byte:#x}"), event));
    }
    for (field, value) in [
        ("/requestContext/http/method", "GE T"),
        ("/requestContext/http/sourceIp", "nowhere"),
        ("/rawPath", "no-slash"),
        ("/headers/host", "a b:c:d"),
        ("/headers/x-forwarded-proto", "no scheme"),
        ("/headers/user-agent", "Amélie"),
    ] {
        let mut event = read("fallback/health.json");
        if let Some(name) = field.strip_prefix("/headers/") {
            event["headers"][name] = json!(value);
        } else {
            *event.pointer_mut(field).expect("the field is there") = json!(value);
        }
        events.push((format!("{field} = {value}"), event));
    }
    events.push(("no gateway event".to_owned(), json!({})));
    for (name, event) in events {
        let function = function_of(event["rawPath"].as_str().unwrap_or_default());
        let function = match functions.entry(function) {
            Entry::Occupied(started) => started.into_mut(),
            Entry::Vacant(free) => free.insert(Function::start(&binaries, function, &world).await),
        };
        let answer = function.call(&event).await;
        let malformed = ["/method = ", "/sourceIp = ", "/rawPath = ", "no gateway event"];
        let is_malformed = malformed.iter().any(|part| name.contains(part));
        let fits = match answer.status_code {
            400 => !name.starts_with("query"),
            200 => !is_malformed,
            status => status < 500 && !is_malformed && !name.starts_with("query"),
        };
        assert!(fits, "{name}: {answer:?}");
        for header in ["x-request-id", "x-powered-by", "etag", "content-type"] {
            assert!(answer.headers.contains_key(header), "{name}: {header}");
        }
        assert!(!is_malformed || answer.headers.contains_key("x-ratelimit-limit"), "{name}");
        let body: Value = serde_json::from_str(&answer.body).expect("the body is JSON");
        assert_eq!(body["code"], answer.status_code, "{name}");
    }
}

/// Runs `cargo dev` with `arguments` and without a terminal. Returns whether it succeeded, and its output.
fn dev(binaries: &Path, folder: &Path, arguments: &[&str]) -> (bool, String) {
    let run = Command::new(binaries.join("dev"))
        .args(arguments)
        .env_clear()
        .env("DATA_DIR", folder)
        .env("PORT", free_port())
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    let output = String::from_utf8_lossy(&run.stdout).into_owned();
    (run.status.success(), output)
}

#[test]
fn cargo_dev_without_terminal_resets_only_with_yes() {
    let binaries = binaries();
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("data");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("dynamodb.sqlite"), "").expect("a file");

    let (is_done, output) = dev(&binaries, &folder, &["reset"]);
    assert!(!is_done && output.contains("--yes"), "{output}");
    assert!(folder.exists());
    let (is_done, output) = dev(&binaries, &folder, &["reset", "--yes"]);
    assert!(is_done && !folder.exists(), "{output}");

    let (is_done, output) = dev(&binaries, &folder, &["--help"]);
    assert!(is_done && output.contains("update"), "{output}");
    let (is_done, output) = dev(&binaries, &folder, &["rest"]);
    assert!(!is_done && output.contains("cargo dev rest"), "{output}");
}

/// `cargo lambda watch`. Dropping it ends the process, and the functions that it started.
struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cargo_lambda_invokes_a_function_with_the_environment_of_cargo_dev() {
    let version = cargo().args(["lambda", "--version"]).output().expect("cargo runs");
    if !version.status.success() {
        println!("skipped: cargo-lambda is not installed");
        return;
    }
    let world = World::new().await;
    world.seed().await;
    let folder = tempfile::tempdir().expect("a folder");
    // Where Cargo.toml says that it is, below the current folder.
    let data = folder.path().join(".local");
    fs::create_dir(&data).expect("a folder");
    world.settings().write_environment(world.cloud(), &data).expect("the file can be written");
    let port = free_port();
    let at = ["--invoke-address", "127.0.0.1", "--invoke-port", &port];
    let mut watch = cargo();
    watch.args(["lambda", "watch", "--ignore-changes", "--manifest-path"]);
    watch.arg(format!("{ROOT}/Cargo.toml")).args(at).current_dir(&folder);
    let _watch = Watch(watch.spawn().expect("cargo lambda starts"));
    // The first call compiles the function.
    let mut answer = None;
    for _ in 0..60 {
        let mut invoke = cargo();
        invoke.args(["lambda", "invoke", "auth", "--data-file", "events/auth/login.json"]);
        let invoked = invoke.args(at).output().expect("cargo lambda starts");
        if invoked.status.success() {
            answer = Some(invoked.stdout);
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let answer = answer.expect("the function answers");
    let answer: LambdaAnswer = serde_json::from_slice(&answer).expect("a complete response");
    let body: Value = serde_json::from_str(&answer.body).expect("the body is JSON");
    assert_eq!((answer.status_code, &body["code"]), (200, &json!(200)));
}
