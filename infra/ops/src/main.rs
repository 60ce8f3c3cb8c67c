//! `cargo ops <environment> <command>`: the command line, described in infra/deploy.md and infra/tasks.md.

use std::{collections::HashMap, fs, process::ExitCode};

use canary::{AwsApi, SignIn, Visitor};
use common::ErrorCode;
use domain::Instant;
use ops::{
    Check, Expectations, First, Kind, LeadingKeys, Parameters, Reason, Replayed, StackParameters,
    Stage,
};
use runtime::{Aws, Clock, Key, Startup, log_for_people};
use store::{Setup, Store};

const USAGE: &str = "cargo ops <dev|staging|prod|local> …
    preflight                     checks account and region before the first deployment; changes nothing
    policies                      finds out, as the role PolicyCheckRole, what policies hold inside a transaction
    keys                          creates missing keys; existing ones are kept
    keys check [names] [cpanel]   lists missing and inconsistent keys; names: missing ones, without reading them;
                                  cpanel: includes the panel's token
    keys announce|use|retire <k>  rotates a key in three steps; <k>: signing sealing cursor outbox edge
    keys retire <k> disclosed     retires a key that a restored table may need, because others may have it
    keys copy                     copies all keys to Parameter Store of ExportRegion; every change of keys does that, too
    keys replace <k>              replaces a disclosed key at once; <k>: signing cursor
    bootstrap <file.json>         creates the first committee and super admin, who gets a mail
    canary                        creates the account that the canary signs in with
    smoke <url>                   tests a deployed URL as a client, such as https://…/api/v1
    end-sessions <address>        ends all sessions of an account whose token or device was stolen
    erase-again <table>           erases accounts that a restore brought back, by the audit of the table before
    since <table> <time>          lists what a restore undid, by the table before; opts out and stops mails again
    reseal                        seals secrets at rest under the newest sealing key
    dead-letters [replay [key]]   lists or retries work that failed for a day
    events replay <queue>         lets the worker handle the events that it did not get, and deletes them
    sms-attributes <role> [limit] turns on delivery receipts of text messages; limit: dollars a month";

#[tokio::main]
async fn main() -> ExitCode {
    log_for_people();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [stage, words @ ..] => match stage.parse() {
            Ok(stage) => run(stage, words).await,
            Err(sentence) => Err(format!("{sentence}\n\n{USAGE}")),
        },
        [] => Err(USAGE.to_owned()),
    };
    let (sentence, code) = match outcome {
        Ok(sentence) => (sentence, ExitCode::SUCCESS),
        Err(sentence) => (sentence, ExitCode::FAILURE),
    };
    print(&sentence);
    code
}

async fn run(stage: Stage, words: &[&str]) -> Result<String, String> {
    match words {
        ["keys", ..] if stage == Stage::Local => {
            Err("The keys of the local cloud are in its data folder.".to_owned())
        }
        ["keys"] => make_keys(stage).await,
        ["keys", "check", words @ ..] => check_keys(stage, words).await,
        ["keys", "copy"] => match elsewhere(stage)? {
            Some(_) => Ok(copy_keys(stage).await?.trim_end().to_owned()),
            None => Err("ExportRegion is not set in samconfig.toml.".to_owned()),
        },
        ["keys", verb, kind] => change_keys(stage, verb, kind.parse()?, Reason::Age).await,
        ["keys", "retire", kind, "disclosed"] => {
            change_keys(stage, "retire", kind.parse()?, Reason::Disclosed).await
        }
        ["preflight"] => preflight(stage).await,
        ["policies"] => policies(stage).await,
        ["bootstrap", file] => bootstrap(stage, file).await,
        ["canary"] => {
            let setup = setup(stage, "canary", canary::KEYS).await?;
            let sign_in = SignIn::of(&setup.keys).map_err(|problem| problem.to_string())?;
            let made = ops::make_canary(&setup, &sign_in).await?;
            Ok(if made {
                "The canary's account was created."
            } else {
                "The canary's account exists already."
            }
            .to_owned())
        }
        ["smoke", url] => smoke(stage, url).await,
        ["reseal"] => {
            let resealed = ops::reseal(&setup(stage, "users", users::KEYS).await?).await;
            let resealed =
                resealed.map_err(|failure| format!("Resealing stopped: {failure:?}."))?;
            Ok(format!(
                "{} secrets were resealed; {} could not be opened.",
                resealed.done, resealed.unreadable
            ))
        }
        ["end-sessions", email] => end_sessions(stage, email).await,
        ["erase-again", table] => erase_again(stage, table).await,
        ["since", table, time] => {
            let from = time.parse().map_err(|_| {
                format!("{time} is not a time in UTC, such as 2026-11-20T12:00:00Z.")
            })?;
            since(stage, table, from).await
        }
        ["dead-letters"] => dead_letters(stage).await,
        ["dead-letters", "replay"] => replay(stage, None).await,
        ["dead-letters", "replay", pk] => replay(stage, Some(pk)).await,
        ["events", "replay", queue] => replay_events(stage, queue).await,
        ["sms-attributes", role] => sms_attributes(stage, role, None).await,
        ["sms-attributes", role, limit] => {
            let limit = limit
                .parse::<u32>()
                .map_err(|_| format!("{limit} is not a whole number of dollars."))?;
            sms_attributes(stage, role, Some(limit)).await
        }
        _ => Err(USAGE.to_owned()),
    }
}

