//! Times in French.

use domain::{Instant, Zone};

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

/// `at` in French, in `zone`.
pub(super) fn moment(at: Instant, zone: &Zone) -> String {
    let at = zone.local(at);
    let first = if at.day() == 1 { "er" } else { "" };
    let month =
        usize::try_from(at.month() - 1).ok().and_then(|month| MONTHS.get(month)).unwrap_or(&"");
    format!(
        "le {}{first} {month} {} à {} h {:02} (heure {})",
        at.day(),
        at.year(),
        at.hour(),
        at.minute(),
        of_city(zone)
    )
}

/// The city that `zone` is named after, with « de »; the name of one without a city, such as `UTC`.
fn of_city(zone: &Zone) -> String {
    let Some((_, city)) = zone.name().rsplit_once('/') else {
        return zone.name().to_owned();
    };
    let of = if city.starts_with(['A', 'E', 'I', 'O', 'U']) { "d’" } else { "de " };
    format!("{of}{}", city.replace('_', " "))
}
