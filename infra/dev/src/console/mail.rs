//! `/_local`: the mails that were sent. The HTML of a mail is a document of its own in a sandboxed frame.

use serde_json::Value;

use super::{
    Fields,
    markup::{codes_and_links, counted, escape, filter, link, page, passes, text, time},
};
use cloud::recorder::Recorder;

/// The most rows in the list.
const MAX_ROWS: usize = 200;

/// The page with the list, filtered by `q` and `to` of `query`, and the mail `id`, or the newest one, as its `view`.
pub(crate) fn inbox(recorder: &Recorder, query: &Fields) -> String {
    let mails = recorder.mails();
    let found: Vec<&Value> = mails.iter().filter(|mail| passes(mail, query)).collect();
    let has_id = |mail: &&Value| text(&mail["id"]) == query.get("id");
    let chosen = mails.iter().find(has_id).or(found.first().copied());
    let rows = found.iter().take(MAX_ROWS).map(|mail| {
        let is_chosen = chosen.is_some_and(|chosen| chosen["id"] == mail["id"]);
        row(mail, query, is_chosen)
    });
    let main = format!(
        include_str!("mail.html"),
        filter = filter("/_local", "/_local/mail/clear", query, &mails),
        count = counted(found.len(), "mail"),
        rows = rows.collect::<String>(),
        message = chosen.map_or_else(nothing, |mail| message(mail, query)),
    );
    page("Mail", "/_local", &main)
}

/// The document for the frame: the HTML of the mail `id`. Its links open new windows.
pub(crate) fn document(recorder: &Recorder, id: &str) -> Option<String> {
    let mails = recorder.mails();
    let mail = mails.iter().find(|mail| text(&mail["id"]) == id)?;
    let html = mail["html"].as_str()?;
    Some(format!("<base target=\"_blank\">{html}"))
}

fn nothing() -> String {
    "<p class=\"soft\">No mail. All outgoing mail appears here; none is delivered.</p>".to_owned()
}

fn row(mail: &Value, query: &Fields, is_chosen: bool) -> String {
    let target = address(mail, query, query.get("view"));
    let current = if is_chosen { " aria-current=\"true\"" } else { "" };
    format!(
        "<li><a href=\"{target}#message\"{current}><span dir=\"auto\">{}</span> <bdi>{}</bdi> {}</a></li>\n",
        escape(subject(mail)),
        escape(text(&mail["to"])),
        time(text(&mail["at"]))
    )
}

/// The path of the inbox with `mail` as `view`.
fn address(mail: &Value, query: &Fields, view: &str) -> String {
    let fields =
        [("q", query.get("q")), ("to", query.get("to")), ("view", view), ("id", text(&mail["id"]))];
    link("/_local", &fields)
}

fn subject(mail: &Value) -> &str {
    mail["subject"].as_str().unwrap_or("No subject")
}

fn message(mail: &Value, query: &Fields) -> String {
    let has_html = mail["html"].is_string();
    let view = match query.get("view") {
        "text" => "text",
        "source" => "source",
        _ if !has_html => "text",
        "phone" => "phone",
        _ => "html",
    };
    let views = [("html", "HTML"), ("phone", "Phone"), ("text", "Text"), ("source", "Source")];
    let tabs = views.iter().map(|(name, title)| {
        let target = address(mail, query, name);
        let current = if *name == view { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"{target}#message\"{current}>{title}</a>\n")
    });
    let content = match view {
        "text" => format!(
            "<pre dir=\"auto\">{}</pre>",
            escape(mail["text"].as_str().unwrap_or("This mail has no text."))
        ),
        "source" => source(mail),
        view => format!(
            "<iframe class=\"{view}\" title=\"Mail: {}\" src=\"/_local/mail/{}/html\" sandbox=\"allow-popups allow-popups-to-escape-sandbox\"></iframe>",
            escape(subject(mail)),
            escape(text(&mail["id"]))
        ),
    };
    format!(
        include_str!("message.html"),
        subject = escape(subject(mail)),
        to = escape(text(&mail["to"])),
        from = escape(text(&mail["from"])),
        at = time(text(&mail["at"])),
        found = codes_and_links(text(&mail["text"])),
        tabs = tabs.collect::<String>(),
        content = content,
    )
}

/// What SES received: the fields, the text and the HTML.
fn source(mail: &Value) -> String {
    let mut fields = mail.clone();
    let contents = ["text", "html"].map(|name| fields[name].take());
    if let Some(fields) = fields.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    let [plain, html] = contents.map(|value| escape(text(&value)));
    let fields = escape(&format!("{fields:#}"));
    format!(
        "<h3>Fields</h3>\n<pre>{fields}</pre>\n<h3>Text</h3>\n<pre dir=\"auto\">{plain}</pre>\n<h3>HTML</h3>\n<pre>{html}</pre>"
    )
}
