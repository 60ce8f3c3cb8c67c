//! `/_local/texts`: the text messages that were sent.

use serde_json::Value;

use super::markup::{codes_and_links, counted, escape, page, text, time};
use cloud::recorder::Recorder;

/// The most messages on the page.
const MAX_SHOWN: usize = 200;

/// The page with the messages, newest first.
pub(crate) fn list(recorder: &Recorder) -> String {
    let texts = recorder.newest_texts(MAX_SHOWN);
    let main = format!(
        include_str!("texts.html"),
        count = counted(texts.len(), "text message"),
        messages = texts.iter().map(article).collect::<String>(),
    );
    page("Text messages", "/_local/texts", &main)
}

fn article(message: &Value) -> String {
    let whole = text(&message["text"]);
    let sender = match text(&message["senderId"]) {
        "" => String::new(),
        sender => format!(" from <strong>{}</strong>", escape(sender)),
    };
    let about = [
        counted(&message["segments"], "part"),
        text(&message["encoding"]).to_owned(),
        text(&message["type"]).to_owned(),
    ];
    format!(
        include_str!("text.html"),
        to = escape(text(&message["to"])),
        sender = sender,
        at = time(text(&message["at"])),
        body = escape(whole),
        about = escape(&about.join(" · ")),
        found = codes_and_links(whole),
    )
}
