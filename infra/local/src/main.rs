//! `cargo dev`: runs the service locally, in one process. `cargo dev seed` adds demonstration data; `cargo dev watch`
//! runs the Lambda binaries instead, `cargo dev reset` deletes all local data.

use std::{
    io::ErrorKind,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::ExitCode,
};

use dispatcher::Dispatcher;
use local::{
    LocalError,
    cloud::Cloud,
    delivery, edge_of, front, home,
    home::LocalSettings,
    pages::{FRONT_PATH, Pages},
    seed, watch,
};
use runtime::{Clock, log_for_people};
use serde_json::json;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> ExitCode {
    log_for_people();
    let command = std::env::args().nth(1);
    let ran = match command.as_deref() {
        None => run(Mode::OneProcess).await,
        Some("seed") => run(Mode::Seed).await,
        Some("watch") => run(Mode::Watch).await,
        Some("reset") => reset().await,
        Some(other) => Err(LocalError::new(format!(
            "There is no `cargo dev {other}`: use `cargo dev`, `cargo dev seed`, `cargo dev watch` or `cargo dev reset`."
        ))),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    OneProcess,
    Seed,
    Watch,
}

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn data_folder(settings: &LocalSettings) -> PathBuf {
    settings
        .get("DATA_DIR")
        .map_or_else(|| Path::new(ROOT).join(".local"), PathBuf::from)
}

/// Deletes the data folder, unless it is not one of `cargo dev` or a running `cargo dev` uses it.
async fn reset() -> Result<(), LocalError> {
    let settings = LocalSettings::of_environment();
    let folder = data_folder(&settings);
    let _listener = bind(port(&settings)?).await?;
    home::delete_folder(&folder)?;
    print(&format!("Deleted {}.", folder.display()));
    Ok(())
}

async fn run(mode: Mode) -> Result<(), LocalError> {
    let mut settings = LocalSettings::of_environment();
    let port = port(&settings)?;
    let root = PathBuf::from(ROOT);
    let folder = data_folder(&settings);
    // Binds the port before opening the data, so that a second instance fails early.
    let listener = match mode {
        Mode::OneProcess | Mode::Seed => bind(port).await?,
        // `cargo lambda` uses the port itself; the local pages use the next one.
        Mode::Watch => bind(port + 1).await?,
    };
    home::make_folder(&folder)?;
    let cloud = Cloud::in_folder(&folder).await?;
    settings.find(&cloud).with_keys_of(&folder)?;
    let pages_port = if mode == Mode::Watch { port + 1 } else { port };
    settings.set_default(
        "PUBLIC_URL",
        format!("http://127.0.0.1:{pages_port}{FRONT_PATH}"),
    );
    // Shorter than in production, for developers who watch.
    settings.set_default("SMS_CLAIM_SECONDS", "60");
    let clock = Clock::default();
    settings.tell(&cloud, &folder)?;
    let setup = settings.setup(clock.clone())?;
    let email = settings
        .get("LOCAL_ADMIN_EMAIL")
        .unwrap_or_else(|| "admin@example.org".to_owned());
    let password = settings
        .get("LOCAL_ADMIN_PASSWORD")
        .unwrap_or_else(|| "local-admin-passphrase".to_owned());
    home::bootstrap(&setup, &email, &password.clone().into()).await?;
    let seeded = match mode {
        Mode::Seed => seed::fill(&settings, clock.clone(), &email, &password).await?,
        Mode::OneProcess | Mode::Watch => String::new(),
    };

    let folder = folder.canonicalize().unwrap_or(folder);
    let about =
        json!({ "dataFolder": folder, "administrator": email, "processId": std::process::id() });
    let edge = edge_of(&|function| settings.setup_of(function, &cloud, clock.clone()))?;
    let deliveries = delivery::run(cloud.clone(), Dispatcher::new(&setup)?);
    print(&welcome(
        port,
        pages_port,
        &folder.display().to_string(),
        &email,
        &password,
        &seeded,
    ));
    let server = front::serve(listener, edge, Some(Pages::new(cloud, &setup, about)));
    let interrupted = tokio::signal::ctrl_c();
    match mode {
        Mode::OneProcess | Mode::Seed => tokio::select! {
            () = server => {}
            () = deliveries => {}
            _ = interrupted => print("Stopped. All data is kept in the data folder."),
        },
        Mode::Watch => tokio::select! {
            () = server => {}
            () = deliveries => {}
            ended = watch::run(&root, port, &settings) => print(&format!("cargo lambda watch exited: {}.", ended?)),
            _ = interrupted => print("Stopped. All data is kept in the data folder."),
        },
    }
    Ok(())
}

fn port(settings: &LocalSettings) -> Result<u16, LocalError> {
    let Some(text) = settings.get("PORT") else {
        return Ok(9000);
    };
    let port = text
        .parse()
        .ok()
        .filter(|port| (1..u16::MAX).contains(port));
    port.ok_or_else(|| LocalError::new("The setting PORT must be a number from 1 to 65534."))
}

async fn bind(port: u16) -> Result<TcpListener, LocalError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| {
        LocalError::new(match error.kind() {
            ErrorKind::AddrInUse => format!("Port {port} is in use, perhaps by another `cargo dev`. Set PORT to another one."),
            _ => format!("Port {port} cannot be opened: {error}."),
        })
    })
}

fn welcome(
    port: u16,
    pages_port: u16,
    folder: &str,
    email: &str,
    password: &str,
    seeded: &str,
) -> String {
    format!(
        r#"
  Halqa is ready.

    API            http://127.0.0.1:{port}/api/v1  (and /api/dev)
    API reference  http://127.0.0.1:{pages_port}/_local/api
    Inbox, faults  http://127.0.0.1:{pages_port}/_local
    Sign-in        {email}  /  {password}
    Data folder    {folder}
{seeded}
  Try it:

    curl -s http://127.0.0.1:{port}/api/v1/auth/login \
      -H 'Content-Type: application/json' \
      -d '{{"email":"{email}","password":"{password}"}}'

  Press Ctrl-C to stop.
"#
    )
}

#[expect(clippy::print_stdout, reason = "output for the developer's terminal")]
fn print(text: &str) {
    println!("{text}");
}
