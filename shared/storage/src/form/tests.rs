use percent_encoding::percent_decode_str;
use proptest::{prelude::*, prop_assert, prop_assert_eq, prop_oneof, proptest};
use runtime::{Aws, Settings};

use super::*;

fn bucket() -> Bucket {
    bucket_of(&[
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
        ("AWS_REGION", "eu-west-3"),
        ("AWS_ACCESS_KEY_ID", "secret"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", "secret"),
        ("FILES_BUCKET", "bucket"),
    ])
}

fn bucket_of(settings: &[(&str, &str)]) -> Bucket {
    let settings: Settings = settings.iter().copied().collect();
    Bucket::new(&Aws::new(&settings).unwrap(), &settings).unwrap()
}

fn now() -> Instant {
    "2026-11-20T23:46:12Z".parse().unwrap()
}

const HOUR: Duration = Duration::from_secs(3600);

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

#[test]
fn disposition_contains_ascii_and_encoded_name() {
    for (name, content_type, [kind, ascii, whole]) in [
        ("été 1.png", "image/png", ["inline", "_t_ 1.png", "%C3%A9t%C3%A9%201.png"]),
        (
            "a\"; x=\"b.svg",
            "image/svg+xml",
            ["attachment", "a_; x=_b.svg", "a%22%3B%20x%3D%22b.svg"],
        ),
        ("50%41.txt", "text/html", ["attachment", "50_41.txt", "50%2541.txt"]),
        ("../a\\b\r\nx: y", "image/PNG", ["attachment", ".._a_b__x: y", ".._a_b__x%3A%20y"]),
        ("\u{202e}gpj.exe", "", ["attachment", "_gpj.exe", "_gpj.exe"]),
        (" \t", "image/webp", ["inline", "file", "file"]),
    ] {
        let expected = format!("{kind}; filename=\"{ascii}\"; filename*=UTF-8''{whole}");
        assert_eq!(content_disposition(name, content_type), expected, "{name:?}");
    }
}

#[tokio::test]
async fn link_long_name_is_cut() {
    let link = bucket().link("files/x", &"\u{1f4a9}".repeat(2000), "text/plain", HOUR, now()).await;
    assert!(link.unwrap().len() < 8_000);
}

/// The credentials, bucket, key and time of the published example, whose link has no response
/// parameters: <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>
#[tokio::test]
async fn link_on_aws_uses_bucket_host_and_given_time() {
    let bucket = bucket_of(&[
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("FILES_BUCKET", "examplebucket"),
    ]);
    let (day, now) = (24 * HOUR, "2013-05-24T00:00:00.999Z".parse().unwrap());
    let link = bucket.link("test.txt", "a+b", "text/plain", day, now).await.unwrap();
    let start = "https://examplebucket.s3.us-east-1.amazonaws.com/test.txt?";
    assert!(link.starts_with(start), "{link}");
    for part in [
        "response-content-disposition=attachment%3B%20filename%3D%22a%2Bb%22",
        "X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request",
        "X-Amz-Date=20130524T000000Z",
        "X-Amz-Expires=86400",
        "X-Amz-SignedHeaders=host",
    ] {
        assert!(link.contains(part), "{part} in {link}");
    }
    let form = bucket.form("test.txt", "text/plain", 1, day, now);
    assert_eq!(form.url, "https://examplebucket.s3.us-east-1.amazonaws.com/");
}

#[test]
fn form_fields_match_policy_conditions_exactly() {
    let form = bucket().form("files/x", "image/png", 12, HOUR, now());
    assert_eq!(form.url, "http://127.0.0.1:9/bucket/");
    let policy = data_encoding::BASE64.decode(form.fields["policy"].as_bytes()).unwrap();
    let policy: serde_json::Value = serde_json::from_slice(&policy).unwrap();
    assert_eq!(policy["expiration"], "2026-11-21T00:46:12.000Z");
    let mut conditions = policy["conditions"].as_array().unwrap().clone();
    let mut expected = vec![json!({ "bucket": "bucket" }), json!(["content-length-range", 12, 12])];
    let of_signature = |name: &str| ["policy", "x-amz-signature"].contains(&name);
    let others = form.fields.iter().filter(|(name, _)| !of_signature(name));
    expected.extend(others.map(|(name, value)| json!({ name: value })));
    conditions.sort_by_key(ToString::to_string);
    expected.sort_by_key(ToString::to_string);
    assert_eq!(conditions, expected);
    assert_eq!([&form.fields["key"], &form.fields["Content-Type"]], ["files/x", "image/png"]);
    assert!(form.fields.contains_key("x-amz-security-token"), "session token");
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a%\"\\\\/;='+& \r\n\u{0}\u{7f}\u{85}é\u{202e}]{0,20}"]
}

proptest! {
    #[test]
    fn disposition_any_name_stays_quoted(name in names(), kind in 0..=INLINE_TYPES.len()) {
        let content_type = INLINE_TYPES.get(kind).copied().unwrap_or("text/html");
        let header = content_disposition(&name, content_type);
        prop_assert!(header.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{header:?}");
        let start = if content_type == "text/html" { "attachment; filename=\"" } else { "inline; filename=\"" };
        let (ascii, whole) = header.strip_prefix(start).unwrap().split_once("\"; filename*=UTF-8''").unwrap();
        prop_assert!(!ascii.is_empty() && !ascii.contains(['"', '\\', '%', '/']), "{ascii}");
        prop_assert!(whole.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%!#$&+-.^_`|~".contains(&byte)), "{whole}");
        let called = decoded(whole);
        prop_assert_eq!(ascii.chars().count(), called.chars().count());
        prop_assert_eq!(called, file_name(&name));
    }
}
