//! `/_local/fault-injection`: the faults that are injected, and the forms that change them.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    Fields,
    markup::{escape, page, text},
};
use cloud::faults::{Fault, Service};

const PATH: &str = "/_local/fault-injection";

/// The page with the faults that are `left`.
pub(crate) fn forms(left: &BTreeMap<Service, Fault>) -> String {
    let active: String = left.iter().map(active).collect();
    let main = format!(
        include_str!("faults.html"),
        active =
            if active.is_empty() { "<p class=\"soft\">No faults.</p>" } else { active.as_str() },
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
    format!(include_str!("fault.html"), line = escape(&line), service = escape(text(&service)),)
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

/// Adds the fields `names` of the form that are not empty.
fn numbers(form: &Fields, names: &[&str], fields: &mut Map<String, Value>) -> Result<(), String> {
    for name in names {
        let value = form.get(name);
        if !value.is_empty() {
            let number: u64 =
                value.parse().map_err(|_| format!("{name} must be a number from 0 up."))?;
            fields.insert((*name).to_owned(), number.into());
        }
    }
    Ok(())
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
