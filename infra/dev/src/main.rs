//! `cargo dev`: runs the service locally, and helps those who change it. `cargo dev --help` lists its commands.

use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use cloud::{Cloud, LocalError};
use dev::{
    delivery::{self, Consumers},
    edge_of, front, home,
    home::LocalSettings,
    operations::document,
    pages::{FRONT_PATH, Pages},
    seed, update,
};
use runtime::{Clock, log_for_people};
use serde_json::Value;
use tokio::net::TcpListener;

const USAGE: &str = "cargo dev …
    (nothing)                    runs the whole service in one process
    seed [--yes]                 adds demonstration data, once, then runs the service
    reset [--yes]                deletes the data folder
    update                       writes what is computed: sample events, tables, costs and their pages
    document                     prints the OpenAPI document as JSON, complete, for generators
    --help                       prints this text
  --yes does not ask. Settings: infra/settings.md, such as PORT and DATA_DIR.";

#[tokio::main]
async fn main() -> ExitCode {
    log_for_people();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = match words.as_slice() {
        [] => run(Seed::No).await,
        ["seed"] => run(Seed::AfterAsking).await,
        ["seed", "--yes"] => run(Seed::Yes).await,
        ["reset"] => reset(true).await,
        ["reset", "--yes"] => reset(false).await,
        ["update"] => write_computed().await,
        ["document"] => print_document(),
        ["--help" | "-h" | "help"] => {
            print(USAGE);
            Ok(())
        }
        _ => {
            Err(LocalError::new(format!("There is no `cargo dev {}`.\n\n{USAGE}", words.join(" "))))
        }
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn print_document() -> Result<(), LocalError> {
    let json = serde_json::to_string_pretty(&document()?);
    print(&json.map_err(|error| LocalError::new(format!("The document is no JSON: {error}.")))?);
    Ok(())
}

/// Whether the demonstration data is added.
#[derive(Clone, Copy, PartialEq)]
enum Seed {
    No,
    AfterAsking,
    Yes,
}

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn data_folder(settings: &LocalSettings) -> PathBuf {
    settings.get("DATA_DIR").map_or_else(|| Path::new(ROOT).join(".local"), PathBuf::from)
}

/// Deletes the data folder, unless it is not one of `cargo dev` or a running `cargo dev` uses it.
async fn reset(asks: bool) -> Result<(), LocalError> {
    let settings = LocalSettings::of_environment();
    let folder = data_folder(&settings);
    if !folder.exists() {
        print(&format!("There is no {}.", folder.display()));
        return Ok(());
    }
    let _listener = bind(port(&settings)?).await?;
    if asks {
        confirm(&format!("Delete {} with all data?", folder.display()))?;
    }
    home::delete_folder(&folder)?;
    print(&format!("Deleted {}.", folder.display()));
    Ok(())
}

/// Asks `question` in the terminal. An error unless the answer is yes.
fn confirm(question: &str) -> Result<(), LocalError> {
    let unusable = |error: io::Error| LocalError::new(format!("The terminal fails: {error}."));
    if !io::stdin().is_terminal() {
        return Err(LocalError::new(format!(
            "{question} Nothing was changed, because there is no terminal to ask in: add --yes."
        )));
    }
    let mut output = io::stdout();
    write!(output, "{question} [y/N] ").and_then(|()| output.flush()).map_err(unusable)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(unusable)?;
    if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
        Ok(())
    } else {
        Err(LocalError::new("Nothing was changed."))
    }
}

/// Writes everything that is computed from routes, document and tests.
async fn write_computed() -> Result<(), LocalError> {
    document()?;
    let cloud = Cloud::in_memory(&Path::new(ROOT).join("target/update")).await?;
    let mut settings = LocalSettings::default();
    settings.with_endpoints_of(&cloud).with_new_keys().set("PUBLIC_URL", "http://localhost:9000");
    let routes = dev::routes(&settings.setup(Clock::default())?)?;
    update::run(Path::new(ROOT), &routes)?;
    let tests = ["test", "--workspace", "--test", "api", "--", "--exact"];
    run_command(Command::new("cargo").args(tests).args(update::WRITING_TESTS).env("UPDATE", "1"))?;
    for page in ["cost", "capacity"] {
        run_command(&mut Command::new(format!("{ROOT}/infra/bin/{page}")))?;
    }
    print("Everything computed is up to date.");
    Ok(())
}

/// Runs `command` in the root of the repository.
fn run_command(command: &mut Command) -> Result<(), LocalError> {
    let status = command.current_dir(ROOT).stdout(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(LocalError::new(format!("{command:?} failed.")))
    }
}

async fn run(data: Seed) -> Result<(), LocalError> {
    document()?;
    let mut settings = LocalSettings::of_environment();
    let port = port(&settings)?;
    let folder = data_folder(&settings);
    // Binds the port before opening the data, so that a second instance fails early.
    let listener = bind(port).await?;
    let is_used = home::is_used(&folder);
    home::make_folder(&folder)?;
    let cloud = Cloud::in_folder(&folder).await?;
    settings.with_endpoints_of(&cloud).with_keys_of(&folder)?;
    settings.set_default("PUBLIC_URL", format!("http://localhost:{port}{FRONT_PATH}"));
    // Shorter than in production, for developers who watch.
    settings.set_default("SMS_CLAIM_SECONDS", "60");
    let clock = Clock::default();
    settings.write_environment(&cloud, &folder)?;
    let setup = settings.setup(clock.clone())?;
    let [email, password] = settings.administrator();
    home::bootstrap(&setup, &email, &password.clone().into()).await?;
    if data != Seed::No {
        if data == Seed::AfterAsking && is_used && !seed::is_there(&setup.store).await? {
            confirm(&format!("Add demonstration data to the data in {}?", folder.display()))?;
        }
        seed::fill(&setup).await?;
    }
    let accounts = seed::accounts(&setup.store, [&email, &password]).await?;
    let folder = folder.canonicalize().unwrap_or(folder);
    let setup_of = |function: &str| settings.setup_of(function, &cloud, clock.clone());
    let edge = edge_of(&setup_of)?;
    let deliveries = delivery::run(cloud.clone(), Consumers::new(&setup_of)?);
    print(&welcome(port, &folder.display().to_string(), &email, &password, &accounts));
    let pages = Pages::new(cloud, &setup, accounts);
    tokio::select! {
        () = front::serve(listener, edge, Some(pages)) => {}
        () = deliveries => {}
        _ = tokio::signal::ctrl_c() => print("Stopped. All data is kept in the data folder."),
    }
    Ok(())
}

fn port(settings: &LocalSettings) -> Result<u16, LocalError> {
    let Some(text) = settings.get("PORT") else {
        return Ok(9000);
    };
    let port = text.parse().ok().filter(|port| (1..u16::MAX).contains(port));
    port.ok_or_else(|| LocalError::new("The setting PORT must be a number from 1 to 65534."))
}

async fn bind(port: u16) -> Result<TcpListener, LocalError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| {
        LocalError::new(match error.kind() {
            ErrorKind::AddrInUse => format!(
                "Port {port} is in use, perhaps by another `cargo dev`. Set PORT to another one."
            ),
            _ => format!("Port {port} cannot be opened: {error}."),
        })
    })
}

fn welcome(port: u16, folder: &str, email: &str, password: &str, accounts: &[Value]) -> String {
    let mut others = String::new();
    for account in accounts.iter().filter(|account| account["email"] != email) {
        let text = |name: &str| account[name].as_str().unwrap_or_default();
        others += &format!("    {:<17}{}  /  {}\n", text("name"), text("email"), text("password"));
    }
    format!(
        r#"
  Halqa is ready.

    API            http://localhost:{port}/api/v1  (and /api/dev)
    API reference  http://localhost:{port}/_local/api
    Inbox, tables  http://localhost:{port}/_local
    Sign-in        {email}  /  {password}
    Data folder    {folder}
{others}
  Try it:

    curl -s http://localhost:{port}/api/v1/auth/login \
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
