//! Files: announced, sent to the bucket, said to have come, fetched, given up.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    time::{Duration, timeout},
};

use crate::{
    actor::Actor,
    client::Ask,
    known::{Known, Outcome},
};

/// Stands between the parts of a form, and in no file.
const BOUNDARY: &str = "between-the-parts-of-a-form";

pub(crate) struct KnownFile {
    pub(crate) id: String,
    pub(crate) text: String,
    /// Whether it lies in the bucket.
    pub(crate) was_sent: Known<bool>,
    /// Whether it was said to have come.
    pub(crate) is_ready: bool,
    pub(crate) is_deleted: Known<bool>,
}

impl Actor {
    pub(crate) async fn keep_files(&mut self, token: &str) {
        let kept: Vec<usize> = (0..self.files.len())
            .filter(|at| self.files[*at].is_deleted.is_surely(&false))
            .collect();
        let any = Self::any(&mut self.chance, &kept).map(|place| kept[place]);
        match (any, self.chance.below(10)) {
            (Some(at), 0..3) => self.delete_file(token, at).await,
            (Some(at), 3..5) => self.complete_file(token, at).await,
            _ => self.announce_file(token).await,
        }
    }

    async fn announce_file(&mut self, token: &str) {
        let word = self.word();
        let text = format!("Le fichier {word}");
        let wish = json!({ "name": format!("{word}.txt"), "contentType": "text/plain", "size": text.len() });
        let heard = self
            .client
            .send(&Ask::new("POST", "/files").with(token).json(wish))
            .await;
        self.me.heard_with(token, &heard);
        if self.tried(&word, &heard) != Outcome::Acknowledged {
            return;
        }
        let id = heard.text("/file/fileID");
        let mut file = KnownFile {
            id,
            text,
            was_sent: Known::new(false),
            is_ready: false,
            is_deleted: Known::new(false),
        };
        // Now and then somebody announces a file and does not send it.
        if self.chance.below(8) > 0 {
            file.was_sent
                .write(upload(&heard.body["upload"], &file.text).await, true);
            if !file.was_sent.is_surely(&true) {
                file.was_sent
                    .write(upload(&heard.body["upload"], &file.text).await, true);
            }
        }
        self.files.push(file);
        self.complete_file(token, self.files.len() - 1).await;
    }

    async fn complete_file(&mut self, token: &str, at: usize) {
        let heard = self
            .client
            .send(&Ask::new("POST", format!("/files/{}/complete", self.files[at].id)).with(token))
            .await;
        self.me.heard_with(token, &heard);
        let file = &mut self.files[at];
        if heard.is_done() {
            file.is_ready = true;
            if file.was_sent.is_surely(&false) {
                let what = format!("the file {} has come that was never sent", file.id);
                self.wrong(what);
            }
        } else if heard.status == 404 || (heard.status == 409 && file.was_sent.is_surely(&true)) {
            let what = format!("the file {} is gone: {}", file.id, heard.body);
            self.wrong(what);
        }
    }

    async fn delete_file(&mut self, token: &str, at: usize) {
        let heard = self
            .client
            .send(&Ask::new("DELETE", format!("/files/{}", self.files[at].id)).with(token))
            .await;
        self.files[at].is_deleted.write(heard.outcome(), true);
        self.me.heard_with(token, &heard);
    }
}

/// Sends `text` to the bucket by `form`, as a browser does.
async fn upload(form: &Value, text: &str) -> Outcome {
    let part = |head: &str, content: &str| {
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
    };
    let fields = form["fields"].as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| {
        part(
            &format!("name=\"{name}\""),
            value.as_str().unwrap_or_default(),
        )
    });
    let parts: String = fields
        .chain([part("name=\"file\"; filename=\"file\"", text)])
        .collect();
    let body = format!("{parts}--{BOUNDARY}--\r\n");
    let request = Request::post("").header(
        "content-type",
        format!("multipart/form-data; boundary={BOUNDARY}"),
    );
    match ask_bucket(form["url"].as_str().unwrap_or_default(), request, body).await {
        Some((200..=299, _)) => Outcome::Acknowledged,
        Some((400..=499, _)) => Outcome::Refused,
        _ => Outcome::Unknown,
    }
}

/// What lies at `url`, if it was answered.
pub(crate) async fn download(url: &str) -> Option<(u16, Bytes)> {
    ask_bucket(url, Request::get(""), String::new()).await
}

async fn ask_bucket(
    url: &str,
    request: http::request::Builder,
    body: String,
) -> Option<(u16, Bytes)> {
    let uri: http::Uri = url.parse().ok()?;
    let host = uri.authority()?.as_str().to_owned();
    let path = uri.path_and_query()?.as_str().to_owned();
    let asked = async {
        let stream = TcpStream::connect(&host).await.ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        let request = request
            .uri(path)
            .header("host", &host)
            .header("connection", "close")
            .body(Full::<Bytes>::from(body))
            .ok()?;
        let answer = async {
            let response = sender.send_request(request).await.ok()?;
            let status = response.status().as_u16();
            Some((
                status,
                response.into_body().collect().await.ok()?.to_bytes(),
            ))
        };
        tokio::join!(connection, answer).1
    };
    timeout(Duration::from_secs(10), asked).await.ok().flatten()
}
