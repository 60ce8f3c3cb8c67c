//! `cargo dev watch`: the local cloud with the Lambda binaries, run by `cargo lambda watch`.

use std::{path::Path, process::ExitStatus};

use tokio::process::Command;

use crate::home::LocalSettings;
use cloud::LocalError;

/// The only version known to pass `rawPath` unchanged, as API Gateway does.
const CARGO_LAMBDA: &str = "cargo-lambda==1.9.2";

/// Runs `cargo lambda watch` on `port` until it exits; installs it if it is missing.
///
/// # Errors
/// When it cannot be installed or started.
pub async fn run(
    root: &Path,
    port: u16,
    settings: &LocalSettings,
) -> Result<ExitStatus, LocalError> {
    if !has_cargo_lambda().await {
        install().await?;
    }
    let mut watch = Command::new("cargo");
    watch.args([
        "lambda",
        "watch",
        "--invoke-address",
        "127.0.0.1",
        "--invoke-port",
        &port.to_string(),
        "--disable-cors",
    ]);
    watch.current_dir(root).envs(settings.iter()).kill_on_drop(true);
    let failed = |error| LocalError::new(format!("cargo lambda watch cannot be run: {error}."));
    watch.spawn().map_err(failed)?.wait().await.map_err(failed)
}

async fn has_cargo_lambda() -> bool {
    let mut version = Command::new("cargo");
    version
        .args(["lambda", "--version"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    version.status().await.is_ok_and(|status| status.success())
}

async fn install() -> Result<(), LocalError> {
    let installed = Command::new("pip").args(["install", "--quiet", CARGO_LAMBDA]).status().await;
    if installed.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(LocalError::new(format!(
        "cargo lambda is missing and could not be installed: run `pip install {CARGO_LAMBDA}`."
    )))
}
