//! Creates the keys of an environment and rotates them while it runs.
//!
//! Functions read their parameters when they start, so during a change old and new values are in use at the same
//! time. A key is therefore rotated in three steps, with `infra/bin/restart` after each. The new key
//! is *announced*: all functions accept it and none uses it. It is *taken into use*. The former key is *retired* when
//! nothing is left that was made with it.

use std::{collections::BTreeMap, time::Duration};

use data_encoding::{BASE64, HEXLOWER};
use domain::Instant;
use identity::{NamedKey, random, token::PublicKey};
use runtime::{Clock, Key};
use secrecy::{ExposeSecret, SecretString};
use store::Setup;

use crate::{Parameters, Stage};

/// The functions, each with the keys that it reads at start.
const FUNCTIONS: [(&str, &[Key]); 16] = [
    ("auth", auth::KEYS),
    ("canary", canary::KEYS),
    ("certificates", certificates::KEYS),
    ("committees", committees::KEYS),
    ("courses", courses::KEYS),
    ("cpanel", cpanel::KEYS),
    ("dispatcher", dispatcher::KEYS),
    ("fallback", fallback::KEYS),
    ("files", files::KEYS),
    ("otp", otp::KEYS),
    ("passkeys", passkeys::KEYS),
    ("registrations", registrations::KEYS),
    ("sms", sms::KEYS),
    ("team", team::KEYS),
    ("users", users::KEYS),
    ("worker", worker::KEYS),
];

/// The kinds of keys that can be rotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `signing`: signs tokens.
    Signing,
    /// `sealing`: seals secrets at rest.
    Sealing,
    /// `cursor`: seals cursors.
    Cursor,
    /// `outbox`: seals messages in the outbox.
    Outbox,
    /// `edge`: the secret that CloudFront sends to the functions.
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
                "There is no key kind {text}: the kinds are signing, sealing, cursor, outbox and edge."
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

/// Why a key is retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its time is over.
    Age,
    /// It may have been disclosed: what it opens in a restored table is given up.
    Disclosed,
}

/// How far back a table can be restored
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Point-in-time-recovery.html>).
const RESTORABLE: Duration = Duration::from_secs(35 * 86_400);

/// The result of [`make`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NewKeys {
    /// The names of the parameters that were created.
    pub made: Vec<String>,
    /// The number of parameters that existed and are unchanged.
    pub kept: usize,
}

/// The parameter names of `key` in `stage`, one for each function that reads it.
fn names(stage: Stage, key: Key) -> Vec<String> {
    let readers = FUNCTIONS.into_iter().filter(|(_, keys)| keys.contains(&key) || key == Key::Edge);
    let mut names: Vec<String> =
        readers.map(|(function, _)| key.parameter(&stage.keys_path(function))).collect();
    names.dedup();
    names
}

/// The parameter of the public signing keys.
fn public_name(stage: Stage) -> String {
    Key::TokenPublic.parameter(&stage.keys_path("auth"))
}

/// The parameter of an announced signing key.
fn next_name(stage: Stage) -> String {
    Key::TokenSigning.parameter(&stage.keys_path("next"))
}

/// The keys that every environment needs.
const REQUIRED: [Key; 6] =
    [Key::TokenSigning, Key::Sealing, Key::Cursor, Key::Outbox, Key::Edge, Key::Canary];

/// Creates the missing parameters of `stage`. Existing ones are kept, and a new function gets the value of the others.
///
/// # Errors
/// When another process creates the same parameters at the same time: then run it again.
pub async fn make(parameters: &Parameters, stage: Stage, clock: &Clock) -> Result<NewKeys, String> {
    let mut made = NewKeys::default();
    for key in REQUIRED {
        let names = names(stage, key);
        let stored = parameters.read(&names).await?;
        let known = names.iter().find_map(|name| stored.get(name)).cloned();
        let value = known.unwrap_or_else(|| new_value(key, clock.now()));
        let mut required: Vec<(String, SecretString)> =
            names.into_iter().map(|name| (name, value.clone())).collect();
        if key == Key::TokenSigning {
            required.push((public_name(stage), public_key(&value)?.into()));
        }
        let stored = parameters
            .read(&required.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())
            .await?;
        for (name, value) in required {
            if stored.contains_key(&name) {
                made.kept += 1;
            } else {
                parameters.add(&name, &value).await?;
                made.made.push(name);
            }
        }
    }
    Ok(made)
}

