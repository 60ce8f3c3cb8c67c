//! The operator's command, the canary and the smoke test, against the local cloud.

use std::{collections::HashMap, time::Duration};

use canary::{Canary, SignIn, Visitor};
use cloud::{Cloud, guard::TransactionKeys, strict::Strictness};
use common::{ErrorCode, Message};
use dev::{
    delivery::{self, Consumers},
    edge,
    home::LocalSettings,
};
use domain::{Profile, audit::Action, user::User};
use identity::{
    NamedKey,
    sealing::Sealer,
    token::{Signer, Verifier},
};
use ops::{
    ErasedAgain, Expectations, First, Kind, LeadingKeys, Parameters, Policies, Reason, Resealed,
    Since, Stage,
};
use runtime::{Aws, Clock, Key, Startup};
use serde_json::json;
use store::{AuditList, CommitOutcome, NewUser, Setup};
use tests::{PASSWORD, TotpApp, World};

use crate::edge::http::start;

const DEV: Stage = Stage::Deployed("dev");

fn parameters(world: &World) -> Parameters {
    Parameters::new(&world.setup().aws)
}

/// A World with all keys of the stage dev in SSM.
async fn world_with_keys() -> (World, Parameters) {
    let world = World::new().await;
    let parameters = parameters(&world);
    ops::make(&parameters, DEV, world.clock()).await.unwrap();
    (world, parameters)
}

/// A visitor of `world` on a real port.
async fn visitor_of(world: &World) -> Visitor {
    let url = format!("http://{}/api/v1", start(world, None).await);
    Visitor::new(world.setup().aws.clone(), url)
}

/// Starts the function `name` of the stage dev with its keys in SSM.
async fn started(world: &World, name: &str, keys: &[Key]) -> Result<Setup, String> {
    let path = DEV.keys_path(name);
    let mut settings = world.settings();
    settings.set("KEYS_PATH", path).set("EDGE", "on");
    let mut keys = keys.to_vec();
    if !keys.contains(&Key::Edge) {
        keys.push(Key::Edge);
    }
    Setup::start(settings.settings(), &keys).await.map_err(|problem| problem.to_string())
}

#[tokio::test]
async fn keys_are_created_once_and_found_by_each_function() {
    let world = World::new().await;
    let parameters = parameters(&world);
    let problems = async || ops::problems(&parameters, DEV, &[]).await.unwrap();
    assert_eq!(problems().await.len(), 27, "{:?}", problems().await);
    let made = ops::make(&parameters, DEV, world.clock()).await.unwrap();
    assert_eq!((made.made.len(), made.kept), (28, 0));
    assert_eq!(problems().await, [""; 0]);
    let token = ops::problems(&parameters, DEV, &[Key::CpanelToken]).await.unwrap();
    assert_eq!(token, ["/halqa/dev/cpanel/CPANEL_TOKEN is not in SSM."]);
    assert_eq!(ops::missing(&parameters, DEV, &[Key::CpanelToken]).await.unwrap(), token);
    let (auth, otp) = (
        started(&world, "auth", auth::KEYS).await.unwrap(),
        started(&world, "otp", auth::KEYS).await.unwrap(),
    );
    assert!(
        auth.keys.parse::<Signer>(Key::TokenSigning).is_ok()
            && auth.keys.parse::<Verifier>(Key::TokenPublic).is_ok()
            && auth.keys.parse::<Sealer>(Key::Sealing).is_ok()
    );
    assert_eq!(
        auth.keys.parse::<Sealer>(Key::Sealing).unwrap().kid(),
        otp.keys.parse::<Sealer>(Key::Sealing).unwrap().kid()
    );
    assert!(SignIn::of(&started(&world, "canary", canary::KEYS).await.unwrap().keys).is_ok());

    let signing = world.cloud().parameter("/halqa/dev/auth/TOKEN_SIGNING_KEY");
    assert_eq!(ops::make(&parameters, DEV, world.clock()).await.unwrap().made, [""; 0]);
    assert_eq!(world.cloud().parameter("/halqa/dev/auth/TOKEN_SIGNING_KEY"), signing);
}

