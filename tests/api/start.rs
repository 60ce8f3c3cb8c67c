//! The start of a function on Lambda: settings from the environment, keys from SSM.

use cloud::faults::{Fault, Mode, Service};
use common::Edge;
use dev::{delivery::Consumers, edge};
use identity::NamedKey;
use runtime::{Clock, Key, Startup};
use store::Setup;
use tests::World;

const KEYS: &[Key] = auth::KEYS;

/// Starts the function `auth` with its keys in SSM. The setting `missing` is unset; a key of this name is malformed.
async fn start(world: &World, missing: &str) -> Result<Edge, String> {
    for (name, path) in [
        ("TOKEN_SIGNING_KEY", "/halqa/test/auth/TOKEN_SIGNING_KEY"),
        ("SEALING_KEYS", "/halqa/test/auth/SEALING_KEYS"),
        ("OUTBOX_KEYS", "/halqa/test/auth/OUTBOX_KEYS"),
        ("TOKEN_PUBLIC_KEYS", "/halqa/test/public/TOKEN_PUBLIC_KEYS"),
    ] {
        let value = if name == missing { "rubbish".to_owned() } else { world.setting(name) };
        world.cloud().put_parameter(path, &value);
    }
    let mut settings = world.settings();
    settings.set("KEYS_PATH", "/halqa/test/auth").unset(missing);
    for key in ["TOKEN_SIGNING_KEY", "SEALING_KEYS", "OUTBOX_KEYS", "TOKEN_PUBLIC_KEYS"] {
        settings.unset(key);
    }
    let setup =
        Setup::start(settings.settings(), KEYS).await.map_err(|problem| problem.to_string())?;
    let routes = auth::routes(&setup).map_err(|problem| problem.to_string())?;
    Edge::new(&setup, routes).map_err(|problem| problem.to_string())
}

#[tokio::test]
async fn keys_are_read_from_the_functions_own_path() {
    let world = World::new().await;
    // A function has the time of the system.
    world.clock().step_back(world.clock().now().since(Clock::default().now()));
    let edge = start(&world, "").await.unwrap();
    let member = world.member().await;
    let mut request = http::Request::get("/api/v1/auth/check").body(bytes::Bytes::new()).unwrap();
    request.headers_mut().insert("authorization", member.token().parse().unwrap());
    assert_eq!(edge.answer(request, "10.0.0.1".parse().unwrap()).await.status(), 200);
}

#[tokio::test]
async fn missing_or_malformed_setting_stops_start_and_is_named() {
    let world = World::new().await;
    for name in [
        "RECORDS_TABLE",
        "TRANSIENT_TABLE",
        "AWS_REGION",
        "AWS_ACCESS_KEY_ID",
        "TOKEN_SIGNING_KEY",
        "TOKEN_PUBLIC_KEYS",
        "SEALING_KEYS",
    ] {
        let problem =
            start(&world, name).await.err().unwrap_or_else(|| panic!("it started without {name}"));
        assert!(
            problem.starts_with(&format!("The setting {name} ")) && problem.ends_with('.'),
            "{problem}"
        );
        assert!(!problem.contains("rubbish"), "{problem}");
    }
}

#[tokio::test]
async fn key_missing_in_ssm_is_named_by_its_path() {
    let world = World::new().await;
    let mut settings = world.settings();
    settings.set("KEYS_PATH", "/halqa/empty/auth");
    let problem = Setup::start(settings.settings(), KEYS).await.err().unwrap().to_string();
    assert_eq!(problem, "The setting /halqa/empty/auth/TOKEN_SIGNING_KEY is not in SSM.");
}

