//! What a deployment needs of an account and a region, checked before anything is made. Not checked, because no request
//! answers it: whether the operator may create a budget, and whether DNS records lead where they should.

use std::collections::HashMap;

use bytes::Bytes;
use canary::AwsApi;
use http::{Method, Response};
use serde_json::{Value, json};

use crate::{Check, Parameters, StackParameters, Stage, problems};

/// The tables of a stack without parameters that name others.
const TABLES: [&str; 2] = ["records", "transient"];
const JSON: (&str, &str) = ("content-type", "application/x-amz-json-1.1");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Checks the account and region of `api`, the keys of `stage` in `keys`, and whether the parameters of its stack are what
/// the account has: an alarm on a limit that the account does not have would never be triggered. `environment` is that of
/// the operator. Nothing is changed.
pub async fn preflight(
    api: &AwsApi,
    keys: &Parameters,
    stack: &StackParameters,
    stage: Stage,
    environment: &HashMap<String, String>,
) -> Vec<Check> {
    let check = |what: &str, outcome: Result<(), String>| Check {
        what: what.to_owned(),
        problem: outcome.err(),
    };
    vec![
        check("all programs use one region", region(environment)),
        check("samconfig.toml has no example addresses", addresses(stack)),
        check("the credentials are valid", credentials(api).await),
        check(
            "functions may run as often at once as parameters say",
            concurrency(api, stack).await,
        ),
        check(
            "SES sends to every address, as many mails as parameters say",
            mails(api, stack).await,
        ),
        check("SES may send as the sender's domain", identity(api, stack).await),
        check("SNS sends to every number", texts(api).await),
        check("SNS may spend what parameters say", spending(api, stack).await),
        check("Parameter Store has its higher throughput", throughput(api, stage).await),
        check("no table of a deleted stack is in the way", tables(api, keys, stage).await),
        check("the keys are complete", complete(keys, stage).await),
        check("alarms reach who subscribed", subscriptions(api, keys, stage).await),
    ]
}

fn addresses(stack: &StackParameters) -> Result<(), String> {
    match stack.with("example.org").join(", ").as_str() {
        "" => Ok(()),
        names => Err(format!("example.org belongs to nobody: replace it in {names}")),
    }
}

/// `cargo ops` reads `AWS_REGION`; SAM reads `AWS_DEFAULT_REGION`
/// (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-region.html>).
fn region(environment: &HashMap<String, String>) -> Result<(), String> {
    let of = |name: &str| environment.get(name).map(String::as_str);
    let (Some(ours), theirs) = (of("AWS_REGION"), of("AWS_DEFAULT_REGION")) else {
        return Err("AWS_REGION is not set".to_owned());
    };
    if theirs == Some(ours) {
        Ok(())
    } else {
        Err(format!("run: export AWS_REGION={ours} AWS_DEFAULT_REGION={ours}"))
    }
}

/// <https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html>
async fn credentials(api: &AwsApi) -> Result<(), String> {
    let body = "Action=GetCallerIdentity&Version=2011-06-15";
    let answer = ask(api, "sts", "/", &[FORM], body).await;
    let fix = "run: eval \"$(aws configure export-credentials --format env)\"";
    answer.map(drop).map_err(|problem| format!("{problem}; {fix}"))
}

/// <https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html>
async fn concurrency(api: &AwsApi, stack: &StackParameters) -> Result<(), String> {
    let path = "/2016-08-19/account-settings/";
    let settings = json_of(&get(api, "lambda", path).await?);
    let allowed = settings["AccountLimit"]["ConcurrentExecutions"].as_f64().unwrap_or_default();
    if allowed >= stack.number("LambdaConcurrency")? {
        Ok(())
    } else {
        Err(format!(
            "only {allowed} may: request 1,000 under Service Quotas, Lambda, Concurrent executions; until then set \
             LambdaConcurrency=\"{allowed}\""
        ))
    }
}

