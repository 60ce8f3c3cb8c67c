//! What was promised, held against the store and against what the service says when everything is well again.

mod audit;
mod courses;
mod files;
mod messages;
mod people;

use std::collections::HashSet;

use local::{Trouble, chance::Chance};
use serde_json::Value;

use crate::{
    actor::Actor,
    client::{Ask, Client, Heard},
    stage::Stage,
    tables::{Tables, words},
    weather::Struck,
};

/// A promise, how many things it was held against, and those that it does not hold for.
pub(crate) struct Finding {
    pub(crate) promise: &'static str,
    pub(crate) looked_at: u64,
    pub(crate) broken: Vec<String>,
}

impl Finding {
    pub(crate) const fn of(promise: &'static str) -> Self {
        Self {
            promise,
            looked_at: 0,
            broken: Vec::new(),
        }
    }

    /// One thing more, which is as it should be or is told of by `what`.
    pub(crate) fn look(&mut self, is_good: bool, what: impl FnOnce() -> String) {
        self.looked_at += 1;
        if !is_good {
            self.broken.push(what());
        }
    }
}

/// Everything that is looked at.
pub(crate) struct Evening<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) tables: Tables,
    pub(crate) struck: &'a Struck,
    pub(crate) client: Client,
}

impl Evening<'_> {
    /// The answer to `ask`, once the processes are up.
    pub(crate) async fn ask(&mut self, ask: &Ask) -> Heard {
        let heard = self.client.send(ask).await;
        if heard.status == 0 || heard.status >= 500 {
            self.client.send(ask).await
        } else {
            heard
        }
    }
}

pub(crate) async fn all(
    stage: &Stage,
    struck: &Struck,
    people: &mut [Actor],
) -> Result<Vec<Finding>, Trouble> {
    let address = "127.0.2.1".parse().map_err(bench::error)?;
    let mut client = Client::new(
        std::sync::Arc::clone(&stage.service),
        address,
        Chance::new(0),
    );
    client.cuts = false;
    let mut evening = Evening {
        stage,
        tables: Tables::read(&stage.cloud)?,
        struck,
        client,
    };
    let mut findings = vec![
        nothing_is_due(&evening),
        nothing_refused_is_there(&evening, people),
    ];
    findings.extend(people::all(&mut evening, people).await?);
    for person in people.iter_mut() {
        let _ = person.me.sign_in(&mut evening.client).await;
    }
    findings.extend(courses::all(&mut evening, people).await);
    findings.extend(files::all(&mut evening, people).await);
    findings.extend(messages::all(&mut evening, people).await);
    findings.extend(audit::all(&evening, people));
    findings.extend(answers(stage, people));
    Ok(findings)
}

fn nothing_is_due(evening: &Evening<'_>) -> Finding {
    let mut finding = Finding::of("nothing is left to be done");
    for item in &evening.tables.items {
        finding.look(item["duePk"].is_null(), || {
            format!("{} is due under {}", item["pk"], item["duePk"])
        });
    }
    finding
}

fn nothing_refused_is_there(evening: &Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("nothing that was refused is there");
    let mut there = HashSet::new();
    for item in &evening.tables.items {
        note_words(item, &mut there);
    }
    for word in people.iter().flat_map(|person| &person.refused) {
        finding.look(!there.contains(word), || word.clone());
    }
    finding
}

fn note_words(value: &Value, there: &mut HashSet<String>) {
    match value {
        Value::String(text) => there.extend(words(text).map(str::to_owned)),
        Value::Array(list) => list.iter().for_each(|value| note_words(value, there)),
        Value::Object(fields) => fields.values().for_each(|value| note_words(value, there)),
        _ => {}
    }
}

fn answers(stage: &Stage, people: &[Actor]) -> [Finding; 3] {
    let mut told = Finding::of("every answer is an envelope, and none is a 500");
    let seen = stage.service.seen();
    told.looked_at = seen.statuses.values().sum();
    told.broken.clone_from(&seen.malformed);
    let mut again = Finding::of("the same key is answered the same");
    again.looked_at = people.iter().map(|person| person.replays).sum();
    let mut meanwhile = Finding::of("what people were told while it raged is so");
    meanwhile.looked_at = told.looked_at;
    meanwhile.broken = people
        .iter()
        .flat_map(|person| person.wrongs.clone())
        .collect();
    [told, again, meanwhile]
}
