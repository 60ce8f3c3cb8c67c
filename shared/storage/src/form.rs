//! What a client does at the bucket by itself, with our leave: it sends one file by a form and fetches one
//! by a link, so that no file has to fit through a function.

use std::{collections::BTreeMap, time::Duration};

use domain::Instant;
use http::HeaderValue;
use runtime::Fault;
use serde::Serialize;
use serde_json::json;

use crate::Objects;

/// Kinds that a browser may show at once; every other is kept as a file. None of them runs anything.
const SHOWN: [&str; 4] = ["application/pdf", "image/jpeg", "image/png", "image/webp"];
/// What comes after this many letters of a file's name is left out.
const LONGEST_NAME: usize = 255;

/// A form by which one file can be sent to the bucket
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html>): `multipart/form-data` to `url`
/// with all `fields` and, last, the file as `file`. S3 answers 204.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Form {
    /// Where it is sent to.
    pub url: String,
    /// What is sent before the file.
    pub fields: BTreeMap<String, String>,
}

impl Objects {
    /// The form by which a client puts a file of exactly `size` bytes and of this type at `key`, whatever
    /// stands there and as often as it likes until `good_for` is over. S3 does not look into the file: its
    /// type is what we say.
    ///
    /// # Errors
    /// When `good_for` is not between a second and a week.
    pub fn form(
        &self,
        key: &str,
        content_type: &str,
        size: u64,
        good_for: Duration,
        now: Instant,
    ) -> Result<Form, Fault> {
        let conditions = vec![
            json!({ "bucket": self.bucket }),
            json!({ "key": key }),
            json!({ "Content-Type": content_type }),
            json!(["content-length-range", size, size]),
        ];
        let mut fields = self.aws.signed_form(conditions, good_for, now)?;
        fields.insert("key".to_owned(), key.to_owned());
        fields.insert("Content-Type".to_owned(), content_type.to_owned());
        Ok(Form {
            url: format!("{}/", self.url),
            fields,
        })
    }

    /// The link by which a client fetches the object at `key` until `good_for` is over, as a file called
    /// `name` of this type
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax>).
    ///
    /// # Errors
    /// When `content_type` cannot stand in a header, or `good_for` is not between a second and a week.
    pub fn link(
        &self,
        key: &str,
        name: &str,
        content_type: &str,
        good_for: Duration,
        now: Instant,
    ) -> Result<String, Fault> {
        HeaderValue::from_str(content_type)
            .map_err(|_| Fault::Broken("no content type".to_owned()))?;
        let (disposition, content_type) = (
            in_query(&disposition(name, content_type)),
            in_query(content_type),
        );
        let query = format!(
            "response-content-disposition={disposition}&response-content-type={content_type}"
        );
        self.aws
            .presigned(&format!("{}?{query}", self.at(key)), good_for, now)
    }
}

/// How a browser treats a file, and what it calls it (<https://www.rfc-editor.org/rfc/rfc6266>): the name in
/// ASCII for whoever reads no other, then the whole of it (<https://www.rfc-editor.org/rfc/rfc8187>).
fn disposition(name: &str, content_type: &str) -> String {
    let kind = if SHOWN.contains(&content_type) {
        "inline"
    } else {
        "attachment"
    };
    let name = file_name(name);
    let ascii = name.replace(
        |letter: char| !matches!(letter, ' '..='~') || matches!(letter, '"' | '%'),
        "_",
    );
    // `attr-char` of RFC 8187
    let whole = encoded(&name, |byte| {
        byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte)
    });
    format!("{kind}; filename=\"{ascii}\"; filename*=UTF-8''{whole}")
}

