use std::collections::HashSet;

use proptest::prelude::*;

use super::{
    Encoding::{Gsm7, Ucs2},
    *,
};

/// The default alphabet in the order of its 128 codes, as in the table of the standard. 0x1B is the escape.
const DEFAULT: [&str; 8] = [
    "@£$¥èéùìòÇ\nØø\rÅå",
    "Δ_ΦΓΛΩΠΨΣΘΞ\u{1b}ÆæßÉ",
    " !\"#¤%&'()*+,-./",
    "0123456789:;<=>?",
    "¡ABCDEFGHIJKLMNO",
    "PQRSTUVWXYZÄÖÑÜ§",
    "¿abcdefghijklmno",
    "pqrstuvwxyzäöñüà",
];
/// The extension table: 0x0A, 0x14, 0x28, 0x29, 0x2F, 0x3C, 0x3D, 0x3E, 0x40 and 0x65.
const EXTENSION: &str = "\u{c}^{}\\[~]|€";

fn default_alphabet() -> impl Iterator<Item = char> {
    DEFAULT.iter().flat_map(|row| row.chars()).filter(|letter| *letter != '\u{1b}')
}

/// Length of `text` by the tables above.
fn length(text: &str, encoding: Encoding) -> usize {
    match encoding {
        Gsm7 => text.chars().map(|letter| 1 + usize::from(EXTENSION.contains(letter))).sum(),
        Ucs2 => text.encode_utf16().count(),
    }
}

#[test]
fn gsm7_tables_match_the_standard() {
    assert!(DEFAULT.iter().all(|row| row.chars().count() == 16));
    assert_eq!(default_alphabet().collect::<HashSet<_>>().len(), 127);
    for letter in default_alphabet() {
        assert_eq!(septets(letter), Some(1), "{letter:?}");
    }
    assert_eq!(EXTENSION.chars().count(), 10);
    for letter in EXTENSION.chars() {
        assert_eq!(septets(letter), Some(2), "{letter:?}");
    }
    // no other character is in the tables
    assert_eq!(('\0'..=char::MAX).filter(|letter| septets(*letter).is_some()).count(), 127 + 10);
    assert_eq!(serde_json::to_string(&[Gsm7, Ucs2]).unwrap(), r#"["GSM-7","UCS-2"]"#);
}

#[test]
fn texts_are_split_at_the_boundaries_of_segments() {
    let french = "Votre code d'accès est 123456, valable jusqu'à 18 h. Ne le donnez à personne.";
    let n = |text: &str, times: usize| text.repeat(times);
    let all: String = default_alphabet().collect();
    // a text, its encoding, and the length of each segment
    let rows: &[(String, Encoding, &[usize])] = &[
        (n("", 1), Gsm7, &[0]),
        (n("[a]", 1), Gsm7, &[5]),
        (n("a\r\nb", 1), Gsm7, &[4]),
        (n("a\tb", 1), Ucs2, &[3]),
        (n("👨‍👩‍👧", 1), Ucs2, &[8]),
        (n("e\u{301}", 1), Ucs2, &[2]),
        (n("l’été", 1), Ucs2, &[5]),
        (n(french, 3), Gsm7, &[153, 78]),
        (all.clone() + &n("a", 33), Gsm7, &[160]),
        (all + &n("a", 34), Gsm7, &[153, 8]),
        (n("a", 306), Gsm7, &[153, 153]),
        (n("a", 307), Gsm7, &[153, 153, 1]),
        // a two-septet character at a boundary
        (n("€", 80), Gsm7, &[160]),
        (n("€", 81), Gsm7, &[152, 10]),
        (n("a", 152) + "[" + &n("a", 100), Gsm7, &[152, 102]),
        (n("a", 305) + "|", Gsm7, &[153, 152, 2]),
        (n("ç", 70), Ucs2, &[70]),
        (n("ç", 71), Ucs2, &[67, 4]),
        (n("ç", 134), Ucs2, &[67, 67]),
        (n("ç", 135), Ucs2, &[67, 67, 1]),
        (n("a", 159) + "ç", Ucs2, &[67, 67, 26]),
        (n("رمزك هو 123456 ، لا تعطه لأحد. ", 3), Ucs2, &[67, 26]),
        // a surrogate pair at a boundary
        (n("😀", 35), Ucs2, &[70]),
        (n("😀", 36), Ucs2, &[66, 6]),
        (n("ç", 65) + "😀" + &n("ç", 10), Ucs2, &[67, 10]),
        (n("ç", 66) + "😀" + &n("ç", 66), Ucs2, &[66, 67, 1]),
    ];
    for (text, encoding, lengths) in rows {
        let found: Vec<usize> = parts(text).iter().map(|part| length(part, *encoding)).collect();
        let measured =
            Measured { encoding: *encoding, segments: u32::try_from(lengths.len()).unwrap() };
        assert_eq!((measure(text), found.as_slice()), (measured, *lengths), "{text:?}");
    }
}

fn texts() -> impl Strategy<Value = String> {
    let of = |pattern: &str| proptest::string::string_regex(pattern).unwrap();
    prop_oneof![
        of("[a-zÉéà@\r\n]{0,700}"),
        of("[a-c€^\\[\\]]{0,500}"),
        of("[a-c€ç😀م]{0,400}"),
        of("[ء-ي ]{0,700}"),
        of("[😀ç]{60,140}"),
        of("[a€]{140,320}"),
        of("(?s).{0,300}"),
    ]
}

proptest! {
    #[test]
    fn segments_concatenate_to_text_and_are_full(text in texts()) {
        let (parts, Measured { encoding, segments }) = (parts(&text), measure(&text));
        prop_assert_eq!(parts.concat(), text.as_str());
        prop_assert_eq!(parts.len(), usize::try_from(segments).unwrap());
        let (single, each) = if encoding == Gsm7 { (160, 153) } else { (70, 67) };
        prop_assert_eq!(parts.len() == 1, length(&text, encoding) <= single);
        for pair in parts.windows(2) {
            let next: String = pair[1].chars().take(1).collect();
            prop_assert!(length(pair[0], encoding) <= each && length(pair[1], encoding) <= each);
            prop_assert!(length(pair[0], encoding) + length(&next, encoding) > each, "{:?}", pair);
        }
    }
}
