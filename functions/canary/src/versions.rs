//! Versions of the functions, invoked as API Gateway would invoke them.

use bytes::Bytes;
use http::{Method, Request, Response};
use runtime::{ConfigError, Settings};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::aws_api::AwsApi;

/// The versions of the functions that a deployment introduces, each by the name of its function.
#[derive(Clone)]
pub(crate) struct Versions {
    pub(crate) api: AwsApi,
    arns: Vec<(String, String)>,
}

/// The response of a function to an event of an HTTP API
/// (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>). All
/// bodies that are read here are JSON, which is not base64.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FunctionResponse {
    status_code: u16,
    #[serde(default)]
    body: String,
}

impl Versions {
    /// Reads `NEW_VERSIONS`: `name=ARN` of each function, separated by commas.
    ///
    /// # Errors
    /// When it has another form.
    pub(crate) fn new(api: AwsApi, settings: &Settings) -> Result<Self, ConfigError> {
        let form = "must be names and ARNs of versions, such as auth=arn:…:3, separated by commas";
        let pairs: Vec<String> = settings.list("NEW_VERSIONS", "", form)?;
        let arns = pairs.iter().map(|pair| {
            let (name, arn) = pair.split_once('=')?;
            Some((name.to_owned(), arn.to_owned()))
        });
        let arns: Option<Vec<_>> = arns.collect();
        Ok(Self { api, arns: arns.ok_or_else(|| ConfigError::new("NEW_VERSIONS", form))? })
    }

    /// The ARNs of the functions, without the number of the version.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &str> {
        let arns = self.arns.iter();
        arns.filter_map(|(_, arn)| Some(arn.rsplit_once(':')?.0))
    }

    /// The response of the function with the route of `request`. As at the gateway, `fallback` serves all other paths.
    ///
    /// # Errors
    /// As [`invoke`](Self::invoke), and when the function does not return an HTTP response.
    pub(crate) async fn answer(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, String> {
        let first = request.uri().path().split('/').nth(3).unwrap_or_default();
        let is_known = self.arns.iter().any(|(name, _)| name == first);
        let function = if is_known { first } else { "fallback" };
        let payload = self.invoke(function, &self.event(request)).await?;
        let response: FunctionResponse = serde_json::from_slice(&payload)
            .map_err(|_| format!("{function} returned no HTTP response"))?;
        Response::builder()
            .status(response.status_code)
            .body(response.body.into())
            .map_err(|error| format!("{function} returned no HTTP response: {error}"))
    }

    /// Invokes the new version of `function` and returns its response
    /// (<https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html>).
    ///
    /// # Errors
    /// When the function is not among the versions, is throttled, does not start, or fails.
    pub(crate) async fn invoke(&self, function: &str, event: &Value) -> Result<Bytes, String> {
        let mut arns = self.arns.iter();
        let (_, arn) = arns
            .find(|(name, _)| name == function)
            .ok_or_else(|| format!("NEW_VERSIONS has no {function}"))?;
        let path = format!("{}/invocations", path_of(arn));
        let body = Bytes::from(event.to_string());
        let response = self.api.send("lambda", Method::POST, &path, &[], body).await;
        let response = response.map_err(|problem| format!("{function}: {problem}"))?;
        if response.status() != 200 {
            return Err(format!("{function}: Lambda answered {}", response.status()));
        }
        // The value is `Unhandled` for a function that cannot start, panics or runs into its timeout; the reason is in
        // the function's own log.
        if response.headers().contains_key("x-amz-function-error") {
            return Err(format!("{function} does not start, or fails"));
        }
        Ok(response.into_body())
    }

    /// `request` as an event of an HTTP API, payload format 2.0
    /// (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>).
    fn event(&self, request: &Request<Bytes>) -> Value {
        let now = self.api.clock.now();
        let time = now.unix_milliseconds();
        // A network of its own for each moment, from the addresses for documentation
        // (https://www.rfc-editor.org/rfc/rfc3849): the checks of twelve concurrent deployments share no limit.
        let ip = format!("2001:db8:{:x}:{:x}::1", (time >> 16) & 0xffff, time & 0xffff);
        let (path, method) = (request.uri().path(), request.method().as_str());
        let headers = request.headers().iter();
        let headers: serde_json::Map<String, Value> = headers
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.into())))
            .collect();
        json!({
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": request.uri().query().unwrap_or_default(),
            "headers": headers,
            "requestContext": {
                "accountId": "anonymous",
                "apiId": "pretraffic",
                "domainName": "pretraffic.invalid",
                "domainPrefix": "pretraffic",
                "http": {
                    "method": method,
                    "path": path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": ip,
                    "userAgent": "pretraffic",
                },
                "requestId": "pretraffic",
                "routeKey": "$default",
                "stage": "$default",
                "time": now.to_string(),
                "timeEpoch": time,
            },
            "body": String::from_utf8_lossy(request.body()),
            "isBase64Encoded": false,
        })
    }
}

/// The path of the function or version `arn` in Lambda's API. The SDKs encode the colons, too.
pub(crate) fn path_of(arn: &str) -> String {
    format!("/2015-03-31/functions/{}", arn.replace(':', "%3A"))
}
