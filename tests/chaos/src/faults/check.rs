//! Checks all promises.

mod audit;
mod courses;
mod files;
mod messages;
mod people;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use bench::{Result, error};
use cloud::random::SeededRandom;
use serde_json::Value;

use crate::{
    client::Client,
    deployment::Deployment,
    fault_injector::FaultCounts,
    promise::{PromiseCheck, Snapshot},
    tables::{Tables, words},
    virtual_user::VirtualUser,
};

pub(crate) async fn all(
    deployment: &Deployment,
    faults: &FaultCounts,
    users: &mut [VirtualUser],
) -> Result<Vec<PromiseCheck>> {
    let address = "127.0.2.1".parse().map_err(error)?;
    let mut client = Client::new(Arc::clone(&deployment.service), address, SeededRandom::new(0));
    client.cuts = false;
    let mut snapshot =
        Snapshot { deployment, tables: Tables::read(&deployment.local.cloud)?, faults, client };
    let mut checks = vec![nothing_is_due(&snapshot), nothing_refused_is_stored(&snapshot, users)];
    checks.extend(people::all(&mut snapshot, users).await?);
    for user in users.iter_mut() {
        let _ = user.me.sign_in(&mut snapshot.client).await;
    }
    checks.extend(courses::all(&mut snapshot, users).await);
    checks.extend(files::all(&mut snapshot, users).await);
    checks.extend(messages::all(&mut snapshot, users).await);
    checks.extend(audit::all(&snapshot, users));
    checks.extend(responses(deployment, users));
    Ok(checks)
}

fn nothing_is_due(snapshot: &Snapshot<'_>) -> PromiseCheck {
    let mut promise = PromiseCheck::of("no work is left in the due index");
    for item in &snapshot.tables.items {
        let (pk, due) = (&item["pk"], &item["duePk"]);
        // New accounts are erased after a week, unless they are verified.
        let is_unverified = !item["card"]["unverifiedUntil"].is_null();
        let holds = if is_unverified {
            due.as_str().is_some_and(|due| due.starts_with("UNVERIFIED#"))
        } else {
            due.is_null()
        };
        promise.check(holds, || format!("{pk} is due under {due}"));
    }
    promise
}

fn nothing_refused_is_stored(snapshot: &Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("nothing from a refused request is stored");
    let mut stored = HashMap::new();
    for item in &snapshot.tables.items {
        let mut found = HashSet::new();
        collect_words(item, &mut found);
        let key = format!("{} {}", item["pk"], item["sk"]);
        stored.extend(found.into_iter().map(|word| (word, key.clone())));
    }
    for word in users.iter().flat_map(|user| &user.refused) {
        let place = stored.get(word);
        promise.check(place.is_none(), || format!("{word} is in {place:?}"));
    }
    promise
}

fn collect_words(value: &Value, stored: &mut HashSet<String>) {
    match value {
        Value::String(text) => stored.extend(words(text).map(str::to_owned)),
        Value::Array(list) => list.iter().for_each(|value| collect_words(value, stored)),
        Value::Object(fields) => fields.values().for_each(|value| collect_words(value, stored)),
        _ => {}
    }
}

fn responses(deployment: &Deployment, users: &[VirtualUser]) -> [PromiseCheck; 3] {
    let mut envelopes = PromiseCheck::of("every response is an envelope, and none is a 500");
    let responses = deployment.service.responses();
    envelopes.checked = responses.by_status.values().sum();
    envelopes.broken.clone_from(&responses.malformed);
    let mut replays = PromiseCheck::of("an idempotency key always gets the same response");
    replays.checked = users.iter().map(|user| user.replays).sum();
    let mut during = PromiseCheck::of("responses during the faults were correct");
    during.checked = envelopes.checked;
    let violations = users.iter().flat_map(|user| user.violations.clone());
    during.broken = violations.collect();
    [envelopes, replays, during]
}
