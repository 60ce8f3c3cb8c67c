//! The console below `/_local`: pages for developers. The templates, the style sheet and the script are files of this
//! folder; the script only refreshes, copies and signs in, so that every page works without it.

pub(crate) mod faults;
pub(crate) mod mail;
pub(crate) mod markup;
pub(crate) mod people;
pub(crate) mod requests;
pub(crate) mod service;
pub(crate) mod tables;
pub(crate) mod texts;

use std::collections::HashMap;

pub(crate) const STYLE: &str = include_str!("console/console.css");
pub(crate) const SCRIPT: &str = include_str!("console/console.js");

/// The fields of a form or a query.
pub(crate) struct Fields(HashMap<String, String>);

impl Fields {
    /// The fields in `encoded`, in the format `application/x-www-form-urlencoded`.
    pub(crate) fn of(encoded: &[u8]) -> Self {
        let fields = form_urlencoded::parse(encoded);
        Self(fields.into_owned().collect())
    }

    /// The value of `name` without surrounding spaces; empty if it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }
}
