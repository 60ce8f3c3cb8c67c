//! A client for SSM Parameter Store, which holds the keys.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
};

use aws_sdk_ssm::{
    Client,
    error::{ProvideErrorMetadata, SdkError},
    types::{ParameterStringFilter, ParameterType},
};
use domain::Instant;
use runtime::{Aws, cause, parameters};
use secrecy::{ExposeSecret, SecretString};

/// The most names of one GetParameters request
/// (<https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html>).
const MAX_NAMES: usize = 10;

/// The parameters of one account and region.
pub struct Parameters {
    ssm: Client,
}

impl Parameters {
    /// A client for the account and region of `aws`.
    pub fn new(aws: &Aws) -> Self {
        Self { ssm: aws.ssm() }
    }

    /// The values of those `names` that exist.
    pub async fn read(&self, names: &[String]) -> Result<BTreeMap<String, SecretString>, String> {
        let mut all = BTreeMap::new();
        for names in names.chunks(MAX_NAMES) {
            let found = parameters(&self.ssm, names).await;
            all.extend(found.map_err(|problem| {
                let names = names.join(", ");
                format!("SSM could not be read: {names}: {problem}.")
            })?);
        }
        Ok(all)
    }

    /// When the value of the parameter `name` was last written.
    ///
    /// # Errors
    /// When it does not exist.
    pub async fn changed_at(&self, name: &str) -> Result<Instant, String> {
        let found = self.ssm.get_parameters().names(name).send().await;
        let found = found.map_err(|error| format!("SSM could not be read: {}.", cause(&error)))?;
        let written = found.parameters().first().and_then(|one| one.last_modified_date());
        let written = written.and_then(|at| at.to_millis().ok());
        let written = written.ok_or_else(|| format!("There is no time of {name}."))?;
        Ok(Instant::from_unix_milliseconds(written))
    }

    /// The names of the parameters below `path`. Their values are not read.
    pub async fn names(&self, path: &str) -> Result<BTreeSet<String>, String> {
        let filter = ParameterStringFilter::builder().key("Path").option("Recursive").values(path);
        let filter = filter.build().map_err(|error| error.to_string())?;
        let request = self.ssm.describe_parameters().parameter_filters(filter);
        let pages: Result<Vec<_>, _> = request.into_paginator().send().collect().await;
        let pages =
            pages.map_err(|error| format!("SSM did not list {path}: {}.", cause(&error)))?;
        let found = pages.into_iter().flat_map(|page| page.parameters.unwrap_or_default());
        Ok(found.filter_map(|parameter| parameter.name).collect())
    }

    /// Creates the `SecureString` parameter `name`, encrypted under the default key of SSM.
    ///
    /// # Errors
    /// When it exists.
    pub async fn add(&self, name: &str, value: &SecretString) -> Result<(), String> {
        self.put(name, value, false).await
    }

    /// As [`Self::add`], but overwrites an existing parameter.
    pub async fn write(&self, name: &str, value: &SecretString) -> Result<(), String> {
        self.put(name, value, true).await
    }

    async fn put(&self, name: &str, value: &SecretString, overwrite: bool) -> Result<(), String> {
        let request = self.ssm.put_parameter().name(name);
        let request = request
            .value(value.expose_secret())
            .r#type(ParameterType::SecureString)
            .overwrite(overwrite);
        done(request.send().await, &format!("did not write {name}"))
    }

    /// Deletes the parameter `name`.
    ///
    /// # Errors
    /// When it does not exist.
    pub async fn remove(&self, name: &str) -> Result<(), String> {
        let request = self.ssm.delete_parameter().name(name);
        done(request.send().await, &format!("did not delete {name}"))
    }
}

fn done<T, E>(response: Result<T, SdkError<E>>, failed: &str) -> Result<(), String>
where
    E: Error + ProvideErrorMetadata + 'static,
{
    response.map(drop).map_err(|error| format!("SSM {failed}: {}.", cause(&error)))
}