#[tokio::test]
async fn keys_are_copied_to_another_region_without_what_the_stack_writes() {
    let ((world, here), elsewhere) = (world_with_keys().await, World::new().await);
    let there = parameters(&elsewhere);
    here.write("/halqa/dev/stack/RATE_LIMIT", &"100".into()).await.unwrap();
    there.write("/halqa/dev/auth/SEALING_KEYS", &"old".into()).await.unwrap();
    let not_copied = async || ops::not_copied(&here, &there, DEV).await.unwrap();
    assert_eq!(not_copied().await.len(), 28);
    assert_eq!(ops::copy(&here, &there, DEV).await, Ok(28));
    assert_eq!(ops::copy(&here, &there, DEV).await, Ok(0));
    assert_eq!(not_copied().await, [""; 0]);
    ops::announce(&here, DEV, Kind::Signing, world.clock()).await.unwrap();
    assert_eq!(
        ops::copy(&here, &there, DEV).await,
        Ok(1),
        "the public list, not the announced key"
    );
    here.write("/halqa/dev/cpanel/CPANEL_TOKEN", &"new".into()).await.unwrap();
    let missing =
        "/halqa/dev/cpanel/CPANEL_TOKEN has no current copy in the other region: run keys copy.";
    assert_eq!(not_copied().await, [missing]);
    assert_eq!(ops::problems(&there, DEV, &[]).await.unwrap(), [""; 0]);
    let name = "/halqa/dev/users/SEALING_KEYS";
    assert_eq!(elsewhere.cloud().parameter(name), world.cloud().parameter(name));
    assert_eq!(elsewhere.cloud().parameter("/halqa/dev/stack/RATE_LIMIT"), None);
}

#[tokio::test]
async fn missing_key_is_named_and_created_equal_to_its_copies() {
    let (world, parameters) = world_with_keys().await;
    let name = "/halqa/dev/team/SEALING_KEYS".to_owned();
    parameters.remove(&name).await.unwrap();
    assert_eq!(
        ops::problems(&parameters, DEV, &[]).await.unwrap(),
        [format!("{name} is not in SSM.")]
    );
    assert_eq!(
        ops::missing(&parameters, DEV, &[]).await.unwrap(),
        [format!("{name} is not in SSM.")]
    );
    assert_eq!(
        ops::make(&parameters, DEV, world.clock()).await.unwrap().made,
        std::slice::from_ref(&name)
    );
    assert_eq!(
        world.cloud().parameter(&name),
        world.cloud().parameter("/halqa/dev/users/SEALING_KEYS")
    );
}

#[tokio::test]
async fn each_kind_of_key_is_rotated_in_three_steps() {
    let (world, parameters) = world_with_keys().await;
    for (kind, name) in [
        (Kind::Sealing, "/halqa/dev/users/SEALING_KEYS"),
        (Kind::Cursor, "/halqa/dev/courses/CURSOR_KEYS"),
        (Kind::Outbox, "/halqa/dev/dispatcher/OUTBOX_KEYS"),
        (Kind::Edge, "/halqa/dev/edge/EDGE_SECRETS"),
    ] {
        let now = || {
            world.cloud().parameter(name).unwrap().split(',').map(str::to_owned).collect::<Vec<_>>()
        };
        let old = now();
        world.clock().advance(Duration::from_secs(1));
        assert!(
            ops::take_into_use(&parameters, DEV, kind).await.is_err(),
            "{kind:?}: no new key is announced"
        );
        ops::announce(&parameters, DEV, kind, world.clock()).await.unwrap();
        let announced = now();
        assert_eq!((announced.len(), &announced[0]), (2, &old[0]), "{kind:?}");
        ops::announce(&parameters, DEV, kind, world.clock()).await.unwrap();
        assert_eq!(now(), announced, "{kind:?}: a second time changes nothing");
        let retire = |reason| ops::retire(&parameters, DEV, kind, world.setup(), reason);
        assert!(
            retire(Reason::Disclosed).await.is_err(),
            "{kind:?}: the new key is not in use yet"
        );
        for _ in 0..2 {
            ops::take_into_use(&parameters, DEV, kind).await.unwrap();
            assert_eq!(now(), [announced[1].clone(), announced[0].clone()], "{kind:?}");
        }
        assert!(
            ops::announce(&parameters, DEV, kind, world.clock()).await.is_err(),
            "{kind:?}: the old key is still there"
        );
        if [Kind::Sealing, Kind::Outbox].contains(&kind) {
            world.clock().advance(Duration::from_secs(34 * 86_400));
            let refused = retire(Reason::Age).await.unwrap_err();
            assert!(refused.starts_with("A restored table may need the former key"), "{refused}");
            world.clock().advance(Duration::from_secs(2 * 86_400));
        }
        retire(Reason::Age).await.unwrap();
        assert_eq!(now(), [announced[1].clone()], "{kind:?}");
        assert_eq!(ops::problems(&parameters, DEV, &[]).await.unwrap(), [""; 0]);
    }
}

