//! Templates with placeholders, such as `Bonjour {{name}}`, for batches of text messages.

use std::collections::BTreeMap;

use crate::ValueError;

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
/// script, such as `prénom` or `الاسم`, but has no braces; white space around it is ignored. Other text in braces is
/// left unchanged, and values are not expanded again.
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
        if text.len() <= max_bytes {
            Ok(())
        } else {
            Err(TemplateError::TooLong)
        }
    };
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let (before, open) = rest.split_at(start);
        add(before)?;
        rest = if let Some((name, after)) = placeholder(open) {
            add(values.get(name).ok_or(TemplateError::Missing(name))?)?;
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn template_fills_placeholders_and_keeps_other_text() {
        let long = "n".repeat(64);
        let mut values = values([
            ("name", "Amel"),
            ("_1", "سارة"),
            ("trap", "{{name}} {{"),
            ("open", "{"),
            ("empty", ""),
        ]);
        values.insert(long.clone(), "64".to_owned());
        let others = [
            ("prénom", "Léa"),
            ("الاسم", "سارة"),
            ("first name", "Sami"),
            ("1", "7"),
        ];
        values.extend(others.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for (template, text) in [
            ("", ""),
            ("Bonjour", "Bonjour"),
            ("Bonjour {{name}} !", "Bonjour Amel !"),
            ("{{name}}{{name}}", "AmelAmel"),
            ("مرحبا {{_1}}،", "مرحبا سارة،"),
            (
                "{{ name }}, {{\r\n\tname}}, {{name\u{a0}}}",
                "Amel, Amel, Amel",
            ),
            ("[{{empty}}]", "[]"),
            (&format!("{{{{{long}}}}}"), "64"),
            // values are not expanded again
            ("{{trap}}", "{{name}} {{"),
            ("{{trap}}name}}", "{{name}} {{name}}"),
            ("{{open}}{name}}", "{{name}}"),
            // more braces than a placeholder has
            ("{{{name}}}", "{Amel}"),
            ("{{{{name}}}}", "{{Amel}}"),
            ("{{a {{name}} b}}", "{{a Amel b}}"),
            // no placeholders
            ("{name}", "{name}"),
            ("{ {name} }", "{ {name} }"),
            ("{{name}", "{{name}"),
            ("{{name", "{{name"),
            ("{{name} }", "{{name} }"),
            ("{{}} {{ }}", "{{}} {{ }}"),
            ("}} {{", "}} {{"),
            ("{{é", "{{é"),
            // names in any script
            (
                "{{prénom}}, {{الاسم}}, {{first name}}, {{1}}",
                "Léa, سارة, Sami, 7",
            ),
        ] {
            let rendered = render(template, &values, 1600);
            assert_eq!(rendered.as_deref(), Ok(text), "{template}");
        }
    }

    #[test]
    fn first_placeholder_without_a_value_is_reported() {
        let values = values([("name", "Amel")]);
        for (template, missing) in [
            ("{{nom de famille}}", "nom de famille"),
            ("{{na\nme}}", "na\nme"),
            ("{{Name}}", "Name"),
            ("{{name}} {{ code }} {{date}}", "code"),
        ] {
            let rendered = render(template, &values, 1600);
            assert_eq!(rendered, Err(TemplateError::Missing(missing)), "{template}");
        }
        assert_eq!(
            ValueError::from(TemplateError::Missing("code")),
            ValueError::Variable
        );
    }

    #[test]
    fn single_braces_around_a_name_are_found() {
        let long = format!("{{{}}}", "n".repeat(65));
        for (template, name) in [
            ("Bonjour {name} !", Some("name")),
            ("{{name}}, le { prénom }", Some("prénom")),
            ("مرحبا {الاسم}", Some("الاسم")),
            ("{{name}", Some("name")),
            ("{name}}", Some("name")),
            ("{ {name} }", Some("name")),
            ("{a} {b}", Some("a")),
            (&long, None),
            ("", None),
            ("Bonjour", None),
            ("{{name}}", None),
            ("{{{name}}}", None),
            ("{{{{name}}}}", None),
            ("{{a {{name}} b}}", None),
            ("{} {{}} { }", None),
            ("{name", None),
            ("name}", None),
        ] {
            assert_eq!(single_braced(template), name, "{template}");
        }
    }

    #[test]
    fn template_result_longer_than_limit_is_too_long() {
        let values = values([("name", "éé")]);
        assert_eq!(render("{{name}}", &values, 4).as_deref(), Ok("éé"));
        for template in [
            "{{name}} ",
            " {{name}}",
            "{{name}}{{name}}",
            "12345",
            "{{{{{",
        ] {
            assert_eq!(
                render(template, &values, 4),
                Err(TemplateError::TooLong),
                "{template}"
            );
        }
        assert_eq!(ValueError::from(TemplateError::TooLong), ValueError::Length);
    }

    proptest! {
        /// Literal text and placeholders in turn give the texts and values in the same order.
        #[test]
        fn template_keeps_order_of_text_and_values(
            pieces in proptest::collection::vec(("[^{}]{0,8}|[^{}]{0,4}\\}\\}", "[^{}\\s]{1,9}", "[ \t\n]{0,2}", "\\PC{0,12}|\\{\\{a\\}\\}"), 0..6),
        ) {
            let values: BTreeMap<_, _> = pieces.iter().map(|(_, name, _, value)| (name.clone(), value.clone())).collect();
            let (mut template, mut text) = (String::new(), String::new());
            for (piece, name, space, _) in &pieces {
                template.extend([piece, "{{", space, name, space, "}}"]);
                text.extend([piece.as_str(), &values[name]]);
            }
            prop_assert_eq!(render(&template, &values, usize::MAX), Ok(text));
            let missing = pieces.first().map(|(_, name, ..)| name.as_str());
            prop_assert_eq!(render(&template, &BTreeMap::new(), usize::MAX).err(), missing.map(TemplateError::Missing));
        }

        #[test]
        fn template_accepts_any_text(text in "[{}a1_ é]{0,40}|\\PC{0,40}") {
            let filled = render(&text, &values([("a", "a")]), 1600);
            prop_assert!(text.contains("{{") || filled.as_deref() == Ok(text.as_str()));
        }
    }
}
