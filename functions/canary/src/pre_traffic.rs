//! The hook of deployments: CodeDeploy invokes it before a new version gets traffic
//! (<https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html>).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::Method;
use runtime::{ConfigError, Startup};
use serde_json::{Value, json};

use crate::{
    SignIn, Visitor, aws_api::AwsApi, old_versions::delete_old_versions, versions::Versions,
};

/// Each step is tried so often, because a throttled invocation or a conflict with another hook says nothing about the
/// new version.
const ATTEMPTS: u32 = 3;
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// A GET of each function, with the status for a member without rights: 403 shows that the function of the panel has read
/// the account. `/otp/generate` makes a secret, which is never used and expires.
const READS: [(&str, u16); 7] = [
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
    pub fn new(startup: &Startup) -> Result<Self, ConfigError> {
        let api = AwsApi::new(&startup.aws, &startup.clock);
        let versions = Arc::new(Versions::new(api, &startup.settings)?);
        let visitor = Visitor::of_versions(startup.aws.clone(), Arc::clone(&versions));
        let form = "must be names of functions, separated by commas";
        Ok(Self {
            versions,
            visitor: visitor.with_edge_secret(&startup.keys)?,
            sign_in: SignIn::of(&startup.keys)?,
            others: startup.settings.list("OTHER_FUNCTIONS", "", form)?,
        })
    }

    /// Handles an event. That of CodeDeploy has the ids of a deployment and of its hook: the result of
    /// [`check`](Self::check) is reported. Every other event, of the schedule, deletes old versions.
    ///
    /// # Errors
    /// The first step that fails, in one sentence. CodeDeploy counts a hook that has not reported after one hour as
    /// failed.
    pub async fn answer(&self, event: &Value) -> Result<(), String> {
        let id = |name: &str| event[name].as_str();
        let (Some(deployment), Some(hook)) =
            (id("DeploymentId"), id("LifecycleEventHookExecutionId"))
        else {
            return self.delete_old_versions().await;
        };
        let outcome = retried(async || self.check().await).await;
        let status = if outcome.is_ok() { "Succeeded" } else { "Failed" };
        let result = json!({
            "deploymentId": deployment,
            "lifecycleEventHookExecutionId": hook,
            "status": status,
        });
        let reported = retried(async || self.report(&result).await).await;
        outcome.and(reported)
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

    /// Reports `result` with `PutLifecycleEventHookExecutionStatus`
    /// (<https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_PutLifecycleEventHookExecutionStatus.html>).
    async fn report(&self, result: &Value) -> Result<(), String> {
        let headers = [
            ("content-type", "application/x-amz-json-1.1"),
            ("x-amz-target", "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus"),
        ];
        let body = Bytes::from(result.to_string());
        let api = &self.versions.api;
        let response = api.send("codedeploy", Method::POST, "/", &headers, body);
        match response.await {
            Ok(response) if response.status() == 200 => Ok(()),
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

/// The first success of `action`, or the error of its last attempt.
async fn retried(action: impl AsyncFn() -> Result<(), String>) -> Result<(), String> {
    for _ in 1..ATTEMPTS {
        if action().await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
    action().await
}
