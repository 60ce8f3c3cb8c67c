//! Measures the cost of every endpoint: sequential round trips, and read and write units of DynamoDB on demand, from the
//! consumed capacity that it reports. All requests have in common a write for the rate limit and, for a signed-in
//! caller, a concurrent BatchGetItem of session, user and committee.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bytes::Bytes;
use cloud::{
    faults::{Fault, Service},
    guard::{AccessRequest, TransactionKeys},
    strict::Strictness,
};
use common::{ErrorCode, Message};
use data_encoding::BASE64;
use domain::Profile;
use http::Method;
use serde_json::{Value, json};
use tests::{
    Answer, Authenticator, Cost, Document, NewPerson, PASSWORD, Person, TotpApp, World,
    authenticator,
    policies::{self, Statement},
};

use crate::registrations::{Course, automatic};

/// The snapshot of all costs, from which the pages of costs and capacity are computed.
const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/costs.json");

/// With the environment variable `UPDATE` it writes the snapshot instead, as `cargo dev update` does.
#[expect(clippy::disallowed_methods, reason = "says that the snapshot is to be written")]
#[tokio::test]
async fn endpoint_costs_match_the_snapshot() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    // Concurrent reads of random length may look like a longer chain.
    world.cloud().set_strictness(Strictness::default());
    let costs = every_endpoint(&world).await.costs;
    for operation in Document::get().operations() {
        assert!(costs.contains_key(&operation), "{operation} was not measured");
    }
    let lines = costs.iter().filter(|(route, _)| *route != "GET /media/{key}");
    let lines = lines.map(|(route, Cost { round_trips, reads, writes, .. })| {
        format!(r#"  {route:?}: {{"roundTrips": {round_trips}, "reads": {reads:?}, "writes": {writes:?}}}"#)
    });
    let snapshot = format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(SNAPSHOT, &snapshot).unwrap();
    }
    let kept = std::fs::read_to_string(SNAPSHOT).unwrap();
    let only = |sign: char, these: &str, others: &str| -> String {
        let is_only = |line: &&str| others.lines().all(|other| other != *line);
        these.lines().filter(is_only).map(|line| format!("{sign}{line}\n")).collect()
    };
    let difference = only('-', &kept, &snapshot) + &only('+', &snapshot, &kept);
    assert!(kept == snapshot, "`cargo dev update` writes it:\n{difference}");
}

/// Calls of the API.
pub(crate) struct Calls {
    /// By route.
    costs: BTreeMap<String, Cost>,
    /// Each route with its answer, in the order of the calls.
    pub(crate) all: Vec<(String, Answer)>,
}

impl Calls {
    /// Keeps `answer`, whose cost is that of its route; returns its body.
    fn record(&mut self, route: &str, answer: &Answer) -> Value {
        assert!(answer.status < 300, "{route}: {answer:?}");
        self.costs.insert(route.to_owned(), answer.cost);
        self.all.push((route.to_owned(), answer.clone()));
        answer.json()
    }
}

/// Calls every endpoint. An operation costs what its example costs, unless the example fails or is not typical.
pub(crate) async fn every_endpoint(world: &World) -> Calls {
    let answers = crate::seed::answers_to_examples(world).await.into_iter();
    let all: Vec<_> = answers.filter(|(_, answer)| answer.status < 300).collect();
    let costs = all.iter().map(|(route, answer)| (route.clone(), answer.cost)).collect();
    let mut calls = Calls { costs, all };
    let anonymous = with_open_window(world.anonymous()).await;
    calls.costs.insert("GET /nowhere".to_owned(), anonymous.get("/nowhere").await.cost);
    // First, because links are signed by the clock, which later ones advance.
    registrations(world, &mut calls).await;
    sign_in(world, &anonymous, &mut calls).await;
    people(world, &mut calls).await;
    one_time_passwords(world, &mut calls).await;
    passkeys(world, &anonymous, &mut calls).await;
    courses(world, &mut calls).await;
    sms(world, &mut calls).await;
    calls
}

