//! Signature Version 4 (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html>): of requests
//! that we send, and of a link or a form by which somebody else asks S3 for one thing, in our name and for
//! a while. Both end with the credentials that signed them, however long they were meant to last
//! (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-presigned-url.html>), and until they end
//! they may be used again and again.

use std::{
    collections::BTreeMap,
    fmt::Display,
    iter,
    time::{Duration, SystemTime},
};

use aws_sigv4::{
    http_request::{
        PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SignatureLocation,
        SigningInstructions, SigningSettings, UriPathNormalizationMode, sign,
    },
    sign::v4::{SigningParams, calculate_signature, generate_signing_key},
};
use bytes::Bytes;
use data_encoding::BASE64;
use domain::Instant;
use http::Request;
use serde_json::{Value, json};

use crate::{Aws, Fault};

/// Nothing that is signed is good for longer.
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
/// Longer than any URL that makes sense, and short enough for what the signature adds to it.
const LONGEST_URL: usize = 16_384;

impl Aws {
    /// Signs a request that is about to be sent
    /// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>).
    pub(crate) fn sign(
        &self,
        request: &mut Request<Bytes>,
        service: &str,
        now: Instant,
    ) -> Result<(), String> {
        let (method, uri) = (request.method().as_str(), request.uri().to_string());
        let headers = request
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()));
        let signable =
            SignableRequest::new(method, &uri, headers, SignableBody::Bytes(request.body()))
                .map_err(text)?;
        let instructions = self.instructions(signable, service, settings(service), now)?;
        instructions.apply_to_request_http1x(request);
        Ok(())
    }

    /// `url` as a link by which anybody can GET it from S3 from `now` on, in whole seconds
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>). A query that it
    /// has is percent-encoded already, a space as `%20`, for S3 takes `+` as it is.
    ///
    /// # Errors
    /// When `url` is no URL with a host, or `good_for` is not between a second and a week.
    pub fn presigned(&self, url: &str, good_for: Duration, now: Instant) -> Result<String, Fault> {
        let mut request = Request::get(url)
            .body(())
            .map_err(|error| Fault::Broken(error.to_string()))?;
        if request.uri().authority().is_none() || url.len() > LONGEST_URL {
            return Err(Fault::Broken("no URL that can be signed".to_owned()));
        }
        let mut settings = settings("s3");
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(bounded(good_for)?);
        let signable =
            SignableRequest::new("GET", url, iter::empty(), SignableBody::UnsignedPayload)
                .map_err(text);
        let instructions = signable
            .and_then(|signable| self.instructions(signable, "s3", settings, now))
            .map_err(Fault::Broken)?;
        instructions.apply_to_request_http1x(&mut request);
        Ok(request.uri().to_string())
    }

    /// The fields by which a form is let into a bucket of S3 until `good_for` is over, when the rest of it
    /// meets `conditions`
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html>): `policy`,
    /// `x-amz-algorithm`, `x-amz-credential`, `x-amz-date`, `x-amz-signature`, and `x-amz-security-token`
    /// where the credentials have one. The conditions for these are added; every other field of the form
    /// needs one.
    ///
    /// # Errors
    /// When `good_for` is not between a second and a week.
    pub fn signed_form(
        &self,
        mut conditions: Vec<Value>,
        good_for: Duration,
        now: Instant,
    ) -> Result<BTreeMap<String, String>, Fault> {
        let expiration = now.after(bounded(good_for)?);
        let mut fields = self.signer(now);
        conditions.extend(fields.iter().map(|(name, value)| json!({ name: value })));
        let policy = json!({ "expiration": expiration, "conditions": conditions });
        let policy = BASE64.encode(policy.to_string().as_bytes());
        fields.insert("x-amz-signature".to_owned(), self.signature(&policy, now));
        fields.insert("policy".to_owned(), policy);
        Ok(fields)
    }

    /// What a form says of who signs it and when.
    fn signer(&self, now: Instant) -> BTreeMap<String, String> {
        let (at, key) = (now.timestamp(), self.credentials.access_key_id());
        let mut fields = BTreeMap::from([
            ("x-amz-algorithm".to_owned(), "AWS4-HMAC-SHA256".to_owned()),
            (
                "x-amz-credential".to_owned(),
                format!(
                    "{key}/{}/{}/s3/aws4_request",
                    at.strftime("%Y%m%d"),
                    self.region
                ),
            ),
            (
                "x-amz-date".to_owned(),
                at.strftime("%Y%m%dT%H%M%SZ").to_string(),
            ),
        ]);
        if let Some(token) = self.credentials.session_token() {
            fields.insert("x-amz-security-token".to_owned(), token.to_owned());
        }
        fields
    }

    /// The signature of a policy in base64
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html>).
    fn signature(&self, policy: &str, now: Instant) -> String {
        let at = SystemTime::from(now.timestamp());
        let key =
            generate_signing_key(self.credentials.secret_access_key(), at, &self.region, "s3");
        calculate_signature(key, policy.as_bytes())
    }

    /// What makes `request` a signed one.
    fn instructions(
        &self,
        request: SignableRequest<'_>,
        service: &str,
        settings: SigningSettings,
        now: Instant,
    ) -> Result<SigningInstructions, String> {
        let identity = self.credentials.clone().into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(SystemTime::from(now.timestamp()))
            .settings(settings)
            .build()
            .map_err(text)?
            .into();
        Ok(sign(request, &params).map_err(text)?.into_parts().0)
    }
}

