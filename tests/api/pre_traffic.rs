//! The hook of deployments and the deletion of old versions, against an emulation of Lambda and CodeDeploy.

use std::{
    collections::BTreeSet,
    fs,
    future::pending,
    mem,
    sync::{Arc, LazyLock, Mutex},
};

use bytes::Bytes;
use canary::{CLAIM, PreTraffic};
use common::Edge;
use futures_util::future::join_all;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use runtime::{Clock, Startup};
use serde_json::{Value, json};
use store::Setup;
use tests::{LambdaAnswer, World};
use tokio::{
    sync::Notify,
    task::{LocalSet, spawn_local},
};

use crate::aws_services::serve;

/// The folders of all functions that a deployment has hooks for: all but that of the hooks.
static FUNCTIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folders = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../functions")).unwrap();
    let names = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "canary").collect();
    names.sort();
    names
});

/// Lambda with one version of each function, and CodeDeploy.
#[derive(Clone)]
struct AwsServices {
    edge: Edge,
    state: Arc<Mutex<State>>,
    /// Notified of an invocation that gets no answer.
    held: Arc<Notify>,
}

#[derive(Default)]
struct State {
    /// The function that does not start.
    broken: Option<&'static str>,
    /// Whether the next invocation gets no answer.
    holds: bool,
    /// The requests that fail before Lambda works again.
    throttled: usize,
    invoked: Vec<String>,
    reports: Vec<Value>,
    /// The reports whose answers are lost.
    lost_answers: usize,
    deleted: Vec<String>,
}

