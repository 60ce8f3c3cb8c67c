//! Text messages and letters: none lost, none twice, all counted.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::{
    actor::Actor,
    check::{Evening, Finding},
    client::Ask,
    known::Outcome,
    stage::{SMS_PER_COMMITTEE, SMS_PER_USER},
    tables::{text, words},
};

pub(crate) async fn all(evening: &mut Evening<'_>, people: &[Actor]) -> Vec<Finding> {
    let mut findings = vec![
        accepted(evening, people),
        sent(evening),
        letters(evening),
        unknown(evening),
        quotas(evening),
        listed(evening, people),
    ];
    findings.push(batches(evening, people).await);
    findings
}

/// The word that the message `item` says.
fn word_of(evening: &Evening<'_>, item: &Value) -> String {
    let batch = text(&item["card"], "batchID");
    let own = evening.tables.at(&text(item, "pk"), "TEXT");
    let said = own
        .or_else(|| evening.tables.at(&format!("BATCH#{batch}"), "TEXT"))
        .map(|item| text(item, "text"))
        .unwrap_or_default();
    words(&said).next().unwrap_or_default().to_owned()
}

fn accepted(evening: &Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("messages that were accepted are there, once");
    let mut there: HashMap<String, BTreeMap<String, String>> = HashMap::new();
    for item in evening.tables.of("SMS#", "SMS") {
        there
            .entry(word_of(evening, item))
            .or_default()
            .insert(text(&item["card"], "smsID"), text(&item["card"], "to"));
    }
    for sent in people.iter().flat_map(|person| &person.texts) {
        let found = there.remove(&sent.word).unwrap_or_default();
        let is_good = match sent.outcome {
            Outcome::Acknowledged => {
                found == BTreeMap::from([(sent.sms_id.clone(), sent.to.clone())])
            }
            Outcome::Refused => found.is_empty(),
            Outcome::Unknown => found.len() < 2,
        };
        finding.look(is_good, || {
            format!(
                "{} to {} ({:?}) is there as {found:?}",
                sent.word, sent.to, sent.outcome
            )
        });
    }
    for batch in people.iter().flat_map(|person| &person.batches) {
        let found = there.remove(&batch.word).unwrap_or_default();
        let told: BTreeMap<String, String> = batch
            .accepted
            .iter()
            .map(|(to, id)| (id.clone(), to.clone()))
            .collect();
        let is_good = match batch.outcome {
            Outcome::Acknowledged => found == told,
            Outcome::Refused => found.is_empty(),
            Outcome::Unknown => found.len() <= batch.recipients,
        };
        finding.look(is_good, || {
            format!(
                "of the batch {} {} of {} are there",
                batch.word,
                found.len(),
                told.len()
            )
        });
    }
    finding.look(there.is_empty(), || {
        format!("messages that nobody sent: {there:?}")
    });
    finding
}

fn sent(evening: &Evening<'_>) -> Finding {
    let mut finding = Finding::of("messages come once at most, and it is told how");
    let mut came: HashMap<(String, String), usize> = HashMap::new();
    for one in evening.stage.cloud.recorder().texts() {
        let said = text(&one, "text");
        *came
            .entry((
                text(&one, "to"),
                words(&said).next().unwrap_or(&said).to_owned(),
            ))
            .or_default() += 1;
    }
    for item in evening.tables.of("SMS#", "SMS") {
        let times = came
            .remove(&(text(&item["card"], "to"), word_of(evening, item)))
            .unwrap_or(0);
        let is_good = match item["card"]["status"].as_str() {
            Some("SENT") => times == 1,
            Some("FAILED") => times == 0,
            Some("UNKNOWN") => times < 2,
            _ => false,
        };
        finding.look(is_good, || format!("{} came {times} times", item["card"]));
    }
    finding.look(came.is_empty(), || {
        format!("{} messages came that nobody sent", came.len())
    });
    finding
}

/// What a letter said is gone when it has left, so they are counted; those with a code are told apart by it.
fn letters(evening: &Evening<'_>) -> Finding {
    let mut finding = Finding::of("letters come once at most, and it is told how");
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for item in evening.tables.of("OUTBOX#", "OUTBOX") {
        let state = text(&item["card"], "status");
        finding.look(
            ["SENT", "FAILED", "UNKNOWN"].contains(&state.as_str()),
            || format!("{item}"),
        );
        *states.entry(state).or_default() += 1;
    }
    let count = |state: &str| states.get(state).copied().unwrap_or(0);
    let mails = evening.stage.cloud.recorder().mails();
    let is_good = (count("SENT")..=count("SENT") + count("UNKNOWN")).contains(&mails.len());
    finding.look(is_good, || {
        format!("{} mails came of {states:?}", mails.len())
    });
    let mut came: HashMap<(String, String), usize> = HashMap::new();
    for mail in mails
        .iter()
        .filter(|mail| text(mail, "text").contains("#code="))
    {
        *came
            .entry((text(mail, "to"), text(mail, "text")))
            .or_default() += 1;
    }
    for ((to, said), times) in came {
        finding.look(times == 1, || format!("{to} got {times} times: {said}"));
    }
    finding
}

