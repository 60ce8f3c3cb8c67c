use super::*;

#[test]
fn sms_text_length_is_limited_in_bytes() {
    for (text, expected) in [
        ("a\r\n\tb", Ok(())),
        (&"é".repeat(800), Ok(())),
        (&"é".repeat(801), Err(ValueError::Length)),
        (&"a".repeat(1600), Ok(())),
        (&"a".repeat(1601), Err(ValueError::Length)),
        (" \n", Err(ValueError::Required)),
        ("\u{200b}\u{feff} ", Err(ValueError::Required)),
        ("", Err(ValueError::Required)),
        ("a\u{0}", Err(ValueError::Format)),
    ] {
        assert_eq!(text.parse::<Text>().map(|_| ()), expected, "{} bytes", text.len());
    }
}

#[test]
fn sender_id_rejects_long_or_numeric_names() {
    for (name, expected) in [
        ("Halqa", Ok(())),
        ("ABCDEFGHIJK", Ok(())),
        ("1A", Ok(())),
        ("ABCDEFGHIJKL", Err(ValueError::Length)),
        ("123", Err(ValueError::Format)),
        ("Hal qa", Err(ValueError::Format)),
        ("Halqé", Err(ValueError::Format)),
        ("", Err(ValueError::Required)),
    ] {
        assert_eq!(name.parse::<SenderId>().map(|_| ()), expected, "{name}");
    }
}