/// The file of an answer, and what a person on a waiting list does.
async fn registrations(world: &World, calls: &mut Calls) {
    let settings = crate::registrations::automatic(1, 5);
    let course = crate::registrations::Course::in_world(world.clone(), settings).await;
    let question = json!({ "language": "FR", "question": "Diplôme ?", "questionType": "FILE" });
    let question = course.ask(question).await;
    let member = with_open_window(world.member().await).await;
    let payload = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    let file = crate::files::uploaded_file(&member, payload, b"hallo").await;
    let body = json!({ "answers": { &question: file } });
    // The person of the example is registered already.
    calls.record("POST /registrations/{courseId}", &member.post(&course.path(""), body).await);
    let path = format!("{}/files/{question}", course.path_of(&member));
    let route = "GET /registrations/{courseId}/{userId}/files/{questionId}";
    let shown = calls.record(route, &member.get(&path).await);
    let url = shown["file"]["url"].as_str().unwrap();
    let export = course.trainer.post(&course.path("/export"), json!({})).await.expect_created();
    for url in [url, export["export"]["url"].as_str().unwrap()] {
        let (status, _, body) = crate::files::fetch(url).await;
        assert_eq!(status, 200, "{body:?}");
    }
    let waiting = course.registered().await.0;
    let cancel = format!("{}/cancel", course.path_of(&waiting));
    waiting.post(&cancel, json!({})).await.expect_ok();
    let with_answers = course.trainer.get(&course.path("?include=answers")).await;
    calls.record("GET /registrations/{courseId}?include=answers", &with_answers);
}

/// Permissions that are never used: without `s3:ListBucket`, S3 answers 403 instead of 404 for a missing object.
/// Some keys that the worker writes are those of tests of their own: erasures, promotions and stops of mails; that of the hook
/// of deployments is seen in `tests/template`.
const UNCALLED_PERMISSIONS: [(&str, &str, &str); 14] = [
    ("files", "s3:ListBucket", ""),
    ("pretraffic", "dynamodb:UpdateItem", "transient"),
    ("pretraffic", "dynamodb:LeadingKeys", "RELEASE#*"),
    ("worker", "s3:ListBucket", ""),
    ("worker", "dynamodb:LeadingKeys", "ATTENDANCE#*"),
    ("worker", "dynamodb:LeadingKeys", "AUDIT#*"),
    ("worker", "dynamodb:LeadingKeys", "BATCH#*"),
    ("worker", "dynamodb:LeadingKeys", "CERTIFICATE#*"),
    ("worker", "dynamodb:LeadingKeys", "COMMITTEE#*"),
    ("worker", "dynamodb:LeadingKeys", "EMAIL#*"),
    ("worker", "dynamodb:LeadingKeys", "PASSKEY#*"),
    ("worker", "dynamodb:LeadingKeys", "PERSON-AUDIT#*"),
    ("worker", "dynamodb:LeadingKeys", "REGISTRATION#*"),
    ("worker", "dynamodb:LeadingKeys", "SECRET#*"),
];

#[tokio::test]
async fn role_permissions_are_all_used_and_never_exceeded() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    every_endpoint(&world).await;
    remaining_calls(&world).await;
    world.deliver().await;
    world.clock().advance(Duration::from_secs(2 * 3_600));
    world.sweep().await;
    let guard = world.cloud().guard();
    for meaning in TransactionKeys::ALL {
        let asked = guard.asked(meaning);
        let denied: Vec<&AccessRequest> =
            asked.iter().filter(|ask| !policies::allow(ask)).collect();
        assert!(denied.is_empty(), "{meaning:?}: no role allows {denied:#?}");
    }
    let asked = guard.asked(TransactionKeys::OfPart);
    let mut idle = Vec::new();
    let roles = policies::policies().iter();
    for (function, statements) in roles.filter(|(role, _)| policies::is_function(role)) {
        let is_its = |ask: &&AccessRequest| {
            ask.role == *function || (ask.role == "edge" && policies::has_routes(function))
        };
        for statement in statements.iter().filter(|statement| statement.is_allow) {
            let covered: Vec<&AccessRequest> =
                asked.iter().filter(is_its).filter(|ask| statement.covers(ask)).collect();
            for (action, resource) in statement.pairs() {
                let is_used = |ask: &&AccessRequest| {
                    ask.action == action && policies::fits(resource, &ask.resource)
                };
                if !covered.iter().any(is_used) {
                    idle.push((function.as_str(), action, resource));
                }
            }
        }
        let statements = || statements.iter().filter(|statement| statement.is_allow);
        let patterns: BTreeSet<&str> = statements().flat_map(Statement::keys).collect();
        for pattern in patterns {
            let uses = |ask: &AccessRequest| {
                let keys = ask.context.get("dynamodb:LeadingKeys").into_iter().flatten();
                keys.into_iter().any(|key| policies::fits(pattern, key))
            };
            let writes = |ask: &&AccessRequest| {
                let mut those = statements().filter(|one| !one.keys().is_empty());
                uses(ask) && those.any(|statement| statement.covers(ask))
            };
            if !asked.iter().filter(is_its).any(|ask| writes(&ask)) {
                idle.push((function.as_str(), "dynamodb:LeadingKeys", pattern));
            }
        }
    }
    assert_eq!(idle, UNCALLED_PERMISSIONS, "these permissions are never used");
}