async fn make_keys(stage: Stage) -> Result<String, String> {
    let made = ops::make(&parameters(stage)?, stage, &Clock::default()).await?;
    let lines: String = made.made.iter().map(|name| format!("created {name}\n")).collect();
    let copied = copy_keys(stage).await?;
    Ok(format!("{lines}{copied}{} created, {} kept.", made.made.len(), made.kept))
}

async fn check_keys(stage: Stage, words: &[&str]) -> Result<String, String> {
    let parameters = parameters(stage)?;
    let (mut problems, fine) = match words {
        ["names", panel @ ..] => (
            ops::missing(&parameters, stage, panel_token(panel)?).await?,
            "All keys are present; their values were not read.",
        ),
        panel => (
            ops::problems(&parameters, stage, panel_token(panel)?).await?,
            "All keys are present and consistent.",
        ),
    };
    if !words.starts_with(&["names"])
        && let Some((_, elsewhere)) = elsewhere(stage)?
    {
        problems.extend(ops::not_copied(&parameters, &elsewhere, stage).await?);
    }
    if problems.is_empty() { Ok(fine.to_owned()) } else { Err(problems.join("\n")) }
}

fn panel_token(words: &[&str]) -> Result<&'static [Key], String> {
    match words {
        [] => Ok(&[]),
        ["cpanel"] => Ok(&[Key::CpanelToken]),
        _ => Err(USAGE.to_owned()),
    }
}

async fn change_keys(
    stage: Stage,
    verb: &str,
    kind: Kind,
    reason: Reason,
) -> Result<String, String> {
    let (parameters, clock) = (parameters(stage)?, Clock::default());
    match verb {
        "announce" => ops::announce(&parameters, stage, kind, &clock).await?,
        "use" => ops::take_into_use(&parameters, stage, kind).await?,
        "retire" => {
            let setup = setup(stage, "users", users::KEYS).await?;
            ops::retire(&parameters, stage, kind, &setup, reason).await?
        }
        "replace" => ops::replace(&parameters, stage, kind, &clock).await?,
        _ => return Err(USAGE.to_owned()),
    }
    let copied = copy_keys(stage).await?;
    Ok(format!("{copied}Done. Run infra/bin/restart, so that every function reads the change."))
}

/// A line with the number of keys that were written to the region of the exports; empty without one.
async fn copy_keys(stage: Stage) -> Result<String, String> {
    let Some((region, elsewhere)) = elsewhere(stage)? else { return Ok(String::new()) };
    let copied = ops::copy(&parameters(stage)?, &elsewhere, stage).await?;
    Ok(format!("{copied} keys were written in {region}.\n"))
}

/// The region of the exports of `stage`, and its parameters, if samconfig.toml names one.
fn elsewhere(stage: Stage) -> Result<Option<(String, Parameters)>, String> {
    let Stage::Deployed(name) = stage else { return Ok(None) };
    let region = StackParameters::read(name)?.text("ExportRegion").to_owned();
    if region.is_empty() {
        return Ok(None);
    }
    let mut settings = stage.settings(environment(), "users")?;
    settings.insert("AWS_REGION".to_owned(), region.clone());
    let aws = Aws::new(&settings.into_iter().collect()).map_err(|error| error.to_string())?;
    Ok(Some((region, Parameters::new(&aws))))
}

