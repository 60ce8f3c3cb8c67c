use super::*;

#[test]
fn line_is_trimmed_and_limited_in_code_points() {
    for (text, expected) in [
        ("  Amel ", Ok("Amel")),
        ("أمل", Ok("أمل")),
        ("éééé", Ok("éééé")),
        ("ééééé", Err(ValueError::Length)),
        (" \u{a0}\t\n ", Err(ValueError::Required)),
        ("a\nb", Err(ValueError::Format)),
        ("a\u{7f}", Err(ValueError::Format)),
        ("\u{0}", Err(ValueError::Format)),
        ("a\u{202e}b", Err(ValueError::Format)),
        ("\u{2066}a", Err(ValueError::Format)),
    ] {
        assert_eq!(
            text.parse::<Line<4>>().as_ref().map(Line::as_str),
            expected.as_ref().copied(),
            "{text:?}"
        );
    }
}

#[test]
fn folded_removes_accents_and_case() {
    assert_eq!(folded("Éléonore ÇELIK"), "eleonore celik");
    assert_eq!(folded("Straße"), folded("STRASSE"));
    assert_eq!(folded("STRAẞE"), folded("STRASSE"));
    assert_eq!(folded("Οδυσσεύς"), folded("ΟΔΥΣΣΕΥΣ"));
}

#[test]
fn folded_unifies_arabic_variants() {
    for (one, other) in [
        ("أإآٱا", "ااااا"),
        ("مدرسة", "مدرسه"),
        ("مستوى", "مستوي"),
        ("مُحَمَّد", "محمد"),
        ("مـحـمـد", "محمد"),
        ("٢٠٢٦", "2026"),
        ("ﻣﺪﺭﺳﺔ", "مدرسه"),
    ] {
        assert_eq!(folded(one), folded(other), "{one} {other}");
    }
    assert_eq!(folded("cœur"), "coeur");
}

#[test]
fn prose_is_stored_unchanged() {
    for (text, expected) in [
        ("a\r\n\tb ", Ok("a\r\n\tb ")),
        (" \n", Err(ValueError::Required)),
        ("a\u{b}", Err(ValueError::Format)),
        ("a\u{7f}", Err(ValueError::Format)),
        ("مرحبا!", Ok("مرحبا!")),
        ("1234567", Err(ValueError::Length)),
    ] {
        assert_eq!(
            text.parse::<Prose<6>>().as_ref().map(Prose::as_str),
            expected.as_ref().copied(),
            "{text:?}"
        );
    }
}

#[test]
fn short_code_accepts_upper_case_digits_and_underscores() {
    assert!("REG_01".parse::<ShortCode>().is_ok());
    assert_eq!("reg".parse::<ShortCode>(), Err(ValueError::Format));
    assert_eq!("ABCDEFGHIJK".parse::<ShortCode>(), Err(ValueError::Length));
}

proptest::proptest! {
    #[test]
    fn line_and_prose_lengths_count_code_points(text in "\\PC{0,12}") {
        let length = text.trim().chars().count();
        proptest::prop_assert_eq!(text.parse::<Line<8>>().is_ok(), (1..=8).contains(&length));
        proptest::prop_assert_eq!(text.parse::<Prose<8>>().is_ok(), length > 0 && text.chars().count() <= 8);
    }
}
