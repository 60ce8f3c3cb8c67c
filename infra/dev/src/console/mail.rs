//! `/_local`: the mails that were sent. The HTML of a mail is a document of its own in a sandboxed frame.

use form_urlencoded::byte_serialize;
use serde_json::Value;

use super::markup::{codes_and_links, counted, escape, page, text, time};
use cloud::recorder::Recorder;

/// The most rows in the list.
const MAX_ROWS: usize = 200;

/// The page with the list of mails whose recipient contains `to`, and of these the mail `id` or, if it is not there, the
/// newest one.
pub(crate) fn inbox(recorder: &Recorder, id: &str, to: &str) -> String {
    let mut mails = recorder.newest_mails(usize::MAX);
    mails.retain(|mail| text(&mail["to"]).contains(to));
    mails.truncate(MAX_ROWS);
    let chosen = mails.iter().find(|mail| text(&mail["id"]) == id).or(mails.first());
    let rows = mails.iter().map(|mail| row(mail, chosen == Some(mail), to));
    let main = format!(
        include_str!("mail.html"),
        to = escape(to),
        count = counted(mails.len(), "mail"),
        rows = rows.collect::<String>(),
        message = chosen.map_or_else(nothing, message),
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

fn row(mail: &Value, is_chosen: bool, to: &str) -> String {
    let current = if is_chosen { " aria-current=\"true\"" } else { "" };
    format!(
        "<li><a href=\"/_local?id={}&amp;to={}#message\"{current}><span dir=\"auto\">{}</span> <bdi>{}</bdi> {}</a></li>\n",
        escape(text(&mail["id"])),
        byte_serialize(to.as_bytes()).collect::<String>(),
        escape(text(&mail["subject"])),
        escape(text(&mail["to"])),
        time(text(&mail["at"]))
    )
}

fn message(mail: &Value) -> String {
    format!(
        include_str!("message.html"),
        id = escape(text(&mail["id"])),
        subject = escape(text(&mail["subject"])),
        to = escape(text(&mail["to"])),
        from = escape(text(&mail["from"])),
        at = time(text(&mail["at"])),
        found = codes_and_links(text(&mail["text"])),
        text = escape(text(&mail["text"])),
        attachments = mail["attachments"]
            .as_array()
            .into_iter()
            .flatten()
            .map(attachment)
            .collect::<String>(),
    )
}

fn attachment(attachment: &Value) -> String {
    format!(
        "<h3>Attachment: <bdi>{}</bdi></h3>\n<pre dir=\"auto\">{}</pre>\n",
        escape(text(&attachment["fileName"])),
        escape(text(&attachment["content"]))
    )
}
