//! Signed requests without the SDK: the crate of a service is some 0.4 MB of a function's package.

use std::time::{Duration, SystemTime};

use aws_sigv4::{
    http_request::{
        PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SignatureLocation,
        SigningSettings, UriPathNormalizationMode, sign,
    },
    sign::v4::SigningParams,
};
use bytes::Bytes;
use domain::Instant;
use http::Request;

use crate::{Aws, chain};

impl Aws {
    /// Signs `request` to `service` at `now` with Signature Version 4
    /// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>): in its headers, or,
    /// with `valid_for`, in its query, which makes it a link for that long, of at most a week, that any body may go with.
    /// The credentials may end before. The path and the query of `request` are percent-encoded.
    ///
    /// # Errors
    /// The reason why it cannot be signed.
    pub fn sign(
        &self,
        service: &str,
        request: &mut Request<Bytes>,
        valid_for: Option<Duration>,
        now: Instant,
    ) -> Result<(), String> {
        let mut settings = SigningSettings::default();
        if service == "s3" {
            // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        }
        let mut body = SignableBody::Bytes(request.body());
        if valid_for.is_some() {
            settings.payload_checksum_kind = PayloadChecksumKind::NoHeader;
            settings.signature_location = SignatureLocation::QueryParams;
            settings.expires_in = valid_for;
            body = SignableBody::UnsignedPayload;
        }
        let (identity, region) = (self.credentials().clone().into(), self.region());
        let params = SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name(service)
            .time(SystemTime::from(now.timestamp()))
            .settings(settings)
            .build();
        let params = params.map_err(|error| chain(&error))?.into();
        let headers = request.headers().iter();
        let headers =
            headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let (method, uri) = (request.method().as_str(), request.uri().to_string());
        let signable = SignableRequest::new(method, uri, headers, body);
        let signed = signable.and_then(|signable| sign(signable, &params));
        let (instructions, _) = signed.map_err(|error| chain(&error))?.into_parts();
        instructions.apply_to_request_http1x(request);
        Ok(())
    }
}
