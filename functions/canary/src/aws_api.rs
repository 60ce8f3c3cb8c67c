//! Signed requests to services of AWS. Operations that are called once in a deployment do not need an SDK crate each.

use std::time::{Duration, SystemTime};

use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4::SigningParams,
};
use bytes::Bytes;
use http::{Method, Request, Response};
use runtime::{Aws, Clock, ConfigError, Settings};

/// Time-out of one request. Lambda answers an invocation when the function has ended.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A client of AWS services, with the credentials of the process.
#[derive(Clone)]
pub struct AwsApi {
    aws: Aws,
    pub(crate) clock: Clock,
    region: String,
    endpoint: Option<String>,
}

impl AwsApi {
    /// The client for the credentials and connections of `aws`, and the settings `AWS_REGION` and `AWS_ENDPOINT_URL`.
    ///
    /// # Errors
    /// When one of them is missing or invalid.
    pub fn new(aws: &Aws, clock: &Clock, settings: &Settings) -> Result<Self, ConfigError> {
        let endpoint = settings.url("AWS_ENDPOINT_URL")?;
        Ok(Self {
            aws: aws.clone(),
            clock: clock.clone(),
            region: settings.required("AWS_REGION")?.to_owned(),
            endpoint: endpoint.map(|url| url.trim_end_matches('/').to_owned()),
        })
    }

    /// Sends a request to `service`, signed with Signature Version 4
    /// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>). `path` includes
    /// the query, percent-encoded.
    ///
    /// # Errors
    /// The reason why there is no complete response.
    pub async fn send(
        &self,
        service: &str,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Response<Bytes>, String> {
        let url = self.endpoint.clone().unwrap_or_else(|| {
            // https://docs.aws.amazon.com/general/latest/gr/ses.html
            let host = if service == "ses" { "email" } else { service };
            let region = &self.region;
            format!("https://{host}.{region}.amazonaws.com")
        });
        let mut request = Request::builder().method(method).uri(format!("{url}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(body).map_err(|error| error.to_string())?;
        self.sign(service, &mut request)?;
        self.aws.fetch(request, TIMEOUT).await
    }

    fn sign(&self, service: &str, request: &mut Request<Bytes>) -> Result<(), String> {
        let identity = self.aws.credentials().clone().into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(SystemTime::from(self.clock.now().timestamp()))
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| error.to_string())?
            .into();
        let headers = request.headers().iter();
        let headers =
            headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let signable = SignableRequest::new(
            request.method().as_str(),
            request.uri().to_string(),
            headers,
            SignableBody::Bytes(request.body()),
        );
        let signable = signable.map_err(|error| error.to_string())?;
        let signed = sign(signable, &params).map_err(|error| error.to_string())?;
        let (instructions, _) = signed.into_parts();
        instructions.apply_to_request_http1x(request);
        Ok(())
    }
}
