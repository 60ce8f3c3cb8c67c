//! Amazon SES v2: mails, in JSON.

use bytes::Bytes;
use domain::Instant;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::Full;
use identity::random;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Recorder, response, status};

impl Recorder {
    /// The response of SES v2.
    pub(crate) fn ses(
        &self,
        method: &Method,
        path: &str,
        body: &[u8],
        now: Instant,
    ) -> Response<Full<Bytes>> {
        if (method, path) != (&Method::POST, "/v2/email/outbound-emails") {
            return refusal(
                "NotFoundException",
                StatusCode::NOT_FOUND,
                &format!("{method} {path} is not served here."),
            );
        }
        let id = random::id(now);
        match mail(body, id, now).map(|mail| self.mails.keep(mail)) {
            Ok(Ok(())) => response(StatusCode::OK, "application/json", |_| {
                json!({ "MessageId": id }).to_string()
            }),
            Ok(Err(error)) => refusal(
                "InternalFailure",
                StatusCode::INTERNAL_SERVER_ERROR,
                &error.to_string(),
            ),
            Err(message) => refusal("BadRequestException", StatusCode::BAD_REQUEST, &message),
        }
    }
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

/// The injected error `name`.
pub(crate) fn error(name: &str, otherwise: StatusCode) -> Response<Full<Bytes>> {
    refusal(name, status(name, otherwise), "on demand")
}

fn refusal(name: &str, status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let mut response = response(status, "application/json", |_| {
        json!({ "message": message }).to_string()
    });
    // A fault may name anything; what no header can carry stays unsaid.
    if let Ok(name) = HeaderValue::from_str(name) {
        response.headers_mut().insert("x-amzn-errortype", name);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Instant {
        "2026-11-20T23:46:12Z".parse().unwrap()
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

    #[test]
    fn injected_error_has_name_and_status() {
        for (name, status) in [
            ("TooManyRequestsException", 429),
            ("ServiceUnavailable", 503),
        ] {
            let error = error(name, StatusCode::TOO_MANY_REQUESTS);
            assert_eq!(error.status(), status);
            assert_eq!(error.headers()["x-amzn-errortype"], name);
        }
        let error = error("no\nheader", StatusCode::BAD_REQUEST);
        assert!(!error.headers().contains_key("x-amzn-errortype"));
    }
}