#[tokio::test]
async fn unreachable_ssm_is_reported() {
    let world = World::new().await;
    let mut settings = world.settings();
    settings.set("KEYS_PATH", "/halqa/test/auth").set("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
    let problem = Setup::start(settings.settings(), KEYS).await.err().unwrap().to_string();
    assert!(problem.starts_with("The setting KEYS_PATH could not be read from SSM"), "{problem}");
}

#[tokio::test]
async fn start_survives_throttling_and_failures_of_ssm() {
    for mode in [Mode::Throttle, Mode::Refuse, Mode::Silent] {
        let world = World::new().await;
        world.inject_fault_in(Service::Ssm, Fault::new(mode).times(3));
        start(&world, "").await.unwrap();
    }
}

#[tokio::test]
async fn start_refused_by_ssm_names_path_and_error() {
    let world = World::new().await;
    world.inject_fault_in(Service::Ssm, Fault::named("AccessDeniedException"));
    assert_eq!(
        start(&world, "").await.err().unwrap(),
        "The setting KEYS_PATH could not be read from SSM, below /halqa/test/auth: \
         status 400 AccessDeniedException."
    );
}

#[tokio::test]
async fn unreachable_store_does_not_stop_start() {
    let world = World::new().await;
    let cases = [
        ("connection refused", None),
        ("refuses", Some(Mode::Refuse)),
        ("throttles", Some(Mode::Throttle)),
        ("is silent", Some(Mode::Silent)),
    ];
    for (case, mode) in cases {
        world.clear_faults();
        if let Some(mode) = mode {
            world.inject(mode);
        }
        let mut settings = world.settings();
        if mode.is_none() {
            settings.set("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
        }
        let setup = Setup::start(settings.settings(), KEYS)
            .await
            .unwrap_or_else(|problem| panic!("{case}: {problem}"));
        let edge = Edge::new(&setup, auth::routes(&setup).unwrap()).unwrap();
        let preflight =
            http::Request::options("/api/v1/auth/check").body(bytes::Bytes::new()).unwrap();
        assert_eq!(
            edge.answer(preflight, "10.0.0.1".parse().unwrap()).await.status(),
            204,
            "{case}"
        );
    }
}

/// Starts all functions with the setting `name` set to `value`, or unset.
fn start_all(world: &World, name: &str, value: Option<&str>) -> Result<(), String> {
    let mut settings = world.settings();
    settings.set_or_unset(name, value);
    let startup = Startup::of_settings(settings.settings(), world.clock().clone());
    let setup = startup.and_then(Setup::new);
    setup
        .and_then(|setup| {
            edge(&setup)?;
            Consumers::new(&|_| Ok(setup.clone()))
        })
        .map(|_| ())
        .map_err(|problem| problem.to_string())
}

#[tokio::test]
async fn missing_or_invalid_setting_is_named() {
    let world = World::new().await;
    assert_eq!(start_all(&world, "RATE_LIMIT", Some("1")), Ok(()));
    for (name, value) in [
        ("RECORDS_TABLE", Some("")),
        ("TRANSIENT_TABLE", Some(" ")),
        ("RATE_LIMIT", Some("0")),
        ("RATE_LIMIT", Some("many")),
        ("RATE_WINDOW_SECONDS", Some("-1")),
        ("SESSION_DAYS", Some("1.5")),
        ("ACCESS_TOKEN_SECONDS", Some("99999999999999999999")),
        ("API_PREFIXES", Some("api")),
        ("API_PREFIXES", Some("/api/v1,")),
        ("POWERED_BY", Some("a\r\nb")),
        ("REGISTRATION", Some("maybe")),
        ("SMS_COUNTRY_CODES", Some("Tunisie")),
        ("SMS_COUNTRY_CODES", Some("")),
        ("SMS_SENDER_IDS", Some("Halqa,Federation12")),
        ("SMS_RATE_PER_SECOND", Some("0")),
        ("MAIL_RATE_PER_SECOND", Some("0")),
        ("TIME_ZONE", Some("Africa/Carthage")),
        ("EDGE", Some("yes")),
        ("CPANEL_URL", Some("http://cpanel.example.org:2083")),
        ("CPANEL_URL", Some("https://cpanel.example.org:2083/execute")),
        ("CPANEL_URL", Some("https://user:rubbish@cpanel.example.org")),
        ("CPANEL_USER", None),
        ("CPANEL_USER", Some("a b")),
        ("CPANEL_TOKEN", None),
        ("CPANEL_TOKEN", Some("rub\nbish")),
        ("CPANEL_ROOT_DOMAINS", Some("example.org,")),
        ("CPANEL_ROOT_DOMAINS", Some("example")),
    ] {
        let problem = start_all(&world, name, value).unwrap_err();
        assert!(problem.starts_with(&format!("The setting {name} ")), "{problem}");
        assert!(problem.ends_with('.') && !problem.contains("bish"), "{problem}");
    }
}

#[tokio::test]
async fn missing_or_malformed_key_is_named_and_not_shown() {
    let world = World::new().await;
    let signing = NamedKey::generate("2026-11").to_setting();
    assert_eq!(start_all(&world, "TOKEN_SIGNING_KEY", Some(&signing)), Ok(()));
    for value in [None, Some(""), Some("k:short"), Some(&*format!("{signing},{signing}"))] {
        let problem = start_all(&world, "TOKEN_SIGNING_KEY", value).unwrap_err();
        assert!(
            problem.starts_with("The setting TOKEN_SIGNING_KEY ") && !problem.contains(&signing),
            "{problem}"
        );
    }
}

#[test]
fn reset_deletes_a_data_folder_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    dev::home::make_folder(&data).unwrap();
    let error = dev::home::delete_folder(&data).unwrap_err().to_string();
    assert!(error.contains("not a data folder"), "{error}");
    std::fs::write(data.join("dynamodb.sqlite"), b"").unwrap();
    dev::home::delete_folder(&data).unwrap();
    assert!(!data.exists());
    dev::home::delete_folder(&data).unwrap();
}
