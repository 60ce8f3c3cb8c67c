//! The HTTP endpoint of the local cloud: detects the AWS service of a request, verifies its signature, checks access,
//! injects faults and passes the request on.

use std::{convert::Infallible, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use dynoxide::Database;
use futures_util::stream;
use http::{
    HeaderName, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts,
};
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::{
    body::{Body, Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use runtime::Clock;
use s3s::service::S3Service;
use serde_json::json;
use tokio::{
    net::TcpListener,
    sync::{Mutex, MutexGuard},
    time::Instant,
};
use tower::ServiceExt;

use crate::{
    REFUSED, conditions,
    connections::next_connection,
    faults::{Fault, Faults, Mode, Service},
    guard::{self, Authorizer, COPY_SOURCE, NeededPermission},
    hold::Holds,
    host,
    parameters::Parameters,
    recorder::{Recorder, ses_error, sns_error, sns_operation},
    response,
    signature::{AccessKey, SignatureError},
    strict::StrictTables,
    tables,
};

pub(crate) async fn accept(listener: TcpListener, endpoint: Arc<CloudEndpoint>) {
    loop {
        let (stream, _) = next_connection(&listener).await;
        let endpoint = Arc::clone(&endpoint);
        let idle_since = Arc::new(Mutex::new(None));
        let service = service_fn(move |request| {
            let (endpoint, idle_since) = (Arc::clone(&endpoint), Arc::clone(&idle_since));
            async move {
                // HTTP/1.1 sends one request at a time on a connection.
                let mut idle_since: MutexGuard<'_, Option<Instant>> = idle_since.lock().await;
                let idle = idle_since.map_or(Duration::ZERO, |since| since.elapsed());
                let response = endpoint.answer(request, idle).await;
                *idle_since = Some(Instant::now());
                response
            }
        });
        // A connection that a fault drops ends in an error: that is its purpose.
        tokio::spawn(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

/// The services behind the endpoint.
pub(crate) struct CloudEndpoint {
    pub(crate) key: AccessKey,
    pub(crate) files_key: AccessKey,
    pub(crate) database: Database,
    pub(crate) tables: StrictTables,
    pub(crate) parameters: Parameters,
    pub(crate) files: S3Service,
    /// The folder of `files`: a folder per bucket with a file per object.
    pub(crate) folder: PathBuf,
    /// Held during a request to `files`, which writes an object in several steps; S3 does it in one.
    pub(crate) files_lock: Mutex<()>,
    pub(crate) recorder: Recorder,
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) holds: Holds,
    pub(crate) guard: Authorizer,
}

/// The headers that the template's bucket adds for pages of other origins
/// (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/cors.html>).
const CORS: [(&str, &str); 3] = [
    ("access-control-allow-origin", "*"),
    ("access-control-allow-methods", "GET, POST"),
    ("access-control-allow-headers", "*"),
];

/// The largest body in bytes: a form with the largest file that is permitted by default.
const MAX_BODY: usize = 101_000_000;

/// The size of a body frame, in bytes.
const FRAME: usize = 256 * 1024;

/// An error that drops the connection without a response.
type Dropped = Box<dyn std::error::Error + Send + Sync>;

impl CloudEndpoint {
    /// The response to a request on a connection that was idle for this time.
    async fn answer(
        &self,
        request: Request<Incoming>,
        idle: Duration,
    ) -> Result<Response<Full<Bytes>>, Dropped> {
        if !host::is_local(&request) {
            return Ok(host::refusal().map(Full::new));
        }
        let (parts, body) = request.into_parts();
        let body = Limited::new(body, MAX_BODY).collect().await?.to_bytes();
        let text = |name| {
            parts
                .headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
                .unwrap_or_default()
        };
        let (api, operation) = text("x-amz-target").split_once('.').unwrap_or_default();
        // Requests without a target name the service in the credential scope of their signature.
        let scope = text("authorization").split('/').nth(3).unwrap_or_default();
        let (service, kind) = match (api, scope) {
            ("", "" | "s3") => ("s3", Service::S3),
            ("", "sns") => ("sns", Service::Sns),
            ("", "ses") => ("ses", Service::Ses),
            ("AmazonSSM", _) => ("ssm", Service::Ssm),
            _ => ("dynamodb", Service::Dynamodb),
        };
        if self.tables.is_dead_after(idle) || self.faults.closes_after(kind, idle) {
            return Err("the connection was idle for too long".into());
        }
        if kind == Service::S3 {
            // The file store verifies signatures itself.
            return self.files(Request::from_parts(parts, body)).await;
        }
        let role = match self.key.verify(service, &parts, &body) {
            Ok(role) => role,
            Err(error) => return Ok(unauthenticated(service, error)),
        };
        match service {
            "sns"
                if !self.guard.allows(role, || vec![NeededPermission::new("sns:Publish", "")]) =>
            {
                Ok(sns_error("AuthorizationError", StatusCode::FORBIDDEN))
            }
            "sns" => self.sns(&body).await,
            "ses" if !self.guard.allows(role, || guard::of_mail(&body)) => {
                Ok(ses_error("AccessDeniedException", StatusCode::FORBIDDEN))
            }
            "ses" => self.ses(&parts, &body).await,
            "ssm" => self.ssm(operation, &body).await,
            _ if !self.guard.allows(role, || guard::of_tables(operation, &body)) => {
                Ok(tables::dynamodb_error("AccessDeniedException", json!({})))
            }
            _ => self.tables(operation, &body).await,
        }
    }

    async fn sns(&self, body: &Bytes) -> Result<Response<Full<Bytes>>, Dropped> {
        let fault = self.faults.inject_fault(Service::Sns, &sns_operation(body));
        let answer = || self.recorder.sns(body, self.clock.now());
        let errors = ["Throttled", "ServiceUnavailable"];
        self.with_fault(fault, answer, sns_error, errors).await
    }

    async fn ses(&self, parts: &Parts, body: &Bytes) -> Result<Response<Full<Bytes>>, Dropped> {
        let fault = self.faults.inject_fault(Service::Ses, "SendEmail");
        let (path, now) = (parts.uri.path(), self.clock.now());
        let answer = || self.recorder.ses(&parts.method, path, body, now);
        let errors = ["TooManyRequestsException", "ServiceUnavailable"];
        self.with_fault(fault, answer, ses_error, errors).await
    }

    async fn ssm(&self, operation: &str, body: &Bytes) -> Result<Response<Full<Bytes>>, Dropped> {
        let fault = self.faults.inject_fault(Service::Ssm, operation);
        let error = |name: &str, _| tables::dynamodb_error(name, json!({}));
        let answer = || {
            let answer = self.parameters.answer(operation, body, self.tables.now());
            answer.unwrap_or_else(|name| error(name, StatusCode::BAD_REQUEST))
        };
        let errors = ["ThrottlingException", "InternalServerError"];
        self.with_fault(fault, answer, error, errors).await
    }

    /// The response of a service, or that of `fault`. The array has the service's error codes for throttling and for
    /// unavailability.
    async fn with_fault(
        &self,
        fault: Option<Fault>,
        answer: impl FnOnce() -> Response<Full<Bytes>>,
        error: fn(&str, StatusCode) -> Response<Full<Bytes>>,
        [throttled, unavailable]: [&str; 2],
    ) -> Result<Response<Full<Bytes>>, Dropped> {
        let Some(fault) = fault else {
            return Ok(answer());
        };
        match fault.mode {
            Mode::Slow => {
                tokio::time::sleep(fault.delay()).await;
                Ok(answer())
            }
            Mode::Throttle => Ok(error(throttled, StatusCode::TOO_MANY_REQUESTS)),
            Mode::Refuse => Ok(error(unavailable, StatusCode::SERVICE_UNAVAILABLE)),
            Mode::Silent => {
                answer();
                Err("injected fault: silent".into())
            }
            Mode::Error => {
                Ok(error(fault.error.as_deref().unwrap_or(unavailable), StatusCode::BAD_REQUEST))
            }
            // The others are of DynamoDB, or of connections.
            _ => Ok(answer()),
        }
    }

    async fn tables(
        &self,
        operation: &str,
        body: &Bytes,
    ) -> Result<Response<Full<Bytes>>, Dropped> {
        self.holds.pass(operation, body).await;
        if self.faults.throttles_hot(|| self.tables.is_hot(operation, body)) {
            return Ok(tables::throttled(operation, body, tables::PARTITION_LIMIT));
        }
        let lag = self.faults.lag();
        if let Some(fault) = self.faults.of_reads(operation) {
            let (response, is_changed) = self.tables.read_with(operation, body, &fault, lag).await;
            if is_changed {
                self.faults.count_changed(fault.mode);
            }
            return Ok(response);
        }
        let fault = self.faults.inject_fault(Service::Dynamodb, operation);
        let answer = || self.tables.answer(operation, body, None, lag);
        let Some(fault) = &fault else {
            return Ok(answer().await);
        };
        match fault.mode {
            Mode::Slow => {
                tokio::time::sleep(fault.delay()).await;
                Ok(answer().await)
            }
            Mode::Throttle => {
                let reason = fault.error.as_deref().unwrap_or(tables::TABLE_LIMIT);
                Ok(tables::throttled(operation, body, reason))
            }
            Mode::Conflict => Ok(tables::conflict(operation, body)),
            Mode::Partial => Ok(tables::first_of_batch(&self.database, body)),
            Mode::Refuse => Err("injected fault: refuse".into()),
            Mode::Silent => {
                answer().await;
                tokio::time::sleep(fault.delay()).await;
                Err("injected fault: silent".into())
            }
            Mode::Error => Ok(tables::dynamodb_error(
                fault.error.as_deref().unwrap_or("InternalServerError"),
                json!({}),
            )),
            Mode::Stale | Mode::Torn | Mode::Hot | Mode::Stream | Mode::Reset => Ok(answer().await),
        }
    }

    /// S3, with the headers that the bucket's CORS configuration adds on AWS.
    async fn files(&self, request: Request<Bytes>) -> Result<Response<Full<Bytes>>, Dropped> {
        let has_origin = request.headers().contains_key(header::ORIGIN);
        let mut response = if request.method() == Method::OPTIONS {
            Response::default()
        } else {
            self.file(request).await?
        };
        if has_origin {
            for (name, value) in CORS {
                response
                    .headers_mut()
                    .insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
        }
        Ok(response)
    }

    async fn file(&self, request: Request<Bytes>) -> Result<Response<Full<Bytes>>, Dropped> {
        // The signature is in a header, a presigned link or a form.
        let signed = request
            .headers()
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let form =
            if request.method() == Method::POST { guard::head(request.body()) } else { "".into() };
        let signers = [signed, request.uri().query().unwrap_or_default(), &form];
        let role = signers.into_iter().find_map(|text| {
            guard::role_in(text, &self.files_key.id).or_else(|| guard::role_in(text, &self.key.id))
        });
        if !self.guard.allows(role, || guard::of_files(&request)) {
            return Ok(s3_error("AccessDenied", StatusCode::FORBIDDEN));
        }
        let verb = match *request.method() {
            Method::PUT if request.headers().contains_key(COPY_SOURCE) => "Copy",
            Method::PUT => "Put",
            Method::POST => "Post",
            Method::HEAD => "Head",
            Method::DELETE => "Delete",
            _ => "Get",
        };
        let operation = format!("{verb}Object");
        self.holds.pass(&operation, request.uri().path().as_bytes()).await;
        let fault = self.faults.inject_fault(Service::S3, &operation);
        let refuses = fault
            .as_ref()
            .is_some_and(|fault| matches!(fault.mode, Mode::Throttle | Mode::Refuse | Mode::Error));
        let response = if refuses {
            Response::new(Full::default())
        } else {
            self.stored(verb, request).await?
        };
        self.with_fault(fault, || response, s3_error, ["SlowDown", "InternalError"]).await
    }

    async fn stored(
        &self,
        verb: &str,
        request: Request<Bytes>,
    ) -> Result<Response<Full<Bytes>>, Dropped> {
        // The key of an object is the path of its file, which must not lead out of the folder.
        if request.uri().path().split('/').any(|part| part == "..") {
            return Ok(s3_error("InvalidURI", StatusCode::BAD_REQUEST));
        }
        let _lock = self.files_lock.lock().await;
        // The file store ignores this condition of copies.
        let must_be_new = request.headers().contains_key(COPY_SOURCE)
            && request.headers().contains_key(header::IF_NONE_MATCH);
        let path = request.uri().path().trim_start_matches('/');
        let is_taken = must_be_new && self.folder.join(path).exists();
        if must_be_new {
            conditions::count_file(verb, "if-none-match", !is_taken);
        }
        if is_taken {
            return Ok(s3_error("PreconditionFailed", StatusCode::PRECONDITION_FAILED));
        }
        let body = if request.method() == Method::POST {
            in_frames(request.body()).boxed()
        } else {
            Full::new(request.body().clone()).boxed()
        };
        let names = ["if-match", "x-amz-copy-source-if-match"];
        let has = |name: &&str| request.headers().contains_key(*name);
        let conditional: Vec<&str> = names.into_iter().filter(has).collect();
        let response = self
            .files
            .clone()
            .oneshot(request.map(|_| body))
            .await
            .map_err(|error| format!("{error:?}"))?;
        let (parts, body) = response.into_parts();
        for name in conditional {
            conditions::count_file(verb, name, parts.status != StatusCode::PRECONDITION_FAILED);
        }
        Ok(Response::from_parts(
            parts,
            Full::new(body.collect().await.map_err(|error| error.to_string())?.to_bytes()),
        ))
    }
}

/// `body` in frames, as from a network: the file store rejects a form whose file is one frame of many megabytes.
fn in_frames(body: &Bytes) -> impl Body<Data = Bytes, Error = Infallible> + Send + Sync + 'static {
    let starts = (0..body.len()).step_by(FRAME);
    let frames: Vec<_> = starts
        .map(|start| Ok(Frame::data(body.slice(start..body.len().min(start + FRAME)))))
        .collect();
    StreamBody::new(stream::iter(frames))
}

/// An S3 error response, with the status of its code
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>).
fn s3_error(name: &str, otherwise: StatusCode) -> Response<Full<Bytes>> {
    let status = match name {
        "SlowDown" | "ServiceUnavailable" => StatusCode::SERVICE_UNAVAILABLE,
        "InternalError" => StatusCode::INTERNAL_SERVER_ERROR,
        "AccessDenied" => StatusCode::FORBIDDEN,
        "NoSuchKey" => StatusCode::NOT_FOUND,
        _ => otherwise,
    };
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{name}</Code><Message>{REFUSED}</Message></Error>"
    );
    response(status, "application/xml", xml)
}

/// The response of `service` to a request without a valid signature.
fn unauthenticated(service: &str, error: SignatureError) -> Response<Full<Bytes>> {
    match service {
        "sns" => sns_error(error.query_code(), StatusCode::FORBIDDEN),
        "ses" => ses_error(error.code(), StatusCode::FORBIDDEN),
        _ => tables::dynamodb_error(error.code(), json!({})),
    }
}