#[tokio::test]
async fn signing_key_rotation_accepts_tokens_of_both_keys_meanwhile() {
    let (world, parameters) = world_with_keys().await;
    let parameter = |name: &str| world.cloud().parameter(name).unwrap();
    let process = || {
        let signing = parameter("/halqa/dev/auth/TOKEN_SIGNING_KEY");
        let public = parameter("/halqa/dev/public/TOKEN_PUBLIC_KEYS");
        world.another_process_with(&[
            ("TOKEN_SIGNING_KEY", &signing),
            ("TOKEN_PUBLIC_KEYS", &public),
        ])
    };
    let token = |world: &World| {
        let anonymous = world.anonymous().via(world);
        async move {
            anonymous.login("admin@example.org", PASSWORD).await.header("authorization").to_owned()
        }
    };
    let first = process();
    let old = token(&first).await;
    ops::announce(&parameters, DEV, Kind::Signing, world.clock()).await.unwrap();
    let announced = process();
    ops::announce(&parameters, DEV, Kind::Signing, world.clock()).await.unwrap();
    assert_eq!(
        announced.setting("TOKEN_PUBLIC_KEYS"),
        process().setting("TOKEN_PUBLIC_KEYS"),
        "a second time changes nothing"
    );
    assert!(
        ops::retire(&parameters, DEV, Kind::Signing, world.setup(), Reason::Age).await.is_err(),
        "it is not in use yet"
    );
    ops::take_into_use(&parameters, DEV, Kind::Signing).await.unwrap();
    assert_eq!(
        parameter("/halqa/dev/auth/TOKEN_SIGNING_KEY"),
        parameter("/halqa/dev/otp/TOKEN_SIGNING_KEY")
    );
    let used = process();
    let new = token(&used).await;
    for (process, token) in [(&announced, &old), (&announced, &new), (&used, &old), (&used, &new)] {
        process.anonymous().via(process).with_token(token).get("/auth/check").await.expect_ok();
    }
    ops::retire(&parameters, DEV, Kind::Signing, world.setup(), Reason::Age).await.unwrap();
    let retired = process();
    let status = |token: &str| {
        let person = retired.anonymous().via(&retired).with_token(token);
        async move { person.get("/auth/check").await.status }
    };
    assert_eq!((status(&old).await, status(&new).await), (401, 200));
    ops::replace(&parameters, DEV, Kind::Signing, world.clock()).await.unwrap();
    let replaced = process();
    let person = replaced.anonymous().via(&replaced).with_token(&new);
    assert_eq!(person.get("/auth/check").await.status, 401);
}

#[tokio::test]
async fn sealing_key_is_kept_while_a_secret_uses_it() {
    let old = NamedKey::generate("2026-01-01-1767225600000").to_setting();
    let world = World::with(&[("SEALING_KEYS", &old)]).await;
    let parameters = parameters(&world);
    for name in ["auth", "otp", "passkeys", "team", "users"] {
        world.cloud().put_parameter(&format!("/halqa/dev/{name}/SEALING_KEYS"), &old);
    }
    TotpApp::enrolled_by(&world, &world.member().await).await;
    ops::announce(&parameters, DEV, Kind::Sealing, world.clock()).await.unwrap();
    ops::take_into_use(&parameters, DEV, Kind::Sealing).await.unwrap();
    world.cloud().settle();
    let retire = || ops::retire(&parameters, DEV, Kind::Sealing, world.setup(), Reason::Disclosed);
    let error = retire().await.unwrap_err();
    assert!(error.ends_with("reseal first."), "{error}");
    let keys = world.cloud().parameter("/halqa/dev/users/SEALING_KEYS").unwrap();
    ops::reseal(world.another_process_with(&[("SEALING_KEYS", &keys)]).setup()).await.unwrap();
    world.cloud().settle();
    retire().await.unwrap();
    assert!(
        ops::replace(&parameters, DEV, Kind::Sealing, world.clock()).await.is_err(),
        "replacing would lose secrets"
    );
}

