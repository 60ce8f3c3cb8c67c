//! A replacement for cPanel's UAPI (<https://api.docs.cpanel.net/cpanel/introduction>) with its own port:
//! `/execute/<Module>/<function>?…` with `Authorization: cpanel USER:TOKEN`.

mod account;

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use identity::random;
use runtime::Clock;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::{
    LocalError,
    connections::next_connection,
    faults::{Fault, Faults, Mode, Service},
    host, response,
};
use account::{Account, UapiResult};

/// The user name of the account.
const USER: &str = "formation";
/// The most calls that are recorded.
const MAX_CALLS: usize = 200;
/// The size of an `oversized` response: about twice the limit of the client.
const OVERSIZED: usize = 2 * 1024 * 1024;

/// An error that drops the connection without a response.
type Dropped = Box<dyn std::error::Error + Send + Sync>;

/// A running replacement for cPanel. Clones share it.
#[derive(Clone)]
pub struct Uapi(Arc<Inner>);

struct Inner {
    endpoint: SocketAddr,
    token: String,
    account: Mutex<Account>,
    /// Newest first.
    calls: Mutex<VecDeque<Value>>,
    faults: Faults,
    clock: Clock,
}

impl Uapi {
    /// Starts it with the account kept in `folder`, or with one in memory.
    ///
    /// # Errors
    /// When no port can be opened, or the account's file cannot be used.
    pub(crate) async fn start(folder: Option<&Path>, faults: Faults) -> Result<Self, LocalError> {
        let account = Account::open(folder)?;
        let no_port =
            |error| LocalError::new(format!("No port can be opened on 127.0.0.1: {error}."));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
        let endpoint = listener.local_addr().map_err(no_port)?;
        // Random at every start, like the access key of the cloud.
        let token = Uuid::from_bytes(random::bytes()).simple().to_string().to_uppercase();
        let (account, calls, clock) = (Mutex::new(account), Mutex::default(), Clock::default());
        let uapi = Self(Arc::new(Inner { endpoint, token, account, calls, faults, clock }));
        tokio::spawn(accept(listener, uapi.clone()));
        Ok(uapi)
    }

    /// The settings that make a function use it.
    pub fn settings(&self) -> [(&'static str, String); 3] {
        let url = format!("http://{}", self.0.endpoint);
        [
            ("CPANEL_URL", url),
            ("CPANEL_USER", USER.to_owned()),
            ("CPANEL_TOKEN", self.0.token.clone()),
        ]
    }

    /// The account with its `calls`, newest first: `{at, function, parameters, outcome}`.
    pub fn shown(&self) -> Value {
        let mut shown = self.0.account.lock().unwrap_or_else(PoisonError::into_inner).shown();
        shown["calls"] = self.calls().into();
        shown
    }

    /// The recorded calls, newest first, at most 200.
    pub fn calls(&self) -> Vec<Value> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    async fn answer(&self, request: &Request<Incoming>) -> Result<Response<Full<Bytes>>, Dropped> {
        if !host::is_local(request) {
            return Ok(host::refusal().map(Full::new));
        }
        let Some((module, function)) =
            request.uri().path().strip_prefix("/execute/").and_then(|path| path.split_once('/'))
        else {
            return Ok(page(StatusCode::NOT_FOUND));
        };
        let parameters: Map<String, Value> =
            form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes())
                .map(|(name, value)| (name.into_owned(), value.into_owned().into()))
                .collect();
        let name = format!("{module}::{function}");
        let record = |outcome: &str| self.record(&name, &parameters, outcome);
        if !self.is_authorized(request) {
            record("unauthorized");
            return Ok(page(StatusCode::UNAUTHORIZED));
        }
        let execute = || {
            self.0.account.lock().unwrap_or_else(PoisonError::into_inner).answer(
                module,
                function,
                &parameters,
            )
        };
        let Some(fault) = self.0.faults.inject_fault(Service::Cpanel, &name) else {
            let result = execute();
            record(result.outcome());
            return Ok(json_response(&flat(&result)));
        };
        record(&fault.error.as_ref().map_or_else(
            || format!("fault: {:?}", fault.mode).to_lowercase(),
            |error| format!("fault: {error}"),
        ));
        self.with_fault(&fault, module, function, execute).await
    }

