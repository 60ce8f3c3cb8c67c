//! The log lines of a request, and that they contain no secrets.

use std::{cell::RefCell, io, sync::Once, time::Duration};

use cloud::faults::{Fault, Mode, Service};
use common::ErrorCode;
use data_encoding::BASE64URL_NOPAD;
use domain::Profile;
use serde_json::{Value, json};
use tests::{
    Authenticator, NewPerson, PASSWORD, TotpApp, World, authenticator::begin, expect_fields,
};
use tracing::{Level, callsite, subscriber};
use tracing_subscriber::{
    filter::dynamic_filter_fn,
    fmt,
    layer::{Layer, SubscriberExt},
};

use crate::{
    files::uploaded_file,
    registrations::{Course, automatic},
};

thread_local! {
    static LINES: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Writes the log lines of a thread that captures them.
struct ThreadLines;

impl io::Write for ThreadLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.iter_mut().for_each(|lines| lines.extend(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The log lines of this thread, down to DEBUG, until this is dropped.
struct Lines;

impl Lines {
    fn text(&self) -> String {
        let lines = LINES.with_borrow(|lines| lines.clone().unwrap_or_default());
        String::from_utf8(lines).unwrap()
    }

    fn read(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        LINES.set(None);
    }
}

/// Captures the log lines of this thread.
///
/// One subscriber serves all threads. With a subscriber for each thread, `tracing` disables a log statement for the
/// whole process when a thread without subscriber is the first to reach it.
fn capture() -> Lines {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let is_captured = dynamic_filter_fn(|metadata, _| {
            *metadata.level() <= Level::DEBUG && LINES.with_borrow(Option::is_some)
        });
        let layer = fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(|| ThreadLines)
            .with_filter(is_captured);
        let subscriber = tracing_subscriber::registry().with(layer);
        subscriber::set_global_default(subscriber).unwrap();
        callsite::rebuild_interest_cache();
    });
    LINES.set(Some(Vec::new()));
    Lines
}

/// The lines with `message` of background work for the request `id`.
fn lines_of_work(lines: &Lines, message: &str, id: &str) -> Vec<Value> {
    let is_of = |line: &Value| line["message"] == message && line["spans"][0]["request_id"] == id;
    lines.read().into_iter().filter(is_of).collect()
}

#[tokio::test]
async fn request_line_has_route_status_duration_user_and_round_trips() {
    let (world, member) = World::with_member().await;
    let lines = capture();
    member.get(&format!("/users/{}?code=123456", member.user().user_id)).await.expect_ok();
    world.anonymous().get("/nowhere").await;
    let all = lines.read();
    let requests: Vec<&Value> = all
        .iter()
        .filter(|line| line["message"] == "request" && line["status"].is_number())
        .collect();
    assert_eq!(requests.len(), 2);
    expect_fields(requests[0], json!({ "route": "/users/{userId}", "status": 200 }));
    let span = &requests[0]["spans"][0];
    assert_eq!(span["user_id"], json!(member.user().user_id.to_string()));
    assert_eq!(span["route"], "/users/{userId}");
    assert_eq!(requests[0]["round_trips"], 1);
    assert!(requests[0]["took"].is_number() && span["request_id"].is_string());
    assert_eq!((&requests[1]["route"], &requests[1]["status"]), (&json!("-"), &json!(404)));
}

#[tokio::test]
async fn lines_of_background_work_name_the_request_that_queued_it() {
    let course = Course::with(automatic(1, 1)).await;
    let (first, _) = course.registered().await;
    course.registered().await;
    course.world.deliver().await;
    let lines = capture();
    let answer = first.post(&format!("{}/cancel", course.path_of(&first)), json!({})).await;
    answer.expect_ok();
    course.world.deliver().await;
    let work = lines_of_work(&lines, "work", answer.header("x-request-id"));
    assert!(work.iter().all(|line| line["took"].is_number()), "{work:?}");
    let of = |kind: &str| {
        let is_of = |line: &&Value| line["spans"][0]["pk"].as_str().unwrap().starts_with(kind);
        work.iter().filter(is_of).count()
    };
    assert!(of("SEATS#") > 0, "the worker gives the free seat: {work:?}");
    assert_eq!(of("OUTBOX#"), 2, "a mail on the cancellation, one on the promotion: {work:?}");
}

#[tokio::test]
async fn swept_work_names_the_request_that_queued_it() {
    let world = World::new().await;
    let lines = capture();
    let payload = json!({ "email": "admin@example.org" });
    let answer = world.anonymous().post("/auth/passwordless", payload).await;
    world.clock().advance(Duration::from_secs(61));
    world.sweep().await;
    let id = answer.header("x-request-id");
    assert_eq!(lines_of_work(&lines, "work", id).len(), 1);
}

#[tokio::test]
async fn failed_background_work_is_logged_with_request_and_cause() {
    let world = World::new().await;
    let payload = json!({ "email": "admin@example.org" });
    let answer = world.anonymous().post("/auth/passwordless", payload).await;
    let lines = capture();
    world.inject_fault(Fault::named("ValidationException").on("GetItem"));
    world.deliver().await;
    let failed = lines_of_work(&lines, "work failed", answer.header("x-request-id"));
    assert_eq!(failed.len(), 1);
    assert!(failed[0]["failure"].as_str().unwrap().contains("ValidationException"));
}

#[tokio::test]
async fn internal_error_is_logged_once_with_its_cause() {
    let world = World::new().await;
    let lines = capture();
    world.inject_fault(Fault::named("ValidationException").on("Query"));
    let answer = world.anonymous().get("/committees").await;
    let faults: Vec<Value> =
        lines.read().into_iter().filter(|line| line["message"] == "request failed").collect();
    assert_eq!(faults.len(), 1);
    assert!(faults[0]["error"].as_str().unwrap().contains("ValidationException"));
    assert_eq!(faults[0]["spans"][0]["request_id"], answer.header("x-request-id"));
}

#[tokio::test]
async fn secrets_and_addresses_are_never_logged() {
    let world = World::new().await;
    let lines = capture();
    let payload = json!({
        "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": "clé de sol et fa", "phoneCode": "216",
        "phone": "20123456", "committeeID": world.committee(),
    });
    world.anonymous().post("/users/register", payload.clone()).await;
    let signed_in = world.anonymous().login("amel@example.org", "clé de sol et fa").await;
    let person = world.anonymous().with_token(signed_in.header("authorization"));
    person.get("/auth/check?token=query-secret").await;
    person
        .put("/users/reset-password", json!({ "oldPassword": "clé de sol et fa", "newPassword": PASSWORD, "confirmPassword": PASSWORD }))
        .await;
    let member = world.member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let credential_id = BASE64URL_NOPAD.encode(&authenticator.credential_id);
    let (options, passkey_token) = begin(&world.anonymous()).await;
    let answer = json!({ "credential": authenticator.get(&options), "token": passkey_token });
    for _ in 0..2 {
        world.anonymous().post("/auth/passkey", answer.clone()).await;
    }
    world.inject(Mode::Refuse);
    world.anonymous().post("/auth/passkey", answer.clone()).await;
    world.anonymous().login("amel@example.org", PASSWORD).await;
    person.get("/auth/check").await;
    world.anonymous().post("/users/register", payload).await;

    let text = lines.text();
    let token = signed_in.header("authorization").strip_prefix("Bearer ").unwrap().to_owned();
    let signature = token.rsplit('.').next().unwrap().to_owned();
    for secret in [
        "clé de sol",
        PASSWORD,
        "amel@example.org",
        "Trabelsi",
        "20123456",
        "query-secret",
        "argon2id",
        &token,
        &signature,
        &credential_id,
        passkey_token.as_str().unwrap(),
        options["challenge"].as_str().unwrap(),
        answer["credential"]["response"]["signature"].as_str().unwrap(),
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.lines().count() > 6);
}

#[tokio::test]
async fn codes_links_secrets_of_apps_and_texts_are_never_logged() {
    let world = World::new().await;
    let person = NewPerson::with(Profile::SuperAdmin).with_phone("216", "20123456");
    let user = world.account(person).await;
    let email = user.email.as_str();
    let lines = capture();
    let requested = world.anonymous().ask_to_sign_in(email, "email").await;
    let token = requested["token"].as_str().unwrap();
    let (code, link) = (world.mailed_code(email).await, world.mailed_link(email).await);
    let person = world.anonymous().with_token(token);
    world.inject(Mode::Refuse);
    person.get(&format!("/auth/passwordless?code={code}")).await;
    world.clear_faults();
    person.get(&format!("/auth/passwordless?code={code}")).await.expect_ok();
    world.clock().advance(Duration::from_secs(60));
    world.anonymous().ask_to_sign_in(email, "sms").await;
    let texted = world.texted_code("+21620123456").await;
    person.get(&format!("/auth/passwordless?code={texted}")).await;

    let admin = world.signed_in(user.clone()).await;
    let generated = admin.get("/otp/generate").await.json();
    let app = TotpApp::enrolled_by(&world, &admin).await;
    let step = world.anonymous().login(email, PASSWORD).await.json()["token"].clone();
    let step = world.anonymous().with_token(step.as_str().unwrap());
    let recovery = &app.recovery_codes[0];
    step.post("/otp/verify", json!({ "recoveryCode": recovery })).await.expect_created();
    let file = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    let id = uploaded_file(&admin, file, b"hallo").await;
    let url = admin.get(&format!("/files/{id}")).await.json()["file"]["url"].clone();
    let signature = url.as_str().unwrap().split("X-Amz-Signature=").nth(1).unwrap().to_owned();
    world.inject_fault_in(Service::Sns, Fault::new(Mode::Silent).times(1));
    for to in ["+21620123456", "+21620123457"] {
        let text = json!({ "to": to, "message": "rendez-vous secret" });
        admin.post("/sms/single", text).await.expect_ok();
    }
    world.deliver().await;

    let text = lines.text();
    let is_logged = |secret: &str| {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.clone().any(|word| word == secret)
    };
    let ascii = generated["otpAscii"].as_str().unwrap();
    let base32 = generated["otpBase32"].as_str().unwrap();
    let signature = signature.split('&').next().unwrap();
    for secret in [&code, &texted, &link, &app.code(&world), ascii, base32, signature] {
        assert!(!is_logged(secret), "{secret} in {text}");
    }
    for secret in ["rendez-vous", recovery, token, "20123456"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.lines().count() > 20);
}

#[tokio::test]
async fn panel_token_is_never_logged() {
    let world = World::new().await;
    let lines = capture();
    let admin = world.admin().await;
    admin.get("/cpanel/db").await.expect_ok();
    admin
        .post(
            "/cpanel/subdomain",
            json!({ "domain": "cours", "rootdomain": "formation.example.org" }),
        )
        .await;
    for fault in [
        Fault::new(Mode::Silent),
        Fault::named("status0"),
        Fault::named("html"),
        Fault::named("token"),
    ] {
        world.inject_fault_in(Service::Cpanel, fault);
        admin.get("/cpanel/domains").await;
    }
    let text = lines.text();
    assert!(!text.contains(&world.setting("CPANEL_TOKEN")), "{text}");
    assert!(text.contains("cPanel refuses user and token with status 401"), "{text}");
}

#[tokio::test]
async fn failed_sign_ins_are_counted_successful_are_not() {
    let world = World::new().await;
    let lines = capture();
    let anonymous = world.anonymous();
    anonymous.login("admin@example.org", PASSWORD).await;
    anonymous.get("/nowhere").await;
    let failures = || lines.read().iter().filter(|line| line["metric"] == "SignInFailures").count();
    assert_eq!(failures(), 0);
    anonymous.login("admin@example.org", "wrong").await;
    anonymous.get("/auth/passwordless?code=123456").await;
    anonymous.post("/otp/verify", json!({ "code": "123456" })).await;
    let mut unknown = Authenticator::es256();
    unknown.user_handle = vec![1; 16];
    unknown.sign_in(&anonymous).await;
    assert_eq!(failures(), 4);
}

#[tokio::test]
async fn errors_of_the_panel_are_counted_other_server_errors_are_not() {
    let world = World::with(&[("CPANEL_URL", "http://127.0.0.1:9")]).await;
    let admin = world.admin().await;
    let lines = capture();
    for _ in 0..3 {
        assert_eq!(admin.get("/cpanel/db").await.status, 502);
    }
    world.inject(Mode::Refuse);
    assert_eq!(admin.get("/users/activity").await.status, 503);
    let lines = lines.read();
    let counted = lines.iter().filter(|line| line["metric"] == "PanelErrors");
    assert_eq!(counted.count(), 3);
}

#[tokio::test]
async fn client_input_is_never_logged_and_errors_name_the_user() {
    let (_, member) = World::with_member().await;
    let lines = capture();
    let client = member.with("user-agent", "forged\" }").with("x-forwarded-for", "forged");
    let path = "/api/v1/users/forged%0d%0a%7B%22message%22%3A%22request%22%7D?forged=%0aforged";
    client.send(http::Method::GET, path, "".into()).await.expect_error(ErrorCode::UserNotFound);
    let answer = member.post("/committees", json!({ "nameLatin": "forged\r\n" })).await;
    answer.expect_error(ErrorCode::Forbidden);
    let all = lines.read();
    assert!(!all.iter().any(|line| line.to_string().contains("forged")), "{all:?}");
    let requests: Vec<&Value> = all
        .iter()
        .filter(|line| line["message"] == "request" && line["status"].is_number())
        .collect();
    let logged: Vec<(&Value, &Value)> =
        requests.iter().map(|line| (&line["route"], &line["status"])).collect();
    assert_eq!(
        logged,
        [(&json!("/users/{userId}"), &json!(404)), (&json!("/committees"), &json!(403))]
    );
    assert!(
        requests.iter().all(|line| line["spans"][0]["user_id"] == json!(member.user().user_id))
    );
}