async fn bootstrap(stage: Stage, file: &str) -> Result<String, String> {
    let text =
        fs::read_to_string(file).map_err(|problem| format!("{file} cannot be read: {problem}."))?;
    let first: First =
        serde_json::from_str(&text).map_err(|problem| format!("{file} is invalid: {problem}."))?;
    let email = ops::bootstrap(&setup(stage, "users", users::KEYS).await?, first).await?;
    Ok(format!(
        "Created. {email} gets a mail with a code that sets the first password, valid for ten minutes. Request another code with \
         GET /users/reset-password?sendMethode=email&email={email}."
    ))
}

async fn end_sessions(stage: Stage, email: &str) -> Result<String, String> {
    let address = email.parse().map_err(|_| format!("{email} is not a mail address."))?;
    let store = setup(stage, "users", &[]).await?.store;
    let ended = ops::end_sessions(&store, &address, Clock::default().now()).await;
    let user = ended.map_err(|failure| match failure.code() {
        ErrorCode::UserNotFound => format!("No account has the address {email}."),
        _ => format!("No session was ended: {failure:?}."),
    })?;
    Ok(format!(
        "All sessions of {} have ended. Password and second factors are as they were.",
        user.user_id
    ))
}

/// The store with the table before, and that with the table in use.
async fn both_stores(stage: Stage, table: &str) -> Result<[Store; 2], String> {
    let mut settings = settings(stage, environment(), "users").await?;
    let restored = setup_of(settings.clone(), &[]).await?.store;
    settings.insert("RECORDS_TABLE".to_owned(), table.to_owned());
    Ok([setup_of(settings, &[]).await?.store, restored])
}

async fn since(stage: Stage, table: &str, from: Instant) -> Result<String, String> {
    let [former, restored] = both_stores(stage, table).await?;
    let found = ops::since(&former, &restored, from, Clock::default().now()).await;
    let found = found.map_err(|failure| format!("It stopped: {failure:?}."))?;
    let applied = found.applied.iter().map(|line| format!("done  {line}\n"));
    let lines = applied.chain(found.open.iter().map(|line| format!("open  {line}\n")));
    Ok(format!(
        "{}{} changes were made again, {} are yours to decide.",
        lines.collect::<String>(),
        found.applied.len(),
        found.open.len()
    ))
}

async fn erase_again(stage: Stage, table: &str) -> Result<String, String> {
    let [former, restored] = both_stores(stage, table).await?;
    let done = ops::erase_again(&former, &restored, Clock::default().now()).await;
    let done = done.map_err(|failure| format!("Erasing stopped: {failure:?}."))?;
    let kept =
        done.kept.iter().map(|id| format!("{id} is the last super admin: make another one.\n"));
    let lines = done.erased.iter().map(|id| format!("erased {id}\n")).chain(kept);
    Ok(format!("{}{} accounts were erased again.", lines.collect::<String>(), done.erased.len()))
}

async fn smoke(stage: Stage, url: &str) -> Result<String, String> {
    let mut environment = environment();
    let expected = match stage {
        Stage::Deployed(_) => Expectations::of_stack(&parameters(stage)?, stage).await?,
        Stage::Local => Expectations::of_environment(&environment),
    };
    // Read as a setting, the URL is checked to be one that a password may be sent to.
    environment.insert("CANARY_URL".to_owned(), url.to_owned());
    let setup = setup_in(stage, environment, "canary", canary::KEYS).await?;
    let sign_in = SignIn::of(&setup.keys).map_err(|problem| problem.to_string())?;
    let visitor = Visitor::new(setup.aws, url.to_owned())
        .with_edge_secret(&setup.keys)
        .map_err(|problem| problem.to_string())?;
    report(&ops::smoke(&visitor, &sign_in, &expected).await)
}

async fn preflight(stage: Stage) -> Result<String, String> {
    let api = AwsApi::new(&aws(stage)?, &Clock::default());
    let Stage::Deployed(name) = stage else {
        return Err("The local cloud needs no account.".to_owned());
    };
    let stack = StackParameters::read(name)?;
    report(&ops::preflight(&api, &parameters(stage)?, &stack, stage, &environment()).await)
}

