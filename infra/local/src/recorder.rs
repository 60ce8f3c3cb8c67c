//! What the service sends, received as Amazon SNS and Amazon SES v2 receive it. Nothing leaves this
//! machine: each message is recorded, for a person or a test to read.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use domain::{
    Instant,
    segments::{measure, parts},
};
use http::{HeaderValue, Method, Response, StatusCode, header};
use http_body_util::Full;
use identity::chance;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Trouble;

/// What was sent. Cloning shares it.
#[derive(Clone, Default)]
pub struct Recorder {
    mails: Arc<Journal>,
    texts: Arc<Journal>,
}

impl Recorder {
    /// A recorder that forgets everything: for a test.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// A recorder that keeps everything in `folder`, a line of JSON for each message. One-time codes
    /// are among them: the files are the owner's alone.
    ///
    /// # Errors
    /// A file that cannot be read or written, or that is damaged.
    pub fn in_folder(folder: &Path) -> Result<Self, Trouble> {
        let open = |name: &str| {
            let unusable = |error| {
                format!(
                    "{name} in {} cannot be used: {error}. Move it away to begin anew.",
                    folder.display()
                )
            };
            Journal::open(&folder.join(name))
                .map(Arc::new)
                .map_err(|error| Trouble::new(unusable(error)))
        };
        Ok(Self {
            mails: open("mail.jsonl")?,
            texts: open("sms.jsonl")?,
        })
    }

    /// Every mail, the newest first: `id`, `to`, `subject`, `text`, `html`, `from`, `at`, and the
    /// `headers` of its sender's own. What a mail does not have is null.
    pub fn mails(&self) -> Vec<Value> {
        self.newest_mails(usize::MAX)
    }

    /// The same of no more than the `most` newest.
    pub fn newest_mails(&self, most: usize) -> Vec<Value> {
        self.mails.newest_first(most)
    }

    /// Every text message, the newest first: `id`, `to`, `text`, `at`, `type`, `encoding`, `segments` and,
    /// where it has them, the `senderId` that it shows instead of a number and its several `parts`.
    pub fn texts(&self) -> Vec<Value> {
        self.newest_texts(usize::MAX)
    }

