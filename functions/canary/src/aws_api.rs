//! Signed requests to services of AWS. Operations that are called once in a deployment do not need an SDK crate each.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use runtime::{Aws, Clock};

/// Time-out of one request. Lambda answers an invocation when the function has ended.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A client of AWS services, with the credentials of the process.
#[derive(Clone)]
pub struct AwsApi {
    aws: Aws,
    pub(crate) clock: Clock,
}

impl AwsApi {
    /// The client with the credentials, connections and endpoint of `aws`.
    pub fn new(aws: &Aws, clock: &Clock) -> Self {
        Self { aws: aws.clone(), clock: clock.clone() }
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
        // https://docs.aws.amazon.com/general/latest/gr/ses.html
        let host = if service == "ses" { "email" } else { service };
        let url = self.aws.endpoint().map_or_else(
            || format!("https://{host}.{}.amazonaws.com", self.aws.region()),
            str::to_owned,
        );
        let mut request = Request::builder().method(method).uri(format!("{url}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(body).map_err(|error| error.to_string())?;
        self.aws.sign(service, &mut request, self.clock.now())?;
        self.aws.fetch(request, TIMEOUT).await
    }
}
