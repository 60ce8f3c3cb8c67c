//! `cargo ops <stage> preflight`, against stand-ins of the AWS services that it asks; SSM's parameters are those of the
//! local cloud.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use canary::AwsApi;
use cloud::faults::{Fault, Mode, Service};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use ops::{Parameters, StackParameters, Stage};
use runtime::Aws;
use serde_json::{Value, json};
use tests::World;

use crate::aws_services::serve;

/// The answers of an account, by service: status and body.
type Answers = HashMap<&'static str, (u16, String)>;

fn success(body: impl ToString) -> (u16, String) {
    (200, body.to_string())
}

/// The identity of the sender in [`samconfig`].
const IDENTITY: &str = "halqa.test";

/// A samconfig.toml whose parameters fit an account that is [`ready`], and `more`.
fn samconfig(more: &str) -> String {
    format!(
        "version = 0.1\n\n[staging.deploy.parameters]\nparameter_overrides = [\n    'MailQuota=\"1\"',\n]\n\n\
         [prod.deploy.parameters]\nparameter_overrides = [\n    'Stage=\"prod\"',\n    'MailIdentity=\"{IDENTITY}\"',\n    \
         'MailQuota=\"50000\"',\n    'SmsSpendLimit=\"200\"',\n    {more}\n]\n"
    )
}

/// SES outside the sandbox, with a quota of a day and one of a second.
fn mail(day: u32, second: u32) -> Value {
    json!({
        "ProductionAccessEnabled": true,
        "SendingEnabled": true,
        "SendQuota": { "Max24HourSend": day, "MaxSendRate": second },
    })
}

/// An account that is ready.
fn ready() -> Answers {
    let attributes = "<entry><key>MonthlySpendLimit</key><value>200</value></entry>";
    let no_table =
        json!({ "__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException" });
    let limit = json!({ "AccountLimit": { "ConcurrentExecutions": 1000 } });
    HashMap::from([
        ("GetCallerIdentity", success("<Account>000000000000</Account>")),
        ("account-settings", success(limit)),
        ("account", success(mail(50_000, 14))),
        (IDENTITY, success(json!({ "VerifiedForSendingStatus": true }))),
        ("GetSMSSandboxAccountStatus", success("<IsInSandbox>false</IsInSandbox>")),
        ("GetSMSAttributes", success(attributes)),
        ("GetServiceSetting", success(json!({ "ServiceSetting": { "SettingValue": "true" } }))),
        ("DescribeTable", (400, no_table.to_string())),
    ])
}

/// Serves `answers` on a free port and returns the URL.
async fn start(answers: Answers) -> String {
    let answers = Arc::new(answers);
    serve(move |request| {
        let answers = Arc::clone(&answers);
        async move { answer(&answers, request).await }
    })
    .await
}

/// The answer to the operation that the target, the form or the path names.
async fn answer(answers: &Answers, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let form: HashMap<String, String> = form_urlencoded::parse(&body).into_owned().collect();
    let target = parts.headers.get("x-amz-target");
    let operation = match (target, form.get("Action")) {
        (Some(target), _) => target.to_str().unwrap().rsplit('.').next().unwrap().to_owned(),
        (None, Some(action)) => action.clone(),
        (None, None) => {
            let path = parts.uri.path().trim_end_matches('/');
            path.rsplit('/').next().unwrap().to_owned()
        }
    };
    let (status, text) = answers[operation.as_str()].clone();
    let body = Full::new(Bytes::from(text));
    Response::builder().status(status).body(body).unwrap()
}

/// The problems that the checks of an account with `answers` report for prod.
async fn problems(world: &World, answers: Answers) -> Vec<String> {
    problems_with(world, answers, "").await
}

/// As [`problems`], with `more` parameters.
async fn problems_with(world: &World, answers: Answers, more: &str) -> Vec<String> {
    let mut settings = world.settings();
    settings.set("AWS_ENDPOINT_URL", start(answers).await);
    let settings = settings.settings();
    let aws = Aws::new(&settings).unwrap();
    let api = AwsApi::new(&aws, world.clock());
    let parameters = Parameters::new(&world.setup().aws);
    let environment =
        ["AWS_REGION", "AWS_DEFAULT_REGION"].map(|name| (name.to_owned(), "eu-west-3".to_owned()));
    let prod = Stage::Deployed("prod");
    let stack = StackParameters::of(&samconfig(more), "prod").unwrap();
    let checks = ops::preflight(&api, &parameters, &stack, prod, &environment.into()).await;
    checks.into_iter().filter_map(|check| check.problem).collect()
}

#[tokio::test]
async fn account_that_is_ready_has_no_problem() {
    let world = World::new().await;
    let parameters = Parameters::new(&world.setup().aws);
    let prod = Stage::Deployed("prod");
    ops::make(&parameters, prod, world.clock()).await.unwrap();
    assert_eq!(problems(&world, ready()).await, Vec::<String>::new());
}

