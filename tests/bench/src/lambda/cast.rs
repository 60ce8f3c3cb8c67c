//! Who is measured: what is built for it, and which events it is given.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use bench::trouble;
use flate2::{Compression, write::DeflateEncoder};
use local::Trouble;

use crate::{
    ROOT,
    measure::{Case, Whose},
    process::Program,
    stage::Stage,
};

/// The functions that are measured when nobody names others.
pub(crate) const USUAL: [&str; 5] = ["fallback", "auth", "courses", "sms", "canary"];
/// What is asked of a function, by the name of its event; of whom nothing is, the start alone is measured.
const EVENTS: [(&str, &str, &str); 10] = [
    ("fallback", "health", "GET /health"),
    ("auth", "current-user", "GET /auth/current-user"),
    ("auth", "check", "GET /auth/check"),
    ("auth", "login", "POST /auth/login"),
    ("courses", "search-all", "GET /courses/search-all"),
    ("sms", "list", "GET /sms"),
    ("committees", "list", "GET /committees"),
    ("users", "activity", "GET /users/activity"),
    ("files", "my-files", "GET /files/my-files"),
    ("dispatcher", "sweep", "an empty sweep"),
];
/// What DynamoDB takes for a small read.
const STORE_ANSWERS_IN: Duration = Duration::from_millis(4);
/// A call of these is dear by intent: it hashes a password.
const LOGIN: &str = "login";

/// Builds `functions` as they are deployed, but for this machine, and says what to measure of them.
pub(crate) fn ours(stage: &Stage, functions: &[String]) -> Result<Vec<Case>, Trouble> {
    let mut cases = Vec::new();
    for function in functions {
        build(&["--package", function])?;
        let path = PathBuf::from(ROOT).join("target/release").join(function);
        let program = |environment| Program {
            path: path.clone(),
            arguments: Vec::new(),
            environment,
        };
        let case = |name: String, event| Case {
            name,
            whose: Whose::Ours,
            program: program(stage.environment()),
            event,
            store_answers_in: None,
            calls: 150,
            memory_calls: 2000,
            zip: 0,
        };
        let zip = deflated(&path)?;
        let events: Vec<_> = EVENTS
            .iter()
            .filter(|(owner, ..)| owner == function)
            .collect();
        if events.is_empty() {
            cases.push(Case {
                zip,
                ..case(format!("`{function}`, started"), None)
            });
        }
        for (_, event, name) in events {
            let (calls, memory_calls) = if *event == LOGIN {
                (10, 60)
            } else {
                (150, 2000)
            };
            let asked = stage.event(&format!("{function}/{event}"))?;
            cases.push(Case {
                calls,
                memory_calls,
                zip,
                ..case(format!("`{function}`, {name}"), Some(asked))
            });
        }
        if function == "auth" {
            let asked = stage.event("auth/current-user")?;
            let late = case(
                "`auth`, GET /auth/current-user, store answers in 4 ms".to_owned(),
                Some(asked),
            );
            cases.push(Case {
                store_answers_in: Some(STORE_ANSWERS_IN),
                calls: 30,
                memory_calls: 1,
                zip,
                ..late
            });
            let keys = case("`auth`, started, keys from SSM".to_owned(), None);
            cases.push(Case {
                program: program(stage.environment_with_parameters()),
                zip,
                ..keys
            });
        }
    }
    Ok(cases)
}

/// The bare hello.
pub(crate) fn floor(stage: &Stage) -> Result<Case, Trouble> {
    let root = Path::new(ROOT);
    let (manifest, target) = (
        root.join("tests/bench/floor/Cargo.toml"),
        root.join("target/floor"),
    );
    build(&[
        "--manifest-path",
        &manifest.display().to_string(),
        "--target-dir",
        &target.display().to_string(),
    ])?;
    let path = target.join("release/floor");
    Ok(Case {
        name: "hello, a bare `lambda_http`".to_owned(),
        whose: Whose::Floor,
        zip: deflated(&path)?,
        program: Program {
            path,
            arguments: Vec::new(),
            environment: Vec::new(),
        },
        event: Some(stage.event("fallback/health")?),
        store_answers_in: None,
        calls: 150,
        memory_calls: 2000,
    })
}

fn build(what: &[&str]) -> Result<(), Trouble> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--release", "--locked"])
        .args(what)
        .current_dir(ROOT);
    run(&mut cargo).map(drop)
}

/// What `command` says, which succeeds.
fn run(command: &mut Command) -> Result<String, Trouble> {
    let output = command.output().map_err(|error| {
        Trouble::new(format!(
            "{} cannot be run: {error}.",
            command.get_program().display()
        ))
    })?;
    let (said, complained) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if output.status.success() {
        Ok(said.into_owned())
    } else {
        Err(Trouble::new(format!(
            "{command:?} failed: {said}{complained}"
        )))
    }
}

/// How long the package is, but for the hundred bytes around its one file.
fn deflated(binary: &Path) -> Result<usize, Trouble> {
    let bytes = fs::read(binary)
        .map_err(|error| Trouble::new(format!("{} cannot be read: {error}.", binary.display())))?;
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&bytes).map_err(trouble)?;
    Ok(packed.finish().map_err(trouble)?.len())
}
