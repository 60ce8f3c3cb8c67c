//! Signed requests without the SDK: the crate of a service is some 0.4 MB of a function's package.

use std::time::SystemTime;

use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4::SigningParams,
};
use bytes::Bytes;
use domain::Instant;
use http::Request;

use crate::{Aws, chain};

impl Aws {
    /// Signs `request` to `service`, another one than S3, at `now` with Signature Version 4
    /// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>). The path and the query
    /// of `request` are percent-encoded.
    ///
    /// # Errors
    /// The reason why it cannot be signed.
    pub fn sign(
        &self,
        service: &str,
        request: &mut Request<Bytes>,
        now: Instant,
    ) -> Result<(), String> {
        let body = SignableBody::Bytes(request.body());
        let (identity, region) = (self.credentials().clone().into(), self.region());
        let params = SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name(service)
            .time(SystemTime::from(now.timestamp()))
            .settings(SigningSettings::default())
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
