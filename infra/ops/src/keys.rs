//! The keys of an environment: made once, and following each other while it runs.
//!
//! Functions read their parameters when they start, and at any moment some have started before a change and some
//! after. So a key comes and goes in three steps, with a deployment (a raised `KeysEpoch`) after each: it is
//! *announced*, so that all open what it will make, and none makes anything by it; it is *taken into use*; and
//! what came before is *retired*, when nothing is left that it made.

use data_encoding::{BASE64, HEXLOWER};
use domain::Instant;
use identity::{NamedKey, chance, token::PublicKey};
use runtime::{Clock, Key};
use secrecy::{ExposeSecret, SecretString};
use store::Setup;

use crate::{Parameters, Stage};

/// Every function with the keys that it starts with.
const FUNCTIONS: [(&str, &[Key]); 12] = [
    ("auth", auth::KEYS),
    ("canary", canary::KEYS),
    ("committees", committees::KEYS),
    ("courses", courses::KEYS),
    ("cpanel", cpanel::KEYS),
    ("dispatcher", dispatcher::KEYS),
    ("fallback", fallback::KEYS),
    ("files", files::KEYS),
    ("otp", otp::KEYS),
    ("sms", sms::KEYS),
    ("team", team::KEYS),
    ("users", users::KEYS),
];

/// Keys that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `signing`: what signs tokens.
    Signing,
    /// `sealing`: what seals secrets at rest.
    Sealing,
    /// `cursor`: what seals cursors.
    Cursor,
    /// `outbox`: what messages wait under.
    Outbox,
    /// `edge`: what the content network shows.
    Edge,
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "signing" => Ok(Self::Signing),
            "sealing" => Ok(Self::Sealing),
            "cursor" => Ok(Self::Cursor),
            "outbox" => Ok(Self::Outbox),
            "edge" => Ok(Self::Edge),
            _ => Err(format!(
                "There is no kind of key called {text}: there are signing, sealing, cursor, outbox and edge."
            )),
        }
    }
}

impl Kind {
    const fn key(self) -> Key {
        match self {
            Self::Signing => Key::TokenSigning,
            Self::Sealing => Key::Sealing,
            Self::Cursor => Key::Cursor,
            Self::Outbox => Key::Outbox,
            Self::Edge => Key::Edge,
        }
    }
}

/// What became of the parameters of an environment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// The names of those that were not there.
    pub made: Vec<String>,
    /// How many were there, and stay as they are.
    pub kept: usize,
}

/// The names under which `key` is kept in `stage`, one for each function that asks for it.
fn names(stage: Stage, key: Key) -> Vec<String> {
    let asking = FUNCTIONS
        .into_iter()
        .filter(|(_, keys)| keys.contains(&key) || key == Key::Edge);
    let mut names: Vec<String> = asking
        .map(|(function, _)| key.parameter(&stage.keys_path(function)))
        .collect();
    names.dedup();
    names
}

/// Where the public half of the signing key stands.
fn public_name(stage: Stage) -> String {
    Key::TokenPublic.parameter(&stage.keys_path("auth"))
}

/// Where a signing key waits that was announced.
fn next_name(stage: Stage) -> String {
    Key::TokenSigning.parameter(&stage.keys_path("next"))
}

/// The keys without which nothing starts.
const NEEDED: [Key; 6] = [
    Key::TokenSigning,
    Key::Sealing,
    Key::Cursor,
    Key::Outbox,
    Key::Edge,
    Key::Canary,
];

/// Makes every parameter of `stage` that is not there. What is there stays; a function that is new gets what the
/// others have.
///
/// # Errors
/// When SSM does not answer or refuses, or somebody else makes them at the same time: then run it again.
pub async fn make(parameters: &Parameters, stage: Stage, clock: &Clock) -> Result<Made, String> {
    let mut made = Made::default();
    for key in NEEDED {
        let names = names(stage, key);
        let there = parameters.read(&names).await?;
        let known = names.iter().find_map(|name| there.get(name)).cloned();
        let value = known.unwrap_or_else(|| new_value(key, clock.now()));
        let mut wanted: Vec<(String, SecretString)> = names
            .into_iter()
            .map(|name| (name, value.clone()))
            .collect();
        if key == Key::TokenSigning {
            wanted.push((public_name(stage), public_half(&value)?.into()));
        }
        let there = parameters
            .read(
                &wanted
                    .iter()
                    .map(|(name, _)| name.clone())
                    .collect::<Vec<_>>(),
            )
            .await?;
        for (name, value) in wanted {
            if there.contains_key(&name) {
                made.kept += 1;
            } else {
                parameters.add(&name, &value).await?;
                made.made.push(name);
            }
        }
    }
    Ok(made)
}