#[tokio::test]
async fn interrupted_key_change_is_reported_and_completed_by_repetition() {
    let (world, parameters) = world_with_keys().await;
    let (first, last) = ("/halqa/dev/auth/OUTBOX_KEYS", "/halqa/dev/users/OUTBOX_KEYS");
    let before = world.cloud().parameter(last).unwrap();
    ops::announce(&parameters, DEV, Kind::Outbox, world.clock()).await.unwrap();
    // as if the change had stopped before the last parameter
    world.cloud().put_parameter(last, &before);
    let problems = ops::problems(&parameters, DEV, &[]).await.unwrap();
    assert_eq!(problems, [format!("{last} differs from its twins: run the last change again.")]);
    ops::announce(&parameters, DEV, Kind::Outbox, world.clock()).await.unwrap();
    assert_eq!(world.cloud().parameter(first), world.cloud().parameter(last));
    assert_eq!(ops::problems(&parameters, DEV, &[]).await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn unknown_signing_key_is_reported() {
    let (world, parameters) = world_with_keys().await;
    let unknown_key = NamedKey::generate("unknown").to_setting();
    for name in ["auth", "otp", "passkeys"] {
        world.cloud().put_parameter(&format!("/halqa/dev/{name}/TOKEN_SIGNING_KEY"), &unknown_key);
    }
    let problems = ops::problems(&parameters, DEV, &[]).await.unwrap();
    assert_eq!(problems, ["/halqa/dev/public/TOKEN_PUBLIC_KEYS does not know the key that signs."]);
}

const FIRST: &str = include_str!("../../infra/first.json");

fn first() -> First {
    serde_json::from_str(FIRST).unwrap()
}

/// A cloud with tables and keys and without accounts.
async fn empty() -> (LocalSettings, Cloud, Setup, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let cloud = Cloud::in_memory(folder.path()).await.unwrap();
    let mut settings = LocalSettings::default();
    settings
        .with_new_keys()
        .with_endpoints_of(&cloud)
        .set("PUBLIC_URL", "https://front.example.org");
    let setup = settings.setup(Clock::default()).unwrap();
    (settings, cloud, setup, folder)
}

#[tokio::test]
async fn bootstrap_creates_one_administrator_who_resets_by_mailed_code() {
    let (_settings, cloud, setup, _folder) = empty().await;
    let email = ops::bootstrap(&setup, first()).await.unwrap();
    let refused = ops::bootstrap(&setup, first()).await.unwrap_err();
    assert!(refused.starts_with("There is a super admin already"), "{refused}");

    let consumers = Consumers::new(&|_| Ok(setup.clone())).unwrap();
    while delivery::deliver(&cloud, &consumers).await.unwrap() > 0 {}
    let mails = cloud.recorder().mails();
    assert_eq!((mails.len(), mails[0]["to"].as_str()), (1, Some(email.as_str())));
    let code = tests::digits(mails[0]["text"].as_str().unwrap());
    let edge = edge(&setup).unwrap();
    let post = async |path: &str, body: serde_json::Value| {
        let request = http::Request::post(format!("/api/v1{path}"))
            .header("content-type", "application/json");
        let answer = edge
            .answer(request.body(body.to_string().into()).unwrap(), "10.0.0.1".parse().unwrap())
            .await;
        (
            answer.status().as_u16(),
            serde_json::from_slice::<serde_json::Value>(answer.body()).unwrap(),
        )
    };
    let password = "huit palmiers au bord du chott";
    let payload = json!({ "email": email, "code": code, "newPassword": password, "confirmPassword": password });
    assert_eq!(post("/users/reset-password", payload).await.0, 200);
    let (status, body) = post("/auth/login", json!({ "email": email, "password": password })).await;
    assert_eq!(
        (status, &body["user"]["profile"], &body["user"]["isVerified"]),
        (200, &json!("SA"), &json!(true))
    );
}

#[tokio::test]
async fn invalid_bootstrap_file_is_rejected_and_nothing_is_written() {
    let (_settings, cloud, setup, _folder) = empty().await;
    let file = json!({ "committee": { "nameArabe": "أ" }, "administrator": { "name": "A", "lastName": "B", "email": "a@example.org" } });
    let problem = ops::bootstrap(&setup, serde_json::from_value(file).unwrap()).await.unwrap_err();
    assert!(problem.contains("nameLatin"), "{problem}");
    let mut file: serde_json::Value = serde_json::from_str(FIRST).unwrap();
    file["committee"]["secondryPhone"] = json!("+21671123456");
    let problem = ops::bootstrap(&setup, serde_json::from_value(file).unwrap()).await.unwrap_err();
    assert_eq!(problem, "A committee has no field secondryPhone.");
    assert_eq!(cloud.items("records").unwrap().len(), 0);
}

#[tokio::test]
async fn canary_signs_in_and_reports_failures() {
    let world = World::new().await;
    let sign_in = SignIn::of(&world.setup().keys).unwrap();
    assert!(ops::make_canary(world.setup(), &sign_in).await.unwrap());
    assert!(!ops::make_canary(world.setup(), &sign_in).await.unwrap(), "it exists already");
    let owner =
        world.setup().store.email_owner(&sign_in.email.parse().unwrap()).await.unwrap().unwrap();
    let user = world.user(owner.user_id).await;
    assert_eq!((user.profile, user.permissions.to_string().as_str()), (Profile::Member, "[]"));

    let url = format!("http://{}/api/v1", start(&world, None).await);
    let canary = |sign_in: &str| {
        let mut settings = world.settings();
        settings.set("CANARY_URL", &url).set("CANARY_SIGN_IN", sign_in);
        let startup = Startup::of_settings(settings.settings(), world.clock().clone());
        Canary::new(&startup.unwrap()).unwrap()
    };
    let good = canary(&world.setting("CANARY_SIGN_IN"));
    good.check().await.unwrap();
    let problem =
        canary(&format!("{} no password at all", sign_in.email)).check().await.unwrap_err();
    assert_eq!(
        problem,
        "POST /auth/login answered 401 (BAD_AUTH_COMBINATION_MESSAGE) instead of 200"
    );
    world.inject(cloud::faults::Mode::Refuse);
    assert!(good.check().await.unwrap_err().starts_with("POST /auth/login answered 503"));
    world.clear_faults();
    good.check().await.unwrap();
}

#[tokio::test]
async fn smoke_test_reports_what_is_wrong() {
    let world = World::new().await;
    let sign_in = SignIn::of(&world.setup().keys).unwrap();
    ops::make_canary(world.setup(), &sign_in).await.unwrap();
    let visitor = visitor_of(&world).await;
    let expected = Expectations::of_environment(&HashMap::new());
    let checks = ops::smoke(&visitor, &sign_in, &expected).await;
    assert!(checks.len() > 9 && checks.iter().all(|check| check.problem.is_none()), "{checks:#?}");

    // another rate limit than the stack has, and a wrong password of the canary
    let other = world.another_process_with(&[("RATE_LIMIT", "50")]);
    let wrong_password = SignIn { password: "wrong".into(), ..sign_in.clone() };
    let checks = ops::smoke(&visitor_of(&other).await, &wrong_password, &expected).await;
    let wrong: Vec<String> = checks.into_iter().filter_map(|check| check.problem).collect();
    let refused = "POST /auth/login answered 401 (BAD_AUTH_COMBINATION_MESSAGE) instead of 200";
    assert_eq!(wrong, ["x-ratelimit-limit is 50 instead of 100", refused]);
    let unreachable =
        Visitor::new(world.setup().aws.clone(), "http://127.0.0.1:9/api/v1".to_owned());
    let wrong = ops::smoke(&unreachable, &sign_in, &expected).await;
    assert!(wrong.iter().all(|check| check.problem.is_some()), "{wrong:#?}");
}

#[tokio::test]
async fn smoke_test_expects_what_the_stack_is_deployed_with() {
    let world = World::with(&[("RATE_LIMIT", "250"), ("POWERED_BY", "Croissant")]).await;
    let parameters = parameters(&world);
    let missing = Expectations::of_stack(&parameters, DEV).await.unwrap_err();
    assert_eq!(missing, "/halqa/dev/stack/RATE_LIMIT is not in SSM: deploy the stack first.");
    // as CloudFormation writes them
    for (name, value) in [("RATE_LIMIT", "250"), ("POWERED_BY", "Croissant")] {
        parameters.write(&format!("/halqa/dev/stack/{name}"), &value.into()).await.unwrap();
    }
    let expected = Expectations::of_stack(&parameters, DEV).await.unwrap();
    let sign_in = SignIn::of(&world.setup().keys).unwrap();
    ops::make_canary(world.setup(), &sign_in).await.unwrap();
    let visitor = visitor_of(&world).await;
    let checks = ops::smoke(&visitor, &sign_in, &expected).await;
    assert!(checks.iter().all(|check| check.problem.is_none()), "{checks:#?}");
}

#[tokio::test]
async fn stage_tables_are_those_that_the_stack_uses() {
    let world = World::new().await;
    let parameters = parameters(&world);
    assert!(DEV.tables(&parameters).await.unwrap().is_empty());
    // as CloudFormation writes them after a restored table was taken over
    for (name, table) in
        [("RECORDS_TABLE", "halqa-dev-records-2"), ("TRANSIENT_TABLE", "halqa-dev-transient")]
    {
        parameters.write(&format!("/halqa/dev/stack/{name}"), &table.into()).await.unwrap();
    }
    let tables = DEV.tables(&parameters).await.unwrap();
    assert_eq!(tables["RECORDS_TABLE"], "halqa-dev-records-2");
    assert_eq!(tables["TRANSIENT_TABLE"], "halqa-dev-transient");
    let local = Stage::Local.tables(&parameters).await.unwrap();
    assert!(local.is_empty());
}

#[tokio::test]
async fn stage_name_determines_all_settings() {
    let environment = [
        ("AWS_REGION", "eu-west-3"),
        ("RECORDS_TABLE", "halqa-dev-records"),
        ("KEYS_PATH", "/halqa/dev/auth"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings = Stage::Deployed("prod").settings(environment.into(), "users").unwrap();
    for (name, value) in [
        ("RECORDS_TABLE", "halqa-prod-records"),
        ("TRANSIENT_TABLE", "halqa-prod-transient"),
        ("KEYS_PATH", "/halqa/prod/users"),
        ("AWS_REGION", "eu-west-3"),
    ] {
        assert_eq!(settings[name], value);
    }
    assert!("production".parse::<Stage>().is_err());

    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let data = [("DATA_DIR".to_owned(), folder.path().to_string_lossy().into_owned())];
    assert!(Stage::Local.settings(data.clone().into(), "users").is_err(), "no service runs there");
    let mut settings = LocalSettings::default();
    settings
        .with_endpoints_of(world.cloud())
        .with_new_keys()
        .write_environment(world.cloud(), folder.path())
        .unwrap();
    let settings_of_process = Stage::Local.settings(data.into(), "users").unwrap();
    assert_eq!(
        (settings_of_process["RECORDS_TABLE"].as_str(), &settings_of_process["CANARY_SIGN_IN"]),
        ("records", &settings.get("CANARY_SIGN_IN").unwrap())
    );
    let running =
        Setup::start(settings_of_process.into_iter().collect(), users::KEYS).await.unwrap();
    assert_eq!(ops::dead_letters(&running).await.unwrap().len(), 0);
}

#[tokio::test]
async fn sms_attributes_turn_on_receipts_and_keep_the_others() {
    let world = World::new().await;
    let (aws, recorder) = (&world.setup().aws, world.cloud().recorder());
    let role = "arn:aws:iam::123456789012:role/halqa-prod-ReceiptsRole-1A2B3C4D5E6F7";
    let with_limit = ops::set_sms_attributes(aws, role, Some(200)).await;
    assert_eq!(with_limit, Ok(()));
    assert_eq!(ops::set_sms_attributes(aws, role, None).await, Ok(()));
    let expected = [
        ("DeliveryStatusIAMRole", role),
        ("DeliveryStatusSuccessSamplingRate", "100"),
        ("MonthlySpendLimit", "200"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(recorder.sms_attributes(), expected.into());
    assert!(ops::set_sms_attributes(aws, "halqa", None).await.is_err());
    assert_eq!(recorder.texts().len(), 0);
}

#[tokio::test]
async fn policies_command_tells_what_leading_keys_are_in_a_transaction() {
    for (keys, found) in [
        (TransactionKeys::OfPart, LeadingKeys::OfPart),
        (TransactionKeys::OfAllParts, LeadingKeys::OfAllParts),
        (TransactionKeys::Absent, LeadingKeys::Absent),
    ] {
        let world = World::new().await;
        world.cloud().guard().set_transaction_keys(keys);
        let as_role = |role: &str| {
            let mut settings = world.settings();
            settings.set("AWS_ACCESS_KEY_ID", world.cloud().key_of(role));
            Aws::new(&settings.settings()).unwrap()
        };
        let now = world.clock().now();
        let outcome = ops::policies(&as_role("policycheck"), "records", now).await;
        let reads_secrets = found == LeadingKeys::Absent;
        assert_eq!(outcome, Ok(Policies { keys: found, reads_secrets }));
        let refused = ops::policies(&as_role("cpanel"), "records", now).await.unwrap_err();
        assert!(refused.starts_with("A change with its audit entry is refused"), "{refused}");
    }
}

/// Writes `user` to the tables of `world`, as a restore does.
async fn bring_back(world: &World, user: &User) {
    let mut tx = world.setup().store.transaction();
    tx.new_user(&NewUser { user: user.clone(), password_hash: "no hash".to_owned() });
    let mut inactive = user.clone();
    inactive.is_active = false;
    tx.update_admins(&inactive, user);
    assert_eq!(tx.commit().await.unwrap(), CommitOutcome::Committed);
}

#[tokio::test]
async fn accounts_that_a_restore_brought_back_are_erased_again() {
    let (former, restored) = (World::new().await, World::new().await);
    let (erased, last) = (former.member().await.user().clone(), restored.admin().await);
    bring_back(&restored, &erased).await;
    let mut last_with_other_email = last.user().clone();
    last_with_other_email.email = "other@example.org".parse().unwrap();
    bring_back(&former, &last_with_other_email).await;
    let admin = former.admin().await;
    for id in [erased.user_id, last.user().user_id] {
        admin.delete_with(&format!("/users/{id}"), json!({})).await.expect_ok();
    }
    former.cloud().settle();
    let (before, after, now) =
        (&former.setup().store, &restored.setup().store, restored.clock().now());
    let done = ops::erase_again(before, after, now).await.unwrap();
    let kept = vec![last.user().user_id];
    assert_eq!(done, ErasedAgain { erased: vec![erased.user_id], kept: kept.clone() });
    assert!(after.user(erased.user_id).await.unwrap().is_none());
    let audit = last.get("/audit").await.expect_ok()["audit"].clone();
    let entry = &audit[0];
    assert_eq!(
        (&entry["action"], &entry["targetID"]),
        (&json!("USER_DELETED"), &json!(erased.user_id))
    );
    assert_eq!(entry["actorID"], json!(admin.user().user_id));
    let again = ops::erase_again(before, after, now).await.unwrap();
    assert_eq!(again, ErasedAgain { erased: vec![], kept });
}

#[tokio::test]
async fn account_whose_erasure_the_restored_audit_has_is_erased_again() {
    let (former, restored) = (World::new().await, World::new().await);
    let admin = former.admin().await;
    for _ in 0..2 {
        let erased = former.member().await.user().clone();
        bring_back(&restored, &erased).await;
        let path = format!("/users/{}", erased.user_id);
        admin.delete_with(&path, json!({})).await.expect_ok();
    }
    former.cloud().settle();
    let (before, after, now) =
        (&former.setup().store, &restored.setup().store, restored.clock().now());
    let page = before.audit(AuditList::All, None, 2, now).await.unwrap();
    let mut tx = after.transaction();
    tx.record_audit(&page.items[0]);
    assert_eq!(tx.commit().await.unwrap(), CommitOutcome::Committed);
    let done = ops::erase_again(before, after, now).await.unwrap();
    assert_eq!((done.erased.len(), done.kept.len()), (2, 0));
    let audit = restored.admin().await.get("/audit").await.expect_ok()["audit"].clone();
    assert_eq!(audit.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn ended_sessions_leave_password_and_second_factor() {
    let (world, member) = World::with_member().await;
    TotpApp::enrolled_by(&world, &member).await;
    let email = &member.user().email;
    let (store, now) = (&world.setup().store, world.clock().now());
    ops::end_sessions(store, email, now).await.unwrap();
    member.get("/auth/check").await.expect_unauthorized();
    let user = world.user(member.user().user_id).await;
    assert!(user.is_otp_enabled);
    let anonymous = world.anonymous();
    anonymous.login(email.as_str(), PASSWORD).await.expect_success(Message::OtpRequired);
    let entry = store.audit(AuditList::Person(user.user_id), None, 1, now).await.unwrap().items;
    assert_eq!((entry[0].audited.action, entry[0].actor_id), (Action::SessionsEnded, user.user_id));
    let nobody = "nobody@halqa.test".parse().unwrap();
    let problem = ops::end_sessions(store, &nobody, now).await.unwrap_err();
    assert_eq!(problem.code(), ErrorCode::UserNotFound);
}

/// Gives the five functions that read them the sealing keys `value`.
fn put_sealing_keys(world: &World, value: &str) {
    for name in ["auth", "otp", "passkeys", "team", "users"] {
        world.cloud().put_parameter(&format!("/halqa/dev/{name}/SEALING_KEYS"), value);
    }
}

#[tokio::test]
async fn restore_undoes_decisions_until_since_makes_them_again() {
    let old = NamedKey::generate("2026-01-01-1767225600000").to_setting();
    let former = World::with(&[("SEALING_KEYS", &old)]).await;
    put_sealing_keys(&former, &old);
    let parameters = parameters(&former);
    let (admin, demoted) = (former.admin().await, former.person(Profile::SuperAdmin).await);
    let (member, bounced) = (former.member().await, former.member().await);
    TotpApp::enrolled_by(&former, &member).await;
    let items = former.items("records");
    former.clock().advance(Duration::from_secs(60));
    let from = former.clock().now();

    // the decisions that the restore undoes
    let demoted = demoted.user().user_id;
    admin.change_member(demoted, json!({ "profile": "MB" })).await;
    admin.put("/sms/opt-outs/+21620123456?scope=all", json!({})).await.expect_ok();
    bounced.change_password(PASSWORD, "cinq cigognes au nord").await.expect_ok();
    let mut bounce: serde_json::Value =
        serde_json::from_str(include_str!("../../events/worker/bounce.json")).unwrap();
    bounce["detail"]["mail"]["timestamp"] = json!(former.clock().now());
    bounce["detail"]["mail"]["destination"] = json!([bounced.user().email]);
    let worker = former.consumers().worker.clone();
    worker.answer(serde_json::from_value(bounce).unwrap()).await.unwrap();

    // a sealing key is replaced, and may not be retired yet
    ops::announce(&parameters, DEV, Kind::Sealing, former.clock()).await.unwrap();
    ops::take_into_use(&parameters, DEV, Kind::Sealing).await.unwrap();
    let both = former.cloud().parameter("/halqa/dev/users/SEALING_KEYS").unwrap();
    ops::reseal(former.another_process_with(&[("SEALING_KEYS", &both)]).setup()).await.unwrap();
    former.cloud().settle();
    let retired = ops::retire(&parameters, DEV, Kind::Sealing, former.setup(), Reason::Age).await;
    assert!(retired.unwrap_err().starts_with("A restored table may need the former key"));

    let restored = World::with(&[("SEALING_KEYS", &both)]).await;
    // Indexes of a restored table are whole when it opens.
    restored.cloud().set_strictness(Strictness::default());
    restored.cloud().restore("records", &items).unwrap();
    let (before, after) = (&former.setup().store, &restored.setup().store);
    let since = async || ops::since(before, after, from, restored.clock().now()).await.unwrap();
    let (bounced, found) = (bounced.user(), since().await);
    let applied =
        [format!("mails stopped: {}", bounced.user_id), "opted out: +21620123456".to_owned()];
    assert_eq!(found.applied, applied);
    let [change, password] = found.open.as_slice() else { panic!("{found:?}") };
    assert!(
        change.contains(&format!("TEAM_MEMBER_UPDATED  {demoted}  by {}", admin.user().user_id))
            && change.contains(r#"{"profile":"SA"} → {"profile":"MB"}"#),
        "{change}"
    );
    assert_eq!(*password, format!("password changed: {}", bounced.user_id));
    assert_eq!(since().await, Since { applied: vec![], ..found });
    let now = restored.clock().now();
    assert!(after.mail_stop(&bounced.email, now).await.unwrap().is_some());
    assert!(after.opt_out(None, &"+21620123456".parse().unwrap()).await.unwrap().is_some());
    let audit = restored.admin().await.get("/audit").await.expect_ok()["audit"].clone();
    let actions: Vec<_> = audit.as_array().unwrap().iter().map(|one| &one["action"]).collect();
    assert_eq!(actions, ["MAILS_STOPPED", "OPT_OUT_ADDED"]);

    // the restored table has a secret that the retired key alone opens
    ops::retire(&parameters, DEV, Kind::Sealing, former.setup(), Reason::Disclosed).await.unwrap();
    let newest = former.cloud().parameter("/halqa/dev/users/SEALING_KEYS").unwrap();
    let without = restored.another_process_with(&[("SEALING_KEYS", &newest)]);
    assert!(without.setup().store.otp(member.user().user_id).await.unwrap().is_some());
    assert_eq!(ops::reseal(without.setup()).await.unwrap(), Resealed::default());
    let with_it = restored.another_process_with(&[("SEALING_KEYS", &format!("{newest},{old}"))]);
    let resealed = ops::reseal(with_it.setup()).await.unwrap();
    assert_eq!((resealed.done, resealed.unreadable), (1, 0));
}
