//! The hook of deployments: CodeDeploy invokes it before a new version gets traffic
//! (<https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html>).
//!
//! A deployment of the stack is one of CodeDeploy for each function, and all their hooks start at one moment. They share one
//! check of the release, by an item of the store. The first hook runs the check and reports its result for all. The second
//! waits for that, and runs the check itself when the first one has not finished in its time, because it was killed. The
//! others end at once, so that hooks do not use up the executions of an account that has few.

use std::{iter::successors, sync::Arc, time::Duration};

use bytes::Bytes;
use http::Method;
use runtime::ConfigError;
use serde_json::{Value, json};
use store::{ReleaseCheck, Setup, Store};
use tokio::time::{sleep, timeout};

use crate::{
    SignIn, Visitor, aws_api::AwsApi, old_versions::delete_old_versions, versions::Versions,
};

/// Each step is tried so often, because a throttled invocation or a conflict with another hook says nothing about the
/// new version.
const ATTEMPTS: usize = 4;
/// The first pause between two attempts, or two looks for a result. Each is twice as long as the one before.
const PAUSE: Duration = Duration::from_secs(1);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// The time limit of one check, with all attempts.
const CHECK: Duration = Duration::from_secs(180);
/// How long the second hook waits for the first one, which needs [`CHECK`] and the time to record the result.
pub const CLAIM: Duration = Duration::from_secs(210);
/// The looks for a result, whose pauses are longer than [`CLAIM`] together.
const LOOKS: usize = 30;
/// The longest time of a hook without its reports: the second one waits, then runs the check.
pub const HOOK_TIME: Duration = CLAIM.saturating_add(CHECK);
/// A GET of each function, with the status for a member without rights: 403 shows that the function of the panel has read
/// the account. `/otp/generate` makes a secret, which is never used and expires.
const READS: [(&str, u16); 8] = [
    ("/certificates/my-certificates", 200),
    ("/courses/search-all", 200),
    ("/cpanel/db", 403),
    ("/files/my-files", 200),
    ("/otp/generate", 200),
    ("/passkeys", 200),
    ("/registrations/my-registrations", 200),
    ("/sms", 200),
];
/// The path of the function where every useful request changes something. PATCH is not allowed on any path, so the
/// answer is 405 if the function has started, counted the request and found the route.
const UNCHANGED: &str = "/team/unknown";

/// The new versions, and a client that calls them.
#[derive(Clone)]
pub struct PreTraffic {
    versions: Arc<Versions>,
    store: Store,
    /// `NEW_VERSIONS`. It has the version of every function, also of those that a deployment leaves as they are: what is
    /// checked is what the stack will run, and all hooks of a deployment have the same value.
    release: Arc<str>,
    visitor: Visitor,
    sign_in: SignIn,
    /// Functions whose old versions are deleted, and which are not among the new versions.
    others: Vec<String>,
}

