//! The hook of deployments and the deletion of old versions, against an emulation of Lambda and CodeDeploy.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use canary::PreTraffic;
use common::Edge;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use runtime::Startup;
use serde_json::{Value, json};
use tests::{LambdaAnswer, World};
use tokio::{
    net::TcpListener,
    task::{LocalSet, spawn_local},
};

const FUNCTIONS: [&str; 14] = [
    "auth",
    "committees",
    "courses",
    "cpanel",
    "dispatcher",
    "fallback",
    "files",
    "otp",
    "passkeys",
    "registrations",
    "sms",
    "team",
    "users",
    "worker",
];

/// Lambda with one version of each function, and CodeDeploy.
#[derive(Clone)]
struct AwsServices {
    edge: Edge,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The function that does not start.
    broken: Option<&'static str>,
    /// The requests that fail before Lambda works again.
    throttled: usize,
    invoked: BTreeSet<String>,
    reports: Vec<Value>,
    deleted: Vec<String>,
}

impl AwsServices {
    /// Serves on a free port; returns the URL, too.
    async fn start(world: &World) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let services = Self { edge: world.edge().clone(), state: Arc::default() };
        let server = services.clone();
        spawn_local(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                let service = service_fn(move |request| {
                    let server = server.clone();
                    async move { Ok::<_, Infallible>(server.answer(request).await) }
                });
                spawn_local(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        (services, url)
    }

    fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap())
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let signature = parts.headers["authorization"].to_str().unwrap();
        assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential="));
        if let Some(target) = parts.headers.get("x-amz-target") {
            assert!(signature.contains("/codedeploy/aws4_request"));
            assert_eq!(target, "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus");
            let report = serde_json::from_slice(&body).unwrap();
            self.state(|state| state.reports.push(report));
            return reply(200, &json!({}));
        }
        assert!(signature.contains("/lambda/aws4_request"));
        let path = parts.uri.path().replace("%3A", ":");
        let mut rest = path.strip_prefix("/2015-03-31/functions/").unwrap().split('/');
        let arn = rest.next().unwrap();
        match (parts.method.as_str(), rest.next()) {
            ("POST", Some("invocations")) => {
                let event = serde_json::from_slice(&body).unwrap();
                self.invoke(arn, event).await
            }
            ("GET", Some("versions")) => versions(parts.uri.query()),
            ("DELETE", None) => {
                // An alias names version 2.
                if arn.ends_with(":2") {
                    return reply(409, &json!({ "Type": "User" }));
                }
                self.state(|state| state.deleted.push(arn.to_owned()));
                reply(204, &json!(null))
            }
            other => panic!("{other:?}"),
        }
    }

    async fn invoke(&self, arn: &str, event: Value) -> Response<Full<Bytes>> {
        let name = arn
            .strip_prefix("arn:aws:lambda:eu-south-1:000000000000:function:halqa-")
            .and_then(|rest| rest.strip_suffix(":7"))
            .unwrap();
        let (is_throttled, is_broken) = self.state(|state| {
            let is_throttled = state.throttled > 0;
            state.throttled = state.throttled.saturating_sub(1);
            state.invoked.insert(name.to_owned());
            (is_throttled, state.broken == Some(name))
        });
        if is_throttled {
            return reply(429, &json!({ "Reason": "ConcurrentInvocationLimitExceeded" }));
        }
        if is_broken {
            let mut response = reply(200, &json!({ "errorType": "Runtime.ExitError" }));
            let value = "Unhandled".parse().unwrap();
            response.headers_mut().insert("x-amz-function-error", value);
            return response;
        }
        if ["dispatcher", "worker"].contains(&name) {
            assert_eq!(event, json!({ "Records": [] }));
            return reply(200, &json!({ "batchItemFailures": [] }));
        }
        let path = event["rawPath"].as_str().unwrap();
        let function = path.split('/').nth(3).unwrap();
        assert!(function == name || name == "fallback", "{path} to {name}");
        let answer = LambdaAnswer::to(&self.edge, event).await;
        let payload = json!({
            "statusCode": answer.status_code,
            "headers": answer.headers,
            "body": answer.body,
            "isBase64Encoded": answer.is_base64_encoded,
        });
        reply(200, &payload)
    }
}

