//! Checks that text messages and mails are stored, sent at most once, and counted.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::{
    client::Call,
    deployment::{SMS_PER_COMMITTEE, SMS_PER_USER},
    expected::Outcome,
    promise::{PromiseCheck, Snapshot},
    tables::{text, words},
    virtual_user::VirtualUser,
};

pub(crate) async fn all(snapshot: &mut Snapshot<'_>, users: &[VirtualUser]) -> Vec<PromiseCheck> {
    vec![
        accepted(snapshot, users),
        sent(snapshot),
        mails(snapshot),
        unknown(snapshot),
        quotas(snapshot),
        opt_outs(snapshot, users),
        batches(snapshot, users).await,
    ]
}

/// The word in the text of the message `item`.
fn word_of(snapshot: &Snapshot<'_>, item: &Value) -> String {
    let batch = format!("BATCH#{}", text(&item["card"], "batchID"));
    let own = snapshot.tables.at(&text(item, "pk"), "TEXT");
    let holder = own.or_else(|| snapshot.tables.at(&batch, "TEXT"));
    let text = holder.map(|item| text(item, "text")).unwrap_or_default();
    words(&text).next().unwrap_or_default().to_owned()
}

fn accepted(snapshot: &Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("accepted text messages are stored exactly once");
    // Identifier and number of each message, by word.
    let mut stored: HashMap<String, BTreeMap<String, String>> = HashMap::new();
    for item in snapshot.tables.of("SMS#", "SMS") {
        let (id, to) = (text(&item["card"], "smsID"), text(&item["card"], "to"));
        let messages = stored.entry(word_of(snapshot, item)).or_default();
        messages.insert(id, to);
    }
    for sms in users.iter().flat_map(|user| &user.texts) {
        let found = stored.remove(&sms.word).unwrap_or_default();
        let matches = |(id, to): (&String, &String)| *id == sms.sms_id && *to == sms.to;
        let holds = match sms.outcome {
            Outcome::Acknowledged => found.len() == 1 && found.iter().all(matches),
            Outcome::Refused => found.is_empty(),
            Outcome::Unknown => found.len() < 2,
        };
        let (word, to, outcome) = (&sms.word, &sms.to, sms.outcome);
        promise.check(holds, || format!("{word} to {to} ({outcome:?}): {found:?}"));
    }
    for batch in users.iter().flat_map(|user| &user.batches) {
        let found = stored.remove(&batch.word).unwrap_or_default();
        let pairs = batch.accepted.iter().map(|(to, id)| (id.clone(), to.clone()));
        let accepted: BTreeMap<String, String> = pairs.collect();
        let holds = match batch.outcome {
            Outcome::Acknowledged => found == accepted,
            Outcome::Refused => found.is_empty(),
            Outcome::Unknown => found.len() <= batch.recipients,
        };
        let (word, found, accepted) = (&batch.word, found.len(), accepted.len());
        promise.check(holds, || format!("batch {word}: {found} of {accepted} stored"));
    }
    let is_empty = stored.is_empty();
    promise.check(is_empty, || format!("unexpected messages: {stored:?}"));
    promise
}

fn sent(snapshot: &Snapshot<'_>) -> PromiseCheck {
    let mut promise =
        PromiseCheck::of("a text message is sent at most once, and its status is correct");
    let mut sent: HashMap<(String, String), usize> = HashMap::new();
    for sms in snapshot.deployment.local.cloud.recorder().texts() {
        let (to, text) = (text(&sms, "to"), text(&sms, "text"));
        let word = words(&text).next().unwrap_or(&text).to_owned();
        *sent.entry((to, word)).or_default() += 1;
    }
    for item in snapshot.tables.of("SMS#", "SMS") {
        let card = &item["card"];
        let times = sent.remove(&(text(card, "to"), word_of(snapshot, item)));
        let times = times.unwrap_or(0);
        let holds = match card["status"].as_str() {
            Some("SENT") => times == 1,
            Some("FAILED") => times == 0,
            Some("UNKNOWN") => times < 2,
            _ => false,
        };
        promise.check(holds, || format!("{card} was sent {times} times"));
    }
    let count = sent.len();
    promise.check(count == 0, || format!("{count} unexpected messages were sent"));
    promise
}