    /// How many text messages were taken.
    pub fn texts_taken(&self) -> usize {
        self.texts
            .messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// The same of no more than the `most` newest.
    pub fn newest_texts(&self, most: usize) -> Vec<Value> {
        self.texts
            .newest_first(most)
            .into_iter()
            .map(on_a_phone)
            .collect()
    }

    /// What SNS answers to the form `body`.
    pub(crate) fn sns(&self, body: &[u8], now: Instant) -> Response<Full<Bytes>> {
        let id = chance::id(now);
        match text(body, id, now).map(|text| self.texts.keep(text)) {
            Ok(Ok(())) => sns_response(StatusCode::OK, "PublishResponse", |request| {
                let metadata = format!(
                    "<ResponseMetadata><RequestId>{request}</RequestId></ResponseMetadata>"
                );
                format!("<PublishResult><MessageId>{id}</MessageId></PublishResult>{metadata}")
            }),
            Ok(Err(error)) => sns_refusal(
                "InternalError",
                StatusCode::INTERNAL_SERVER_ERROR,
                &error.to_string(),
            ),
            Err((code, message)) => sns_refusal(code, StatusCode::BAD_REQUEST, &message),
        }
    }

    /// What SES v2 answers.
    pub(crate) fn ses(
        &self,
        method: &Method,
        path: &str,
        body: &[u8],
        now: Instant,
    ) -> Response<Full<Bytes>> {
        if (method, path) != (&Method::POST, "/v2/email/outbound-emails") {
            return ses_refusal(
                "NotFoundException",
                StatusCode::NOT_FOUND,
                &format!("{method} {path} is not served here."),
            );
        }
        let id = chance::id(now);
        match mail(body, id, now).map(|mail| self.mails.keep(mail)) {
            Ok(Ok(())) => response(StatusCode::OK, "application/json", |_| {
                json!({ "MessageId": id }).to_string()
            }),
            Ok(Err(error)) => ses_refusal(
                "InternalFailure",
                StatusCode::INTERNAL_SERVER_ERROR,
                &error.to_string(),
            ),
            Err(message) => ses_refusal("BadRequestException", StatusCode::BAD_REQUEST, &message),
        }
    }
}

/// Messages of one kind, in the order in which they came.
#[derive(Default)]
struct Journal {
    messages: Mutex<Vec<Value>>,
    file: Option<File>,
}

impl Journal {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)?;
        let mut bytes = fs::read(path)?;
        // A line without its end was being written when the process ended: nobody was told that this
        // message was taken. It goes, or the next one would stand in the same line.
        bytes.truncate(
            bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1),
        );
        file.set_len(bytes.len() as u64)?;
        let messages = serde_json::Deserializer::from_slice(&bytes)
            .into_iter()
            .collect::<Result<_, _>>()?;
        Ok(Self {
            messages: Mutex::new(messages),
            file: Some(file),
        })
    }

    fn keep(&self, message: Value) -> io::Result<()> {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut file) = self.file.as_ref() {
            let length = file.metadata()?.len();
            // Of a line that could not be written whole nothing stays.
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

/// A text message as a phone shows it. The journal keeps what was sent alone: how it is cut follows from it.
fn on_a_phone(mut message: Value) -> Value {
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

/// The message that the form `body` sends
/// (<https://docs.aws.amazon.com/sns/latest/api/API_Publish.html>), or code and text of a refusal.
fn text(body: &[u8], id: Uuid, now: Instant) -> Result<Value, (&'static str, String)> {
    let form: BTreeMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let (action, version) = (field("Action"), field("Version"));
    if (action, version) != ("Publish", "2010-03-31") {
        return Err((
            "InvalidAction",
            format!("Could not find operation {action} for version {version}"),
        ));
    }
    let invalid = |name: &str, reason: &str| {
        Err((
            "InvalidParameter",
            format!("Invalid parameter: {name} Reason: {reason}"),
        ))
    };
    let (to, text) = (field("PhoneNumber"), field("Message"));
    let digits = to
        .strip_prefix('+')
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !digits.is_some_and(|digits| (2..=15).contains(&digits.len()) && !digits.starts_with('0')) {
        return invalid("PhoneNumber", &format!("{to} is not valid to publish to"));
    }
    if text.is_empty() || text.len() > 1600 {
        return invalid(
            "Message",
            &format!("{} bytes instead of 1 to 1600", text.len()),
        );
    }
    // An attribute is written as MessageAttributes.entry.1.Name, ….1.Value.DataType and ….1.Value.StringValue.
    let mut attributes = BTreeMap::new();
    for (entry, name) in form
        .iter()
        .filter_map(|(key, name)| Some((key.strip_suffix(".Name")?, name.as_str())))
    {
        if !form.contains_key(&format!("{entry}.Value.DataType")) {
            return Err((
                "ParameterValueInvalid",
                format!("The message attribute '{name}' has no type."),
            ));
        }
        attributes.insert(name, field(&format!("{entry}.Value.StringValue")));
    }
    // Promotional is what an account sends that was told nothing else.
    let kind = attributes
        .get("AWS.SNS.SMS.SMSType")
        .copied()
        .unwrap_or("Promotional");
    if !["Promotional", "Transactional"].contains(&kind) {
        return invalid(
            "SMSType",
            &format!("{kind} is neither Promotional nor Transactional"),
        );
    }
    let mut message = json!({ "id": id, "to": to, "text": text, "at": now, "type": kind });
    if let Some(&name) = attributes.get("AWS.SNS.SMS.SenderID") {
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && name.bytes().any(|byte| byte.is_ascii_alphabetic());
        if !is_word || name.len() > 11 {
            return invalid(
                "SenderID",
                "1 to 11 letters and digits, one letter at least",
            );
        }
        message["senderId"] = name.into();
    }
    Ok(message)
}

/// The mail that the request `body` sends
/// (<https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html>), or why it is
/// refused. What a laptop has no use for, such as tags, is let through unread.
fn mail(body: &[u8], id: Uuid, now: Instant) -> Result<Value, String> {
    let asked: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let from = address(&asked["FromEmailAddress"])?;
    let lists = ["ToAddresses", "CcAddresses", "BccAddresses"]
        .map(|list| asked["Destination"][list].as_array());
    let to = lists
        .into_iter()
        .flatten()
        .flatten()
        .map(address)
        .collect::<Result<Vec<_>, _>>()?;
    let simple = &asked["Content"]["Simple"];
    let subject = part(&simple["Subject"])?
        .ok_or("Content.Simple.Subject is missing; no other content is served here.")?;
    let (text, html) = (
        part(&simple["Body"]["Text"])?,
        part(&simple["Body"]["Html"])?,
    );
    if to.is_empty() || to.len() > 50 || (text.is_none() && html.is_none()) {
        return Err("A mail has 1 to 50 recipients, and a text or an HTML body.".to_owned());
    }
    let (to, headers) = (to.join(", "), &simple["Headers"]);
    Ok(
        json!({ "id": id, "to": to, "subject": subject, "text": text, "html": html, "from": from, "headers": headers, "at": now }),
    )
}

/// An address, perhaps behind a name: ASCII, for SES writes it into the mail as it is.
fn address(value: &Value) -> Result<&str, String> {
    let good = value.as_str().filter(|text| {
        text.contains('@') && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    });
    good.ok_or_else(|| {
        format!(
            "{value} is no address in ASCII; a name of other letters is an encoded word (RFC 2047)."
        )
    })
}

/// A subject or a body, if it is there.
fn part(value: &Value) -> Result<Option<&str>, String> {
    let data = value["Data"].as_str();
    // What has no charset is written in 7-bit ASCII, in which French and Arabic are lost.
    let is_safe = data.is_none_or(str::is_ascii) || value["Charset"] == "UTF-8";
    if is_safe {
        Ok(data)
    } else {
        Err("Data beyond ASCII needs the Charset UTF-8.".to_owned())
    }
}

/// The operation of SNS that the form `body` asks for.
pub(crate) fn sns_operation(body: &[u8]) -> String {
    form_urlencoded::parse(body)
        .find(|(name, _)| name == "Action")
        .map(|(_, action)| action.into_owned())
        .unwrap_or_default()
}

/// SNS's error `code`, on demand.
pub(crate) fn sns_error(code: &str, status: StatusCode) -> Response<Full<Bytes>> {
    sns_refusal(code, status, "on demand")
}

/// SES's error `name`, on demand.
pub(crate) fn ses_error(name: &str, status: StatusCode) -> Response<Full<Bytes>> {
    ses_refusal(name, status, "on demand")
}

fn sns_refusal(code: &str, status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let side = if status.is_server_error() {
        "Receiver"
    } else {
        "Sender"
    };
    let error = format!(
        "<Type>{side}</Type><Code>{}</Code><Message>{}</Message>",
        escaped(code),
        escaped(message)
    );
    sns_response(status, "ErrorResponse", |request| {
        format!("<Error>{error}</Error><RequestId>{request}</RequestId>")
    })
}

fn sns_response(
    status: StatusCode,
    root: &str,
    content: impl FnOnce(&str) -> String,
) -> Response<Full<Bytes>> {
    response(status, "text/xml", |request| {
        format!(
            "<{root} xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\">{}</{root}>",
            content(request)
        )
    })
}

fn ses_refusal(name: &str, status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let mut response = response(status, "application/json", |_| {
        json!({ "message": message }).to_string()
    });
    // A fault may name anything; what no header can carry stays unsaid.
    if let Ok(name) = HeaderValue::from_str(name) {
        response.headers_mut().insert("x-amzn-errortype", name);
    }
    response
}

/// An answer with a name for the request, as AWS gives it; SNS says it in the body too.
fn response(
    status: StatusCode,
    kind: &'static str,
    body: impl FnOnce(&str) -> String,
) -> Response<Full<Bytes>> {
    let request = Uuid::from_bytes(chance::bytes()).to_string();
    let mut response = Response::new(Full::new(body(&request).into()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(request) = HeaderValue::try_from(request) {
        response.headers_mut().insert("x-amzn-requestid", request);
    }
    response
}

/// `text` as it stands between two tags. Control characters, which XML cannot hold, go.
fn escaped(text: &str) -> String {
    text.replace(char::is_control, "")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use http_body_util::BodyExt;

    use super::*;

    const NUMBER: &str = "+21620123456";

    fn now() -> Instant {
        "2026-11-20T23:46:12Z".parse().unwrap()
    }

    fn form(fields: &[(&str, &str)]) -> Vec<u8> {
        let usual = [
            ("Action", "Publish"),
            ("Version", "2010-03-31"),
            ("PhoneNumber", NUMBER),
            ("Message", "123456"),
        ];
        let kept = usual
            .iter()
            .filter(|(name, _)| fields.iter().all(|(other, _)| other != name));
        form_urlencoded::Serializer::new(String::new())
            .extend_pairs(kept.chain(fields))
            .finish()
            .into_bytes()
    }

    fn attribute<'a>(name: &'a str, value: &'a str) -> [(&'a str, &'a str); 3] {
        [
            ("MessageAttributes.entry.1.Name", name),
            ("MessageAttributes.entry.1.Value.DataType", "String"),
            ("MessageAttributes.entry.1.Value.StringValue", value),
        ]
    }

    fn letter() -> Value {
        let content = json!({ "Simple": {
            "Subject": { "Data": "Votre code", "Charset": "UTF-8" },
            "Body": { "Text": { "Data": "رمزك 123456", "Charset": "UTF-8" } },
        } });
        let destination = json!({ "ToAddresses": ["a@example.org"] });
        json!({ "FromEmailAddress": "Halqa <no-reply@example.org>", "Destination": destination, "Content": content })
    }

    fn send(recorder: &Recorder, letter: &Value) -> StatusCode {
        recorder
            .ses(
                &Method::POST,
                "/v2/email/outbound-emails",
                letter.to_string().as_bytes(),
                now(),
            )
            .status()
    }

    async fn told(response: Response<Full<Bytes>>) -> String {
        String::from_utf8(
            response
                .into_body()
                .collect()
                .await
                .unwrap()
                .to_bytes()
                .to_vec(),
        )
        .unwrap()
    }

    #[tokio::test]
    async fn a_text_is_kept_as_it_was_sent() {
        let recorder = Recorder::in_memory();
        let said = "Code d'accès : 1 & 2 + 50 % < 3 ; رمزك 🎓\n";
        let answer = told(recorder.sns(&form(&[("Message", said)]), now())).await;
        let text = &recorder.texts()[0];
        assert!(
            answer.contains(&format!(
                "<MessageId>{}</MessageId>",
                text["id"].as_str().unwrap()
            )),
            "{answer}"
        );
        assert_eq!(
            (
                text["to"].as_str(),
                text["text"].as_str(),
                text["type"].as_str()
            ),
            (Some(NUMBER), Some(said), Some("Promotional"))
        );
        assert_eq!(
            (&text["at"], text.get("senderId")),
            (&json!("2026-11-20T23:46:12.000Z"), None)
        );
        recorder.sns(&form(&attribute("AWS.SNS.SMS.SenderID", "Halqa")), now());
        recorder.sns(
            &form(&attribute("AWS.SNS.SMS.SMSType", "Transactional")),
            now(),
        );
        assert_eq!(
            (
                &recorder.texts()[0]["type"],
                &recorder.texts()[1]["senderId"]
            ),
            (&json!("Transactional"), &json!("Halqa"))
        );
    }

    #[test]
    fn a_text_is_shown_in_its_parts() {
        let recorder = Recorder::in_memory();
        for text in ["é".repeat(161), "é".repeat(160), "ç".repeat(71)] {
            recorder.sns(&form(&[("Message", &text)]), now());
        }
        let texts = recorder.texts();
        let shown = |text: &Value| {
            (
                text["encoding"].clone(),
                text["segments"].clone(),
                text["parts"].clone(),
            )
        };
        assert_eq!(
            shown(&texts[0]),
            (
                json!("UCS-2"),
                json!(2),
                json!(["ç".repeat(67), "ç".repeat(4)])
            )
        );
        assert_eq!(shown(&texts[1]), (json!("GSM-7"), json!(1), Value::Null));
        assert_eq!(
            shown(&texts[2]),
            (
                json!("GSM-7"),
                json!(2),
                json!(["é".repeat(153), "é".repeat(8)])
            )
        );
        assert_eq!(
            (recorder.newest_texts(2), recorder.newest_texts(0).len()),
            (texts[..2].to_vec(), 0)
        );
    }

    #[tokio::test]
    async fn what_sns_refuses_is_not_kept() {
        let recorder = Recorder::in_memory();
        let long = "é".repeat(801);
        for (fields, code) in [
            (&[("Action", "Subscribe")][..], "InvalidAction"),
            (&[("Version", "")], "InvalidAction"),
            (&[("PhoneNumber", "")], "InvalidParameter"),
            (&[("PhoneNumber", "21620123456")], "InvalidParameter"),
            (&[("PhoneNumber", "+0123456789")], "InvalidParameter"),
            (&[("PhoneNumber", "+1234567890123456")], "InvalidParameter"),
            (
                &[("PhoneNumber", "+216<&>\0")],
                "+216&lt;&amp;&gt; is not valid",
            ),
            (&[("Message", "")], "InvalidParameter"),
            (&[("Message", &long)], "InvalidParameter"),
            (
                &attribute("AWS.SNS.SMS.SMSType", "Urgent"),
                "InvalidParameter",
            ),
            (
                &attribute("AWS.SNS.SMS.SenderID", "123456"),
                "InvalidParameter",
            ),
            (
                &attribute("AWS.SNS.SMS.SenderID", "Halqa Halqa"),
                "InvalidParameter",
            ),
            (
                &attribute("AWS.SNS.SMS.SenderID", "HalqaFormations"),
                "InvalidParameter",
            ),
            (
                &attribute("AWS.SNS.SMS.SenderID", "")[..1],
                "ParameterValueInvalid",
            ),
        ] {
            let response = recorder.sns(&form(fields), now());
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{fields:?}");
            assert!(told(response).await.contains(code), "{fields:?}");
        }
        assert!(recorder.texts().is_empty());
    }

    #[test]
    fn a_mail_is_kept_as_it_was_sent() {
        let recorder = Recorder::in_memory();
        assert_eq!(send(&recorder, &letter()), StatusCode::OK);
        let mail = &recorder.mails()[0];
        assert_eq!(
            (&mail["to"], &mail["from"]),
            (
                &json!("a@example.org"),
                &json!("Halqa <no-reply@example.org>")
            )
        );
        assert_eq!(
            (&mail["subject"], &mail["text"], &mail["html"]),
            (&json!("Votre code"), &json!("رمزك 123456"), &Value::Null)
        );
        assert_eq!(mail["at"], "2026-11-20T23:46:12.000Z");
    }

    #[test]
    fn what_ses_refuses_is_not_kept() {
        let recorder = Recorder::in_memory();
        let simple = "/Content/Simple";
        for (place, value) in [
            ("/FromEmailAddress", Value::Null),
            (
                "/FromEmailAddress",
                json!("Fédération <no-reply@example.org>"),
            ),
            ("/Destination/ToAddresses", json!([])),
            ("/Destination/ToAddresses", json!(vec!["a@example.org"; 51])),
            ("/Destination/ToAddresses/0", json!("nobody")),
            ("/Content", json!({ "Raw": { "Data": "" } })),
            (&format!("{simple}/Subject"), Value::Null),
            (&format!("{simple}/Body"), json!({})),
            (&format!("{simple}/Body/Text"), json!({ "Data": "é" })),
        ] {
            let mut letter = letter();
            *letter.pointer_mut(place).unwrap() = value;
            assert_eq!(
                send(&recorder, &letter),
                StatusCode::BAD_REQUEST,
                "{letter}"
            );
        }
        assert_eq!(
            recorder
                .ses(&Method::POST, "/v2/email/outbound-emails", b"{", now())
                .status(),
            StatusCode::BAD_REQUEST
        );
        assert_eq!(
            recorder
                .ses(&Method::GET, "/v2/email/identities", b"", now())
                .status(),
            StatusCode::NOT_FOUND
        );
        assert!(recorder.mails().is_empty());
    }

    #[tokio::test]
    async fn errors_on_demand_carry_their_name() {
        assert_eq!(sns_operation(&form(&[])), "Publish");
        assert!(
            told(sns_error("Throttling", StatusCode::BAD_REQUEST))
                .await
                .contains("<Type>Sender</Type><Code>Throttling</Code>")
        );
        assert!(
            told(sns_error(
                "InternalError",
                StatusCode::INTERNAL_SERVER_ERROR
            ))
            .await
            .contains("<Type>Receiver</Type>")
        );
        let error = ses_error("TooManyRequestsException", StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(
            (
                error.status().as_u16(),
                error.headers()["x-amzn-errortype"].as_bytes()
            ),
            (429, &b"TooManyRequestsException"[..])
        );
        assert!(
            !ses_error("no\nheader", StatusCode::BAD_REQUEST)
                .headers()
                .contains_key("x-amzn-errortype")
        );
    }

    #[test]
    fn a_folder_is_read_again_without_a_torn_line() {
        let folder = std::env::temp_dir().join(format!("recorder-{}", chance::id(now())));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("sms.jsonl");
        let first = Recorder::in_folder(&folder).unwrap();
        first.sns(&form(&[("Message", "un")]), now());
        first.sns(&form(&[("Message", "deux ثان")]), now());
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );

        // the last line ends in the middle of a letter
        let bytes = fs::read(&file).unwrap();
        let torn = bytes
            .windows(2)
            .rposition(|pair| pair == "ن".as_bytes())
            .unwrap()
            + 1;
        fs::write(&file, &bytes[..torn]).unwrap();
        let second = Recorder::in_folder(&folder).unwrap();
        assert_eq!(second.texts(), first.texts()[1..]);
        second.clone().sns(&form(&[("Message", "trois")]), now());
        let third = Recorder::in_folder(&folder).unwrap();
        assert_eq!((third.texts(), third.texts().len()), (second.texts(), 2));
        assert_eq!(third.texts()[0]["text"], "trois");

        fs::write(&file, "no JSON\n").unwrap();
        assert!(
            Recorder::in_folder(&folder)
                .is_err_and(|trouble| trouble.to_string().starts_with("sms.jsonl in "))
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