/// Checks the parameters that a deployment of `stage` needs, and those of the keys `also`. Returns one sentence per
/// problem: a parameter is missing, functions have different values, or the public key of the signing key is not
/// listed.
pub async fn problems(
    parameters: &Parameters,
    stage: Stage,
    also: &[Key],
) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for key in REQUIRED.iter().chain(also) {
        let names = names(stage, *key);
        let stored = parameters.read(&names).await?;
        problems.extend(
            names
                .iter()
                .filter(|name| !stored.contains_key(*name))
                .map(|name| format!("{name} is not in SSM.")),
        );
        if let Some(first) = names.iter().find_map(|name| stored.get(name)) {
            let others =
                stored.iter().filter(|(_, value)| value.expose_secret() != first.expose_secret());
            problems.extend(others.map(|(name, _)| {
                format!("{name} differs from its twins: run the last change again.")
            }));
            if *key == Key::TokenSigning
                && !is_listed(&public_list(parameters, stage).await?, first)?
            {
                problems.push(format!("{} does not know the key that signs.", public_name(stage)));
            }
        }
    }
    Ok(problems)
}

/// Those of [`problems`] that the names of parameters tell, for a role that may not read keys: missing ones.
pub async fn missing(
    parameters: &Parameters,
    stage: Stage,
    also: &[Key],
) -> Result<Vec<String>, String> {
    let stored = parameters.names(stage.keys_path("").trim_end_matches('/')).await?;
    let keys = REQUIRED.iter().chain(also);
    let required = keys.flat_map(|key| names(stage, *key)).chain([public_name(stage)]);
    let missing = required.filter(|name| !stored.contains(name));
    Ok(missing.map(|name| format!("{name} is not in SSM.")).collect())
}

/// Adds a new key of `kind` that all functions accept and none uses. An announced key is kept, so that an interrupted
/// run can be repeated.
///
/// # Errors
/// When the former key is not retired yet.
pub async fn announce(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
    clock: &Clock,
) -> Result<(), String> {
    if kind == Kind::Signing {
        return announce_signing(parameters, stage, clock).await;
    }
    let mut list = key_list(parameters, stage, kind).await?;
    if list.len() > 1 && is_newest(&list) {
        return Err("The former key is not retired yet: retire it first.".to_owned());
    }
    if list.len() == 1 {
        list.push(new_key(clock.now()).to_setting());
    }
    write_list(parameters, stage, kind, &list).await
}

/// Writes the public key first: an unused public key does no harm, but tokens signed with an unlisted key are rejected.
async fn announce_signing(
    parameters: &Parameters,
    stage: Stage,
    clock: &Clock,
) -> Result<(), String> {
    let (next, public) = (next_name(stage), public_list(parameters, stage).await?);
    let stored = parameters.read(std::slice::from_ref(&next)).await?;
    let key =
        stored.get(&next).cloned().unwrap_or_else(|| new_key(clock.now()).to_setting().into());
    if !is_listed(&public, &key)? {
        let both = format!("{},{}", public.join(","), public_key(&key)?);
        parameters.write(&public_name(stage), &both.into()).await?;
    }
    parameters.write(&next, &key).await
}