/// A mail's text is deleted once it is sent, so mails are only counted; those with a code are distinguished by it.
fn mails(snapshot: &Snapshot<'_>) -> PromiseCheck {
    let mut promise = PromiseCheck::of("a mail is sent at most once, and its status is correct");
    let (mut sent, mut unknown) = (0, 0);
    for item in snapshot.tables.of("OUTBOX#", "OUTBOX") {
        let status = text(&item["card"], "status");
        sent += usize::from(status == "SENT");
        unknown += usize::from(status == "UNKNOWN");
        let is_final = ["SENT", "FAILED", "UNKNOWN"].contains(&status.as_str());
        promise.check(is_final, || item.to_string());
    }
    let mails = snapshot.deployment.local.cloud.recorder().mails();
    let count = mails.len();
    promise.check((sent..=sent + unknown).contains(&count), || {
        format!("{count} mails of {sent} sent and {unknown} unknown")
    });
    let mut times: HashMap<(String, String), usize> = HashMap::new();
    for mail in &mails {
        let (to, text) = (text(mail, "to"), text(mail, "text"));
        if text.contains("#code=") {
            *times.entry((to, text)).or_default() += 1;
        }
    }
    for (mail, times) in times {
        promise.check(times == 1, || format!("{times} times: {mail:?}"));
    }
    promise
}

/// A status is UNKNOWN only if a fault caused it: no response from SNS or SES, or from the store to a claim or its
/// result, or a killed process, which held at most eight messages. The two that are killed at the end count, too.
fn unknown(snapshot: &Snapshot<'_>) -> PromiseCheck {
    let mut promise = PromiseCheck::of("a message is UNKNOWN only if a fault caused it");
    let times = |kind: &str| snapshot.faults.get(kind).copied().unwrap_or(0);
    let of = |service: &str, modes: &[&str]| -> u64 {
        let kinds = modes.iter().map(|mode| times(&format!("{service}: {mode}")));
        kinds.sum()
    };
    let carriers = of("sns", &["silent", "slow"]) + of("ses", &["silent", "slow"]);
    let store = of("dynamodb", &["silent", "slow", "refuse", "error", "throttle"]);
    let mut left = carriers + store + 8 * (times("kill of dispatcher and worker") + 2);
    let messages = snapshot.tables.of("SMS#", "SMS");
    for item in messages.chain(snapshot.tables.of("OUTBOX#", "OUTBOX")) {
        let card = &item["card"];
        let is_unknown = card["status"] == "UNKNOWN";
        let holds = !is_unknown || left > 0;
        promise.check(holds, || format!("{card}: more UNKNOWN messages than faults"));
        left = left.saturating_sub(u64::from(is_unknown));
    }
    promise
}

fn quotas(snapshot: &Snapshot<'_>) -> PromiseCheck {
    let mut promise =
        PromiseCheck::of("accepted messages count against the quotas, which are not exceeded");
    let mut messages: BTreeMap<String, u64> = BTreeMap::new();
    for item in snapshot.tables.of("SMS#", "SMS") {
        let user = format!("USER#{}", text(&item["card"], "userID"));
        let committee = format!("COMMITTEE#{}", text(&item["card"], "committeeID"));
        *messages.entry(user).or_default() += 1;
        *messages.entry(committee).or_default() += 1;
    }
    // A run may cover two days.
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    for item in snapshot.tables.of("QUOTA#", "QUOTA") {
        let pk = text(item, "pk");
        let owner = pk.trim_start_matches("QUOTA#").rsplit_once('#');
        let owner = owner.map_or("", |(owner, _)| owner).to_owned();
        let is_user = owner.starts_with("USER#");
        let most = if is_user { SMS_PER_USER } else { SMS_PER_COMMITTEE };
        let count = item["n"].as_u64().unwrap_or(u64::MAX);
        promise.check(count <= most, || format!("{pk} is {count}"));
        *counted.entry(owner).or_default() += count;
    }
    for (owner, count) in messages {
        // Messages of a request whose outcome is unknown stay counted.
        let counter = counted.get(&owner);
        promise.check(counter >= Some(&count), || {
            format!("{count} messages of {owner}, counted {counter:?}")
        });
    }
    promise
}

fn opt_outs(snapshot: &Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("the opt-out list matches the last acknowledged changes");
    let items = snapshot.tables.of("OPTOUT#", "OPTOUT");
    let stored: Vec<String> = items.map(|item| text(&item["card"], "number")).collect();
    for (number, expected) in users.iter().flat_map(|user| &user.opt_outs) {
        let is_listed = stored.contains(number);
        promise.check(expected.allows(&is_listed), || {
            format!("{number} is on the list: {is_listed}, not {expected:?}")
        });
    }
    promise
}

async fn batches(snapshot: &mut Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("the counts of a batch add up");
    for user in users {
        let token = user.me.last_token();
        for batch in &user.batches {
            if batch.outcome != Outcome::Acknowledged {
                continue;
            }
            let call = Call::new("GET", format!("/sms/bulk/{}", batch.batch_id));
            let body = snapshot.call(&call.with(&token)).await.body;
            let counts = &body["batch"];
            let states =
                ["queued", "sending", "sent", "failed", "unknown", "delivered", "undelivered"];
            let sum: u64 = states.iter().filter_map(|state| counts[state].as_u64()).sum();
            let accepted = batch.accepted.len();
            let holds = counts["accepted"] == accepted && sum == accepted as u64;
            promise.check(holds, || format!("{body} of {accepted}"));
        }
    }
    promise
}
