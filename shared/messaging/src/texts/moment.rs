//! Times in French.

use domain::Instant;

const MONTHS: [&str; 12] = [
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

/// `at` in French, in the time zone of Tunis: UTC+1 all year.
pub(super) fn moment(at: Instant) -> String {
    let at = jiff::tz::offset(1).to_datetime(at.timestamp());
    let first = if at.day() == 1 { "er" } else { "" };
    let month =
        usize::try_from(at.month() - 1).ok().and_then(|month| MONTHS.get(month)).unwrap_or(&"");
    format!(
        "le {}{first} {month} {} à {} h {:02} (heure de Tunis)",
        at.day(),
        at.year(),
        at.hour(),
        at.minute()
    )
}
