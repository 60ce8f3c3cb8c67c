use super::{PRINTABLE, printed, unprintable};
use crate::Instant;

#[test]
fn text_is_printed_without_what_cannot_be_seen() {
    assert_eq!(printed("A\u{200d}\u{202b}li\u{a0}e\u{301}\u{ad}\tb\n"), "Ali é b\n");
    assert_eq!(unprintable("Ali\u{200d} \u{2066}بن\u{2069} صالح é ⴰ ǧ ẖ\n"), Vec::<char>::new());
    assert_eq!(unprintable("山 Ali 田山😀\u{fe0f}"), ['山', '田', '😀']);
}

#[test]
fn printable_characters_are_listed_once() {
    let letters: Vec<char> = PRINTABLE.chars().filter(|letter| *letter != '\n').collect();
    let mut different = letters.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), letters.len());
    assert!(letters.iter().all(|letter| printed(&letter.to_string()) == letter.to_string()));
}

#[test]
fn certificate_ends_on_the_last_day_of_a_short_month() {
    let at = |text: &str| text.parse::<Instant>().unwrap();
    let issued = at("2026-08-31T22:15:00.000Z");
    assert_eq!(issued.after_months(6), at("2027-02-28T22:15:00.000Z"));
    assert_eq!(issued.after_months(18), at("2028-02-29T22:15:00.000Z"));
    assert_eq!(at("9999-12-01").after_months(120), Instant::MAX);
}