impl AwsServices {
    /// Serves on a free port; returns the URL, too.
    async fn start(world: &World) -> (Self, String) {
        let services =
            Self { edge: world.edge().clone(), state: Arc::default(), held: Arc::default() };
        let server = services.clone();
        let url = serve(move |request| {
            let server = server.clone();
            async move { server.answer(request).await }
        });
        let url = url.await;
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
            let report: Value = serde_json::from_slice(&body).unwrap();
            return self.state(|state| {
                if state.reports.contains(&report) {
                    let refusal = "LifecycleEventAlreadyCompletedException";
                    return reply(400, &json!({ "__type": refusal }));
                }
                state.reports.push(report);
                let is_lost = state.lost_answers > 0;
                state.lost_answers = state.lost_answers.saturating_sub(1);
                reply(if is_lost { 503 } else { 200 }, &json!({}))
            });
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
        let (is_held, is_throttled, is_broken) = self.state(|state| {
            let is_throttled = state.throttled > 0;
            state.throttled = state.throttled.saturating_sub(1);
            state.invoked.push(name.to_owned());
            (mem::take(&mut state.holds), is_throttled, state.broken == Some(name))
        });
        if is_held {
            self.held.notify_one();
            pending::<()>().await;
        }
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
    with_world(async |hook, services, _| test(hook, services).await).await;
}

/// As [`with_hook`], with the clock of the hook.
async fn with_world(test: impl AsyncFnOnce(PreTraffic, AwsServices, &Clock)) {
    let world = World::with(&[("EDGE", "on")]).await;
    let sign_in = canary::SignIn::of(&world.setup().keys).unwrap();
    ops::make_canary(world.setup(), &sign_in).await.unwrap();
    let run = async {
        let (services, url) = AwsServices::start(&world).await;
        let arn = "arn:aws:lambda:eu-south-1:000000000000:function:halqa";
        let versions: Vec<String> =
            FUNCTIONS.iter().map(|name| format!("{name}={arn}-{name}:7")).collect();
        let mut settings = world.settings();
        settings
            .set("AWS_ENDPOINT_URL", &url)
            .set("NEW_VERSIONS", versions.join(","))
            .set("OTHER_FUNCTIONS", "halqa-dev-canary");
        let startup = Startup::of_settings(settings.settings(), world.clock().clone()).unwrap();
        // The tables are those of the world.
        let store = world.setup().store.clone();
        let setup = Setup { store, ..Setup::new(startup).unwrap() };
        test(PreTraffic::new(&setup).unwrap(), services, world.clock()).await;
    };
    LocalSet::new().run_until(run).await;
}

/// The event of the hook of deployment `number`.
fn of_codedeploy(number: usize) -> Value {
    let (deployment, hook) = (format!("d-{number}"), format!("hook-{number}"));
    json!({ "DeploymentId": deployment, "LifecycleEventHookExecutionId": hook })
}

fn report(number: usize, status: &str) -> Value {
    let (deployment, hook) = (format!("d-{number}"), format!("hook-{number}"));
    json!({ "deploymentId": deployment, "lifecycleEventHookExecutionId": hook, "status": status })
}

/// All reports, in the order of the deployments.
fn reports(services: &AwsServices) -> Vec<Value> {
    let mut reports = services.state(|state| state.reports.clone());
    let number = |report: &Value| -> usize {
        report["deploymentId"].as_str().unwrap().trim_start_matches("d-").parse().unwrap()
    };
    reports.sort_by_key(number);
    reports
}

/// Those of one hook for each function.
fn reports_of_all(status: &str) -> Vec<Value> {
    (0..FUNCTIONS.len()).map(|number| report(number, status)).collect()
}

/// The invocations of a check.
async fn invocations_of_one_check() -> usize {
    let mut count = 0;
    with_hook(async |hook, services| {
        hook.answer(&of_codedeploy(0)).await.unwrap();
        count = services.state(|state| state.invoked.len());
    })
    .await;
    count
}

#[tokio::test]
async fn hook_invokes_every_new_version_and_reports_success() {
    with_hook(async |hook, services| {
        hook.answer(&of_codedeploy(0)).await.unwrap();
        let expected: BTreeSet<String> = FUNCTIONS.iter().cloned().collect();
        let invoked: BTreeSet<String> =
            services.state(|state| state.invoked.clone()).into_iter().collect();
        assert_eq!(invoked, expected);
        assert_eq!(reports(&services), [report(0, "Succeeded")]);
    })
    .await;
}

#[tokio::test]
async fn fifteen_hooks_at_once_share_one_check_and_all_report() {
    let one_check = invocations_of_one_check().await;
    with_hook(async |hook, services| {
        let hooks =
            (0..FUNCTIONS.len()).map(async |number| hook.answer(&of_codedeploy(number)).await);
        assert!(join_all(hooks).await.iter().all(Result::is_ok));
        assert_eq!(services.state(|state| state.invoked.len()), one_check);
        assert_eq!(reports(&services), reports_of_all("Succeeded"));
    })
    .await;
}

#[tokio::test]
async fn hook_after_the_check_reports_its_result() {
    with_hook(async |hook, services| {
        for number in 0..2 {
            hook.answer(&of_codedeploy(number)).await.unwrap();
        }
        assert_eq!(reports(&services), [report(0, "Succeeded"), report(1, "Succeeded")]);
    })
    .await;
}

#[tokio::test]
async fn check_of_a_killed_hook_is_taken_over_by_the_second() {
    with_world(async |hook, services, clock| {
        services.state(|state| state.holds = true);
        let first = hook.clone();
        let killed = spawn_local(async move { first.answer(&of_codedeploy(0)).await });
        services.held.notified().await;
        killed.abort();
        assert!(killed.await.unwrap_err().is_cancelled());
        clock.advance(CLAIM);
        let others =
            (1..FUNCTIONS.len()).map(async |number| hook.answer(&of_codedeploy(number)).await);
        assert!(join_all(others).await.iter().all(Result::is_ok));
        assert_eq!(reports(&services), reports_of_all("Succeeded"));
    })
    .await;
}

#[tokio::test]
async fn result_of_a_release_is_the_first_that_was_recorded() {
    let world = World::new().await;
    let store = &world.setup().store;
    store.join_release_check("r", "a", world.clock().now()).await.unwrap();
    for (reporter, passed) in [("a", true), ("b", false)] {
        let check = store.finish_release_check("r", reporter, passed).await.unwrap();
        assert_eq!((check.passed, check.reporter.as_deref()), (Some(true), Some("a")));
    }
}

#[tokio::test]
async fn killed_hook_that_lambda_runs_again_reports_for_all() {
    with_hook(async |hook, services| {
        services.state(|state| state.holds = true);
        let first = hook.clone();
        let killed = spawn_local(async move { first.answer(&of_codedeploy(0)).await });
        services.held.notified().await;
        killed.abort();
        let second = hook.clone();
        let waiting = spawn_local(async move { second.answer(&of_codedeploy(1)).await });
        hook.answer(&of_codedeploy(0)).await.unwrap();
        waiting.await.unwrap().unwrap();
        assert_eq!(reports(&services), [report(0, "Succeeded"), report(1, "Succeeded")]);
    })
    .await;
}

#[tokio::test]
async fn version_that_does_not_start_is_reported_once_as_failed() {
    with_hook(async |hook, services| {
        services.state(|state| state.broken = Some("worker"));
        let hooks =
            (0..FUNCTIONS.len()).map(async |number| hook.answer(&of_codedeploy(number)).await);
        assert!(join_all(hooks).await.iter().all(Result::is_ok), "Lambda would run it again");
        assert_eq!(reports(&services), reports_of_all("Failed"));
    })
    .await;
}

#[tokio::test]
async fn report_whose_answer_is_lost_is_no_failure() {
    with_hook(async |hook, services| {
        services.state(|state| state.lost_answers = 1);
        hook.answer(&of_codedeploy(0)).await.unwrap();
        assert_eq!(reports(&services), [report(0, "Succeeded")]);
    })
    .await;
}

#[tokio::test]
async fn throttled_invocation_is_repeated() {
    with_hook(async |hook, services| {
        services.state(|state| state.throttled = 1);
        hook.answer(&of_codedeploy(0)).await.unwrap();
        assert_eq!(reports(&services), [report(0, "Succeeded")]);
    })
    .await;
}

#[tokio::test]
async fn schedule_keeps_five_versions_and_those_of_aliases() {
    with_hook(async |hook, services| {
        hook.answer(&json!({ "version": "0" })).await.unwrap();
        let deleted = services.state(|state| state.deleted.clone());
        let arn = "arn:aws:lambda:eu-south-1:000000000000:function:halqa";
        let names = FUNCTIONS.iter().map(|name| format!("{arn}-{name}:1"));
        let mut expected: Vec<String> = names.collect();
        expected.push("halqa-dev-canary:1".to_owned());
        assert_eq!(deleted, expected);
        assert!(services.state(|state| state.reports.is_empty() && state.invoked.is_empty()));
    })
    .await;
}
