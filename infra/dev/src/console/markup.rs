//! What the pages have in common: the layout, escaping, and the links and codes of a message.

use std::fmt::Display;

use serde_json::Value;

/// The pages, by path.
const PAGES: [(&str, &str); 6] = [
    ("/_local", "Mail"),
    ("/_local/texts", "Text messages"),
    ("/_local/people", "People"),
    ("/_local/requests", "Requests"),
    ("/_local/tables", "Tables"),
    ("/_local/api", "API reference"),
];

/// The other pages and files of this program, by path.
const LINKS: [(&str, &str); 6] = [
    ("/_local/api/openapi.json", "OpenAPI document"),
    ("/_local/front", "Front end stand-in"),
    ("/api/v1/health", "Health"),
    ("/_local/mail", "Mails as JSON"),
    ("/_local/sms", "Text messages as JSON"),
    ("/_local/faults", "Faults as JSON"),
];

/// The page `title` with the content `main`, which is HTML. The page at `path` is marked in the navigation.
pub(crate) fn page(title: &str, path: &str, main: &str) -> String {
    let link = |(target, name): &(&str, &str)| {
        let current = if *target == path { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"{target}\"{current}>{name}</a>\n")
    };
    format!(
        include_str!("layout.html"),
        title = escape(title),
        pages = PAGES.iter().map(link).collect::<String>(),
        links = LINKS.iter().map(link).collect::<String>(),
        main = main,
    )
}

/// The page for paths without one.
pub(crate) fn not_found() -> String {
    let main =
        "<h1>There is no such local page</h1>\n<p><a href=\"/_local\">Back to the console</a></p>";
    page("Not found", "", main)
}

/// The page that says why another one cannot be shown.
pub(crate) fn failed(why: &str) -> String {
    page("Failed", "", &format!("<h1>The page cannot be shown</h1>\n<p>{}</p>", escape(why)))
}

/// `text` for HTML: as content, or as the value of an attribute in quotation marks.
pub(super) fn escape(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}

/// `count` with the noun `one`, in the plural unless it is 1.
pub(super) fn counted(count: impl Display, one: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {one}{plural}")
}

/// The string `value`; empty for other types.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A button that copies `value`, which `name` describes to screen readers.
pub(super) fn copy_button(value: &str, name: &str) -> String {
    format!(
        "<button type=\"button\" data-copy=\"{}\" aria-label=\"Copy {}\">Copy</button>",
        escape(value),
        escape(name)
    )
}

/// A moment in RFC 3339; the script shows it in the browser's time zone.
pub(super) fn time(at: &str) -> String {
    let at = escape(at);
    format!("<time datetime=\"{at}\">{at}</time>")
}

/// The links and six-digit codes of a message, with buttons to copy the codes.
pub(super) fn codes_and_links(message: &str) -> String {
    let mut found: Vec<String> = Vec::new();
    for word in message.split(|letter: char| letter.is_whitespace() || "<>\"'".contains(letter)) {
        let shown = if word.starts_with("http://") || word.starts_with("https://") {
            let target = word.trim_end_matches(|letter: char| ".,;:!?)]»".contains(letter));
            // The fragment has the code and the address.
            let name = target.split('#').next().unwrap_or_default();
            format!(
                "<a href=\"{}\" target=\"_blank\" rel=\"noopener noreferrer\">Open {}</a>",
                escape(target),
                escape(name)
            )
        } else if let Some(code) = code_in(word) {
            format!("<span class=\"code\"><code>{code}</code> {}</span>", copy_button(code, code))
        } else {
            continue;
        };
        if !found.contains(&shown) {
            found.push(shown);
        }
    }
    if found.is_empty() {
        return String::new();
    }
    format!("<p class=\"found\">{}</p>", found.join(" "))
}

/// The six digits that `word` is, apart from punctuation around them. An IP address has its points between them.
fn code_in(word: &str) -> Option<&str> {
    let code = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    (code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit())).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_links_are_found_and_escaped() {
        let message = "Code : 123456. Ou https://front.example.org/a#code=x&email=y, javascript:alert(1) <b>1234567</b> 127.0.0.1";
        let found = codes_and_links(message);
        assert!(found.contains("data-copy=\"123456\""), "{found}");
        assert!(
            found.contains(
                "href=\"https://front.example.org/a#code=x&amp;email=y\" target=\"_blank\""
            ),
            "{found}"
        );
        assert!(
            ["javascript", "1234567", "127001"].iter().all(|other| !found.contains(other)),
            "{found}"
        );
        assert_eq!(codes_and_links("Bonjour"), "");
    }
}
