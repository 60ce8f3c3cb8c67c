//! `cargo dev watch`: the local cloud with the Lambda binaries, run by `cargo lambda watch`.

use std::{
    ffi::OsStr,
    net::{Ipv6Addr, TcpListener},
    path::Path,
    process::{ExitStatus, Stdio},
};

use tokio::process::Command;

use crate::home::LocalSettings;
use cloud::LocalError;

/// The only version known to pass `rawPath` unchanged, as API Gateway does.
const VERSION: &str = "1.9.2";

/// Runs `cargo lambda watch` on `port` until it exits; installs it below `target/` if it is missing.
///
/// # Errors
/// When it cannot be installed or started.
pub async fn run(
    root: &Path,
    port: u16,
    settings: &LocalSettings,
) -> Result<ExitStatus, LocalError> {
    let venv = root.join("target/venv-lambda");
    let own = venv.join("bin/cargo-lambda");
    let program = if is_current("cargo".as_ref()).await {
        "cargo".as_ref()
    } else {
        if !is_current(own.as_os_str()).await {
            install(&venv).await?;
        }
        own.as_os_str()
    };
    let mut watch = Command::new(program);
    watch.args(["lambda", "watch", "--disable-cors", "--invoke-address", address()]);
    watch.args(["--invoke-port", &port.to_string()]);
    watch.current_dir(root).envs(settings.iter()).kill_on_drop(true);
    let failed = |error| LocalError::new(format!("cargo lambda watch cannot be run: {error}."));
    watch.spawn().map_err(failed)?.wait().await.map_err(failed)
}

/// The address at which `cargo lambda invoke` looks.
fn address() -> &'static str {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() { "::1" } else { "127.0.0.1" }
}

/// Whether `program`, which is cargo or cargo-lambda, runs the right version of `cargo lambda`.
async fn is_current(program: &OsStr) -> bool {
    let mut version = Command::new(program);
    version.args(["lambda", "--version"]).stderr(Stdio::null());
    let expected = format!("cargo-lambda {VERSION} ");
    version.output().await.is_ok_and(|output| output.stdout.starts_with(expected.as_bytes()))
}

/// Installs it into a virtual environment, because many systems refuse to install packages outside of one (PEP 668).
async fn install(venv: &Path) -> Result<(), LocalError> {
    let package = format!("cargo-lambda=={VERSION}");
    let create = [OsStr::new("-m"), OsStr::new("venv"), venv.as_os_str()];
    let install = ["-m", "pip", "install", "--quiet", &package].map(OsStr::new);
    for (python, words) in
        [("python3".into(), &create[..]), (venv.join("bin/python"), &install[..])]
    {
        let status = Command::new(python).args(words).status().await;
        if !status.is_ok_and(|status| status.success()) {
            return Err(LocalError::new(format!(
                "cargo lambda {VERSION} was not found and could not be installed with Python into {}. \
                 Install {package} in another way, such as `pipx install {package}`.",
                venv.display()
            )));
        }
    }
    Ok(())
}
