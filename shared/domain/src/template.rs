//! Texts with places in them: `Bonjour {{name}}`, for many people at once.

use std::collections::BTreeMap;

use crate::ValueError;

/// Why a template could not be filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateError<'t> {
    /// It asks for this name, and nobody says what it stands for.
    Missing(&'t str),
    /// The text would be longer than asked for.
    TooLong,
}

impl From<TemplateError<'_>> for ValueError {
    fn from(why: TemplateError<'_>) -> Self {
        match why {
            TemplateError::Missing(_) => Self::Variable,
            TemplateError::TooLong => Self::Length,
        }
    }
}

/// `template` with the value of each `{{name}}` in its place, in `most` bytes. A name is in any script, such as
/// `prénom` or `الاسم`, without braces; white space may stand around it. Anything else in braces stays as it was
/// written. A value is never looked at again, whatever braces stand in it.
///
/// # Errors
/// The first name without a value, or a text that is longer than `most`: values that go in again and again
/// make nothing that fills the memory.
pub fn filled<'t>(
    template: &'t str,
    values: &BTreeMap<String, String>,
    most: usize,
) -> Result<String, TemplateError<'t>> {
    let mut text = String::new();
    let mut add = |piece: &str| {
        text.push_str(piece);
        if text.len() <= most {
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
            // The next brace may begin one: `{{{name}}}`.
            add("{")?;
            &open[1..]
        };
    }
    add(rest)?;
    Ok(text)
}

/// The name in the placeholder that `text` begins with, and what comes after it.
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
    fn placeholders_are_filled_and_all_else_stays() {
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
            ("", Ok("")),
            ("Bonjour", Ok("Bonjour")),
            ("Bonjour {{name}} !", Ok("Bonjour Amel !")),
            ("{{name}}{{name}}", Ok("AmelAmel")),
            ("مرحبا {{_1}}،", Ok("مرحبا سارة،")),
            (
                "{{ name }}, {{\r\n\tname}}, {{name\u{a0}}}",
                Ok("Amel, Amel, Amel"),
            ),
            ("[{{empty}}]", Ok("[]")),
            (&format!("{{{{{long}}}}}"), Ok("64")),
            // what came in is never looked at again
            ("{{trap}}", Ok("{{name}} {{")),
            ("{{trap}}name}}", Ok("{{name}} {{name}}")),
            ("{{open}}{name}}", Ok("{{name}}")),
            // more braces than a placeholder has
            ("{{{name}}}", Ok("{Amel}")),
            ("{{{{name}}}}", Ok("{{Amel}}")),
            ("{{a {{name}} b}}", Ok("{{a Amel b}}")),
            // no placeholders
            ("{name}", Ok("{name}")),
            ("{ {name} }", Ok("{ {name} }")),
            ("{{name}", Ok("{{name}")),
            ("{{name", Ok("{{name")),
            ("{{name} }", Ok("{{name} }")),
            ("{{}} {{ }}", Ok("{{}} {{ }}")),
            ("}} {{", Ok("}} {{")),
            ("{{é", Ok("{{é")),
            // names in any script
            (
                "{{prénom}}, {{الاسم}}, {{first name}}, {{1}}",
                Ok("Léa, سارة, Sami, 7"),
            ),
            // names without a value: the first one is told
            (
                "{{nom de famille}}",
                Err(TemplateError::Missing("nom de famille")),
            ),
            ("{{na\nme}}", Err(TemplateError::Missing("na\nme"))),
            ("{{Name}}", Err(TemplateError::Missing("Name"))),
            (
                "{{name}} {{ code }} {{date}}",
                Err(TemplateError::Missing("code")),
            ),
        ] {
            assert_eq!(
                filled(template, &values, 1600).as_deref(),
                text.as_ref().copied(),
                "{template}"
            );
        }
        assert_eq!(
            ValueError::from(TemplateError::Missing("code")),
            ValueError::Variable
        );
    }

    #[test]
    fn nothing_longer_than_asked_for_is_made() {
        let values = values([("name", "éé")]);
        assert_eq!(filled("{{name}}", &values, 4).as_deref(), Ok("éé"));
        for template in [
            "{{name}} ",
            " {{name}}",
            "{{name}}{{name}}",
            "12345",
            "{{{{{",
        ] {
            assert_eq!(
                filled(template, &values, 4),
                Err(TemplateError::TooLong),
                "{template}"
            );
        }
        assert_eq!(ValueError::from(TemplateError::TooLong), ValueError::Length);
    }

    proptest! {
        /// Pieces that are no placeholders and names in turn: the same as putting them in a row.
        #[test]
        fn every_piece_stands_where_it_was(
            pieces in proptest::collection::vec(("[^{}]{0,8}|[^{}]{0,4}\\}\\}", "[^{}\\s]{1,9}", "[ \t\n]{0,2}", "\\PC{0,12}|\\{\\{a\\}\\}"), 0..6),
        ) {
            let values: BTreeMap<_, _> = pieces.iter().map(|(_, name, _, value)| (name.clone(), value.clone())).collect();
            let (mut template, mut text) = (String::new(), String::new());
            for (piece, name, space, _) in &pieces {
                template.extend([piece, "{{", space, name, space, "}}"]);
                text.extend([piece.as_str(), &values[name]]);
            }
            prop_assert_eq!(filled(&template, &values, usize::MAX), Ok(text));
            let missing = pieces.first().map(|(_, name, ..)| name.as_str());
            prop_assert_eq!(filled(&template, &BTreeMap::new(), usize::MAX).err(), missing.map(TemplateError::Missing));
        }

        #[test]
        fn any_text_can_be_looked_at(text in "[{}a1_ é]{0,40}|\\PC{0,40}") {
            let filled = filled(&text, &values([("a", "a")]), 1600);
            prop_assert!(text.contains("{{") || filled.as_deref() == Ok(text.as_str()));
        }
    }
}