/// Calls that use the permissions which [`every_endpoint`] does not.
async fn remaining_calls(world: &World) {
    let (admin, member, trainer) =
        (world.admin().await, world.member().await, world.person(Profile::Trainer).await);
    world.clock().advance(Duration::from_secs(301));
    member.get("/auth/current-user").await.expect_ok();
    // a session that has ended is read again before it is believed
    let left = world.signed_in(member.user().clone()).await;
    left.post("/auth/logout", json!({})).await;
    assert_eq!(left.get("/auth/current-user").await.status, 401);
    trainer.get("/courses/committee").await.expect_ok();
    world.anonymous().get("/certificates/x").await.expect_error(ErrorCode::CertificateNotFound);
    // the first code of an account also removes the password, and makes a super admin one of the active ones
    let unverified = world.account(&NewPerson::with(Profile::SuperAdmin).unverified()).await;
    let email = unverified.email.as_str();
    world.anonymous().ask_to_sign_in(email, "email").await;
    let path = format!("/auth/passwordless?code={}", world.mailed_link(email).await);
    world.anonymous().get(&path).await.expect_success(Message::LoginSuccess);

    let one_point = BASE64.decode(b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==");
    for picture in
        [include_bytes!("../../functions/files/src/default.png").to_vec(), one_point.unwrap()]
    {
        crate::users::avatar::send(&member, "image/png", picture).await.expect_ok();
    }
    let avatar = world.user(member.user().user_id).await.avatar.clone();
    assert_eq!(
        world.anonymous().send(Method::GET, avatar.as_str(), Bytes::new()).await.status,
        200
    );

    let payload = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    crate::files::uploaded_file(&member, payload.clone(), b"hallo").await;
    // a file that is never uploaded, and one that the sweep completes
    let never = member.post("/files", payload.clone()).await;
    let never = never.expect_success(Message::FileCreated)["file"]["fileID"].clone();
    let path = format!("/files/{}/complete", never.as_str().unwrap());
    let complete = member.post(&path, json!({})).await;
    complete.expect_error(ErrorCode::FileNotUploaded);
    crate::files::uploaded_only(&member, payload, b"hallo").await;

    // a mail that names a place on a waiting list
    Course::in_world(world.clone(), automatic(0, 1)).await.registered().await;

    // an export that is too large for a response
    let long = json!({ "courseTitle": "Soudure", "description": "🔥".repeat(20_000) });
    for _ in 0..52 {
        trainer.post("/courses", long.clone()).await.expect_success(Message::CourseCreated);
    }
    let path = format!("/users/{}/export", trainer.user().user_id);
    let export = trainer.get(&path).await.expect_ok()["export"].clone();
    let (status, ..) = crate::files::fetch(export["url"].as_str().unwrap()).await;
    assert_eq!(status, 200);

    let single = json!({ "to": "+21620123456", "message": "Bonjour" });
    admin.with("idempotency-key", "once").post("/sms/single", single).await.expect_ok();

    let again = admin.with("idempotency-key", "once");
    let course = json!({ "courseTitle": "Soudure" });
    again.post("/courses", course).await.expect_created();
    let file = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    again.post("/files", file).await.expect_created();
    let anonymous = world.anonymous().with("idempotency-key", "once");
    let registration = world.registration("leila@example.org");
    anonymous.post("/users/register", registration).await.expect_created();
    let committee = json!({
        "nameArabe": "الهيئة الجهوية بقابس", "nameLatin": "Comité de Gabès", "type": "REGIONAL",
        "dateOfEst": "1987-04-12", "region": "Gabès", "city": "Gabès", "postalCode": 6000,
        "primaryEmail": "gabes@example.org", "primaryPhone": "+21675000101",
    });
    again.post("/committees", committee).await.expect_created();
    let public = json!({
        "name": "a.pdf", "contentType": "application/pdf", "size": 5, "visibility": "public",
    });
    let public = crate::files::uploaded_file(&member, public, b"hallo").await;
    admin.delete(&format!("/files/{public}")).await.expect_ok();
    let other = world.member().await.user().user_id;
    admin.change_member(other, json!({ "profile": "SA" })).await;
    for is_active in [false, true] {
        admin.set_active(other, is_active).await;
    }

    world.inject_fault_in(Service::Cpanel, Fault::named("token"));
    admin.get("/cpanel/domains").await.expect_error(ErrorCode::CpanelAuth);
    world.clear_faults();

    let elsewhere = world.another_committee("Sfax", true).await;
    let change = json!({ "committeeID": elsewhere, "email": "ailleurs@example.org" });
    admin.change_member(member.user().user_id, change).await;
}

/// `person` with an open rate limit window, in which the measured requests count.
async fn with_open_window(person: Person) -> Person {
    person.get("/nowhere").await;
    person
}

/// Their examples lack a code that was sent.
async fn sign_in(world: &World, anonymous: &Person, calls: &mut Calls) {
    let payload = world.registration("amel@example.org");
    anonymous.post("/users/register", payload).await.expect_created();
    let mails = world.mails("amel@example.org").await;
    let code = mails[0]["text"].as_str().unwrap().split("/not-me#code=").nth(1).unwrap();
    let code: String = code.chars().take_while(char::is_ascii_alphabetic).collect();
    let proof = json!({ "email": "amel@example.org", "code": code });
    calls.record("POST /users/not-me", &anonymous.post("/users/not-me", proof).await);

    let someone = NewPerson::with(Profile::Member).with_phone("216", "20123456");
    let user = world.account(&someone).await;
    let email = user.email.to_string();
    let requested = anonymous.ask_to_sign_in(&email, "email").await;
    let path = format!("/auth/passwordless?code={}", world.mailed_code(&email).await);
    let caller = anonymous.with_token(requested["token"].as_str().unwrap());
    calls.record("GET /auth/passwordless", &caller.get(&path).await);

    anonymous.ask_to_reset(&email, "email").await;
    let code = world.mailed_code(&email).await;
    let payload = json!({ "email": email, "code": code, "newPassword": "cinq cigognes au nord", "confirmPassword": "cinq cigognes au nord" });
    calls.record(
        "POST /users/reset-password",
        &anonymous.post("/users/reset-password", payload).await,
    );

    let member = with_open_window(world.signed_in(world.user(user.user_id).await).await).await;
    member.post("/users/email-verification", json!({})).await.expect_ok();
    let verified = member.verify_email(&email, &world.mailed_code(&email).await).await;
    calls.record("PUT /users/email-verification", &verified);
    member.post("/users/phone-verification", json!({})).await.expect_ok();
    let payload = json!({ "code": world.texted_code("+21620123456").await });
    let verified = member.put("/users/phone-verification", payload).await;
    calls.record("PUT /users/phone-verification", &verified);
}

/// The examples contain no picture, change address and password, erase another person, change nothing, and select the
/// entries of one person.
async fn people(world: &World, calls: &mut Calls) {
    let admin = with_open_window(world.admin().await).await;
    let member = with_open_window(world.member().await).await;
    let picture = include_bytes!("../../functions/files/src/default.png").to_vec();
    let sent = crate::users::avatar::send(&member, "image/png", picture).await;
    calls.record("POST /users/avatar", &sent);
    let path = format!("/users/{}", member.user().user_id);
    calls.record("PUT /users/{userId}", &member.put(&path, json!({ "name": "Leïla" })).await);
    let erased = member.delete_with(&path, json!({ "password": PASSWORD })).await;
    calls.record("DELETE /users/{userId}", &erased);
    let other = world.account(Profile::Member).await;
    let path = format!("/users/user-status/{}", other.user_id);
    let closed = admin.put(&path, json!({ "isActive": false })).await;
    calls.record("PUT /users/user-status/{userId}", &closed);
    // Entries are in a shard by chance: of few, none has more than the 4 KB of half a read unit.
    calls.record("GET /audit", &admin.get("/audit?limit=3").await);
    // The example is the first request to cPanel, which verifies the token.
    calls.record("GET /cpanel/db", &admin.get("/cpanel/db").await);
}

/// The examples lack a code of an app; the one of `/team` resets nothing.
async fn one_time_passwords(world: &World, calls: &mut Calls) {
    let member = with_open_window(world.member().await).await;
    let totp_app = TotpApp::enrolled_by(world, &member).await;
    let next_code = || {
        world.clock().advance(Duration::from_secs(30));
        totp_app.code(world)
    };
    let code = next_code();
    let begun = world.anonymous().login(member.user().email.as_str(), PASSWORD).await;
    let begun = begun.expect_success(Message::OtpRequired);
    let caller = world.anonymous().with_token(begun["token"].as_str().unwrap());
    let caller = with_open_window(caller).await;
    calls.record("POST /otp/verify", &caller.post("/otp/verify", json!({ "code": code })).await);
    let user = world.user(member.user().user_id).await;
    let code = next_code();
    let member = with_open_window(world.signed_in(user).await).await;
    let renewed = member.post("/otp/recovery-codes", json!({ "code": code })).await;
    calls.record("POST /otp/recovery-codes", &renewed);
    let code = next_code();
    let member = with_open_window(member).await;
    let disabled = member.delete_with("/otp", json!({ "password": PASSWORD, "code": code })).await;
    calls.record("DELETE /otp", &disabled);

    let other = world.member().await;
    TotpApp::enrolled_by(world, &other).await;
    let admin = with_open_window(world.admin().await).await;
    let reset = admin.delete(&format!("/team/{}/otp", other.user().user_id)).await;
    calls.record("DELETE /team/{userId}/otp", &reset);
}

/// The examples lack the answer of an authenticator.
async fn passkeys(world: &World, anonymous: &Person, calls: &mut Calls) {
    let member = with_open_window(world.member().await).await;
    let options = member.post("/passkeys/registration-options", json!({})).await.expect_ok();
    let mut authenticator = Authenticator::es256();
    let payload = json!({ "credential": authenticator.create(&options["options"]) });
    calls.record("POST /passkeys", &member.post("/passkeys", payload).await);
    let anonymous = with_open_window(anonymous.clone()).await;
    let (options, token) = authenticator::begin(&anonymous).await;
    let payload = json!({ "credential": authenticator.get(&options), "token": token });
    calls.record("POST /auth/passkey", &anonymous.post("/auth/passkey", payload).await);
}

/// A page of twenty courses of usual length, and changes of one course; those of the examples are short. The costs do
/// not depend on the number of courses: `cargo bench-scale`.
async fn courses(world: &World, calls: &mut Calls) {
    let admin = NewPerson::with(Profile::CommitteeAdmin);
    let admin = with_open_window(world.person(admin).await).await;
    let payload = json!({
        "courseTitle": "Sécurité électrique dans les ateliers", "courseSubTitle": "Habilitation niveau 1",
        "description": "Tout ce qu’il faut savoir, en trois jours. ".repeat(14), "courseType": "ONSITE", "sectionOfMatter": "Énergie",
        "region": "Sfax", "city": "Sfax", "location": "Centre de formation, salle 3", "contactEmail": "cours@example.org", "price": 250,
        "startAt": "2027-01-10", "endAt": "2027-01-12",
    });
    let mut path = String::new();
    for _ in 0..21 {
        let created = calls.record("POST /courses", &admin.post("/courses", payload.clone()).await);
        path = format!("/courses/{}", created["course"]["courseID"].as_str().unwrap());
        let published = admin.post(&format!("{path}/publish"), json!({})).await;
        published.expect_success(Message::CoursePublished);
    }
    world.deliver().await;
    for (route, target) in [
        ("GET /courses/committee", "/courses/committee?state=PUBLISHED"),
        ("GET /courses/search-all", "/courses/search-all"),
        (
            "GET /courses/search-all?include=availability",
            "/courses/search-all?include=availability",
        ),
        (
            "GET /courses/committee?include=availability",
            "/courses/committee?state=PUBLISHED&include=availability",
        ),
        ("GET /catalogue", "/catalogue?limit=20"),
        ("GET /catalogue?city=", "/catalogue?city=tunis"),
        ("GET /catalogue?q=&order=newest", "/catalogue?q=securite+ateliers&order=newest"),
        ("GET /catalogue/{courseId}", &path.replace("/courses/", "/catalogue/")),
        ("GET /courses/search-all?q=", "/courses/search-all?q=securite+ateliers"),
        (
            "GET /courses/search-all?q=&include=availability",
            "/courses/search-all?q=securite+ateliers&include=availability",
        ),
    ] {
        calls.record(route, &admin.get(target).await);
    }
    for list in ["search-all", "committee"] {
        let cost = calls.costs[&format!("GET /courses/{list}?include=availability")];
        assert!(cost.round_trips <= 3, "one call shows a page of courses: {list}, {cost:?}");
    }
    for action in ["to-draft", "publish"] {
        let answer = admin.get(&format!("{path}/{action}")).await;
        calls.record(&format!("GET /courses/{{courseId}}/{action}"), &answer);
    }
    for action in ["to-draft", "publish"] {
        let answer = admin.post(&format!("{path}/{action}"), json!({})).await;
        calls.record(&format!("POST /courses/{{courseId}}/{action}"), &answer);
    }
    calls.record("PUT /courses/{courseId}", &admin.put(&path, payload).await);
    let question = json!({ "language": "FR", "question": "Pourquoi ce cours ?", "questionType": "LONG_REPLY" });
    let questions = path.replace("/courses/", "/courses/questions/");
    let ten = json!({ "questions": vec![question.clone(); 10] });
    let added =
        calls.record("POST /courses/questions/{courseId}", &admin.post(&questions, ten).await);
    calls.record("GET /courses/{courseId}", &admin.get(&path).await);
    let one = format!("{questions}/{}", added["questions"][0]["questionID"].as_str().unwrap());
    let route = "/courses/questions/{courseId}/{questionId}";
    calls.record(&format!("PUT {route}"), &admin.put(&one, question).await);
    calls.record(&format!("DELETE {route}"), &admin.delete(&one).await);
    calls.record("DELETE /courses/{courseId}", &admin.delete(&path).await);
}

/// A hundred recipients and a page of messages. The examples of the lists name a committee, as super admins do; the one
/// of an opted-out number changes nothing.
async fn sms(world: &World, calls: &mut Calls) {
    let admin = with_open_window(world.admin().await).await;
    // Before the messages, whose random ids decide how many stand in each shard.
    calls.record("GET /sms?scope=committee", &admin.get("/sms?scope=committee").await);
    let recipients: Vec<String> = (0..100).map(|number| format!("+216201{number:05}")).collect();
    let payload = json!({ "recipients": recipients, "message": "Bonjour" });
    let sent = calls.record("POST /sms/bulk", &admin.post("/sms/bulk", payload).await);
    world.deliver().await;
    let batch = format!("/sms/bulk/{}", sent["batch"]["batchID"].as_str().unwrap());
    for (route, target) in [("GET /sms", "/sms"), ("GET /sms/bulk/{batchId}", &batch)] {
        calls.record(route, &admin.get(target).await);
    }
    let opted_out = admin.put("/sms/opt-outs/+21620999999", json!({})).await;
    calls.record("PUT /sms/opt-outs/{number}", &opted_out);
}
