//! Measures the cost of every endpoint: sequential round trips, and read and write units of DynamoDB on demand, from the
//! consumed capacity that it reports. All requests have in common a write for the rate limit and, for a signed-in
//! caller, a concurrent BatchGetItem of session, user and committee.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use bytes::Bytes;
use cloud::guard::AccessRequest;
use common::{ErrorCode, Message};
use data_encoding::BASE64;
use domain::Profile;
use http::Method;
use serde_json::json;
use store::Cost;
use tests::{Authenticator, Document, NewPerson, PASSWORD, Person, TotpApp, World, policies};

/// The snapshot of all costs, from which the pages of costs and capacity are computed.
const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/costs.json");

/// `cost` as a line of the snapshot.
fn row(route: &str, cost: Cost) -> (String, String) {
    let Cost { round_trips, reads, writes, .. } = cost;
    let row =
        format!(r#"{{"roundTrips": {round_trips}, "reads": {reads:?}, "writes": {writes:?}}}"#);
    (route.to_owned(), row)
}

/// With the environment variable `UPDATE` it writes the snapshot instead, as `cargo dev update` does. What is not
/// measured here costs what the example of the operation costs.
#[expect(clippy::disallowed_methods, reason = "says that the snapshot is to be written")]
#[tokio::test]
async fn endpoint_costs_match_the_snapshot() {
    let measured = every_endpoint(&World::new().await).await;
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    let answers = crate::seed::answers_to_examples(&world).await;
    let answers = answers.into_iter().filter(|(_, answer)| answer.status < 300);
    let mut costs: BTreeMap<String, String> =
        answers.map(|(operation, answer)| row(&operation, answer.cost)).collect();
    costs.extend(measured);
    costs.remove("GET /media/{key}");
    let lines: Vec<String> =
        costs.iter().map(|(route, row)| format!("  {route:?}: {row}")).collect();
    let snapshot = format!("{{\n{}\n}}\n", lines.join(",\n"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(SNAPSHOT, &snapshot).unwrap();
    }
    let kept = std::fs::read_to_string(SNAPSHOT).unwrap();
    assert_eq!(kept, snapshot, "`cargo dev update` writes it");
    let costs: BTreeSet<&String> = costs.keys().collect();
    for operation in
        Document::get().operations().iter().filter(|one| !one.ends_with("/media/{key}"))
    {
        assert!(costs.contains(operation), "{operation} was not measured");
    }
}

/// Calls every endpoint; returns the measured lines of the snapshot.
async fn every_endpoint(world: &World) -> Vec<(String, String)> {
    let (admin, member, anonymous) = (world.admin().await, world.member().await, world.anonymous());
    let other = world.account(&NewPerson::with(Profile::Member)).await;
    let mut measured = Vec::new();
    let mut record = |route: &str, cost: Cost| measured.push(row(route, cost));
    // The first request opens the rate limit window; the measured ones count in it.
    for person in [&admin, &member, &anonymous] {
        person.get("/nowhere").await;
    }
    record("GET /health", anonymous.get("/health").await.cost);
    record("GET /nowhere", anonymous.get("/nowhere").await.cost);
    record("POST /auth/login", world.anonymous().login(other.email.as_str(), PASSWORD).await.cost);
    record("GET /auth/check", member.get("/auth/check").await.cost);
    record("GET /auth/current-user", member.get("/auth/current-user").await.cost);
    record("GET /auth/sessions", member.get("/auth/sessions").await.cost);
    record("GET /users/{userId}", member.get(&format!("/users/{}", other.user_id)).await.cost);

    let payload = json!({ "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": "clé de sol et fa", "committeeID": world.committee() });
    let registered = world.anonymous().post("/users/register", payload).await;
    registered.expect_success(Message::UserRegistered);
    record("POST /users/register", registered.cost);
    let mails = world.mails("amel@example.org").await;
    let text = mails[0]["text"].as_str().unwrap();
    let code = text.split("/not-me#code=").nth(1).unwrap();
    let code: String = code.chars().take_while(char::is_ascii_alphabetic).collect();
    let proof = json!({ "email": "amel@example.org", "code": code });
    let removed = world.anonymous().post("/users/not-me", proof).await;
    removed.expect_success(Message::AccountRemoved);
    record("POST /users/not-me", removed.cost);

    record("GET /committees", anonymous.get("/committees").await.cost);
    record(
        "GET /committees/{committeeId}",
        anonymous.get(&format!("/committees/{}", world.committee())).await.cost,
    );
    let committee = json!({
        "nameArabe": "أ", "nameLatin": "Ariana", "type": "X", "dateOfEst": "2000-01-01", "region": "A", "city": "A",
        "postalCode": 1, "primaryEmail": "a@example.org", "primaryPhone": "+21671123456",
    });
    let created = admin.post("/committees", committee).await;
    record("POST /committees", created.cost);
    let path =
        format!("/committees/{}", created.json()["committee"]["committeeID"].as_str().unwrap());
    record(
        "PUT /committees/{committeeId}",
        admin.put(&path, json!({ "nameLatin": "Bizerte" })).await.cost,
    );

    let again = world.signed_in(member.user().clone()).await;
    let sid = again.get("/auth/sessions").await.expect_ok()["sessions"][0]["sid"]
        .as_str()
        .unwrap()
        .to_owned();
    record(
        "DELETE /auth/sessions/{sid}",
        member.delete(&format!("/auth/sessions/{sid}")).await.cost,
    );
    let change = json!({ "oldPassword": PASSWORD, "newPassword": "quatre figuiers sous la pluie", "confirmPassword": "quatre figuiers sous la pluie" });
    record("PUT /users/reset-password", member.put("/users/reset-password", change).await.cost);
    record("POST /auth/logout", member.post("/auth/logout", json!({})).await.cost);

    people(world, &admin, &mut record).await;
    sign_in(world, &mut record).await;
    one_time_passwords(world, &admin, &mut record).await;
    passkeys(world, &mut record).await;
    courses(world, &mut record).await;
    files(world, &mut record).await;
    sms(world, &mut record).await;
    cpanel(world, &admin, &mut record).await;
    measured
}

/// Permissions that are never used: without `s3:ListBucket`, S3 answers 403 instead of 404 for a missing object.
const UNCALLED_PERMISSIONS: [(&str, &str, &str); 2] =
    [("files", "s3:ListBucket", ""), ("worker", "s3:ListBucket", "")];

#[tokio::test]
async fn role_permissions_are_all_used_and_never_exceeded() {
    let world = World::new().await;
    every_endpoint(&world).await;
    remaining_calls(&world).await;
    world.deliver().await;
    world.clock().advance(Duration::from_secs(2 * 3_600));
    world.sweep().await;
    let access_requests = world.cloud().guard().asked();
    let denied: Vec<&AccessRequest> =
        access_requests.iter().filter(|ask| !policies::allow(ask)).collect();
    assert!(denied.is_empty(), "no role allows {denied:#?}");
    let mut idle = Vec::new();
    for (function, rights) in policies::rights() {
        let is_its = |ask: &AccessRequest| {
            ask.role == *function || (ask.role == "edge" && policies::has_routes(function))
        };
        for right in rights
            .iter()
            .filter(|right| !access_requests.iter().any(|ask| is_its(ask) && right.covers(ask)))
        {
            idle.push((function.as_str(), right.action.as_str(), right.resource.as_str()));
        }
    }
    assert_eq!(idle, UNCALLED_PERMISSIONS, "these permissions are never used");
}

/// Calls that use the permissions which [`every_endpoint`] does not.
async fn remaining_calls(world: &World) {
    let (admin, member, trainer) = (
        world.admin().await,
        world.member().await,
        world.person(NewPerson::with(Profile::Trainer)).await,
    );
    world.clock().advance(Duration::from_secs(301));
    member.get("/auth/current-user").await.expect_ok();
    // a session that has ended is read again before it is believed
    let left = world.signed_in(member.user().clone()).await;
    left.post("/auth/logout", json!({})).await;
    assert_eq!(left.get("/auth/current-user").await.status, 401);
    trainer.get("/courses/committee").await.expect_ok();

    let one_point = BASE64.decode(b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==");
    for picture in
        [include_bytes!("../../functions/files/src/default.png").to_vec(), one_point.unwrap()]
    {
        let sent = member
            .with("content-type", "image/png")
            .send(Method::POST, "/api/v1/users/avatar", picture.into())
            .await;
        sent.expect_success(Message::AvatarUpdated);
    }
    let avatar = world.user(member.user().user_id).await.avatar;
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
    admin
        .with("idempotency-key", "once")
        .post("/sms/single", single)
        .await
        .expect_success(Message::SmsAccepted);

    // the next sweep rebuilds the search index, whose version is unknown
    let version = Client::new(world.setup().aws.sdk())
        .delete_item()
        .table_name("records")
        .key("pk", AttributeValue::S("SEARCH".to_owned()))
        .key("sk", AttributeValue::S("SEARCH".to_owned()));
    version.send().await.unwrap();

    let elsewhere = world.another_committee("Sfax", true).await;
    let path = format!("/team/{}", member.user().user_id);
    admin
        .put(&path, json!({ "committeeID": elsewhere, "email": "ailleurs@example.org" }))
        .await
        .expect_success(Message::TeamMemberUpdated);
}

type Record<'a> = &'a mut dyn FnMut(&str, Cost);

/// `person` with an open rate limit window, in which the measured requests count.
async fn with_open_window(person: Person) -> Person {
    person.get("/nowhere").await;
    person
}

async fn people(world: &World, admin: &Person, record: Record<'_>) {
    let member = with_open_window(world.member().await).await;
    let other = world.account(&NewPerson::with(Profile::Member)).await;
    record("GET /users/activity", member.get("/users/activity").await.cost);
    record("GET /users/my-committee-users", member.get("/users/my-committee-users").await.cost);
    let own = format!("/users/{}", member.user().user_id);
    record("GET /users/{userId}/export", member.get(&format!("{own}/export")).await.cost);
    record("PUT /users/{userId}", member.put(&own, json!({ "name": "Leïla" })).await.cost);
    let picture = include_bytes!("../../functions/files/src/default.png");
    let sent = member
        .with("content-type", "image/png")
        .send(Method::POST, "/api/v1/users/avatar", picture.as_slice().into())
        .await;
    record("POST /users/avatar", sent.cost);
    let path = format!("/users/user-status/{}", other.user_id);
    record(
        "PUT /users/user-status/{userId}",
        admin.put(&path, json!({ "isActive": false })).await.cost,
    );
    record(
        "PUT /team/{userId}",
        admin.put(&format!("/team/{}", other.user_id), json!({ "role": "Trésorier" })).await.cost,
    );
    record("GET /audit", admin.get("/audit").await.cost);
    let erased = member
        .json()
        .send(
            Method::DELETE,
            &format!("/api/v1{own}"),
            json!({ "password": PASSWORD }).to_string().into(),
        )
        .await;
    erased.expect_success(Message::UserDeleted);
    record("DELETE /users/{userId}", erased.cost);
}

async fn sign_in(world: &World, record: Record<'_>) {
    let someone = NewPerson::with(Profile::Member).with_phone("216", "20123456");
    let user = world.account(&someone).await;
    let email = user.email.to_string();
    let anonymous = with_open_window(world.anonymous()).await;
    let requested = anonymous.post("/auth/passwordless", json!({ "email": email })).await;
    record("POST /auth/passwordless", requested.cost);
    let code = world.mailed_code(&email).await;
    let caller =
        with_open_window(world.anonymous().with_token(requested.json()["token"].as_str().unwrap()))
            .await;
    let completed = caller.get(&format!("/auth/passwordless?code={code}")).await;
    completed.expect_success(Message::LoginSuccess);
    record("GET /auth/passwordless", completed.cost);
    // Not measured: the first code of an account also removes the password.
    let unverified = NewPerson::with(Profile::Member).unverified();
    let other = world.account(&unverified).await.email.to_string();
    anonymous.post("/auth/passwordless", json!({ "email": other })).await;
    let path = format!("/auth/passwordless?code={}", world.mailed_link(&other).await);
    world.anonymous().get(&path).await.expect_success(Message::LoginSuccess);
    record(
        "GET /users/reset-password",
        anonymous.get(&format!("/users/reset-password?sendMethode=email&email={email}")).await.cost,
    );
    let code = world.mailed_code(&email).await;
    let payload = json!({ "email": email, "code": code, "newPassword": "cinq cigognes au nord", "confirmPassword": "cinq cigognes au nord" });
    let reset = anonymous.post("/users/reset-password", payload).await;
    reset.expect_success(Message::PasswordChanged);
    record("POST /users/reset-password", reset.cost);

    let member = with_open_window(world.signed_in(world.user(user.user_id).await).await).await;
    record(
        "POST /users/email-verification",
        member.post("/users/email-verification", json!({})).await.cost,
    );
    let code = world.mailed_code(&email).await;
    let verified =
        anonymous.put("/users/email-verification", json!({ "email": email, "code": code })).await;
    verified.expect_success(Message::EmailVerified);
    record("PUT /users/email-verification", verified.cost);
    record(
        "POST /users/phone-verification",
        member.post("/users/phone-verification", json!({})).await.cost,
    );
    let code = world.texted_code("+21620123456").await;
    let verified = member.put("/users/phone-verification", json!({ "code": code })).await;
    verified.expect_success(Message::PhoneVerified);
    record("PUT /users/phone-verification", verified.cost);
}

async fn one_time_passwords(world: &World, admin: &Person, record: Record<'_>) {
    let member = with_open_window(world.member().await).await;
    record("GET /otp/generate", member.get("/otp/generate").await.cost);
    let totp_app = TotpApp::enrolled_by(world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    let email = member.user().email.as_str();
    let step = world.anonymous().login(email, PASSWORD).await.expect_success(Message::OtpRequired)
        ["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let caller = with_open_window(world.anonymous().with_token(&step)).await;
    let completed = caller.post("/otp/verify", json!({ "code": totp_app.code(world) })).await;
    completed.expect_success(Message::OtpVerified);
    record("POST /otp/verify", completed.cost);
    world.clock().advance(Duration::from_secs(30));
    let member =
        with_open_window(world.signed_in(world.user(member.user().user_id).await).await).await;
    let renewed = member.post("/otp/recovery-codes", json!({ "code": totp_app.code(world) })).await;
    renewed.expect_success(Message::RecoveryCodes);
    record("POST /otp/recovery-codes", renewed.cost);
    world.clock().advance(Duration::from_secs(30));
    let payload = json!({ "password": PASSWORD, "code": totp_app.code(world) }).to_string();
    let disabled = with_open_window(member)
        .await
        .json()
        .send(Method::DELETE, "/api/v1/otp", payload.into())
        .await;
    disabled.expect_success(Message::OtpDisabled);
    record("DELETE /otp", disabled.cost);

    let other = world.member().await;
    TotpApp::enrolled_by(world, &other).await;
    let admin = with_open_window(admin.clone()).await;
    let reset = admin.delete(&format!("/team/{}/otp", other.user().user_id)).await;
    reset.expect_success(Message::OtpReset);
    record("DELETE /team/{userId}/otp", reset.cost);
}

async fn passkeys(world: &World, record: Record<'_>) {
    let member = with_open_window(world.member().await).await;
    let path = "/passkeys/registration-options";
    let options = member.post(path, json!({})).await;
    record("POST /passkeys/registration-options", options.cost);
    let mut authenticator = Authenticator::es256();
    let credential = authenticator.create(&options.expect_ok()["options"]);
    let created = member.post("/passkeys", json!({ "credential": credential })).await;
    record("POST /passkeys", created.cost);
    let created = created.expect_success(Message::PasskeyCreated);
    record("GET /passkeys", member.get("/passkeys").await.cost);
    let caller = with_open_window(world.anonymous()).await;
    let options = caller.post("/auth/passkey/options", json!({})).await;
    record("POST /auth/passkey/options", options.cost);
    let options = options.expect_ok();
    let credential = authenticator.get(&options["options"]);
    let payload = json!({ "credential": credential, "token": options["token"] });
    let signed_in = caller.post("/auth/passkey", payload).await;
    signed_in.expect_success(Message::LoginSuccess);
    record("POST /auth/passkey", signed_in.cost);
    let id = created["passkey"]["passkeyID"].as_str().unwrap();
    let path = format!("/passkeys/{id}");
    let renamed = member.put(&path, json!({ "name": "Clé USB" })).await;
    renamed.expect_success(Message::PasskeyUpdated);
    record("PUT /passkeys/{passkeyId}", renamed.cost);
    let deleted = member.delete(&path).await;
    deleted.expect_success(Message::PasskeyDeleted);
    record("DELETE /passkeys/{passkeyId}", deleted.cost);
}

#[tokio::test]
async fn authenticated_read_needs_one_round_trip() {
    let world = World::new().await;
    let member = world.member().await;
    member.get("/auth/check").await;
    let cost = member.get("/auth/current-user").await.cost;
    assert_eq!(
        (cost.round_trips, cost.requests),
        (1, 2),
        "the rate limit; in parallel session, user and committee"
    );
}

/// A page of twenty courses of usual length, and changes of one course. The costs do not depend on the number of
/// courses: `cargo bench-scale`.
async fn courses(world: &World, record: Record<'_>) {
    let admin =
        with_open_window(world.person(NewPerson::with(Profile::CommitteeAdmin)).await).await;
    let payload = json!({
        "courseTitle": "Sécurité électrique dans les ateliers", "courseSubTitle": "Habilitation niveau 1",
        "description": "Tout ce qu’il faut savoir, en trois jours. ".repeat(14), "courseType": "ONSITE", "sectionOfMatter": "Énergie",
        "region": "Sfax", "city": "Sfax", "location": "Centre de formation, salle 3", "contactEmail": "cours@example.org", "price": 250,
        "startAt": "2027-01-10", "endAt": "2027-01-12",
    });
    let mut path = String::new();
    for _ in 0..21 {
        let created =
            admin.post("/courses", payload.clone()).await.expect_success(Message::CourseCreated);
        path = format!("/courses/{}", created["course"]["courseID"].as_str().unwrap());
        admin
            .post(&format!("{path}/publish"), json!({}))
            .await
            .expect_success(Message::CoursePublished);
    }
    world.deliver().await;
    record("GET /courses/committee", admin.get("/courses/committee?state=PUBLISHED").await.cost);
    record("GET /courses/search-all", admin.get("/courses/search-all").await.cost);
    record(
        "GET /courses/search-all?q=",
        admin.get("/courses/search-all?q=securite+ateliers").await.cost,
    );
    record("GET /courses/{courseId}/to-draft", admin.get(&format!("{path}/to-draft")).await.cost);
    record("GET /courses/{courseId}/publish", admin.get(&format!("{path}/publish")).await.cost);
    record(
        "POST /courses/{courseId}/to-draft",
        admin.post(&format!("{path}/to-draft"), json!({})).await.cost,
    );
    record(
        "POST /courses/{courseId}/publish",
        admin.post(&format!("{path}/publish"), json!({})).await.cost,
    );
    record("PUT /courses/{courseId}", admin.put(&path, payload.clone()).await.cost);
    record("POST /courses", admin.post("/courses", payload).await.cost);
    let questions: Vec<_> =
        (0..10).map(|_| json!({ "language": "FR", "question": "Pourquoi ce cours ?", "questionType": "LONG_REPLY" })).collect();
    let questions_path = path.replace("/courses/", "/courses/questions/");
    let added = admin.post(&questions_path, json!({ "questions": questions })).await;
    record("POST /courses/questions/{courseId}", added.cost);
    let added = added.expect_success(Message::QuestionsAdded);
    let one = format!("{questions_path}/{}", added["questions"][0]["questionID"].as_str().unwrap());
    record("GET /courses/{courseId}", admin.get(&path).await.cost);
    record("GET /courses/questions/{courseId}/{questionId}", admin.get(&one).await.cost);
    record(
        "PUT /courses/questions/{courseId}/{questionId}",
        admin.put(&one, questions[0].clone()).await.cost,
    );
    record("DELETE /courses/questions/{courseId}/{questionId}", admin.delete(&one).await.cost);
    record("DELETE /courses/{courseId}", admin.delete(&path).await.cost);
}

async fn files(world: &World, record: Record<'_>) {
    let member = with_open_window(world.member().await).await;
    let payload =
        json!({ "name": "a.txt", "contentType": "text/plain", "size": 5, "visibility": "public" });
    let announced = member.post("/files", payload).await;
    record("POST /files", announced.cost);
    let path = format!(
        "/files/{}",
        announced.expect_success(Message::FileCreated)["file"]["fileID"].as_str().unwrap()
    );
    let key = announced.json()["upload"]["fields"]["key"].as_str().unwrap().to_owned();
    let bucket = storage::Objects::new(&world.setup().aws, &world.setup().settings).unwrap();
    bucket.put(&key, "text/plain", b"hallo".as_slice().into()).await.unwrap();
    record(
        "POST /files/{fileId}/complete",
        member.post(&format!("{path}/complete"), json!({})).await.cost,
    );
    record("GET /files/my-files", member.get("/files/my-files").await.cost);
    record("GET /files/{fileId}", member.get(&path).await.cost);
    let anonymous = with_open_window(world.anonymous()).await;
    record(
        "GET /files/public/{fileId}",
        anonymous.get(&path.replace("/files/", "/files/public/")).await.cost,
    );
    record("DELETE /files/{fileId}", member.delete(&path).await.cost);
}

async fn sms(world: &World, record: Record<'_>) {
    let admin = with_open_window(world.admin().await).await;
    let single = json!({ "to": "+21620123456", "message": "Bonjour" });
    let sent = admin.post("/sms/single", single).await;
    record("POST /sms/single", sent.cost);
    let path = format!(
        "/sms/{}",
        sent.expect_success(Message::SmsAccepted)["sms"]["smsID"].as_str().unwrap()
    );
    record("GET /sms?scope=committee", admin.get("/sms?scope=committee").await.cost);
    let recipients: Vec<String> = (0..100).map(|number| format!("+216201{number:05}")).collect();
    let sent =
        admin.post("/sms/bulk", json!({ "recipients": recipients, "message": "Bonjour" })).await;
    record("POST /sms/bulk", sent.cost);
    let batch = sent.expect_success(Message::SmsBulkAccepted)["batch"]["batchID"]
        .as_str()
        .unwrap()
        .to_owned();
    world.deliver().await;
    record("GET /sms", admin.get("/sms").await.cost);
    record("GET /sms/{smsId}", admin.get(&path).await.cost);
    record("GET /sms/bulk", admin.get("/sms/bulk").await.cost);
    record("GET /sms/bulk/{batchId}", admin.get(&format!("/sms/bulk/{batch}")).await.cost);
    record(
        "PUT /sms/opt-outs/{number}",
        admin.put("/sms/opt-outs/+21620123456", json!({})).await.cost,
    );
    record("GET /sms/opt-outs", admin.get("/sms/opt-outs").await.cost);
    record("GET /sms/opt-outs/{number}", admin.get("/sms/opt-outs/+21620123456").await.cost);
    record("DELETE /sms/opt-outs/{number}", admin.delete("/sms/opt-outs/+21620123456").await.cost);
}

async fn cpanel(world: &World, admin: &Person, record: Record<'_>) {
    let admin = with_open_window(admin.clone()).await;
    // The first request verifies the token.
    admin.get("/cpanel/domains").await.expect_ok();
    for path in ["/cpanel/subdomain", "/cpanel/domains", "/cpanel/db"] {
        record(&format!("GET {path}"), admin.get(path).await.cost);
    }
    let created = admin
        .post(
            "/cpanel/subdomain",
            json!({ "domain": "cours", "rootdomain": "formation.example.org" }),
        )
        .await;
    created.expect_success(Message::SubdomainCreated);
    record("POST /cpanel/subdomain", created.cost);
    assert_eq!(
        world
            .cloud()
            .uapi()
            .calls()
            .iter()
            .filter(|call| call["function"] == "SubDomain::addsubdomain")
            .count(),
        1
    );
}
