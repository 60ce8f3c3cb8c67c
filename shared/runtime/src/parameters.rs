//! SSM Parameter Store, read once per start.

use std::{collections::HashMap, time::Duration};

use aws_sdk_ssm::{
    Client,
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
};
use secrecy::SecretString;

use crate::{Aws, cause};

/// SSM answers 40 requests a second to an account
/// (<https://docs.aws.amazon.com/general/latest/gr/ssm.html>): of a few hundred functions that start
/// at once, most are throttled a few times first.
const ATTEMPTS: u32 = 10;
/// No pause between two attempts is longer.
const MAX_BACKOFF: Duration = Duration::from_secs(2);
const ATTEMPT: Duration = Duration::from_secs(2);
/// Below the ten seconds that Lambda gives a start, so that a failed one can still say why.
const OPERATION: Duration = Duration::from_secs(8);

impl Aws {
    /// The SSM client. It retries as the SDK does by default, but long enough for a burst of starts.
    pub fn ssm(&self) -> Client {
        let timeouts = TimeoutConfig::builder()
            .operation_attempt_timeout(ATTEMPT)
            .operation_timeout(OPERATION);
        let retries = RetryConfig::standard()
            .with_max_attempts(ATTEMPTS)
            .with_max_backoff(MAX_BACKOFF);
        let config = Builder::from(self.sdk())
            .timeout_config(timeouts.build())
            .retry_config(retries);
        Client::from_conf(config.build())
    }
}

/// Those of the parameters `names`, ten at most, that exist, decrypted
/// (<https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html>).
///
/// # Errors
/// When SSM does not answer, or refuses: the cause in one line.
pub async fn parameters(
    ssm: &Client,
    names: &[String],
) -> Result<HashMap<String, SecretString>, String> {
    let request = ssm
        .get_parameters()
        .set_names(Some(names.to_vec()))
        .with_decryption(true);
    let found = request.send().await.map_err(|error| cause(&error))?;
    let named = found
        .parameters
        .into_iter()
        .flatten()
        .filter_map(|parameter| Some((parameter.name?, parameter.value?.into())));
    Ok(named.collect())
}
