//! `/_local/service`: the state of this program, the newest batches of text messages, and the hosting account.

use serde_json::Value;

use super::markup::{escape, page, text, time};

/// The counts of a batch that are shown, in this order.
const COUNTS: [&str; 9] = [
    "accepted",
    "rejected",
    "duplicates",
    "sent",
    "sending",
    "queued",
    "failed",
    "unknown",
    "delivered",
];
/// The most batches, and the most calls of the hosting account.
const MAX_SHOWN: usize = 20;

/// The page with `facts`, each a name and a value, and what `/_local/batches` and `/_local/cpanel` return.
pub(crate) fn overview(facts: &[(&str, String)], batches: &[Value], hosting: &Value) -> String {
    let facts = facts
        .iter()
        .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value)));
    let batches: String = batches.iter().take(MAX_SHOWN).map(batch).collect();
    let calls = hosting["calls"].as_array().into_iter().flatten();
    let main = format!(
        include_str!("service.html"),
        facts = facts.collect::<String>(),
        batches = or_none(batches),
        domains = or_none(domains(hosting)),
        calls = or_none(calls.take(MAX_SHOWN).map(call).collect()),
    );
    page("Service", "/_local/service", &main)
}

/// `items` as a list.
fn or_none(items: String) -> String {
    if items.is_empty() {
        return "<p class=\"soft\">None.</p>".to_owned();
    }
    format!("<ul>\n{items}</ul>")
}

fn batch(batch: &Value) -> String {
    let counts = COUNTS
        .iter()
        .filter_map(|name| Some((name, batch[*name].as_u64().filter(|count| *count > 0)?)));
    let counts: Vec<String> = counts.map(|(name, count)| format!("{count} {name}")).collect();
    format!(
        "<li>{} <code>{}</code><br>{}</li>\n",
        time(text(&batch["createdAt"])),
        escape(text(&batch["batchID"])),
        counts.join(" · ")
    )
}

/// The domains and databases of the account, in the fields of its JSON.
fn domains(hosting: &Value) -> String {
    let lists = [
        ("Main domain", &hosting["mainDomain"]),
        ("Subdomains", &hosting["subDomains"]),
        ("Addon domains", &hosting["addonDomains"]),
        ("Parked domains", &hosting["parkedDomains"]),
        ("Databases", &hosting["databases"]),
    ];
    let filled = lists.into_iter().filter_map(|(title, value)| {
        let shown = written(value);
        (!shown.is_empty()).then(|| format!("<li>{title}: {}</li>\n", escape(&shown)))
    });
    filled.collect()
}

fn call(call: &Value) -> String {
    format!(
        "<li>{} <code>{}</code> {}</li>\n",
        time(text(&call["at"])),
        escape(text(&call["function"])),
        escape(&format!("{} → {}", written(&call["parameters"]), written(&call["outcome"])))
    )
}

/// `value` without the punctuation of JSON.
fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(written).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{name}={}", written(value)))
            .collect::<Vec<_>>()
            .join(" "),
        value => value.to_string(),
    }
}
