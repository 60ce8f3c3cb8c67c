//! SSM Parameter Store, where keys are kept.

use std::{collections::BTreeMap, error::Error};

use aws_sdk_ssm::{
    Client,
    error::{ProvideErrorMetadata, SdkError},
    types::ParameterType,
};
use runtime::{Aws, cause, parameters};
use secrecy::{ExposeSecret, SecretString};

/// What one GetParameters takes
/// (<https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html>).
const MOST: usize = 10;

/// The parameters of one account and region.
pub struct Parameters {
    ssm: Client,
}

impl Parameters {
    /// Those that `aws` reaches.
    pub fn new(aws: &Aws) -> Self {
        Self { ssm: aws.ssm() }
    }

    /// Those of `names` that exist.
    ///
    /// # Errors
    /// When SSM does not answer, or refuses, in a sentence.
    pub async fn read(&self, names: &[String]) -> Result<BTreeMap<String, SecretString>, String> {
        let mut all = BTreeMap::new();
        for names in names.chunks(MOST) {
            let found = parameters(&self.ssm, names).await;
            all.extend(found.map_err(|problem| {
                let names = names.join(", ");
                format!("SSM could not be read: {names}: {problem}.")
            })?);
        }
        Ok(all)
    }

    /// Adds the parameter `name`, encrypted under the account's own key of SSM.
    ///
    /// # Errors
    /// When it exists, or SSM does not answer, or refuses, in a sentence.
    pub async fn add(&self, name: &str, value: &SecretString) -> Result<(), String> {
        self.put(name, value, false).await
    }

    /// The same over an existing parameter.
    ///
    /// # Errors
    /// When SSM does not answer, or refuses, in a sentence.
    pub async fn write(&self, name: &str, value: &SecretString) -> Result<(), String> {
        self.put(name, value, true).await
    }

    async fn put(&self, name: &str, value: &SecretString, overwrite: bool) -> Result<(), String> {
        let request = self.ssm.put_parameter().name(name);
        let request = request
            .value(value.expose_secret())
            .r#type(ParameterType::SecureString)
            .overwrite(overwrite);
        done(request.send().await, &format!("took no {name}"))
    }

    /// Removes the parameter `name`.
    ///
    /// # Errors
    /// When SSM does not answer, or refuses, in a sentence.
    pub async fn remove(&self, name: &str) -> Result<(), String> {
        let request = self.ssm.delete_parameter().name(name);
        done(request.send().await, &format!("did not remove {name}"))
    }
}

fn done<T, E>(response: Result<T, SdkError<E>>, failed: &str) -> Result<(), String>
where
    E: Error + ProvideErrorMetadata + 'static,
{
    response
        .map(drop)
        .map_err(|error| format!("SSM {failed}: {}.", cause(&error)))
}
