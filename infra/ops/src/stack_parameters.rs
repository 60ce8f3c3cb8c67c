//! The parameters that `infra/bin/deploy` passes to a stack: those of samconfig.toml, and the template's defaults.

use std::{collections::BTreeMap, fs};

/// The folder with samconfig.toml.
const INFRA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const TEMPLATE: &str = include_str!("../../template.yaml");

/// The parameters of one environment, and its values of the template's map `Settings`, by name.
pub struct StackParameters(BTreeMap<String, String>);

impl StackParameters {
    /// Reads those of `stage` in the repository's samconfig.toml.
    ///
    /// # Errors
    /// When the file cannot be read or does not name `stage`.
    pub fn read(stage: &str) -> Result<Self, String> {
        let path = format!("{INFRA}/samconfig.toml");
        let text = fs::read_to_string(&path);
        Self::of(&text.map_err(|problem| format!("{path} cannot be read: {problem}"))?, stage)
    }

    /// Those of `stage` in `samconfig`, the text of a samconfig.toml, in which each has a line of its own.
    ///
    /// # Errors
    /// When it does not name `stage`.
    pub fn of(samconfig: &str, stage: &str) -> Result<Self, String> {
        let (_, section) = samconfig
            .split_once(&format!("\n[{stage}.deploy.parameters]\n"))
            .ok_or_else(|| format!("samconfig.toml has no [{stage}.deploy.parameters]"))?;
        let section = section.split("\n[").next().unwrap_or_default();
        let given = section.lines().filter_map(|line| {
            let (name, value) = line.trim().strip_prefix('\'')?.split_once("=\"")?;
            Some((name.to_owned(), value.split('"').next()?.to_owned()))
        });
        let mut all = defaults();
        all.extend(settings(stage));
        all.extend(given);
        Ok(Self(all))
    }

    /// The names of the parameters whose values contain `text`.
    pub(crate) fn with(&self, text: &str) -> Vec<&str> {
        let found = self.0.iter().filter(|(_, value)| value.contains(text));
        found.map(|(name, _)| name.as_str()).collect()
    }

    /// The value of `name`; empty if it has none.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// The value of `name`.
    ///
    /// # Errors
    /// When it is no number.
    pub(crate) fn number(&self, name: &str) -> Result<f64, String> {
        let text = self.text(name);
        text.parse().map_err(|_| format!("{name} is \"{text}\", but must be a number"))
    }
}

fn defaults() -> BTreeMap<String, String> {
    let (mut all, mut name) = (BTreeMap::new(), "");
    for line in between("\nParameters:\n", "\nRules:\n") {
        match line.strip_prefix("    Default: ") {
            Some(value) => {
                all.insert(name.to_owned(), value.trim_matches('\'').to_owned());
            }
            None if !line.starts_with("   ") => name = line.trim().trim_end_matches(':'),
            None => {}
        }
    }
    all
}

/// The lines of the map `Settings`, such as `RateLimit: { dev: '100', staging: '100', prod: '100' }`.
fn settings(stage: &str) -> impl Iterator<Item = (String, String)> {
    let stage = format!("{stage}: '");
    between("\n  Settings:\n", "\nConditions:\n").filter_map(move |line| {
        let (name, values) = line.trim().split_once(": {")?;
        let value = values.split_once(&stage)?.1.split('\'').next()?;
        Some((name.to_owned(), value.to_owned()))
    })
}

fn between(start: &str, end: &str) -> impl Iterator<Item = &'static str> {
    let rest = TEMPLATE.split_once(start).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or("", |(part, _)| part).lines()
}
