//! The dispatcher and the worker of a World, and the mails and text messages that it has sent.

use dev::delivery::{self, Consumers};
use serde_json::Value;

use crate::World;

impl World {
    /// The dispatcher and the worker of this process.
    pub const fn consumers(&self) -> &Consumers {
        &self.consumers
    }

    /// Runs the dispatcher and the worker, in turn, until the stream has no more records.
    pub async fn deliver(&self) {
        self.cloud.settle();
        self.deliver_early().await;
    }

    /// As [`World::deliver`], although stale reads may not show yet what was written.
    pub async fn deliver_early(&self) {
        while delivery::deliver(&self.cloud, &self.consumers).await.expect("the stream answers") > 0
        {
        }
    }

    /// Runs the sweeps of the dispatcher and of the worker, which handle what is due, once.
    pub async fn sweep(&self) {
        self.cloud.settle();
        delivery::sweep(&self.consumers).await.expect("dispatcher and worker sweep");
    }

    /// Delivers all messages; returns the mails to `to`, newest first.
    pub async fn mails(&self, to: &str) -> Vec<Value> {
        self.deliver().await;
        sent_to(to, self.cloud.recorder().mails())
    }

    /// Delivers all messages; returns the text messages to `to`, newest first.
    pub async fn texts(&self, to: &str) -> Vec<Value> {
        self.deliver().await;
        sent_to(to, self.cloud.recorder().texts())
    }

    /// The six-digit code in the newest mail to `to` that has one. Notifications may be sent in between.
    pub async fn mailed_code(&self, to: &str) -> String {
        digits(&self.newest_mail_with_code(to).await)
    }

    /// The code in the link of the same mail.
    pub async fn mailed_link(&self, to: &str) -> String {
        link(&self.newest_mail_with_code(to).await)
    }

    async fn newest_mail_with_code(&self, to: &str) -> String {
        let mut mails = self.mails(to).await;
        mails.retain(|mail| mail["text"].as_str().is_some_and(|text| text.contains("#code=")));
        newest_text(to, &mails).to_owned()
    }

    /// The six-digit code in the newest text message to `to`.
    pub async fn texted_code(&self, to: &str) -> String {
        digits(newest_text(to, &self.texts(to).await))
    }
}

fn sent_to(to: &str, messages: Vec<Value>) -> Vec<Value> {
    messages.into_iter().filter(|message| message["to"] == to).collect()
}

fn newest_text<'a>(to: &str, messages: &'a [Value]) -> &'a str {
    messages.first().unwrap_or_else(|| panic!("no message to {to}"))["text"]
        .as_str()
        .expect("a text")
}

/// The code in the first link of `text`.
pub fn link(text: &str) -> String {
    let code = text.split("#code=").nth(1).expect("a link");
    code.chars().take_while(char::is_ascii_alphabetic).collect()
}

/// The only run of at least six digits in `text`, which must have exactly six.
pub fn digits(text: &str) -> String {
    let runs: Vec<&str> = text
        .split(|character: char| !character.is_ascii_digit())
        .filter(|run| run.len() >= 6)
        .collect();
    match runs.as_slice() {
        [only] if only.len() == 6 => (*only).to_owned(),
        runs => panic!("{runs:?} in {text}"),
    }
}
