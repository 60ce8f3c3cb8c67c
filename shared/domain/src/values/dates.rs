//! Dates as people in Tunisia write them.

use jiff::civil::Date;

const FRENCH: [&str; 12] = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];

/// As they are named in Tunisia.
const ARABIC: [&str; 12] = [
    "جانفي",
    "فيفري",
    "مارس",
    "أفريل",
    "ماي",
    "جوان",
    "جويلية",
    "أوت",
    "سبتمبر",
    "أكتوبر",
    "نوفمبر",
    "ديسمبر",
];

/// `date` in French, such as `1er mars 2026`.
pub fn french(date: Date) -> String {
    let first = if date.day() == 1 { "er" } else { "" };
    format!("{}{first} {} {}", date.day(), month(&FRENCH, date), date.year())
}

/// `date` in Arabic, such as `1 مارس 2026`.
pub fn arabic(date: Date) -> String {
    format!("{} {} {}", date.day(), month(&ARABIC, date), date.year())
}

fn month(names: &[&'static str; 12], date: Date) -> &'static str {
    let place = usize::try_from(date.month() - 1).unwrap_or_default();
    names.get(place).copied().unwrap_or_default()
}