/// Who may have been sent, nobody knows: only a carrier that fell silent, a dispatcher that died over its messages,
/// eight at most (the last two when it was over), or a store that did not say whether it was claimed or settled makes it so.
fn unknown(evening: &Evening<'_>) -> Finding {
    let mut finding = Finding::of("nobody knows of a message only where something struck it");
    let times = |kind: &str| evening.struck.get(kind).copied().unwrap_or(0);
    let carriers = ["silent", "slow"]
        .map(|mode| times(&format!("sns: {mode}")) + times(&format!("ses: {mode}")));
    let store = ["silent", "slow", "refuse", "error", "throttle"]
        .map(|mode| times(&format!("dynamodb: {mode}")));
    let mut left =
        carriers.iter().chain(&store).sum::<u64>() + 8 * (times("kill of a dispatcher") + 2);
    for item in evening
        .tables
        .of("SMS#", "SMS")
        .chain(evening.tables.of("OUTBOX#", "OUTBOX"))
    {
        let is_unknown = item["card"]["status"] == "UNKNOWN";
        finding.look(!is_unknown || left > 0, || {
            format!("{} is one too many", item["card"])
        });
        left = left.saturating_sub(u64::from(is_unknown));
    }
    finding
}

fn quotas(evening: &Evening<'_>) -> Finding {
    let mut finding = Finding::of("what was accepted counts against the quotas, and stays below");
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for item in evening.tables.of("SMS#", "SMS") {
        for owner in [
            format!("USER#{}", text(&item["card"], "userID")),
            format!("COMMITTEE#{}", text(&item["card"], "committeeID")),
        ] {
            *counts.entry(owner).or_default() += 1;
        }
    }
    // A day may end while it rages.
    let mut noted: BTreeMap<String, u64> = BTreeMap::new();
    for item in evening.tables.of("QUOTA#", "QUOTA") {
        let pk = text(item, "pk");
        let owner = pk
            .trim_start_matches("QUOTA#")
            .rsplit_once('#')
            .map_or("", |(owner, _)| owner)
            .to_owned();
        let most = if owner.starts_with("USER#") {
            SMS_PER_USER
        } else {
            SMS_PER_COMMITTEE
        };
        let count = item["n"].as_u64().unwrap_or(u64::MAX);
        finding.look(count <= most, || format!("{pk} is {count}"));
        *noted.entry(owner).or_default() += count;
    }
    for (owner, count) in counts {
        finding.look(noted.get(&owner) == Some(&count), || {
            format!("{count} messages of {owner}, noted {:?}", noted.get(&owner))
        });
    }
    finding
}

fn listed(evening: &Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("numbers are on the list as was acknowledged last");
    let there: Vec<String> = evening
        .tables
        .of("OPTOUT#", "OPTOUT")
        .map(|item| text(&item["card"], "number"))
        .collect();
    for (number, is_listed) in people.iter().flat_map(|person| &person.opt_outs) {
        let is_there = there.contains(number);
        finding.look(is_listed.may_be(&is_there), || {
            format!("{number} is on the list: {is_there}, not {is_listed:?}")
        });
    }
    finding
}

async fn batches(evening: &mut Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("what became of a batch adds up");
    for person in people {
        let token = person
            .me
            .sessions
            .last()
            .map(|session| session.token.clone())
            .unwrap_or_default();
        for batch in person
            .batches
            .iter()
            .filter(|batch| batch.outcome == Outcome::Acknowledged)
        {
            let heard = evening
                .ask(&Ask::new("GET", format!("/sms/bulk/{}", batch.batch_id)).with(&token))
                .await;
            let told = &heard.body["batch"];
            let sum: u64 = ["queued", "sending", "sent", "failed", "unknown"]
                .iter()
                .filter_map(|state| told[state].as_u64())
                .sum();
            let is_good =
                told["accepted"] == batch.accepted.len() && sum == batch.accepted.len() as u64;
            finding.look(is_good, || {
                format!("{} of {}", heard.body, batch.accepted.len())
            });
        }
    }
    finding
}
