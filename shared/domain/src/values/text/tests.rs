use super::*;

#[test]
fn line_is_trimmed_and_limited_in_code_points() {
    for (text, expected) in [
        ("  Amel ", Ok("Amel")),
        ("أمل", Ok("أمل")),
        ("éééé", Ok("éééé")),
        ("ééééé", Err(ValueError::Length)),
        (" \u{a0}\t\n ", Err(ValueError::Required)),
        ("\u{200b}\u{3164}", Err(ValueError::Required)),
        (" \u{301} ", Err(ValueError::Required)),
        ("\u{2800}\u{e0041}", Err(ValueError::Required)),
        ("e\u{301}", Ok("e\u{301}")),
        ("👩\u{200d}👧", Ok("👩\u{200d}👧")),
        ("a\u{85}b", Err(ValueError::Format)),
        ("a\u{2028}b", Err(ValueError::Format)),
        ("a\u{2029}b", Err(ValueError::Format)),
        ("a\nb", Err(ValueError::Format)),
        ("a\u{7f}", Err(ValueError::Format)),
        ("\u{0}", Err(ValueError::Format)),
        ("a\u{202e}b", Err(ValueError::Format)),
        ("\u{2066}a", Err(ValueError::Format)),
    ] {
        let read = text.parse::<Line<4>>();
        assert_eq!(read.map(|line| line.0), expected.map(str::to_owned), "{text:?}");
    }
}

#[test]
fn folded_removes_accents_case_and_arabic_variants() {
    for (one, other) in [
        ("Éléonore ÇELIK", "eleonore celik"),
        ("cœur", "coeur"),
        ("Straße", "STRASSE"),
        ("STRAẞE", "STRASSE"),
        ("Łódź Ørsted Đorđe Ħal ILGIN ılgın", "lodz orsted dorde hal ilgin ilgin"),
        ("Þór", "thor"),
        ("O’Neil", "o'neil"),
        ("ڨفصة", "قفصة"),
        ("Οδυσσεύς", "ΟΔΥΣΣΕΥΣ"),
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
    assert_eq!(folded("Éléonore"), "eleonore");
}

#[test]
fn prose_is_stored_unchanged_but_for_line_breaks() {
    for (text, expected) in [
        ("a\r\n\tb ", Ok("a\n\tb ")),
        ("\rb\r\r\n", Ok("\nb\n\n")),
        ("12345\r\n", Ok("12345\n")),
        ("\r\n \r", Err(ValueError::Required)),
        (" \n", Err(ValueError::Required)),
        ("\u{200b}\u{200b}", Err(ValueError::Required)),
        ("a\u{85}", Err(ValueError::Format)),
        ("a\u{2028}b", Ok("a\u{2028}b")),
        ("a\u{b}", Err(ValueError::Format)),
        ("مرحبا!", Ok("مرحبا!")),
        ("1234567", Err(ValueError::Length)),
    ] {
        let read = text.parse::<Prose<6>>();
        assert_eq!(read.map(|prose| prose.0), expected.map(str::to_owned), "{text:?}");
    }
}

#[test]
fn only_what_can_be_seen_counts_as_visible() {
    for (text, length) in [
        ("Premiers secours", 16),
        ("été", 3),
        ("e\u{301}te\u{301}", 5),
        ("مُحَمَّد", 8),
        ("a  \u{3000}\n b", 3),
        ("a\u{2800}\u{2800}b", 3),
        (" a\u{200b} ", 1),
        ("a \u{3164}\u{2800}", 1),
        ("a \u{301}", 1),
        ("\u{301}a", 1),
        ("a\u{fff9}\u{fe0f}", 1),
        ("\u{ad}\u{2800} \u{301}", 0),
    ] {
        assert_eq!(visible(text), length, "{text:?}");
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
        let is_seen = !is_blank(&text);
        let length = text.trim().chars().count();
        proptest::prop_assert_eq!(text.parse::<Line<8>>().is_ok(), is_seen && length <= 8 && !text.trim().contains(['\u{2028}', '\u{2029}']));
        proptest::prop_assert_eq!(text.parse::<Prose<8>>().is_ok(), is_seen && text.chars().count() <= 8);
    }
}