/// `name` without what leads to another folder, controls anything or turns the reading direction, by which
/// `gpj.exe` looks like `exe.jpg`.
fn file_name(name: &str) -> String {
    let is_odd = |letter: char| {
        letter.is_control()
            || matches!(letter, '/' | '\\' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let name: String = name
        .trim()
        .chars()
        .take(LONGEST_NAME)
        .map(|letter| if is_odd(letter) { '_' } else { letter })
        .collect();
    if name.is_empty() {
        "file".to_owned()
    } else {
        name
    }
}

/// `text` as a value of a query that is to be signed
/// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>).
fn in_query(text: &str) -> String {
    encoded(text, |byte| {
        byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
    })
}

/// `text` with every byte that is not `plain` percent-encoded.
fn encoded(text: &str, plain: impl Fn(u8) -> bool) -> String {
    let letter = |byte| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, prop_assert, prop_assert_eq, prop_oneof, proptest};
    use runtime::Aws;

    use super::*;

    fn objects() -> Objects {
        let lookup = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some("http://127.0.0.1:9".to_owned()),
            "AWS_REGION" => Some("eu-west-3".to_owned()),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" | "AWS_SESSION_TOKEN" => {
                Some("secret".to_owned())
            }
            _ => None,
        };
        Objects::new(Aws::new(&lookup).unwrap(), Some("bucket")).unwrap()
    }

    fn now() -> Instant {
        "2026-11-20T23:46:12Z".parse().unwrap()
    }

    const HOUR: Duration = Duration::from_secs(3600);

    /// What `text` is with its escapes undone; nothing when an escape is broken.
    fn decoded(text: &str) -> Option<String> {
        let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
        while let [first, after @ ..] = rest {
            rest = after;
            if *first == b'%' {
                let (digits, after) = rest.split_at_checked(2)?;
                bytes.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
                rest = after;
            } else {
                bytes.push(*first);
            }
        }
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn names_stand_twice_in_a_disposition() {
        for (name, content_type, expected) in [
            (
                "plan.pdf",
                "application/pdf",
                r#"inline; filename="plan.pdf"; filename*=UTF-8''plan.pdf"#,
            ),
            (
                "été 1.png",
                "image/png",
                r#"inline; filename="_t_ 1.png"; filename*=UTF-8''%C3%A9t%C3%A9%201.png"#,
            ),
            (
                "a\"; x=\"b.svg",
                "image/svg+xml",
                r#"attachment; filename="a_; x=_b.svg"; filename*=UTF-8''a%22%3B%20x%3D%22b.svg"#,
            ),
            (
                "50%41.txt",
                "text/html",
                r#"attachment; filename="50_41.txt"; filename*=UTF-8''50%2541.txt"#,
            ),
            (
                "../a\\b\r\nx: y",
                "image/PNG",
                r#"attachment; filename=".._a_b__x: y"; filename*=UTF-8''.._a_b__x%3A%20y"#,
            ),
            (
                "\u{202e}gpj.exe",
                "",
                r#"attachment; filename="_gpj.exe"; filename*=UTF-8''_gpj.exe"#,
            ),
            (
                " \t",
                "image/webp",
                r#"inline; filename="file"; filename*=UTF-8''file"#,
            ),
        ] {
            assert_eq!(disposition(name, content_type), expected, "{name:?}");
        }
        assert!(
            objects()
                .link(
                    "files/x",
                    &"\u{1f4a9}".repeat(2000),
                    "text/plain",
                    HOUR,
                    now()
                )
                .is_ok(),
            "a long name is cut"
        );
        assert!(
            objects()
                .link("files/x", "x", "text/plain\r\nx: y", HOUR, now())
                .is_err()
        );
    }

    #[test]
    fn a_form_holds_all_that_its_policy_asks_for_and_nothing_else() {
        let form = objects()
            .form("files/x", "image/png", 12, HOUR, now())
            .unwrap();
        assert_eq!(form.url, "http://127.0.0.1:9/bucket/");
        let policy = data_encoding::BASE64
            .decode(form.fields["policy"].as_bytes())
            .unwrap();
        let policy: serde_json::Value = serde_json::from_slice(&policy).unwrap();
        assert_eq!(policy["expiration"], "2026-11-21T00:46:12.000Z");
        let mut conditions = policy["conditions"].as_array().unwrap().clone();
        let mut asked = vec![
            json!({ "bucket": "bucket" }),
            json!(["content-length-range", 12, 12]),
        ];
        for (name, value) in form
            .fields
            .iter()
            .filter(|(name, _)| !["policy", "x-amz-signature"].contains(&name.as_str()))
        {
            asked.push(json!({ name: value }));
        }
        conditions.sort_by_key(ToString::to_string);
        asked.sort_by_key(ToString::to_string);
        assert_eq!(conditions, asked);
        assert_eq!(
            (
                form.fields["key"].as_str(),
                form.fields["Content-Type"].as_str()
            ),
            ("files/x", "image/png")
        );
        assert!(
            form.fields.contains_key("x-amz-security-token"),
            "the session's"
        );
    }

    fn names() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[a%\"\\\\/;='+& \r\n\u{0}\u{7f}\u{85}é\u{202e}]{0,20}"
        ]
    }

    proptest! {
        #[test]
        fn no_name_leaves_its_place_in_the_header(name in names(), kind in 0..=SHOWN.len()) {
            let content_type = SHOWN.get(kind).copied().unwrap_or("text/html");
            let header = disposition(&name, content_type);
            prop_assert!(header.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{header:?}");
            let start = if content_type == "text/html" { "attachment; filename=\"" } else { "inline; filename=\"" };
            let (ascii, whole) = header.strip_prefix(start).unwrap().split_once("\"; filename*=UTF-8''").unwrap();
            prop_assert!(!ascii.is_empty() && !ascii.contains(['"', '\\', '%', '/']), "{ascii}");
            prop_assert!(whole.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%!#$&+-.^_`|~".contains(&byte)), "{whole}");
            let called = decoded(whole).unwrap();
            prop_assert_eq!(ascii.chars().count(), called.chars().count());
            prop_assert_eq!(called, file_name(&name));
        }

        #[test]
        fn a_link_asks_for_two_headers_and_names_its_signer(name in names(), content_type in "[ -~]{1,40}") {
            let link = objects().link("files/x", &name, &content_type, HOUR, now()).unwrap();
            let query = link.strip_prefix("http://127.0.0.1:9/bucket/files/x?").unwrap();
            prop_assert!(query.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%=&".contains(&byte)), "{query}");
            let pairs: Vec<(String, String)> = query
                .split('&')
                .map(|pair| pair.split_once('=').unwrap())
                .map(|(name, value)| (decoded(name).unwrap(), decoded(value).unwrap()))
                .collect();
            prop_assert_eq!(&pairs[0], &("response-content-disposition".to_owned(), disposition(&name, &content_type)));
            prop_assert_eq!(&pairs[1], &("response-content-type".to_owned(), content_type));
            let others: Vec<&str> = pairs[2..].iter().map(|(name, _)| name.trim_start_matches("X-Amz-")).collect();
            prop_assert_eq!(others, ["Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature", "Security-Token"]);
        }
    }
}
