//! SSM Parameter Store, where keys are kept.

use std::collections::BTreeMap;

use runtime::{Aws, Clock, parameters};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

/// What one GetParameters takes
/// (<https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html>).
const MOST: usize = 10;

/// The parameters of one account and region.
pub struct Parameters {
    aws: Aws,
    clock: Clock,
}

impl Parameters {
    /// Those that `aws` reaches.
    pub const fn new(aws: Aws, clock: Clock) -> Self {
        Self { aws, clock }
    }

    /// Those of `names` that are there.
    ///
    /// # Errors
    /// When SSM does not answer, or refuses, in a sentence.
    pub async fn read(&self, names: &[String]) -> Result<BTreeMap<String, SecretString>, String> {
        let mut all = BTreeMap::new();
        for names in names.chunks(MOST) {
            let found = parameters(&self.aws, names, self.clock.now()).await;
            all.extend(found.map_err(|problem| format!("SSM could not be read: {problem}."))?);
        }
        Ok(all)
    }

    /// Adds the parameter `name`, encrypted under the account's own key of SSM.
    ///
    /// # Errors
    /// When there is one, or SSM does not answer, or refuses, in a sentence.
    pub async fn add(&self, name: &str, value: &SecretString) -> Result<(), String> {
        let body = json!({ "Name": name, "Value": value.expose_secret(), "Type": "SecureString" });
        self.call("PutParameter", body.to_string(), &format!("took no {name}"))
            .await
    }

    /// The same over what stands there.
    ///
    /// # Errors
    /// When SSM does not answer, or refuses, in a sentence.
    pub async fn write(&self, name: &str, value: &SecretString) -> Result<(), String> {
        let body = json!({ "Name": name, "Value": value.expose_secret(), "Type": "SecureString", "Overwrite": true });
        self.call("PutParameter", body.to_string(), &format!("took no {name}"))
            .await
    }

    /// Removes the parameter `name`.
    ///
    /// # Errors
    /// When SSM does not answer, or refuses, in a sentence.
    pub async fn remove(&self, name: &str) -> Result<(), String> {
        let body = json!({ "Name": name }).to_string();
        self.call("DeleteParameter", body, &format!("did not remove {name}"))
            .await
    }

    async fn call(&self, operation: &str, body: String, failed: &str) -> Result<(), String> {
        let answer = self
            .aws
            .call(
                "ssm",
                &format!("AmazonSSM.{operation}"),
                body,
                self.clock.now(),
            )
            .await;
        answer
            .map(|_| ())
            .map_err(|problem| format!("SSM {failed}: {problem}."))
    }
}