/// <https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetAccount.html>
async fn mails(api: &AwsApi, stack: &StackParameters) -> Result<(), String> {
    let account = json_of(&get(api, "ses", "/v2/email/account").await?);
    match (&account["ProductionAccessEnabled"], &account["SendingEnabled"]) {
        (Value::Bool(true), Value::Bool(true)) => {}
        (Value::Bool(true), _) => {
            return Err(
                "AWS has paused the sending of mails: see the reputation page of SES".to_owned()
            );
        }
        _ => {
            return Err("it is in the sandbox: run aws sesv2 put-account-details --production-access-enabled …, as in infra/deploy.md".to_owned());
        }
    }
    let of = |name: &str| account["SendQuota"][name].as_f64().unwrap_or_default();
    let (day, second) = (of("Max24HourSend"), of("MaxSendRate"));
    // -1 is no limit (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendQuota.html).
    if day >= 0.0 && stack.number("MailQuota")? > day {
        return Err(format!("it sends {day} a day: set MailQuota=\"{day}\", or request more"));
    }
    // Codes need a part of the rate, too.
    if stack.number("MailRatePerSecond")? >= second {
        return Err(format!("it sends {second} a second: set MailRatePerSecond below that"));
    }
    Ok(())
}

/// <https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetEmailIdentity.html>
async fn identity(api: &AwsApi, stack: &StackParameters) -> Result<(), String> {
    let name = stack.text("MailIdentity");
    let path = format!("/v2/email/identities/{}", name.replace('@', "%40"));
    let answer = send(api, "ses", Method::GET, &path, &[], "").await?;
    if answer.status() == 404 {
        return if stack.text("MakeMailIdentity") == "true" {
            Ok(())
        } else {
            Err(format!("SES does not know {name}: create it, or set MakeMailIdentity=\"true\""))
        };
    }
    let identity = json_of(&text_of("ses", &answer)?);
    if identity["VerifiedForSendingStatus"] == true {
        Ok(())
    } else {
        let state = &identity["VerificationStatus"];
        Err(format!("{name} is not verified ({state}): create the DNS records that SES shows"))
    }
}

/// <https://docs.aws.amazon.com/sns/latest/api/API_GetSMSSandboxAccountStatus.html>
async fn texts(api: &AwsApi) -> Result<(), String> {
    let body = "Action=GetSMSSandboxAccountStatus&Version=2010-03-31";
    let answer = ask(api, "sns", "/", &[FORM], body).await?;
    if answer.contains("<IsInSandbox>false<") {
        Ok(())
    } else {
        Err("it is in the sandbox: request the exit in the console of SNS, Text messaging"
            .to_owned())
    }
}

/// The limit is one dollar unless it was raised
/// (<https://docs.aws.amazon.com/sns/latest/api/API_SetSMSAttributes.html>).
async fn spending(api: &AwsApi, stack: &StackParameters) -> Result<(), String> {
    let body = "Action=GetSMSAttributes&Version=2010-03-31";
    let answer = ask(api, "sns", "/", &[FORM], body).await?;
    let limit = answer
        .split_once("<key>MonthlySpendLimit</key>")
        .and_then(|(_, rest)| element(rest, "value"))
        .and_then(|limit| limit.parse::<f64>().ok())
        .unwrap_or(1.0);
    let watched = stack.number("SmsSpendLimit")?;
    if limit <= 1.0 {
        Err("request more than a dollar under Service Quotas, SNS, Account spend threshold, then run sms-attributes".to_owned())
    } else if watched == 0.0 || watched == limit {
        Ok(())
    } else {
        Err(format!(
            "SNS stops at {limit} dollars, but the alarm watches {watched}: set SmsSpendLimit=\"{limit}\", or run \
             sms-attributes"
        ))
    }
}

/// Each start of a function reads its keys, and an account has 40 reads a second
/// (<https://docs.aws.amazon.com/general/latest/gr/ssm.html>). AWS charges for the higher throughput
/// (<https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-throughput.html>), so only prod needs
/// it.
async fn throughput(api: &AwsApi, stage: Stage) -> Result<(), String> {
    if stage != Stage::Deployed("prod") {
        return Ok(());
    }
    let setting = json!({ "SettingId": "/ssm/parameter-store/high-throughput-enabled" });
    let target = ("x-amz-target", "AmazonSSM.GetServiceSetting");
    let answer = ask(api, "ssm", "/", &[JSON, target], &setting.to_string()).await?;
    if json_of(&answer)["ServiceSetting"]["SettingValue"] == "true" {
        Ok(())
    } else {
        Err("turn it on before users arrive: see Parameter Store in infra/deploy.md".to_owned())
    }
}

