//! The audit: everything that was done to somebody or something, once, and nothing that was not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::{
    actor::Actor,
    check::{Evening, Finding},
    known::Outcome,
    tables::text,
};

/// Who did what to whom or what.
type Key = (String, String, String);

pub(crate) fn all(evening: &Evening<'_>, people: &[Actor]) -> [Finding; 4] {
    let entries: Vec<&Value> = evening
        .tables
        .of("AUDIT#", "AUDIT#")
        .map(|item| &item["card"])
        .collect();
    [
        deeds(&entries, people),
        states(evening, &entries),
        copies(evening, &entries),
        subdomains(evening, &entries, people),
    ]
}

fn deeds(entries: &[&Value], people: &[Actor]) -> Finding {
    let mut finding = Finding::of("what was done stands in the audit once, and nothing else");
    let mut noted: BTreeMap<Key, u64> = BTreeMap::new();
    let actors: BTreeSet<&str> = people.iter().map(|person| person.me.id.as_str()).collect();
    // Who made the house and is not at work has done what he did before it began.
    for entry in entries.iter().filter(|entry| {
        entry["actorID"]
            .as_str()
            .is_some_and(|actor| actors.contains(actor))
    }) {
        let action = text(entry, "action");
        let target = match action.as_str() {
            "SUBDOMAIN_REQUESTED" => continue,
            "TEAM_MEMBER_UPDATED" => text(&entry["after"], "role"),
            _ => text(entry, "targetID"),
        };
        *noted
            .entry((text(entry, "actorID"), action, target))
            .or_default() += 1;
    }
    let mut done: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
    for person in people {
        for deed in &person.deeds {
            let (sure, possible) = done
                .entry((
                    deed.actor.clone(),
                    deed.action.to_owned(),
                    deed.target.clone(),
                ))
                .or_default();
            *sure += u64::from(deed.is_sure);
            *possible += 1;
        }
        for batch in person
            .batches
            .iter()
            .filter(|batch| batch.outcome == Outcome::Acknowledged)
        {
            done.insert(
                (
                    person.me.id.clone(),
                    "BATCH_ACCEPTED".to_owned(),
                    batch.batch_id.clone(),
                ),
                (1, 1),
            );
        }
    }
    for (key, (sure, possible)) in done {
        let times = noted.remove(&key).unwrap_or(0);
        finding.look((sure..=possible).contains(&times), || {
            format!("{key:?} stands {times} times, not {sure} to {possible}")
        });
    }
    // Of a batch that nobody was told of the store knows.
    for (key, times) in noted
        .into_iter()
        .filter(|((_, action, _), _)| action != "BATCH_ACCEPTED")
    {
        finding.look(false, || {
            format!("{key:?} stands {times} times, and nobody did it")
        });
    }
    finding
}

/// Clocks are wrong, so entries have no order: but what came to a state, less what left it, is what is there.
fn states(evening: &Evening<'_>, entries: &[&Value]) -> Finding {
    let mut finding = Finding::of("what the audit tells ends in what is there");
    let mut flows: HashMap<(String, String), i64> = HashMap::new();
    let mut batches: BTreeMap<String, u64> = BTreeMap::new();
    for entry in entries {
        let (target, kind) = (text(entry, "targetID"), text(entry, "targetType"));
        let (field, pk) = if kind == "COURSE" {
            ("state", format!("COURSE#{target}"))
        } else {
            ("isActive", format!("USER#{target}"))
        };
        for (side, step) in [("before", -1), ("after", 1)]
            .into_iter()
            .filter(|(side, _)| !entry[side][field].is_null())
        {
            *flows
                .entry((pk.clone(), entry[side][field].to_string()))
                .or_default() += step;
        }
        if kind == "BATCH" {
            *batches.entry(target).or_default() += 1;
        }
    }
    let mut ends = |item: &Value, first: &str, values: &[&str], now: String| {
        for value in values {
            let flow = flows
                .remove(&(text(item, "pk"), (*value).to_owned()))
                .unwrap_or(0);
            let is = i64::from(now == *value) - i64::from(first == *value);
            finding.look(flow == is, || {
                format!("{} is {now}, and {flow} came to {value}", item["pk"])
            });
        }
    };
    for item in evening.tables.of("COURSE#", "COURSE") {
        ends(
            item,
            "\"DRAFT\"",
            &["\"DRAFT\"", "\"PUBLISHED\"", "\"ARCHIVED\""],
            item["card"]["state"].to_string(),
        );
    }
    // Who erases himself leaves no entry.
    for item in evening
        .tables
        .of("USER#", "USER")
        .filter(|item| item["card"]["erasedAt"].is_null())
    {
        ends(
            item,
            "true",
            &["true", "false"],
            item["card"]["isActive"].to_string(),
        );
    }
    for item in evening.tables.of("BATCH#", "BATCH") {
        let times = batches.remove(&text(&item["card"], "batchID")).unwrap_or(0);
        finding.look(times == 1, || {
            format!("{} stands {times} times", item["pk"])
        });
    }
    finding.look(batches.is_empty(), || {
        format!("batches that are not there: {batches:?}")
    });
    finding
}

fn copies(evening: &Evening<'_>, entries: &[&Value]) -> Finding {
    let mut finding = Finding::of("each entry is found by who did it and by whom it was done to");
    for entry in entries {
        let sk = format!("AUDIT#{}", text(entry, "auditID"));
        let of = |person: String| evening.tables.at(&format!("USER#{person}"), &sk).is_some();
        let is_found = of(text(entry, "actorID"))
            && (entry["targetType"] != "USER" || of(text(entry, "targetID")));
        finding.look(is_found, || entry.to_string());
    }
    finding
}

fn subdomains(evening: &Evening<'_>, entries: &[&Value], people: &[Actor]) -> Finding {
    let mut finding = Finding::of("subdomains that were made are listed, and noted before");
    let shown = evening.stage.cloud.uapi().shown();
    let listed: BTreeSet<&str> = shown["subDomains"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (word, outcome) in people.iter().flat_map(|person| &person.subdomains) {
        let fqdn = format!("{word}.formation.example.org");
        let (is_listed, times) = (
            listed.contains(fqdn.as_str()),
            entries
                .iter()
                .filter(|entry| entry["after"]["fqdn"] == fqdn)
                .count(),
        );
        let is_good = match outcome {
            Outcome::Acknowledged => is_listed && times == 1,
            Outcome::Refused => !is_listed && times < 2,
            Outcome::Unknown => times == 1 || (times == 0 && !is_listed),
        };
        finding.look(is_good, || {
            format!("{fqdn} ({outcome:?}) is listed: {is_listed}, and noted {times} times")
        });
    }
    finding
}
