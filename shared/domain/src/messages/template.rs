//! Templates with placeholders, such as `Bonjour {{name}}`, for batches of text messages.

use std::collections::BTreeMap;

use crate::{ValueError, comparable};

/// The most code points of a name that [`single_braced`] finds.
const MAX_NAME: usize = 64;

/// Why a template cannot be filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateError<'t> {
    /// There is no value for this name.
    Missing(&'t str),
    /// The result would be longer than allowed.
    TooLong,
}

impl From<TemplateError<'_>> for ValueError {
    fn from(error: TemplateError<'_>) -> Self {
        match error {
            TemplateError::Missing(_) => Self::Variable,
            TemplateError::TooLong => Self::Length,
        }
    }
}

/// Replaces each `{{name}}` in `template` with its value, up to `max_bytes` bytes of result. A name can be in any
/// script, such as `prénom` or `الاسم`, but has no braces; white space around it is ignored. `values` are by
/// [comparable] names. Other text in braces is left unchanged, and values are not expanded again.
///
/// # Errors
/// `Missing` for the first name without a value. `TooLong` as soon as the result exceeds `max_bytes`, which bounds
/// memory if a long value is used often.
pub fn render<'t>(
    template: &'t str,
    values: &BTreeMap<String, String>,
    max_bytes: usize,
) -> Result<String, TemplateError<'t>> {
    let mut text = String::new();
    let mut add = |piece: &str| {
        text.push_str(piece);
        if text.len() <= max_bytes { Ok(()) } else { Err(TemplateError::TooLong) }
    };
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let (before, open) = rest.split_at(start);
        add(before)?;
        rest = if let Some((name, after)) = placeholder(open) {
            add(values.get(&comparable(name)).ok_or(TemplateError::Missing(name))?)?;
            after
        } else {
            // A placeholder can begin at the next brace: `{{{name}}}`.
            add("{")?;
            &open[1..]
        };
    }
    add(rest)?;
    Ok(text)
}

/// The first name in `template` that is not in a placeholder but in a pair of single braces, such as `{name}`: probably
/// a mistake. Text of more than 64 code points in braces is no name.
pub fn single_braced(template: &str) -> Option<&str> {
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let (_, open) = rest.split_at(start);
        rest = if let Some((_, after)) = placeholder(open) {
            after
        } else {
            let (_, inside) = open.split_at(1);
            let closed = inside.split_once(['{', '}']).map(|(name, _)| name);
            let name = closed.filter(|name| inside[name.len()..].starts_with('}'));
            let is_name = |name: &&str| !name.is_empty() && name.chars().count() <= MAX_NAME;
            if let Some(name) = name.map(str::trim).filter(is_name) {
                return Some(name);
            }
            inside
        };
    }
    None
}

/// The name in the placeholder at the start of `text`, and the text after it.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix("{{")?;
    let (name, after) = inside.split_at(inside.find(['{', '}'])?);
    let name = name.trim();
    Some((name, after.strip_prefix("}}")?)).filter(|_| !name.is_empty())
}

#[cfg(test)]
mod tests;
