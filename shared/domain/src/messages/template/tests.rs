use proptest::prelude::*;

use super::*;

fn values<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
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
    let others = [("prénom", "Léa"), ("الاسم", "سارة"), ("first name", "Sami"), ("1", "7")];
    values.extend(others.map(|(name, value)| (name.to_owned(), value.to_owned())));
    for (template, text) in [
        ("Bonjour {{name}} !", "Bonjour Amel !"),
        ("{{name}}{{name}}", "AmelAmel"),
        ("مرحبا {{_1}}،", "مرحبا سارة،"),
        ("{{ name }}, {{\r\n\tname}}, {{name\u{a0}}}", "Amel, Amel, Amel"),
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
        ("{{name}", "{{name}"),
        ("{{name", "{{name"),
        ("{{name} }", "{{name} }"),
        ("{{}} {{ }}", "{{}} {{ }}"),
        ("}} {{", "}} {{"),
        ("{{é", "{{é"),
        // names in any script
        ("{{prénom}}, {{الاسم}}, {{first name}}, {{1}}", "Léa, سارة, Sami, 7"),
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
    assert_eq!(ValueError::from(TemplateError::Missing("code")), ValueError::Variable);
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
        ("{{name}}", None),
        ("{{{name}}}", None),
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
    for template in ["{{name}} ", " {{name}}", "{{name}}{{name}}", "12345", "{{{{{"] {
        assert_eq!(render(template, &values, 4), Err(TemplateError::TooLong), "{template}");
    }
    assert_eq!(ValueError::from(TemplateError::TooLong), ValueError::Length);
}

proptest! {
    /// Literal text and placeholders in turn give the texts and values in the same order.
    #[test]
    fn template_keeps_order_of_text_and_values(
        pieces in proptest::collection::vec(("[^{}]{0,8}|[^{}]{0,4}\\}\\}", "[^{}\\s]{1,9}", "[ \t\n]{0,2}", "\\PC{0,12}|\\{\\{a\\}\\}"), 0..6),
    ) {
        let values: BTreeMap<_, _> = pieces.iter().map(|(_, name, _, value)| (comparable(name), value.clone())).collect();
        let (mut template, mut text) = (String::new(), String::new());
        for (piece, name, space, _) in &pieces {
            template.extend([piece, "{{", space, name, space, "}}"]);
            text.extend([piece.as_str(), &values[&comparable(name)]]);
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