/// Makes the announced key of `kind` the one in use. Except for `signing`, repeating it changes nothing.
///
/// # Errors
/// When no key is announced.
pub async fn take_into_use(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
) -> Result<(), String> {
    let none = || "No key is announced.".to_owned();
    if kind == Kind::Signing {
        let next = next_name(stage);
        let stored = parameters.read(std::slice::from_ref(&next)).await?;
        let key = stored.get(&next).ok_or_else(none)?;
        if !is_listed(&public_list(parameters, stage).await?, key)? {
            return Err("Its public key is not listed: announce it again.".to_owned());
        }
        for name in names(stage, Key::TokenSigning) {
            parameters.write(&name, key).await?;
        }
        return parameters.remove(&next).await;
    }
    let mut list = key_list(parameters, stage, kind).await?;
    if list.len() < 2 {
        return Err(none());
    }
    // Key names begin with their creation time.
    list.sort();
    list.reverse();
    write_list(parameters, stage, kind, &list).await
}

/// Removes all keys of `kind` except the one in use. What was made with the others is no longer accepted, so wait
/// until tokens have expired and messages are sent, and run `reseal`. The tables of `setup` are searched for secrets
/// under former keys and for dead letters, in indexes that usually lag behind by less than a second
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html>): nothing may have been sealed under a
/// former key just before. What a restored table has is sealed under the keys of that time, so a former key of `sealing` or
/// `outbox` is kept as long as the table can be restored to a time when it was in use, unless `reason` is its disclosure.
///
/// # Errors
/// When a newer key is announced, the list has changed in the last 35 days, secrets are left under a former key, or there
/// are dead letters.
pub async fn retire(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
    setup: &Setup,
    reason: Reason,
) -> Result<(), String> {
    let announced = || "A newer key is announced: take it into use first.".to_owned();
    if kind == Kind::Signing {
        let name = names(stage, Key::TokenSigning).remove(0);
        let stored = parameters.read(&[name.clone(), next_name(stage)]).await?;
        if stored.contains_key(&next_name(stage)) {
            return Err(announced());
        }
        let key = stored.get(&name).ok_or_else(|| format!("There is no {name}."))?;
        return parameters.write(&public_name(stage), &public_key(key)?.into()).await;
    }
    let list = key_list(parameters, stage, kind).await?;
    if !is_newest(&list) {
        return Err(announced());
    }
    let is_in_table = kind == Kind::Sealing || kind == Kind::Outbox;
    if reason == Reason::Age && is_in_table && list.len() > 1 {
        let end =
            parameters.changed_at(&names(stage, kind.key()).remove(0)).await?.after(RESTORABLE);
        if setup.clock.now() < end {
            return Err(format!(
                "A restored table may need the former key until {end}: wait, or add `disclosed` if it was."
            ));
        }
    }
    let fault = |fault: store::StoreError| fault.to_string();
    if kind == Kind::Sealing {
        for kid in list.iter().skip(1).filter_map(|key| key.split(':').next()) {
            if !setup.store.sealed_under(kid, None, 1).await.map_err(fault)?.items.is_empty() {
                return Err(format!("Secrets are left under the key {kid}: reseal first."));
            }
        }
    }
    if kind == Kind::Outbox
        && !setup.store.dead_letters(setup.clock.now(), 1).await.map_err(fault)?.is_empty()
    {
        return Err(
            "There are dead letters, which may be sealed under a former key: resolve them first."
                .to_owned(),
        );
    }
    write_list(parameters, stage, kind, &list[..1]).await
}

/// Replaces all keys of `kind` by a new one at once, for a key that may be disclosed. All tokens (`signing`) or cursors
/// (`cursor`) become invalid.
///
/// # Errors
/// For all other kinds: they must be rotated in three steps.
pub async fn replace(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
    clock: &Clock,
) -> Result<(), String> {
    let key = new_key(clock.now());
    match kind {
        Kind::Sealing | Kind::Outbox | Kind::Edge => {
            Err("This kind cannot be replaced at once: use announce, use and retire.".to_owned())
        }
        Kind::Cursor => write_list(parameters, stage, kind, &[key.to_setting()]).await,
        Kind::Signing => {
            let next = next_name(stage);
            if !parameters.read(std::slice::from_ref(&next)).await?.is_empty() {
                parameters.remove(&next).await?;
            }
            for name in names(stage, Key::TokenSigning) {
                parameters.write(&name, &key.to_setting().into()).await?;
            }
            parameters.write(&public_name(stage), &PublicKey::of(&key).to_string().into()).await
        }
    }
}