/// What is wrong with the parameters that a deployment of `stage` needs, and those of the keys `also`, a sentence
/// each: one is not there, functions have different ones, or tokens are signed with a key that nobody knows.
///
/// # Errors
/// When SSM does not answer or refuses.
pub async fn problems(
    parameters: &Parameters,
    stage: Stage,
    also: &[Key],
) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for key in NEEDED.iter().chain(also) {
        let names = names(stage, *key);
        let there = parameters.read(&names).await?;
        problems.extend(
            names
                .iter()
                .filter(|name| !there.contains_key(*name))
                .map(|name| format!("{name} is not in SSM.")),
        );
        if let Some(first) = names.iter().find_map(|name| there.get(name)) {
            let others = there
                .iter()
                .filter(|(_, value)| value.expose_secret() != first.expose_secret());
            problems.extend(others.map(|(name, _)| {
                format!("{name} differs from its twins: run the last change again.")
            }));
            if *key == Key::TokenSigning
                && !is_known(&public_list(parameters, stage).await?, first)?
            {
                problems.push(format!(
                    "{} does not know the key that signs.",
                    public_name(stage)
                ));
            }
        }
    }
    Ok(problems)
}

/// All functions get to know a new key of `kind`, which none uses yet. When one is announced already, nothing new
/// is: who was broken off runs it again.
///
/// # Errors
/// When the former key is not retired yet, or SSM does not answer or refuses.
pub async fn announce(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
    clock: &Clock,
) -> Result<(), String> {
    if kind == Kind::Signing {
        return announce_signing(parameters, stage, clock).await;
    }
    let mut list = listed(parameters, stage, kind).await?;
    if list.len() > 1 && is_newest(&list) {
        return Err("The former one is still there: retire it first.".to_owned());
    }
    if list.len() == 1 {
        list.push(new_key(clock.now()).to_setting());
    }
    write_list(parameters, stage, kind, &list).await
}

/// The public half first: one that nobody signs with does no harm, one that nobody knows puts everybody out.
async fn announce_signing(
    parameters: &Parameters,
    stage: Stage,
    clock: &Clock,
) -> Result<(), String> {
    let (next, public) = (next_name(stage), public_list(parameters, stage).await?);
    let there = parameters.read(std::slice::from_ref(&next)).await?;
    let key = there
        .get(&next)
        .cloned()
        .unwrap_or_else(|| new_key(clock.now()).to_setting().into());
    if !is_known(&public, &key)? {
        let both = format!("{},{}", public.join(","), public_half(&key)?);
        parameters.write(&public_name(stage), &both.into()).await?;
    }
    parameters.write(&next, &key).await
}

/// The key of `kind` that was announced is the one in use from now on; a second time changes nothing.
///
/// # Errors
/// When none was announced, or SSM does not answer or refuses.
pub async fn take_into_use(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
) -> Result<(), String> {
    let none = || "None is announced.".to_owned();
    if kind == Kind::Signing {
        let next = next_name(stage);
        let there = parameters.read(std::slice::from_ref(&next)).await?;
        let key = there.get(&next).ok_or_else(none)?;
        if !is_known(&public_list(parameters, stage).await?, key)? {
            return Err("Its public half is not known: announce it again.".to_owned());
        }
        for name in names(stage, Key::TokenSigning) {
            parameters.write(&name, key).await?;
        }
        return parameters.remove(&next).await;
    }
    let mut list = listed(parameters, stage, kind).await?;
    if list.len() < 2 {
        return Err(none());
    }
    // Their names begin with when they were made.
    list.sort();
    list.reverse();
    write_list(parameters, stage, kind, &list).await
}

