//! SSM Parameter Store: the client, and reading parameters by name.

use std::{collections::HashMap, time::Duration};

use aws_sdk_ssm::{
    Client,
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
};
use secrecy::SecretString;

use crate::{Aws, cause};

/// SSM allows 40 requests per second and account (<https://docs.aws.amazon.com/general/latest/gr/ssm.html>): when a few
/// hundred functions start at once, most are throttled several times.
const ATTEMPTS: u32 = 10;
/// The longest pause between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(2);
const ATTEMPT: Duration = Duration::from_secs(2);
/// Below the ten seconds that Lambda allows for a start, so that a failure can still be logged.
const OPERATION: Duration = Duration::from_secs(8);

impl Aws {
    /// The SSM client. It retries like the SDK by default, but long enough for a burst of starts.
    pub fn ssm(&self) -> Client {
        let timeouts = TimeoutConfig::builder()
            .operation_attempt_timeout(ATTEMPT)
            .operation_timeout(OPERATION);
        let retries =
            RetryConfig::standard().with_max_attempts(ATTEMPTS).with_max_backoff(MAX_BACKOFF);
        let config =
            Builder::from(self.sdk()).timeout_config(timeouts.build()).retry_config(retries);
        Client::from_conf(config.build())
    }
}

/// Reads and decrypts the parameters `names`, at most ten. Parameters that do not exist are left out
/// (<https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html>).
///
/// # Errors
/// The [`cause`] of a failed call.
pub async fn parameters(
    ssm: &Client,
    names: &[String],
) -> Result<HashMap<String, SecretString>, String> {
    let request = ssm.get_parameters().set_names(Some(names.to_vec())).with_decryption(true);
    let found = request.send().await.map_err(|error| cause(&error))?;
    let named = found
        .parameters
        .into_iter()
        .flatten()
        .filter_map(|parameter| Some((parameter.name?, parameter.value?.into())));
    Ok(named.collect())
}