/// How `service` wants to be signed for.
fn settings(service: &str) -> SigningSettings {
    let mut settings = SigningSettings::default();
    if service == "s3" {
        // S3 alone takes paths as they are, and wants the body's hash in a header.
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    settings
}

fn bounded(good_for: Duration) -> Result<Duration, Fault> {
    let can_be = (Duration::from_secs(1)..=WEEK).contains(&good_for);
    if can_be {
        Ok(good_for)
    } else {
        Err(Fault::Broken(
            "nothing is signed for less than a second or more than a week".to_owned(),
        ))
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDPOINT: &str = "http://127.0.0.1:9";

    /// The credentials of AWS's examples.
    fn aws(token: Option<&str>) -> Aws {
        let token = token.map(str::to_owned);
        let lookup = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some(ENDPOINT.to_owned()),
            "AWS_REGION" => Some("us-east-1".to_owned()),
            "AWS_ACCESS_KEY_ID" => Some("AKIAIOSFODNN7EXAMPLE".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned()),
            "AWS_SESSION_TOKEN" => token.clone(),
            _ => None,
        };
        Aws::new(&lookup).unwrap()
    }

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    const DAY: Duration = Duration::from_secs(86400);
    const URL: &str = "https://examplebucket.s3.amazonaws.com/test.txt";

    /// <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>
    #[test]
    fn a_link_is_signed_as_in_the_published_example() {
        let link = aws(None)
            .presigned(URL, DAY, at("2013-05-24T00:00:00.999Z"))
            .unwrap();
        let expected = "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
             &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z\
             &X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
             &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
        assert_eq!(link, expected);
    }

    #[test]
    fn a_link_keeps_its_query_and_names_the_session() {
        let query = "response-content-disposition=inline%3B%20filename%3D%22a%2Bb%22";
        let link = aws(Some("to+ken/="))
            .presigned(&format!("{URL}?{query}"), DAY, at("2013-05-24"))
            .unwrap();
        assert!(
            link.starts_with(&format!("{URL}?{query}&X-Amz-Algorithm=")),
            "{link}"
        );
        assert!(
            link.contains("&X-Amz-Security-Token=to%2Bken%2F%3D"),
            "{link}"
        );
    }

    #[test]
    fn what_cannot_be_signed_is_a_fault() {
        let (now, long) = (
            at("2013-05-24"),
            format!("{URL}?{}", "x".repeat(LONGEST_URL)),
        );
        for (url, good_for) in [
            ("/test.txt", DAY),
            ("no url", DAY),
            (&long, DAY),
            (URL, Duration::from_millis(999)),
            (URL, WEEK + Duration::from_millis(1)),
        ] {
            assert!(
                matches!(
                    aws(None).presigned(url, good_for, now),
                    Err(Fault::Broken(_))
                ),
                "{url} {good_for:?}"
            );
        }
        assert!(aws(None).presigned(URL, WEEK, now).is_ok());
        assert!(aws(None).signed_form(Vec::new(), WEEK + DAY, now).is_err());
    }

    /// <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-post-example.html>; its lines end in CRLF.
    const POLICY: &str = r#"{ "expiration": "2015-12-30T12:00:00.000Z",
  "conditions": [
    {"bucket": "sigv4examplebucket"},
    ["starts-with", "$key", "user/user1/"],
    {"acl": "public-read"},
    {"success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"},
    ["starts-with", "$Content-Type", "image/"],
    {"x-amz-meta-uuid": "14365123651274"},
    {"x-amz-server-side-encryption": "AES256"},
    ["starts-with", "$x-amz-meta-tag", ""],

    {"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"},
    {"x-amz-algorithm": "AWS4-HMAC-SHA256"},
    {"x-amz-date": "20151229T000000Z" }
  ]
}"#;

    #[test]
    fn a_policy_is_signed_as_in_the_published_example() {
        let policy = BASE64.encode(POLICY.replace('\n', "\r\n").as_bytes());
        let signature = aws(None).signature(&policy, at("2015-12-29"));
        assert_eq!(
            signature,
            "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e"
        );
    }

    #[test]
    fn a_form_says_who_signs_it_and_its_policy_holds_that() {
        let (now, example): (_, Value) = (at("2015-12-29"), serde_json::from_str(POLICY).unwrap());
        for token in [None, Some("token")] {
            let mut fields = aws(token)
                .signed_form(
                    vec![json!({ "acl": "public-read" })],
                    Duration::from_secs(36 * 3600),
                    now,
                )
                .unwrap();
            let (policy, signature) = (
                fields.remove("policy").unwrap(),
                fields.remove("x-amz-signature").unwrap(),
            );
            assert_eq!(signature, aws(token).signature(&policy, now));
            assert_eq!(
                fields.get("x-amz-security-token").map(String::as_str),
                token
            );
            let policy: Value =
                serde_json::from_slice(&BASE64.decode(policy.as_bytes()).unwrap()).unwrap();
            assert_eq!(policy["expiration"], example["expiration"]);
            let conditions = policy["conditions"].as_array().unwrap();
            assert_eq!(conditions.len(), 1 + fields.len());
            for (name, value) in &fields {
                let condition = json!({ name: value });
                assert!(conditions.contains(&condition), "{condition}");
                assert_eq!(
                    example["conditions"]
                        .as_array()
                        .unwrap()
                        .contains(&condition),
                    name != "x-amz-security-token"
                );
            }
        }
    }
}
