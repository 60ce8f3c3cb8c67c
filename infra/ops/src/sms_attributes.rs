//! The SMS attributes of an account and region. No CloudFormation resource sets them.

use aws_sdk_sns::Client;
use runtime::{Aws, cause};

/// Makes SNS write what becomes of every text message, with the permissions of the role with the ARN `role`, and stop
/// sending in a month that has cost `limit` dollars, if given. Other attributes are unchanged
/// (<https://docs.aws.amazon.com/sns/latest/api/API_SetSMSAttributes.html>).
///
/// # Errors
/// When `role` is no ARN of a role, or SNS refuses, for example a limit above the quota of the account.
pub async fn set_sms_attributes(aws: &Aws, role: &str, limit: Option<u32>) -> Result<(), String> {
    if !role.starts_with("arn:") || !role.contains(":role/") {
        return Err(format!(
            "{role} is not the ARN of a role: see the output ReceiptsRole of the stack."
        ));
    }
    let mut request = Client::new(aws.sdk())
        .set_sms_attributes()
        .attributes("DeliveryStatusIAMRole", role)
        .attributes("DeliveryStatusSuccessSamplingRate", "100");
    if let Some(limit) = limit {
        request = request.attributes("MonthlySpendLimit", limit.to_string());
    }
    match request.send().await {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("SNS did not change them: {}.", cause(&error))),
    }
}
