//! The console below `/_local`: pages for developers. The templates, the style sheet and the script are files of this
//! folder; the script only refreshes, copies and signs in, so that every page works without it.

pub(crate) mod mail;
pub(crate) mod markup;
pub(crate) mod people;
pub(crate) mod requests;
pub(crate) mod tables;
pub(crate) mod texts;

use std::collections::HashMap;

pub(crate) const STYLE: &str = include_str!("console/console.css");
pub(crate) const SCRIPT: &str = include_str!("console/console.js");

/// The fields of a query.
pub(crate) struct Query(HashMap<String, String>);

impl Query {
    pub(crate) fn of(encoded: &str) -> Self {
        Self(form_urlencoded::parse(encoded.as_bytes()).into_owned().collect())
    }

    /// The value of `name` without surrounding spaces; empty if it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }
}
