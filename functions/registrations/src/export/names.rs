//! The names of the file and of its sheet, which begin with the title of the course.

use domain::registration::HeadingLanguage;
use jiff::civil::Date;

use super::words::LIST;

/// Characters that a name of a sheet or of a file cannot have
/// (<https://support.microsoft.com/en-us/office/rename-a-worksheet-3f1f7148-ee83-404d-8ef0-9ff99fbad1f9>,
/// <https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file#naming-conventions>).
const FORBIDDEN: [char; 11] = ['/', '\\', '?', '*', ':', '[', ']', '"', '<', '>', '|'];
/// Most UTF-16 code units of the name of a sheet.
const SHEET_NAME: usize = 31;
/// Most UTF-16 code units of a title in the name of a file: Linux allows 255 bytes, of which an Arabic letter takes two.
const FILE_TITLE: usize = 100;

/// The name of the file for the course `title` with the `content`, made on `day`.
pub(super) fn file_name(title: &str, content: &str, day: Date) -> String {
    let title = allowed(title);
    let name = format!("{} – {content} {day}.xlsx", start(&title, FILE_TITLE).trim_end());
    name.trim_start().to_owned()
}

/// The name of the sheet for the course `title`; Excel allows no apostrophe at its ends.
pub(super) fn sheet_name(title: &str, language: HeadingLanguage) -> String {
    let name = format!("{} – {}", allowed(title), LIST.written_in(language));
    start(name.trim_start_matches(is_end), SHEET_NAME).trim_end_matches(is_end).to_owned()
}

fn is_end(letter: char) -> bool {
    letter == '\'' || letter == ' '
}

/// `title` without forbidden characters and direction marks; a title has no other control characters.
fn allowed(title: &str) -> String {
    let title = title.replace(['\u{61c}', '\u{200e}', '\u{200f}'], "").replace(FORBIDDEN, " ");
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first characters of `text`, at most `units` UTF-16 code units.
fn start(text: &str, units: usize) -> &str {
    let mut left = units;
    let fits = |letter: char| {
        let rest = left.checked_sub(letter.len_utf16());
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    let end = text.len() - text.trim_start_matches(fits).len();
    &text[..end]
}