/// Only the key of `kind` that is in use stays. What the others made is opened no more: tokens are over when their
/// life is, secrets are sealed anew by `reseal`, and letters have left; `setup` is asked about the last two.
///
/// # Errors
/// When a newer key is announced, when secrets or letters are left under a former key, or when SSM does not answer or
/// refuses.
pub async fn retire(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
    setup: &Setup,
) -> Result<(), String> {
    let announced = || "A newer one is announced: take it into use first.".to_owned();
    if kind == Kind::Signing {
        let name = names(stage, Key::TokenSigning).remove(0);
        let there = parameters.read(&[name.clone(), next_name(stage)]).await?;
        if there.contains_key(&next_name(stage)) {
            return Err(announced());
        }
        let key = there
            .get(&name)
            .ok_or_else(|| format!("There is no {name}."))?;
        return parameters
            .write(&public_name(stage), &public_half(key)?.into())
            .await;
    }
    let list = listed(parameters, stage, kind).await?;
    if !is_newest(&list) {
        return Err(announced());
    }
    let fault = |fault: store::StoreError| fault.to_string();
    if kind == Kind::Sealing {
        for kid in list.iter().skip(1).filter_map(|key| key.split(':').next()) {
            if !setup
                .store
                .sealed_under(kid, 1)
                .await
                .map_err(fault)?
                .is_empty()
            {
                return Err(format!(
                    "Secrets are left under the key {kid}: reseal first."
                ));
            }
        }
    }
    if kind == Kind::Outbox
        && !setup
            .store
            .dead_letters(setup.clock.now(), 1)
            .await
            .map_err(fault)?
            .is_empty()
    {
        return Err(
            "There are dead letters, which a former key may have sealed: look at them first."
                .to_owned(),
        );
    }
    write_list(parameters, stage, kind, &list[..1]).await
}

/// A new key in place of all others of `kind`, at once: for one that somebody else may know. Everybody signs in
/// again, or asks for his page again.
///
/// # Errors
/// For keys whose loss would lose what they made, or when SSM does not answer or refuses.
pub async fn replace(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
    clock: &Clock,
) -> Result<(), String> {
    let key = new_key(clock.now());
    match kind {
        Kind::Sealing | Kind::Outbox | Kind::Edge => Err(
            "That would be too early for what knows the former one: announce, use, retire."
                .to_owned(),
        ),
        Kind::Cursor => write_list(parameters, stage, kind, &[key.to_setting()]).await,
        Kind::Signing => {
            let next = next_name(stage);
            if !parameters
                .read(std::slice::from_ref(&next))
                .await?
                .is_empty()
            {
                parameters.remove(&next).await?;
            }
            for name in names(stage, Key::TokenSigning) {
                parameters.write(&name, &key.to_setting().into()).await?;
            }
            parameters
                .write(&public_name(stage), &PublicKey::of(&key).to_string().into())
                .await
        }
    }
}

/// What the first function has: every change is written there first, so it is never behind the others.
async fn listed(parameters: &Parameters, stage: Stage, kind: Kind) -> Result<Vec<String>, String> {
    let name = names(stage, kind.key()).remove(0);
    let there = parameters.read(std::slice::from_ref(&name)).await?;
    let value = there
        .get(&name)
        .ok_or_else(|| format!("There is no {name}: make the keys first."))?;
    Ok(value
        .expose_secret()
        .split(',')
        .map(str::to_owned)
        .collect())
}

async fn write_list(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
    list: &[String],
) -> Result<(), String> {
    let value = SecretString::from(list.join(","));
    for name in names(stage, kind.key()) {
        parameters.write(&name, &value).await?;
    }
    Ok(())
}

/// Whether the key in use is the newest of `list`.
fn is_newest(list: &[String]) -> bool {
    list.iter().max() == list.first()
}

async fn public_list(parameters: &Parameters, stage: Stage) -> Result<Vec<String>, String> {
    let there = parameters.read(&[public_name(stage)]).await?;
    Ok(there
        .values()
        .flat_map(|value| value.expose_secret().split(','))
        .map(str::to_owned)
        .collect())
}

fn is_known(public: &[String], signing: &SecretString) -> Result<bool, String> {
    Ok(public.contains(&public_half(signing)?))
}

fn public_half(signing: &SecretString) -> Result<String, String> {
    let key: NamedKey = signing
        .expose_secret()
        .parse()
        .map_err(|problem| format!("The signing key is {problem}."))?;
    Ok(PublicKey::of(&key).to_string())
}

fn new_value(key: Key, now: Instant) -> SecretString {
    match key {
        Key::Canary => {
            let (name, password) = (
                HEXLOWER.encode(&chance::bytes::<8>()),
                BASE64.encode(&chance::bytes::<24>()),
            );
            format!("canary-{name}@halqa.invalid {password}").into()
        }
        _ => new_key(now).to_setting().into(),
    }
}

/// Named after the moment, so that names sort as keys were made.
fn new_key(now: Instant) -> NamedKey {
    let day: String = now.to_string().chars().take(10).collect();
    NamedKey::generate(&format!("{day}-{:013}", now.unix_milliseconds()))
}