/// Those of the stack's own topic, of which a hundred are in the first answer
/// (<https://docs.aws.amazon.com/sns/latest/api/API_ListSubscriptionsByTopic.html>). Before the first deployment there is
/// no topic.
async fn subscriptions(api: &AwsApi, keys: &Parameters, stage: Stage) -> Result<(), String> {
    let Stage::Deployed(name) = stage else {
        return Ok(());
    };
    if stage.tables(keys).await?.is_empty() {
        return Ok(());
    }
    let body = format!(
        "Action=DescribeStackResource&Version=2010-05-15&StackName=halqa-{name}&LogicalResourceId=Alarms"
    );
    let answer = ask(api, "cloudformation", "/", &[FORM], &body).await?;
    let topic = element(&answer, "PhysicalResourceId")
        .ok_or("CloudFormation does not name the topic of alarms")?;
    let topic: String = form_urlencoded::byte_serialize(topic.as_bytes()).collect();
    let body = format!("Action=ListSubscriptionsByTopic&Version=2010-03-31&TopicArn={topic}");
    let answer = ask(api, "sns", "/", &[FORM], &body).await?;
    // Of a subscription that ended, the answer has `Deleted` instead of an ARN.
    let has = |member: &str, start: &str| {
        element(member, "SubscriptionArn").is_some_and(|arn| arn.starts_with(start))
    };
    let members: Vec<&str> = answer.split("<member>").skip(1).collect();
    let pending = members.iter().filter(|one| has(one, "PendingConfirmation"));
    let endpoints: Vec<&str> = pending.filter_map(|one| element(one, "Endpoint")).collect();
    if !endpoints.is_empty() {
        Err(format!("{} must open the link in AWS's e-mail", endpoints.join(", ")))
    } else if members.iter().any(|one| has(one, "arn:")) {
        Ok(())
    } else {
        Err("no one is subscribed: deploy again, or subscribe".to_owned())
    }
}

/// A deleted stack leaves its tables, and a new one cannot make them
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTable.html>).
async fn tables(api: &AwsApi, keys: &Parameters, stage: Stage) -> Result<(), String> {
    let Stage::Deployed(name) = stage else {
        return Ok(());
    };
    if !stage.tables(keys).await?.is_empty() {
        return Ok(());
    }
    for table in TABLES {
        let table = format!("halqa-{name}-{table}");
        let body = json!({ "TableName": table }).to_string();
        let headers = [
            ("content-type", "application/x-amz-json-1.0"),
            ("x-amz-target", "DynamoDB_20120810.DescribeTable"),
        ];
        let answer = send(api, "dynamodb", Method::POST, "/", &headers, &body).await?;
        let text = String::from_utf8_lossy(answer.body());
        if !text.contains("ResourceNotFoundException") {
            return if answer.status().is_success() {
                Err(format!(
                    "{table} exists: take it over as infra/restore.md says under A deleted stack, or delete it"
                ))
            } else {
                Err(format!("DynamoDB answered {}: {text}", answer.status()))
            };
        }
    }
    Ok(())
}

async fn complete(keys: &Parameters, stage: Stage) -> Result<(), String> {
    let problems = problems(keys, stage, &[]).await?;
    match problems.as_slice() {
        [] => Ok(()),
        [first, rest @ ..] => {
            Err(format!("{first} And {} more; run keys, then keys check", rest.len()))
        }
    }
}

async fn get(api: &AwsApi, service: &str, path: &str) -> Result<String, String> {
    text_of(service, &send(api, service, Method::GET, path, &[], "").await?)
}

async fn ask(
    api: &AwsApi,
    service: &str,
    path: &str,
    headers: &[(&'static str, &'static str)],
    body: &str,
) -> Result<String, String> {
    let answer = send(api, service, Method::POST, path, headers, body).await?;
    text_of(service, &answer)
}

async fn send(
    api: &AwsApi,
    service: &str,
    method: Method,
    path: &str,
    headers: &[(&'static str, &'static str)],
    body: &str,
) -> Result<Response<Bytes>, String> {
    let body = Bytes::from(body.to_owned());
    let answer = api.send(service, method, path, headers, body).await;
    answer.map_err(|problem| format!("{service} does not answer: {problem}"))
}

fn text_of(service: &str, answer: &Response<Bytes>) -> Result<String, String> {
    let text = String::from_utf8_lossy(answer.body()).into_owned();
    if answer.status().is_success() {
        Ok(text)
    } else {
        Err(format!("{service} answered {}: {text}", answer.status()))
    }
}

/// The text of the first element `name` in `xml`.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    xml.split_once(&format!("<{name}>"))?.1.split('<').next()
}

/// `null` for what is no JSON.
fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
