//! The access keys of the local cloud, and the signatures of requests in Signature Version 4
//! (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>).

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4::SigningParams,
};
use domain::Instant;
use http::{header, request::Parts};
use identity::random;
use uuid::Uuid;

/// An access key. It is random at every start, so that other programs, such as a web page that tries ports, have no
/// access.
#[derive(Clone)]
pub(crate) struct AccessKey {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// Why a request is not authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignatureError {
    /// It has no signature, or one in another form.
    Missing,
    /// The access key does not exist, or not for this service.
    UnknownKey,
    /// The signature is not that of the request.
    Mismatch,
}

impl SignatureError {
    /// The error code of services with JSON protocols
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html>).
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Missing => "MissingAuthenticationTokenException",
            Self::UnknownKey => "UnrecognizedClientException",
            Self::Mismatch => "InvalidSignatureException",
        }
    }

    /// The error code of services with the query protocol
    /// (<https://docs.aws.amazon.com/sns/latest/api/CommonErrors.html>).
    pub(crate) const fn query_code(self) -> &'static str {
        match self {
            Self::Missing => "MissingAuthenticationToken",
            Self::UnknownKey => "InvalidClientTokenId",
            Self::Mismatch => "SignatureDoesNotMatch",
        }
    }
}

impl AccessKey {
    /// A new key, whose id begins with `name`.
    pub(crate) fn generate(name: &str) -> Self {
        let digits = || Uuid::from_bytes(random::bytes()).simple();
        Self { id: format!("{name}{}", digits()), secret: digits().to_string() }
    }

    /// The id that the function `role` uses: the access control identifies the function by it.
    pub(crate) fn id_of(&self, role: &str) -> String {
        format!("{}.{role}", self.id)
    }

    /// Verifies the signature of a request to `service`; returns the function that the id of its key names. The age of
    /// the signature is not limited: the key is younger than this process.
    ///
    /// # Errors
    /// When the request is not signed with this key, for this service.
    pub(crate) fn verify<'a>(
        &self,
        service: &str,
        parts: &'a Parts,
        body: &[u8],
    ) -> Result<Option<&'a str>, SignatureError> {
        let signed = Signed::read(parts).ok_or(SignatureError::Missing)?;
        let role = match signed.key_id.strip_prefix(self.id.as_str()) {
            Some("") => None,
            Some(rest) => Some(rest.strip_prefix('.').ok_or(SignatureError::UnknownKey)?),
            None => return Err(SignatureError::UnknownKey),
        };
        if self.sign(&signed, service, parts, body).as_deref() == Some(signed.signature) {
            Ok(role)
        } else {
            Err(SignatureError::Mismatch)
        }
    }

    /// The signature that the request must have; `None` when a signed header is missing or malformed.
    fn sign(
        &self,
        signed: &Signed<'_>,
        service: &str,
        parts: &Parts,
        body: &[u8],
    ) -> Option<String> {
        let time: Instant = text(parts, "x-amz-date")?.parse().ok()?;
        let headers: Vec<(&str, &str)> = signed
            .headers
            .split(';')
            // The library adds this one, from the time.
            .filter(|name| *name != "x-amz-date")
            .map(|name| Some((name, text(parts, name)?)))
            .collect::<Option<_>>()?;
        // AWS requires it, and the library panics without it.
        if !headers.iter().any(|(name, _)| *name == "host") {
            return None;
        }
        let identity = Credentials::from_keys(signed.key_id, self.secret.as_str(), None).into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(signed.region)
            .name(service)
            .time(SystemTime::from(time.timestamp()))
            .settings(SigningSettings::default())
            .build()
            .ok()?
            .into();
        let request = SignableRequest::new(
            parts.method.as_str(),
            parts.uri.to_string(),
            headers.into_iter(),
            SignableBody::Bytes(body),
        );
        let (_, signature) = sign(request.ok()?, &params).ok()?.into_parts();
        Some(signature)
    }
}

/// The parts of an `Authorization` header.
struct Signed<'a> {
    key_id: &'a str,
    region: &'a str,
    /// The names of the signed headers, separated by semicolons.
    headers: &'a str,
    signature: &'a str,
}

impl<'a> Signed<'a> {
    fn read(parts: &'a Parts) -> Option<Self> {
        let authorization = text(parts, header::AUTHORIZATION.as_str())?;
        let fields = authorization.strip_prefix("AWS4-HMAC-SHA256 ")?;
        let field = |name: &str| -> Option<&'a str> {
            let mut fields = fields.split(',').map(str::trim);
            fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
        };
        // The id, then the scope: date, region, service and `aws4_request`.
        let mut credential = field("Credential")?.split('/');
        Some(Self {
            key_id: credential.next()?,
            region: credential.nth(1)?,
            headers: field("SignedHeaders")?,
            signature: field("Signature")?,
        })
    }
}

fn text<'a>(parts: &'a Parts, name: &str) -> Option<&'a str> {
    parts.headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    const BODY: &[u8] = b"{}";

    /// A request to DynamoDB with a signature of `key`.
    fn signed_by(key: &AccessKey) -> Parts {
        let request = Request::post("/")
            .header("host", "127.0.0.1:1")
            .header("x-amz-date", "20261120T234612Z")
            .header("x-amz-target", "DynamoDB_20120810.GetItem");
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let id = key.id_of("auth");
        let headers = "host;x-amz-date;x-amz-target";
        let signed = Signed { key_id: &id, region: "eu-west-3", headers, signature: "" };
        let signature = key.sign(&signed, "dynamodb", &parts, BODY).unwrap();
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={id}/20261120/eu-west-3/dynamodb/aws4_request, SignedHeaders={headers}, Signature={signature}"
        );
        let authorization = authorization.parse().unwrap();
        parts.headers.insert("authorization", authorization);
        parts
    }

    #[test]
    fn signature_is_valid_for_its_key_service_headers_and_body_only() {
        let (key, other) = (AccessKey::generate("local"), AccessKey::generate("local"));
        let parts = signed_by(&key);
        assert_eq!(key.verify("dynamodb", &parts, BODY), Ok(Some("auth")));
        assert_eq!(other.verify("dynamodb", &parts, BODY), Err(SignatureError::UnknownKey));
        let mismatch = Err(SignatureError::Mismatch);
        assert_eq!(key.verify("ssm", &parts, BODY), mismatch);
        assert_eq!(key.verify("dynamodb", &parts, b"{ }"), mismatch);
        for name in ["host", "x-amz-date", "x-amz-target"] {
            let mut changed = parts.clone();
            changed.headers.insert(name, "x".parse().unwrap());
            assert_eq!(key.verify("dynamodb", &changed, BODY), mismatch, "{name}");
            changed.headers.remove(name);
            assert_eq!(key.verify("dynamodb", &changed, BODY), mismatch, "{name}");
        }
        let wrong_secret = AccessKey { secret: "x".to_owned(), ..key.clone() };
        assert_eq!(wrong_secret.verify("dynamodb", &parts, BODY), mismatch);
    }

    #[test]
    fn missing_or_malformed_signature_is_reported_as_missing() {
        let key = AccessKey::generate("local");
        let mut parts = signed_by(&key);
        for authorization in ["", "Bearer x", "AWS4-HMAC-SHA256 Credential=local, Signature="] {
            let authorization = authorization.parse().unwrap();
            parts.headers.insert("authorization", authorization);
            assert_eq!(key.verify("dynamodb", &parts, BODY), Err(SignatureError::Missing));
        }
    }
}