impl PreTraffic {
    /// The hook for the settings `NEW_VERSIONS` and `OTHER_FUNCTIONS`, the canary's account and the secret of the
    /// content network.
    ///
    /// # Errors
    /// When one of them is missing or invalid.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        let api = AwsApi::new(&setup.aws, &setup.clock);
        let versions = Arc::new(Versions::new(api, &setup.settings)?);
        let visitor = Visitor::of_versions(setup.aws.clone(), Arc::clone(&versions));
        let form = "must be names of functions, separated by commas";
        Ok(Self {
            versions,
            store: setup.store.clone(),
            release: setup.settings.required("NEW_VERSIONS")?.into(),
            visitor: visitor.with_edge_secret(&setup.keys)?,
            sign_in: SignIn::of(&setup.keys)?,
            others: setup.settings.list("OTHER_FUNCTIONS", "", form)?,
        })
    }

    /// Handles an event. That of CodeDeploy has the ids of a deployment and of its hook, which takes part in the check of
    /// the release. Every other event, of the schedule, deletes old versions.
    ///
    /// # Errors
    /// A result that could not be reported, or a version that could not be deleted, in one sentence. A release that failed
    /// is no error once it is reported: Lambda would run the hook again. CodeDeploy counts a hook that has not reported
    /// after one hour as failed.
    pub async fn answer(&self, event: &Value) -> Result<(), String> {
        let id = |name: &str| event[name].as_str();
        let (Some(deployment), Some(execution)) =
            (id("DeploymentId"), id("LifecycleEventHookExecutionId"))
        else {
            return self.delete_old_versions().await;
        };
        let Reports { hooks, passed } = self.take_part(&format!("{deployment} {execution}")).await;
        let mut outcome = Ok(());
        for hook in &hooks {
            outcome = outcome.and(retried(async || self.report(hook, passed).await).await);
        }
        outcome
    }

    /// Takes the part in the check that the position of `hook` gives it. The event of a hook may come twice, and comes
    /// again after a failed invocation
    /// (<https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html>): its position is the same.
    async fn take_part(&self, hook: &str) -> Reports {
        let joined = retried(async || self.join(hook).await).await;
        let check = match joined {
            Ok(check) => check,
            Err(problem) => {
                tracing::error!(problem, "the hook cannot take part in the check");
                return Reports { hooks: vec![hook.to_owned()], passed: false };
            }
        };
        let position = check.hooks.iter().position(|one| one == hook);
        match (check.passed, position) {
            (Some(passed), None) => Reports { hooks: vec![hook.to_owned()], passed },
            (Some(_), Some(_)) => Reports::of_reporter(hook, check),
            (None, Some(0)) => self.run(hook).await,
            (None, Some(1)) => self.wait(hook).await,
            (None, _) => Reports::default(),
        }
    }

    /// Waits until the first hook has recorded a result, or its time is over; then runs the check.
    async fn wait(&self, hook: &str) -> Reports {
        for pause in pauses().take(LOOKS) {
            sleep(pause).await;
            match self.join(hook).await {
                Ok(check) if check.passed.is_some() => return Reports::of_reporter(hook, check),
                Ok(check) if check.started_at.after(CLAIM) <= self.versions.api.clock.now() => {
                    break;
                }
                Ok(_) => {}
                Err(problem) => tracing::warn!(problem, "the result of the check cannot be read"),
            }
        }
        self.run(hook).await
    }

    /// Runs the check and records its result.
    async fn run(&self, hook: &str) -> Reports {
        let outcome = timeout(CHECK, retried(async || self.check().await)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(format!("it took longer than {CHECK:?}")));
        if let Err(problem) = &outcome {
            tracing::error!(problem, "the new versions failed the check");
        }
        let passed = outcome.is_ok();
        let recorded = retried(async || {
            let finished = self.store.finish_release_check(&self.release, hook, passed).await;
            finished.map_err(|failure| failure.to_string())
        });
        match recorded.await {
            Ok(check) => Reports::of_reporter(hook, check),
            Err(problem) => {
                tracing::error!(problem, "the result of the check cannot be recorded");
                Reports { hooks: vec![hook.to_owned()], passed }
            }
        }
    }

    async fn join(&self, hook: &str) -> Result<ReleaseCheck, String> {
        let now = self.versions.api.clock.now();
        let joined = self.store.join_release_check(&self.release, hook, now).await;
        joined.map_err(|failure| failure.to_string())
    }

    /// Calls every new version: health, a sign-in, one request to each function, one write and a sign-out.
    ///
    /// # Errors
    /// The first unexpected response, in one sentence.
    pub async fn check(&self) -> Result<(), String> {
        let visitor = &self.visitor;
        visitor.get("/health").await?.expect_status(200)?;
        visitor.get("/committees").await?.expect_status(200)?;
        visitor.call(Method::PATCH, UNCHANGED, None).await?.expect_status(405)?;
        let person = visitor.clone().signed_in(&self.sign_in).await?;
        for (path, status) in READS {
            person.get(path).await?.expect_status(status)?;
        }
        let response = person.get("/auth/current-user").await?;
        response.expect_status(200)?;
        let body = response.json();
        let id = body["user"]["userID"].as_str().unwrap_or_default();
        let path = format!("/users/{id}");
        let change = json!({ "name": "Canary" });
        let response = person.call(Method::PUT, &path, Some(&change)).await?;
        response.expect_status(200)?;
        let response = person.post("/auth/logout", &json!({})).await?;
        response.expect_status(200)?;
        for function in ["dispatcher", "worker"] {
            // A batch of the stream without records.
            let event = json!({ "Records": [] });
            self.versions.invoke(function, &event).await?;
        }
        Ok(())
    }

    /// Reports for `hook` with `PutLifecycleEventHookExecutionStatus`
    /// (<https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_PutLifecycleEventHookExecutionStatus.html>).
    async fn report(&self, hook: &str, passed: bool) -> Result<(), String> {
        let (deployment, execution) = hook.split_once(' ').unwrap_or_default();
        let result = json!({
            "deploymentId": deployment,
            "lifecycleEventHookExecutionId": execution,
            "status": if passed { "Succeeded" } else { "Failed" },
        });
        let headers = [
            ("content-type", "application/x-amz-json-1.1"),
            ("x-amz-target", "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus"),
        ];
        let body = Bytes::from(result.to_string());
        let api = &self.versions.api;
        let response = api.send("codedeploy", Method::POST, "/", &headers, body);
        match response.await {
            Ok(response) if response.status() == 200 => Ok(()),
            // The answer to an earlier report was lost.
            Ok(response) if has(response.body(), "LifecycleEventAlreadyCompletedException") => {
                Ok(())
            }
            Ok(response) => Err(format!("CodeDeploy answered {}", response.status())),
            Err(problem) => Err(format!("CodeDeploy: {problem}")),
        }
    }

    async fn delete_old_versions(&self) -> Result<(), String> {
        let others = self.others.iter().map(String::as_str);
        for function in self.versions.functions().chain(others) {
            delete_old_versions(&self.versions.api, function).await?;
        }
        Ok(())
    }
}

/// What a hook reports to CodeDeploy: one result for each of `hooks`, of which there are none if another hook reports.
#[derive(Default)]
struct Reports {
    hooks: Vec<String>,
    passed: bool,
}

impl Reports {
    /// The reports of `hook`, if it is the one that recorded the result of `check`.
    fn of_reporter(hook: &str, check: ReleaseCheck) -> Self {
        match (check.reporter, check.passed) {
            (Some(reporter), Some(passed)) if reporter == hook => {
                Self { hooks: check.hooks, passed }
            }
            _ => Self::default(),
        }
    }
}

fn has(body: &[u8], name: &str) -> bool {
    String::from_utf8_lossy(body).contains(name)
}

/// Growing pauses, without end.
fn pauses() -> impl Iterator<Item = Duration> {
    successors(Some(PAUSE), |pause| Some((*pause * 2).min(LONGEST_PAUSE)))
}

/// The first success of `action`, or the error of its last attempt.
async fn retried<T>(action: impl AsyncFn() -> Result<T, String>) -> Result<T, String> {
    for pause in pauses().take(ATTEMPTS - 1) {
        if let Ok(done) = action().await {
            return Ok(done);
        }
        sleep(pause).await;
    }
    action().await
}
