//! `/_local/fault-injection`: the faults that are injected, and the forms that change them.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    Fields,
    markup::{escape, page, text},
};
use crate::{
    faults::{Fault, Service},
    strict::Strictness,
};

const PATH: &str = "/_local/fault-injection";

/// The fields of [`Strictness`], and what each does.
const BEHAVIOURS: [(&str, &str); 7] = [
    ("staleMs", "Reads and indexes lag by up to, in milliseconds"),
    (
        "tornMs",
        "Items of one read are apart by up to, in milliseconds",
    ),
    (
        "transactionMs",
        "Transactions take up to, in milliseconds, and conflict meanwhile",
    ),
    ("idleMs", "Connections close when idle for, in milliseconds"),
    (
        "hotWrites",
        "Write units per second of a partition; on AWS 1,000",
    ),
    (
        "hotReads",
        "Read units per second of a partition; on AWS 3,000",
    ),
    ("seed", "Seed of the random times"),
];

/// The page with the faults that are `left` and the behaviours of `strictness`.
pub(crate) fn forms(left: &BTreeMap<Service, Fault>, strictness: Strictness) -> String {
    let active: String = left.iter().map(active).collect();
    let current = json!(strictness);
    let behaviours = BEHAVIOURS.iter().map(|(name, title)| {
        format!(
            "<label>{title} <input type=\"number\" name=\"{name}\" min=\"0\" value=\"{}\"></label>\n",
            current[name]
        )
    });
    let main = format!(
        include_str!("faults.html"),
        active = if active.is_empty() {
            "<p class=\"soft\">No faults.</p>"
        } else {
            active.as_str()
        },
        behaviours = behaviours.collect::<String>(),
    );
    page("Faults", PATH, &main)
}

/// What is left of one fault, with a button that clears it.
fn active((service, fault): (&Service, &Fault)) -> String {
    let (service, fault) = (json!(service), json!(fault));
    let left = match &fault["times"] {
        Value::Null => "until cleared".to_owned(),
        times => format!("{times} more"),
    };
    let details = [("delayMs", "ms"), ("operation", ""), ("error", "")]
        .into_iter()
        .filter(|(name, _)| !fault[*name].is_null())
        .map(|(name, unit)| match &fault[name] {
            Value::String(value) => format!(" · {value}"),
            value => format!(" · {value} {unit}"),
        });
    let line = format!(
        "{}: {}{} · {left}",
        text(&service),
        text(&fault["mode"]),
        details.collect::<String>()
    );
    format!(
        include_str!("fault.html"),
        line = escape(&line),
        service = escape(text(&service)),
    )
}

/// The service and the fault that the form describes.
///
/// # Errors
/// A sentence, when a field is invalid.
pub(crate) fn fault(form: &Fields) -> Result<(Service, Fault), String> {
    let mut fault = Map::new();
    for name in ["mode", "operation", "error"] {
        let value = form.get(name);
        if !value.is_empty() {
            fault.insert(name.to_owned(), value.into());
        }
    }
    numbers(form, &["times", "delayMs"], &mut fault)?;
    Ok((service(form)?, read(Value::Object(fault))?))
}

/// The service that the form names.
///
/// # Errors
/// A sentence, when there is no such service.
pub(crate) fn service(form: &Fields) -> Result<Service, String> {
    read(form.get("service").into())
}

/// The behaviours that the form describes; empty fields are 0.
///
/// # Errors
/// A sentence, when a field is no number.
pub(crate) fn strictness(form: &Fields) -> Result<Strictness, String> {
    let mut fields = Map::new();
    numbers(form, &BEHAVIOURS.map(|(name, _)| name), &mut fields)?;
    read(Value::Object(fields))
}

/// Adds the fields `names` of the form that are not empty.
fn numbers(form: &Fields, names: &[&str], fields: &mut Map<String, Value>) -> Result<(), String> {
    for name in names {
        let value = form.get(name);
        if !value.is_empty() {
            let number: u64 = value
                .parse()
                .map_err(|_| format!("{name} must be a number from 0 up."))?;
            fields.insert((*name).to_owned(), number.into());
        }
    }
    Ok(())
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