/// Writes those keys of `stage` to `elsewhere`, the parameters of another region, that are missing or have other values there.
/// Returns how many. What the stack writes is left out; so is an announced signing key, which would stay there after its use.
pub async fn copy(
    parameters: &Parameters,
    elsewhere: &Parameters,
    stage: Stage,
) -> Result<usize, String> {
    let different = different(parameters, elsewhere, stage).await?;
    for (name, value) in &different {
        elsewhere.write(name, value).await?;
    }
    Ok(different.len())
}

/// A sentence for each key that [`copy`] would write.
pub async fn not_copied(
    parameters: &Parameters,
    elsewhere: &Parameters,
    stage: Stage,
) -> Result<Vec<String>, String> {
    let names = different(parameters, elsewhere, stage).await?.into_keys();
    Ok(names
        .map(|name| format!("{name} has no current copy in the other region: run keys copy."))
        .collect())
}

/// The keys of `stage` whose values in `elsewhere` are not those in `parameters`.
async fn different(
    parameters: &Parameters,
    elsewhere: &Parameters,
    stage: Stage,
) -> Result<BTreeMap<String, SecretString>, String> {
    let left_out = ["stack/", "next/"].map(|folder| stage.keys_path(folder));
    let names = parameters.names(stage.keys_path("").trim_end_matches('/')).await?;
    let is_key = |name: &String| !left_out.iter().any(|folder| name.starts_with(folder));
    let names: Vec<String> = names.into_iter().filter(is_key).collect();
    let (mut keys, copies) = (parameters.read(&names).await?, elsewhere.read(&names).await?);
    let text = SecretString::expose_secret;
    keys.retain(|name, value| copies.get(name).map(text) != Some(text(value)));
    Ok(keys)
}

/// The list of the first function. Every change is written there first, so it is never older than the others.
async fn key_list(
    parameters: &Parameters,
    stage: Stage,
    kind: Kind,
) -> Result<Vec<String>, String> {
    let name = names(stage, kind.key()).remove(0);
    let stored = parameters.read(std::slice::from_ref(&name)).await?;
    let value =
        stored.get(&name).ok_or_else(|| format!("There is no {name}: create the keys first."))?;
    Ok(value.expose_secret().split(',').map(str::to_owned).collect())
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
    let stored = parameters.read(&[public_name(stage)]).await?;
    Ok(stored
        .values()
        .flat_map(|value| value.expose_secret().split(','))
        .map(str::to_owned)
        .collect())
}

fn is_listed(public: &[String], signing: &SecretString) -> Result<bool, String> {
    Ok(public.contains(&public_key(signing)?))
}

fn public_key(signing: &SecretString) -> Result<String, String> {
    let key: NamedKey = signing
        .expose_secret()
        .parse()
        .map_err(|problem| format!("The signing key is {problem}."))?;
    Ok(PublicKey::of(&key).to_string())
}

fn new_value(key: Key, now: Instant) -> SecretString {
    match key {
        Key::Canary => {
            let (name, password) =
                (HEXLOWER.encode(&random::bytes::<8>()), BASE64.encode(&random::bytes::<24>()));
            format!("canary-{name}@halqa.invalid {password}").into()
        }
        _ => new_key(now).to_setting().into(),
    }
}

/// The name begins with the time, so that names sort by creation.
fn new_key(now: Instant) -> NamedKey {
    let day: String = now.to_string().chars().take(10).collect();
    NamedKey::generate(&format!("{day}-{:013}", now.unix_milliseconds()))
}
