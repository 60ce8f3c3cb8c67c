use super::*;
use ValueError::{Format, Length, Required};

#[test]
fn sms_text_length_is_limited_in_utf16_units() {
    for (text, expected) in [
        ("a\r\n\tb", None),
        (&"م".repeat(1600), None),
        (&"😀".repeat(800), None),
        (&"😀".repeat(801), Some(Length)),
        (&"a".repeat(1601), Some(Length)),
        (" \n", Some(Required)),
        ("\u{200b}\u{feff} ", Some(Required)),
        ("a\u{0}", Some(Format)),
    ] {
        assert_eq!(text.parse::<Text>().err(), expected, "{} bytes", text.len());
    }
}

#[test]
fn sender_id_rejects_long_or_numeric_names() {
    for (name, expected) in [
        ("ABCDEFGHIJK", None),
        ("1A", None),
        ("ABCDEFGHIJKL", Some(Length)),
        ("123", Some(Format)),
        ("Hal qa", Some(Format)),
        ("Halqé", Some(Format)),
        ("", Some(Required)),
    ] {
        assert_eq!(name.parse::<SenderId>().err(), expected, "{name}");
    }
}