    /// The response with `fault`; `execute` executes the call.
    async fn with_fault(
        &self,
        fault: &Fault,
        module: &str,
        function: &str,
        execute: impl FnOnce() -> UapiResult,
    ) -> Result<Response<Full<Bytes>>, Dropped> {
        match fault.mode {
            Mode::Slow => {
                tokio::time::sleep(fault.delay()).await;
                return Ok(json_response(&flat(&execute())));
            }
            Mode::Throttle => return Ok(page(StatusCode::TOO_MANY_REQUESTS)),
            Mode::Refuse => return Ok(page(StatusCode::SERVICE_UNAVAILABLE)),
            Mode::Silent => {
                execute();
                return Err("injected fault: silent".into());
            }
            // The others are of AWS services.
            _ => {}
        }
        Ok(match fault.error.as_deref().unwrap_or("status0") {
            "token" => page(StatusCode::UNAUTHORIZED),
            "forbidden" => page(StatusCode::FORBIDDEN),
            "missing" => json_response(&flat(&UapiResult::missing(module, function))),
            "wrapped" => json_response(
                &json!({ "apiversion": 3, "module": module, "func": function, "result": flat(&execute()) }),
            ),
            "oversized" => {
                let mut answer = flat(&execute());
                answer["messages"] = json!(["x".repeat(OVERSIZED)]);
                json_response(&answer)
            }
            "broken" => {
                let text = flat(&execute()).to_string();
                response(StatusCode::OK, "application/json", text[..text.len() - 1].to_owned())
            }
            "redirect" => {
                let mut response = page(StatusCode::FOUND);
                response
                    .headers_mut()
                    .insert(header::LOCATION, HeaderValue::from_static("/login/"));
                response
            }
            "blank" if function == "list_domains" => json_response(&flat(&UapiResult::blank())),
            "blank" => json_response(&flat(&execute())),
            "html" => page(StatusCode::OK),
            _ => json_response(&flat(&UapiResult::Refused(
                "Une erreur s’est produite lors du traitement de la demande.".to_owned(),
            ))),
        })
    }

    fn is_authorized(&self, request: &Request<Incoming>) -> bool {
        let expected = format!("cpanel {USER}:{}", self.0.token);
        request.headers().get(header::AUTHORIZATION).is_some_and(|value| value == expected.as_str())
    }

    fn record(&self, function: &str, parameters: &Map<String, Value>, outcome: &str) {
        let call = json!({ "at": self.0.clock.now(), "function": function, "parameters": parameters, "outcome": outcome });
        let mut calls = self.0.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push_front(call);
        calls.truncate(MAX_CALLS);
    }
}

async fn accept(listener: TcpListener, uapi: Uapi) {
    loop {
        let (stream, _) = next_connection(&listener).await;
        let uapi = uapi.clone();
        let service = service_fn(move |request| {
            let uapi = uapi.clone();
            async move { uapi.answer(&request).await }
        });
        // A connection that a fault drops ends in an error: that is its purpose.
        tokio::spawn(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

/// A response of `/execute/`: without the `result` around it that the documentation shows.
fn flat(result: &UapiResult) -> Value {
    let (status, data, errors) = match result {
        UapiResult::Done(data) => (1, data.clone(), Value::Null),
        UapiResult::Refused(cause) | UapiResult::Unknown(cause) => (0, Value::Null, json!([cause])),
    };
    json!({ "status": status, "data": data, "errors": errors, "messages": null, "warnings": null, "metadata": {} })
}

fn json_response(body: &Value) -> Response<Full<Bytes>> {
    response(StatusCode::OK, "application/json; charset=\"utf-8\"", body.to_string())
}

/// The HTML page of cPanel for unauthorized and failed requests.
fn page(status: StatusCode) -> Response<Full<Bytes>> {
    response(
        status,
        "text/html; charset=\"utf-8\"",
        "<!DOCTYPE html><html><head><title>cPanel Login</title></head></html>".to_owned(),
    )
}
