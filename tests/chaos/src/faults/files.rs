//! Actions on files: create, upload, complete, delete.

use http::Request;
use serde_json::{Value, json};

use crate::{
    client::{Call, call_bucket},
    expected::{Expected, ExpectedFile, Outcome},
    virtual_user::VirtualUser,
};

/// Separates the parts of a form.
const BOUNDARY: &str = "between-the-parts-of-a-form";

impl VirtualUser {
    pub(crate) async fn keep_files(&mut self, token: &str) {
        let all = 0..self.files.len();
        let kept = all.filter(|at| self.files[*at].is_deleted.is_exactly(&false));
        let kept: Vec<usize> = kept.collect();
        match (Self::pick(&mut self.random, &kept), self.random.below(10)) {
            (Some(at), 0..3) => self.delete_file(token, at).await,
            (Some(at), 3..5) => self.complete_file(token, at).await,
            _ => self.create_file(token).await,
        }
    }

    async fn create_file(&mut self, token: &str) {
        let word = self.word();
        let text = format!("Le fichier {word}");
        let body = json!({ "name": format!("{word}.txt"), "contentType": "text/plain", "size": text.len() });
        let call = Call::new("POST", "/files").json(body);
        let response = self.call(token, call).await;
        if self.record_word(&word, &response) != Outcome::Acknowledged {
            return;
        }
        let mut file = ExpectedFile {
            id: response.text("/file/fileID"),
            text,
            was_sent: Expected::new(false),
            is_ready: false,
            is_deleted: Expected::new(false),
        };
        // One file in eight is created and not uploaded.
        if self.random.below(8) > 0 {
            for _ in 0..2 {
                if !file.was_sent.is_exactly(&true) {
                    let outcome = upload(&response.body["upload"], &file.text).await;
                    file.was_sent.write(outcome, true);
                }
            }
        }
        self.files.push(file);
        self.complete_file(token, self.files.len() - 1).await;
    }

    async fn complete_file(&mut self, token: &str, at: usize) {
        let path = format!("/files/{}/complete", self.files[at].id);
        let response = self.call(token, Call::new("POST", path)).await;
        let file = &mut self.files[at];
        if response.is_done() {
            file.is_ready = true;
            if file.was_sent.is_exactly(&false) {
                let what = format!("the file {} was completed and never uploaded", file.id);
                self.violation(&what);
            }
        } else if response.status == 404
            || (response.status == 409 && file.was_sent.is_exactly(&true))
        {
            let what = format!("the file {} is gone: {}", file.id, response.body);
            self.violation(&what);
        }
    }

    async fn delete_file(&mut self, token: &str, at: usize) {
        let call = Call::new("DELETE", format!("/files/{}", self.files[at].id));
        let outcome = self.call(token, call).await.outcome();
        self.files[at].is_deleted.write(outcome, true);
    }
}

/// Sends `text` to the bucket with `form`, as a browser does.
async fn upload(form: &Value, text: &str) -> Outcome {
    let part = |head: &str, content: &str| {
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
    };
    let mut body = String::new();
    for (name, value) in form["fields"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        body += &part(&format!("name=\"{name}\""), value);
    }
    body += &part("name=\"file\"; filename=\"file\"", text);
    body += &format!("--{BOUNDARY}--\r\n");
    let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
    let request = Request::post("").header("content-type", content_type);
    let url = form["url"].as_str().unwrap_or_default();
    match call_bucket(url, request, body).await {
        Some((200..=299, _)) => Outcome::Acknowledged,
        Some((400..=499, _)) => Outcome::Refused,
        _ => Outcome::Unknown,
    }
}