/// Versions 1 to 7, in two pages.
fn versions(query: Option<&str>) -> Response<Full<Bytes>> {
    let page = |names: &[&str], next: Option<&str>| {
        let versions: Vec<Value> = names.iter().map(|name| json!({ "Version": name })).collect();
        reply(200, &json!({ "Versions": versions, "NextMarker": next }))
    };
    match query {
        None => page(&["$LATEST", "6", "1", "2"], Some("a/b=")),
        Some("Marker=a%2Fb%3D") => page(&["7", "3", "4", "5"], None),
        other => panic!("{other:?}"),
    }
}

fn reply(status: u16, body: &Value) -> Response<Full<Bytes>> {
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    Response::builder().status(status).body(Full::new(body)).unwrap()
}

/// Runs `test` with the hook of a deployment that introduces version 7 of each function, and the services that it calls.
/// The functions refuse requests without the edge's secret.
async fn with_hook(test: impl AsyncFnOnce(PreTraffic, AwsServices)) {
    let world = World::with(&[("EDGE", "on")]).await;
    let sign_in = canary::SignIn::of(&world.setup().keys).unwrap();
    ops::make_canary(world.setup(), &sign_in).await.unwrap();
    let run = async {
        let (services, url) = AwsServices::start(&world).await;
        let arn = "arn:aws:lambda:eu-south-1:000000000000:function:halqa";
        let versions = FUNCTIONS.map(|name| format!("{name}={arn}-{name}:7"));
        let mut settings = world.settings();
        settings
            .set("AWS_ENDPOINT_URL", &url)
            .set("NEW_VERSIONS", versions.join(","))
            .set("OTHER_FUNCTIONS", "halqa-dev-canary");
        let startup = Startup::of_settings(settings.settings(), world.clock().clone()).unwrap();
        test(PreTraffic::new(&startup).unwrap(), services).await;
    };
    LocalSet::new().run_until(run).await;
}

fn of_codedeploy() -> Value {
    json!({ "DeploymentId": "d-1", "LifecycleEventHookExecutionId": "hook-1" })
}

fn report(status: &str) -> Value {
    json!({ "deploymentId": "d-1", "lifecycleEventHookExecutionId": "hook-1", "status": status })
}

#[tokio::test]
async fn hook_invokes_every_new_version_and_reports_success() {
    with_hook(async |hook, services| {
        hook.answer(&of_codedeploy()).await.unwrap();
        let expected: BTreeSet<String> = FUNCTIONS.map(str::to_owned).into();
        assert_eq!(services.state(|state| state.invoked.clone()), expected);
        assert_eq!(services.state(|state| state.reports.clone()), [report("Succeeded")]);
    })
    .await;
}

#[tokio::test]
async fn version_that_does_not_start_is_reported_as_failed() {
    with_hook(async |hook, services| {
        services.state(|state| state.broken = Some("worker"));
        let problem = hook.answer(&of_codedeploy()).await.unwrap_err();
        assert_eq!(problem, "worker does not start, or fails");
        services.state(|state| state.broken = Some("sms"));
        let problem = hook.answer(&of_codedeploy()).await.unwrap_err();
        assert_eq!(problem, "GET /sms: sms does not start, or fails");
        assert_eq!(
            services.state(|state| state.reports.clone()),
            [report("Failed"), report("Failed")]
        );
    })
    .await;
}

#[tokio::test]
async fn throttled_invocation_is_repeated() {
    with_hook(async |hook, services| {
        services.state(|state| state.throttled = 1);
        hook.answer(&of_codedeploy()).await.unwrap();
        assert_eq!(services.state(|state| state.reports.clone()), [report("Succeeded")]);
    })
    .await;
}

#[tokio::test]
async fn schedule_keeps_five_versions_and_those_of_aliases() {
    with_hook(async |hook, services| {
        hook.answer(&json!({ "version": "0" })).await.unwrap();
        let deleted = services.state(|state| state.deleted.clone());
        let arn = "arn:aws:lambda:eu-south-1:000000000000:function:halqa";
        let mut expected: Vec<String> = FUNCTIONS.map(|name| format!("{arn}-{name}:1")).into();
        expected.push("halqa-dev-canary:1".to_owned());
        assert_eq!(deleted, expected);
        assert!(services.state(|state| state.reports.is_empty() && state.invoked.is_empty()));
    })
    .await;
}