async fn policies(stage: Stage) -> Result<String, String> {
    let settings = settings(stage, environment(), "users").await?;
    let table = settings.get("RECORDS_TABLE").cloned().unwrap_or_default();
    let found = ops::policies(&aws(stage)?, &table, Clock::default().now()).await?;
    let keys = match found.keys {
        LeadingKeys::OfPart => "the key of each part: the policies hold inside a transaction, too",
        LeadingKeys::OfAllParts => {
            "the keys of all parts: beside another item, a transaction can change an audit entry"
        }
        LeadingKeys::Absent => {
            "nothing: a transaction can write every item of the tables that the role may write"
        }
    };
    let secrets = if found.reads_secrets { "can" } else { "cannot" };
    Ok(format!(
        "Audited writes are allowed. LeadingKeys holds {keys}. Transactions {secrets} read secrets that are denied."
    ))
}

fn report(checks: &[Check]) -> Result<String, String> {
    let failed = checks.iter().filter(|check| check.problem.is_some()).count();
    for check in checks {
        print(&match &check.problem {
            None => format!("  ok   {}", check.what),
            Some(problem) => format!("  BAD  {}: {problem}", check.what),
        });
    }
    if failed == 0 {
        Ok(format!("{} of {} checks passed.", checks.len(), checks.len()))
    } else {
        Err(format!("{failed} of {} checks failed.", checks.len()))
    }
}

async fn dead_letters(stage: Stage) -> Result<String, String> {
    let dead = ops::dead_letters(&setup(stage, "users", &[]).await?)
        .await
        .map_err(|fault| fault.to_string())?;
    let lines = dead
        .iter()
        .map(|letter| format!("{}  since {}  {}\n", letter.pk, letter.since, letter.cause));
    Ok(format!("{}{} dead letters.", lines.collect::<String>(), dead.len()))
}

async fn replay(stage: Stage, pk: Option<&str>) -> Result<String, String> {
    let revived = ops::replay(&setup(stage, "users", &[]).await?, pk)
        .await
        .map_err(|fault| fault.to_string())?;
    Ok(format!("{revived} dead letters will be retried."))
}

async fn replay_events(stage: Stage, queue: &str) -> Result<String, String> {
    let api = AwsApi::new(&aws(stage)?, &Clock::default());
    let Replayed { done, dropped, failed } = ops::replay_events(&api, queue).await?;
    Ok(format!(
        "{done} events were handled, {dropped} dropped, for which the sweeps do the work; {failed} failed again and stay."
    ))
}

async fn sms_attributes(stage: Stage, role: &str, limit: Option<u32>) -> Result<String, String> {
    ops::set_sms_attributes(&aws(stage)?, role, limit).await?;
    Ok("SNS reports the delivery of every text message of this account and region.".to_owned())
}

/// The tables of the environment, and `keys` as `function` reads them.
async fn setup(stage: Stage, function: &str, keys: &[Key]) -> Result<Setup, String> {
    setup_in(stage, environment(), function, keys).await
}

async fn setup_in(
    stage: Stage,
    environment: HashMap<String, String>,
    function: &str,
    keys: &[Key],
) -> Result<Setup, String> {
    setup_of(settings(stage, environment, function).await?, keys).await
}

async fn settings(
    stage: Stage,
    environment: HashMap<String, String>,
    function: &str,
) -> Result<HashMap<String, String>, String> {
    let mut settings = stage.settings(environment, function)?;
    settings.extend(stage.tables(&parameters(stage)?).await?);
    Ok(settings)
}

async fn setup_of(settings: HashMap<String, String>, keys: &[Key]) -> Result<Setup, String> {
    let startup = Startup::read(settings.into_iter().collect(), keys).await;
    startup.and_then(Setup::new).map_err(|problem| problem.to_string())
}

fn parameters(stage: Stage) -> Result<Parameters, String> {
    Ok(Parameters::new(&aws(stage)?))
}

fn aws(stage: Stage) -> Result<Aws, String> {
    let settings = stage.settings(environment(), "users")?;
    Aws::new(&settings.into_iter().collect()).map_err(|problem| problem.to_string())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command-line tool reads its own environment, once"
)]
fn environment() -> HashMap<String, String> {
    std::env::vars().collect()
}

#[expect(clippy::print_stdout, reason = "output for the operator's terminal")]
fn print(sentence: &str) {
    println!("{sentence}");
}
