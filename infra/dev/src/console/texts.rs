//! `/_local/texts`: the text messages that were sent, as a phone joins their parts.

use serde_json::Value;

use super::{
    Fields,
    markup::{codes_and_links, counted, escape, filter, page, passes, text, time},
};
use cloud::recorder::Recorder;

/// The most messages on the page.
const MAX_SHOWN: usize = 200;

/// The page with the messages, filtered by `q` and `to` of `query`.
pub(crate) fn list(recorder: &Recorder, query: &Fields) -> String {
    let texts = recorder.texts();
    let found: Vec<&Value> = texts.iter().filter(|text| passes(text, query)).collect();
    let shown = found.iter().take(MAX_SHOWN).map(|message| article(message));
    let main = format!(
        include_str!("texts.html"),
        filter = filter("/_local/texts", "/_local/sms/clear", query, &texts),
        count = counted(found.len(), "text message"),
        messages = shown.collect::<String>(),
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
        body = joined(whole, message["parts"].as_array()),
        about = escape(&about.join(" · ")),
        found = codes_and_links(whole),
    )
}

/// The text as one, with a mark in the margin where each of several parts begins.
fn joined(whole: &str, parts: Option<&Vec<Value>>) -> String {
    let Some(parts) = parts else {
        return escape(whole);
    };
    let marked = (1..).zip(parts).map(|(number, part)| {
        let total = parts.len();
        format!("<span class=\"cut\"><span>{number}/{total}</span></span>{}", escape(text(part)))
    });
    marked.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_joined_with_marks_and_escaped() {
        let parts = vec![json!("<b>"), json!("fin")];
        assert_eq!(
            joined("<b>fin", Some(&parts)),
            "<span class=\"cut\"><span>1/2</span></span>&lt;b&gt;<span class=\"cut\"><span>2/2</span></span>fin"
        );
        assert_eq!(joined("<b>", None), "&lt;b&gt;");
    }
}