#[tokio::test]
async fn each_problem_is_reported_with_its_fix() {
    let world = World::new().await;
    let limit = json!({ "AccountLimit": { "ConcurrentExecutions": 10 } });
    let mail = json!({ "ProductionAccessEnabled": false, "SendingEnabled": true });
    let new_account = Answers::from([
        ("GetCallerIdentity", (403, "<Code>InvalidClientTokenId</Code>".to_owned())),
        ("account-settings", success(limit)),
        ("account", success(mail)),
        (IDENTITY, (404, "{}".to_owned())),
        ("GetSMSSandboxAccountStatus", success("<IsInSandbox>true</IsInSandbox>")),
        ("GetSMSAttributes", success("<attributes/>")),
        ("GetServiceSetting", success(json!({ "ServiceSetting": { "SettingValue": "false" } }))),
        ("DescribeTable", success(json!({ "Table": {} }))),
    ]);
    let example = "'OperatorEmail=\"operator@example.org\"',";
    let found = problems_with(&world, new_account, example).await;
    let fixes = [
        "replace it in OperatorEmail",
        "aws configure export-credentials",
        "LambdaConcurrency=\"10\"",
        "put-account-details",
        "MakeMailIdentity=\"true\"",
        "the console of SNS",
        "sms-attributes",
        "Parameter Store in infra/deploy.md",
        "halqa-prod-records exists",
        "keys check",
    ];
    assert_eq!(found.len(), fixes.len(), "{found:#?}");
    for (problem, fix) in found.iter().zip(fixes) {
        assert!(problem.contains(fix), "{problem}");
    }
}

#[tokio::test]
async fn parameters_that_the_account_does_not_allow_are_named() {
    let world = World::new().await;
    let parameters = Parameters::new(&world.setup().aws);
    ops::make(&parameters, Stage::Deployed("prod"), world.clock()).await.unwrap();
    let spend = "<entry><key>MonthlySpendLimit</key><value>50</value></entry>";
    let pending = json!({ "VerifiedForSendingStatus": false, "VerificationStatus": "PENDING" });
    for (operation, answer, more, expected) in [
        ("account", success(mail(200, 14)), "", Some("MailQuota=\"200\"")),
        ("account", success(mail(50_000, 10)), "", Some("MailRatePerSecond below")),
        (IDENTITY, success(pending), "", Some("halqa.test is not verified (\"PENDING\")")),
        (IDENTITY, (404, "{}".to_owned()), "'MakeMailIdentity=\"true\"',", None),
        ("GetSMSAttributes", success(spend), "", Some("SmsSpendLimit=\"50\"")),
        ("GetSMSAttributes", success(spend), "'SmsSpendLimit=\"0\"',", None),
        (
            "account-settings",
            success(json!({ "AccountLimit": { "ConcurrentExecutions": 10 } })),
            "'LambdaConcurrency=\"10\"',",
            None,
        ),
    ] {
        let mut answers = ready();
        answers.insert(operation, answer);
        let found = problems_with(&world, answers, more).await;
        assert_eq!(found.len(), usize::from(expected.is_some()), "{operation}: {found:?}");
        assert!(found.iter().all(|one| one.contains(expected.unwrap_or_default())), "{found:?}");
    }
}

#[tokio::test]
async fn unconfirmed_subscription_to_alarms_is_named_once_deployed() {
    let world = World::new().await;
    let parameters = Parameters::new(&world.setup().aws);
    ops::make(&parameters, Stage::Deployed("prod"), world.clock()).await.unwrap();
    let table = "halqa-prod-records".into();
    parameters.add("/halqa/prod/stack/RECORDS_TABLE", &table).await.unwrap();
    let member = |address: &str, subscription: &str| {
        format!(
            "<member><Endpoint>{address}</Endpoint><SubscriptionArn>{subscription}</SubscriptionArn></member>"
        )
    };
    let pending = member("night@halqa.test", "PendingConfirmation");
    let confirmed = member("day@halqa.test", "arn:aws:sns:…");
    for (members, expected) in [
        (format!("{pending}{confirmed}"), Some("night@halqa.test must open the link")),
        (confirmed, None),
        (member("former@halqa.test", "Deleted"), Some("no one is subscribed")),
        (String::new(), Some("no one is subscribed")),
    ] {
        let mut answers = ready();
        let topic =
            "<PhysicalResourceId>arn:aws:sns:eu-west-3:1:halqa-prod-Alarms-1</PhysicalResourceId>";
        answers.insert("DescribeStackResource", success(topic));
        answers.insert("ListSubscriptionsByTopic", success(members));
        let found = problems(&world, answers).await;
        assert_eq!(found.len(), usize::from(expected.is_some()), "{found:?}");
        assert!(found.iter().all(|one| one.starts_with(expected.unwrap_or_default())), "{found:?}");
    }
}

#[tokio::test]
async fn keys_are_created_although_parameter_store_throttles() {
    let world = World::new().await;
    world.inject_fault_in(Service::Ssm, Fault::new(Mode::Throttle).on("PutParameter").times(3));
    let parameters = Parameters::new(&world.setup().aws);
    let (dev, clock) = (Stage::Deployed("dev"), world.clock());
    let made = ops::make(&parameters, dev, clock).await.unwrap();
    assert!(!made.made.is_empty());
    assert_eq!(ops::problems(&parameters, dev, &[]).await.unwrap(), [""; 0]);
}
