//! Checks the audit: each action has one entry, and there are no other entries.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::{
    expected::Outcome,
    promise::{PromiseCheck, Snapshot},
    tables::text,
    virtual_user::VirtualUser,
};

pub(crate) fn all(snapshot: &Snapshot<'_>, users: &[VirtualUser]) -> [PromiseCheck; 4] {
    let items = snapshot.tables.of("AUDIT#", "AUDIT#");
    let entries: Vec<&Value> = items.map(|item| &item["card"]).collect();
    [
        actions(&entries, users),
        states(snapshot, &entries),
        copies(snapshot, &entries),
        subdomains(snapshot, &entries, users),
    ]
}

fn actions(entries: &[&Value], users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("every action is in the audit once, and nothing else");
    // By actor, action and target. The first administrator acted only before the run.
    let mut entered: BTreeMap<[String; 3], u64> = BTreeMap::new();
    let actors: BTreeSet<&str> = users.iter().map(|user| user.me.id.as_str()).collect();
    for entry in entries {
        let (actor, action) = (text(entry, "actorID"), text(entry, "action"));
        let target = match action.as_str() {
            "SUBDOMAIN_REQUESTED" => continue,
            "TEAM_MEMBER_UPDATED" => text(&entry["after"], "role"),
            _ => text(entry, "targetID"),
        };
        if actors.contains(actor.as_str()) {
            *entered.entry([actor, action, target]).or_default() += 1;
        }
    }
    // The minimum and the maximum number of times that each action was done.
    let mut done: BTreeMap<[String; 3], (u64, u64)> = BTreeMap::new();
    for user in users {
        let key =
            |action: &str, target: &String| [user.me.id.clone(), action.to_owned(), target.clone()];
        for one in &user.audited {
            let (certain, possible) = done.entry(key(one.action, &one.target)).or_default();
            *certain += u64::from(one.is_certain);
            *possible += 1;
        }
        for batch in &user.batches {
            if batch.outcome == Outcome::Acknowledged {
                done.insert(key("BATCH_ACCEPTED", &batch.batch_id), (1, 1));
            }
        }
    }
    for (key, (certain, possible)) in done {
        let times = entered.remove(&key).unwrap_or(0);
        promise.check((certain..=possible).contains(&times), || {
            format!("{key:?} has {times} entries, not {certain} to {possible}")
        });
    }
    // Batches of unknown outcome are checked against the store.
    entered.retain(|[_, action, _], _| action != "BATCH_ACCEPTED");
    for (key, times) in entered {
        promise.check(false, || format!("{key:?} has {times} entries and was not done"));
    }
    promise
}

/// Clocks are wrong, so the order of the entries is unknown. But for each state, the number of entries that enter it
/// minus those that leave it follows from the first and the stored state.
fn states(snapshot: &Snapshot<'_>, entries: &[&Value]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("the last audit entry matches the stored state");
    let mut flows: HashMap<(String, String), i64> = HashMap::new();
    let mut batches: BTreeMap<String, u64> = BTreeMap::new();
    for entry in entries {
        let (target, kind) = (text(entry, "targetID"), text(entry, "targetType"));
        let (field, pk) = match kind.as_str() {
            "COURSE" => ("state", format!("COURSE#{target}")),
            _ => ("isActive", format!("USER#{target}")),
        };
        for (side, step) in [("before", -1), ("after", 1)] {
            let value = &entry[side][field];
            if !value.is_null() {
                *flows.entry((pk.clone(), value.to_string())).or_default() += step;
            }
        }
        if kind == "BATCH" {
            *batches.entry(target).or_default() += 1;
        }
    }
    let mut check = |item: &Value, first: &str, values: &[&str], now: &Value| {
        let (pk, now) = (text(item, "pk"), now.to_string());
        for value in values {
            let flow = flows.remove(&(pk.clone(), (*value).to_owned())).unwrap_or(0);
            let difference = i64::from(now == *value) - i64::from(first == *value);
            promise.check(flow == difference, || format!("{pk} is {now}, {value}: {flow}"));
        }
    };
    let states = ["\"DRAFT\"", "\"PUBLISHED\"", "\"ARCHIVED\""];
    for item in snapshot.tables.of("COURSE#", "COURSE") {
        check(item, states[0], &states, &item["card"]["state"]);
    }
    for item in snapshot.tables.of("USER#", "USER") {
        // Erasing one's own account writes no entry.
        if item["card"]["erasedAt"].is_null() {
            check(item, "true", &["true", "false"], &item["card"]["isActive"]);
        }
    }
    for item in snapshot.tables.of("BATCH#", "BATCH") {
        let id = text(&item["card"], "batchID");
        let times = batches.remove(&id).unwrap_or(0);
        promise.check(times == 1, || format!("the batch {id} has {times} entries"));
    }
    promise.check(batches.is_empty(), || format!("no such batches: {batches:?}"));
    promise
}

fn copies(snapshot: &Snapshot<'_>, entries: &[&Value]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("an audit entry is found by actor and by target");
    for entry in entries {
        let sk = format!("AUDIT#{}", text(entry, "auditID"));
        let has_copy = |field| {
            let pk = format!("USER#{}", text(entry, field));
            snapshot.tables.at(&pk, &sk).is_some()
        };
        let is_of_user = entry["targetType"] == "USER";
        let holds = has_copy("actorID") && (!is_of_user || has_copy("targetID"));
        promise.check(holds, || entry.to_string());
    }
    promise
}

fn subdomains(snapshot: &Snapshot<'_>, entries: &[&Value], users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("created subdomains are listed, after an audit entry");
    let panel = snapshot.deployment.local.cloud.uapi().shown();
    let listed = panel["subDomains"].as_array().into_iter().flatten();
    let listed: BTreeSet<&str> = listed.filter_map(Value::as_str).collect();
    for (word, outcome) in users.iter().flat_map(|user| &user.subdomains) {
        let fqdn = format!("{word}.formation.example.org");
        let is_listed = listed.contains(fqdn.as_str());
        let matching = entries.iter().filter(|entry| entry["after"]["fqdn"] == fqdn);
        let times = matching.count();
        let holds = match outcome {
            Outcome::Acknowledged => is_listed && times == 1,
            Outcome::Refused => !is_listed && times < 2,
            Outcome::Unknown => times == 1 || (times == 0 && !is_listed),
        };
        promise.check(holds, || {
            format!("{fqdn} ({outcome:?}) is listed: {is_listed}, in the audit {times} times")
        });
    }
    promise
}
