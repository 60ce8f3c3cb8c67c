//! Signs presigned POST policies, which the SDK does not support
//! (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html>).

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use aws_credential_types::Credentials;
use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use data_encoding::BASE64;
use domain::Instant;
use serde_json::{Value, json};

/// Signs POST policies with the credentials of the function. A policy expires with these credentials at the
/// latest.
#[derive(Clone)]
pub(crate) struct PolicySigner {
    pub(crate) credentials: Credentials,
    pub(crate) region: String,
}

impl PolicySigner {
    /// The form fields that permit an upload until `valid_for` has passed, if the other fields meet
    /// `conditions`: `policy`, `x-amz-algorithm`, `x-amz-credential`, `x-amz-date`, `x-amz-signature` and,
    /// with temporary credentials, `x-amz-security-token`. Their conditions are added; `conditions` must
    /// cover every other field.
    pub(crate) fn fields(
        &self,
        mut conditions: Vec<Value>,
        valid_for: Duration,
        now: Instant,
    ) -> BTreeMap<String, String> {
        let mut fields = self.signer(now);
        conditions.extend(fields.iter().map(|(name, value)| json!({ name: value })));
        let policy = json!({ "expiration": now.after(valid_for), "conditions": conditions });
        let policy = BASE64.encode(policy.to_string().as_bytes());
        fields.insert("x-amz-signature".to_owned(), self.signature(&policy, now));
        fields.insert("policy".to_owned(), policy);
        fields
    }

    /// The fields with algorithm, credential scope, time and session token.
    fn signer(&self, now: Instant) -> BTreeMap<String, String> {
        let (at, key) = (now.timestamp(), self.credentials.access_key_id());
        let scope = format!("{key}/{}/{}/s3/aws4_request", at.strftime("%Y%m%d"), self.region);
        let mut fields = BTreeMap::from([
            ("x-amz-algorithm".to_owned(), "AWS4-HMAC-SHA256".to_owned()),
            ("x-amz-credential".to_owned(), scope),
            ("x-amz-date".to_owned(), at.strftime("%Y%m%dT%H%M%SZ").to_string()),
        ]);
        if let Some(token) = self.credentials.session_token() {
            fields.insert("x-amz-security-token".to_owned(), token.to_owned());
        }
        fields
    }

    /// The signature of the Base64-encoded `policy`
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html>).
    fn signature(&self, policy: &str, now: Instant) -> String {
        let at = SystemTime::from(now.timestamp());
        let secret = self.credentials.secret_access_key();
        let key = generate_signing_key(secret, at, &self.region, "s3");
        calculate_signature(key, policy.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The credentials of AWS's examples.
    fn signer() -> PolicySigner {
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        PolicySigner {
            credentials: Credentials::new("AKIAIOSFODNN7EXAMPLE", secret, None, None, "test"),
            region: "us-east-1".to_owned(),
        }
    }

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
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
    fn signature_of_published_policy_matches() {
        let policy = BASE64.encode(POLICY.replace('\n', "\r\n").as_bytes());
        assert_eq!(
            signer().signature(&policy, at("2015-12-29")),
            "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e"
        );
    }

    #[test]
    fn fields_are_those_of_published_policy() {
        let (now, example): (_, Value) = (at("2015-12-29"), serde_json::from_str(POLICY).unwrap());
        let mut fields = signer().fields(Vec::new(), Duration::from_secs(36 * 3600), now);
        let policy = fields.remove("policy").unwrap();
        assert_eq!(fields.remove("x-amz-signature").unwrap(), signer().signature(&policy, now));
        let policy = BASE64.decode(policy.as_bytes()).unwrap();
        let policy: Value = serde_json::from_slice(&policy).unwrap();
        assert_eq!(policy["expiration"], example["expiration"]);
        let published = example["conditions"].as_array().unwrap();
        for condition in policy["conditions"].as_array().unwrap() {
            assert!(published.contains(condition), "{condition}");
        }
    }
}
