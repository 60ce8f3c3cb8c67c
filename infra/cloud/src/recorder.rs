//! The replacement for Amazon SNS and Amazon SES v2: records messages, for developers and tests, and sends none.

mod ses;
mod sns;

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use domain::segments::{measure, parts};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use identity::random;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) use ses::error as ses_error;
pub(crate) use sns::{error as sns_error, operation as sns_operation};

use crate::LocalError;

/// The recorded messages. Clones share them.
#[derive(Clone, Default)]
pub struct Recorder {
    mails: Arc<Journal>,
    texts: Arc<Journal>,
    sms_attributes: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Recorder {
    /// A recorder without files, for tests.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// A recorder with files in `folder`, one line of JSON per message. Messages contain one-time codes, so only the
    /// owner can read the files.
    ///
    /// # Errors
    /// When a file cannot be read or written, or is damaged.
    pub fn in_folder(folder: &Path) -> Result<Self, LocalError> {
        let open = |name: &str| {
            let unusable = |error| {
                format!(
                    "{name} in {} cannot be used: {error}. Move it away to start with an empty one.",
                    folder.display()
                )
            };
            Journal::open(&folder.join(name))
                .map(Arc::new)
                .map_err(|error| LocalError::new(unusable(error)))
        };
        Ok(Self {
            mails: open("mail.jsonl")?,
            texts: open("sms.jsonl")?,
            sms_attributes: Arc::default(),
        })
    }

    /// All mails, newest first: `id`, `to`, `subject`, `text`, `html`, `from`, `at`, the custom `headers`, `tags` and
    /// `configurationSet`. Fields that a mail does not have are null.
    pub fn mails(&self) -> Vec<Value> {
        self.newest_mails(usize::MAX)
    }

    /// As [`Self::mails`], at most the newest `most`.
    pub fn newest_mails(&self, most: usize) -> Vec<Value> {
        self.mails.newest_first(most)
    }

    /// All text messages, newest first: `id`, `to`, `text`, `at`, `type`, `encoding`, `segments` and, if present, the
    /// `senderId` and, with more than one segment, the `parts`.
    pub fn texts(&self) -> Vec<Value> {
        self.newest_texts(usize::MAX)
    }

    /// The number of accepted text messages.
    pub fn texts_taken(&self) -> usize {
        self.texts.messages.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The SMS attributes of the account that were set.
    pub fn sms_attributes(&self) -> BTreeMap<String, String> {
        self.sms_attributes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// As [`Self::texts`], at most the newest `most`.
    pub fn newest_texts(&self, most: usize) -> Vec<Value> {
        self.texts.newest_first(most).into_iter().map(with_segments).collect()
    }
}

/// Messages of one kind, in the order of arrival.
#[derive(Default)]
struct Journal {
    messages: Mutex<Vec<Value>>,
    file: Option<File>,
}

impl Journal {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let mut bytes = fs::read(path)?;
        // An incomplete last line was being written when the process ended, and its message was not acknowledged. It is
        // removed, because the next message would continue the line.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        file.set_len(bytes.len() as u64)?;
        let messages =
            serde_json::Deserializer::from_slice(&bytes).into_iter().collect::<Result<_, _>>()?;
        Ok(Self { messages: Mutex::new(messages), file: Some(file) })
    }

    fn keep(&self, message: Value) -> io::Result<()> {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut file) = self.file.as_ref() {
            let length = file.metadata()?.len();
            // Removes a line that could not be written completely.
            file.write_all(format!("{message}\n").as_bytes())
                .inspect_err(|_| drop(file.set_len(length)))?;
        }
        messages.push(message);
        Ok(())
    }

    fn newest_first(&self, most: usize) -> Vec<Value> {
        self.messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .rev()
            .take(most)
            .cloned()
            .collect()
    }
}

/// Adds encoding and segments, which are computed from the text and not stored.
fn with_segments(mut message: Value) -> Value {
    let text = message["text"].as_str().unwrap_or_default();
    let (measured, parts) = (measure(text), json!(parts(text)));
    if let Some(message) = message.as_object_mut() {
        message.insert("encoding".to_owned(), json!(measured.encoding));
        message.insert("segments".to_owned(), measured.segments.into());
        if measured.segments > 1 {
            message.insert("parts".to_owned(), parts);
        }
    }
    message
}

/// A response with a request ID, which SNS repeats in the body.
fn response(
    status: StatusCode,
    kind: &'static str,
    body: impl FnOnce(&str) -> String,
) -> Response<Full<Bytes>> {
    let request = Uuid::from_bytes(random::bytes()).to_string();
    let mut response = crate::response(status, kind, body(&request));
    if let Ok(request) = HeaderValue::try_from(request) {
        response.headers_mut().insert("x-amzn-requestid", request);
    }
    response
}

/// The status of the error `code`: 5xx for server errors, else `otherwise`.
fn status(code: &str, otherwise: StatusCode) -> StatusCode {
    match code {
        "InternalError" | "InternalFailure" => StatusCode::INTERNAL_SERVER_ERROR,
        "ServiceUnavailable" => StatusCode::SERVICE_UNAVAILABLE,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use domain::Instant;

    use super::*;

    fn now() -> Instant {
        "2026-11-20T23:46:12Z".parse().unwrap()
    }

    fn publish(recorder: &Recorder, text: &str) {
        let fields = [
            ("Action", "Publish"),
            ("Version", "2010-03-31"),
            ("PhoneNumber", "+21620123456"),
            ("Message", text),
        ];
        let mut form = form_urlencoded::Serializer::new(String::new());
        recorder.sns(form.extend_pairs(fields).finish().as_bytes(), now());
    }

    #[test]
    fn reopened_journal_drops_an_incomplete_line() {
        let folder = std::env::temp_dir().join(format!("recorder-{}", random::id(now())));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("sms.jsonl");
        let first = Recorder::in_folder(&folder).unwrap();
        publish(&first, "un");
        publish(&first, "deux ثان");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

        // The last line ends in the middle of a UTF-8 character.
        let bytes = fs::read(&file).unwrap();
        let torn = bytes.windows(2).rposition(|pair| pair == "ن".as_bytes()).unwrap() + 1;
        fs::write(&file, &bytes[..torn]).unwrap();
        let second = Recorder::in_folder(&folder).unwrap();
        assert_eq!(second.texts(), first.texts()[1..]);
        publish(&second.clone(), "trois");
        let third = Recorder::in_folder(&folder).unwrap();
        assert_eq!((third.texts(), third.texts().len()), (second.texts(), 2));
        assert_eq!(third.texts()[0]["text"], "trois");

        fs::write(&file, "no JSON\n").unwrap();
        assert!(
            Recorder::in_folder(&folder)
                .is_err_and(|error| error.to_string().starts_with("sms.jsonl in "))
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
