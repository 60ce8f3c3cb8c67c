//! The cost table of the store, measured.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use common::Message;
use data_encoding::BASE64;
use domain::Profile;
use http::Method;
use local::guard::AccessRequest;
use serde_json::json;
use store::{
    Cost,
    keys::{Budget, COSTS},
};
use tests::{Document, NewPerson, PASSWORD, Person, TotpApp, World, policies};

/// The row of the cost table that this cost makes.
fn row(route: &str, cost: Cost) -> String {
    format!(
        "{route}: {} round trips, {} read units, {} write units",
        cost.round_trips, cost.reads, cost.writes
    )
}

#[tokio::test]
async fn endpoint_costs_match_the_cost_table() {
    let measured = every_endpoint(&World::new().await).await;
    let promised = |Budget {
                        route,
                        round_trips,
                        reads,
                        writes,
                    }: &Budget| {
        row(
            route,
            Cost {
                round_trips: *round_trips,
                reads: *reads,
                writes: *writes,
                ..Cost::default()
            },
        )
    };
    let promised: BTreeSet<String> = COSTS.iter().map(promised).collect();
    assert_eq!(BTreeSet::from_iter(measured), promised);
}

/// Calls every endpoint, and gives the rows of the cost table that this makes.
async fn every_endpoint(world: &World) -> Vec<String> {
    let (admin, member, anonymous) = (world.admin().await, world.member().await, world.anonymous());
    let other = world.account(&NewPerson::with(Profile::Member)).await;
    let mut measured = Vec::new();
    let mut within = |route: &str, cost: Cost| measured.push(row(route, cost));
    // the first call of a window opens it, so that what follows counts
    for person in [&admin, &member, &anonymous] {
        person.get("/nowhere").await;
    }
    within("GET /health", anonymous.get("/health").await.cost);
    within("GET /nowhere", anonymous.get("/nowhere").await.cost);
    within(
        "POST /auth/login",
        world
            .anonymous()
            .login(other.email.as_str(), PASSWORD)
            .await
            .cost,
    );
    within("GET /auth/check", member.get("/auth/check").await.cost);
    within(
        "GET /auth/current-user",
        member.get("/auth/current-user").await.cost,
    );
    within(
        "GET /auth/sessions",
        member.get("/auth/sessions").await.cost,
    );
    within(
        "GET /users/{userId}",
        member.get(&format!("/users/{}", other.user_id)).await.cost,
    );

    let wish = json!({ "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": "clé de sol et fa", "committeeID": world.committee() });
    let registered = world.anonymous().post("/users/register", wish).await;
    registered.expect_success(Message::UserRegistered);
    within("POST /users/register", registered.cost);

    within("GET /committees", anonymous.get("/committees").await.cost);
    within(
        "GET /committees/{committeeId}",
        anonymous
            .get(&format!("/committees/{}", world.committee()))
            .await
            .cost,
    );
    let committee = json!({
        "nameArabe": "أ", "nameLatin": "Ariana", "type": "X", "dateOfEst": "2000-01-01", "region": "A", "city": "A",
        "postalCode": 1, "primaryEmail": "a@example.org", "primaryPhone": "+21671123456",
    });
    let created = admin.post("/committees", committee).await;
    within("POST /committees", created.cost);
    let path = format!(
        "/committees/{}",
        created.json()["committee"]["committeeID"].as_str().unwrap()
    );
    within(
        "PUT /committees/{committeeId}",
        admin
            .put(&path, json!({ "nameLatin": "Bizerte" }))
            .await
            .cost,
    );

    let again = world.signed_in(member.user().clone()).await;
    let sid = again.get("/auth/sessions").await.expect_ok()["sessions"][0]["sid"]
        .as_str()
        .unwrap()
        .to_owned();
    within(
        "DELETE /auth/sessions/{sid}",
        member.delete(&format!("/auth/sessions/{sid}")).await.cost,
    );
    let change = json!({ "oldPassword": PASSWORD, "newPassword": "quatre figuiers sous la pluie", "confirmPassword": "quatre figuiers sous la pluie" });
    within(
        "PUT /users/reset-password",
        member.put("/users/reset-password", change).await.cost,
    );
    within(
        "POST /auth/logout",
        member.post("/auth/logout", json!({})).await.cost,
    );

    people(world, &admin, &mut within).await;
    ways_in(world, &mut within).await;
    one_time_passwords(world, &admin, &mut within).await;
    courses(world, &mut within).await;
    files(world, &mut within).await;
    sms(world, &mut within).await;
    cpanel(world, &admin, &mut within).await;
    measured
}

/// Rights without which S3 would tell what is missing like what is refused; nobody asks for a list.
const UNASKED: [(&str, &str, &str); 2] = [
    ("dispatcher", "s3:ListBucket", ""),
    ("files", "s3:ListBucket", ""),
];

#[tokio::test]
async fn role_permissions_are_all_used_and_never_exceeded() {
    let world = World::new().await;
    every_endpoint(&world).await;
    every_other_way(&world).await;
    world.deliver().await;
    world.clock().advance(Duration::from_secs(2 * 3_600));
    world.sweep().await;
    let asked = world.cloud().guard().asked();
    let beyond: Vec<&AccessRequest> = asked.iter().filter(|ask| !policies::allow(ask)).collect();
    assert!(beyond.is_empty(), "no role allows {beyond:#?}");
    let mut idle = Vec::new();
    for (function, rights) in policies::rights() {
        let is_its = |ask: &AccessRequest| {
            ask.role == *function
                || (ask.role == "edge" && !["dispatcher", "canary"].contains(&function.as_str()))
        };
        for right in rights
            .iter()
            .filter(|right| !asked.iter().any(|ask| is_its(ask) && right.covers(ask)))
        {
            idle.push((
                function.as_str(),
                right.action.as_str(),
                right.resource.as_str(),
            ));
        }
    }
    assert_eq!(idle, UNASKED, "these rights are never used");
}

/// What calling every endpoint once does not bring about.
async fn every_other_way(world: &World) {
    let (admin, member, trainer) = (
        world.admin().await,
        world.member().await,
        world.person(NewPerson::with(Profile::Trainer)).await,
    );
    world.clock().advance(Duration::from_secs(301));
    member.get("/auth/current-user").await.expect_ok();
    trainer.get("/courses/committee").await.expect_ok();

    let one_point = BASE64.decode(b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==");
    for picture in [
        include_bytes!("../../functions/files/src/default.png").to_vec(),
        one_point.unwrap(),
    ] {
        let sent = member
            .with("content-type", "image/png")
            .send(Method::POST, "/api/v1/users/avatar", picture.into())
            .await;
        sent.expect_success(Message::AvatarUpdated);
    }
    let avatar = world.user(member.user().user_id).await.avatar;
    assert_eq!(
        world
            .anonymous()
            .send(Method::GET, avatar.as_str(), Bytes::new())
            .await
            .status,
        200
    );

    let wish = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    crate::files::kept(&member, wish.clone(), b"hallo").await;
    // one that never comes
    member
        .post("/files", wish)
        .await
        .expect_success(Message::FileCreated);

    let single = json!({ "to": "+21620123456", "message": "Bonjour" });
    admin
        .with("idempotency-key", "once")
        .post("/sms/single", single)
        .await
        .expect_success(Message::SmsAccepted);

    let elsewhere = world.another_committee("Sfax", true).await;
    let path = format!("/team/{}", member.user().user_id);
    admin
        .put(
            &path,
            json!({ "committeeID": elsewhere, "email": "ailleurs@example.org" }),
        )
        .await
        .expect_success(Message::TeamMemberUpdated);
}

type Within<'a> = &'a mut dyn FnMut(&str, Cost);

/// A person whose window of the public limit is open, so that what follows counts.
async fn counted(person: Person) -> Person {
    person.get("/nowhere").await;
    person
}

async fn people(world: &World, admin: &Person, within: Within<'_>) {
    let member = counted(world.member().await).await;
    let other = world.account(&NewPerson::with(Profile::Member)).await;
    within(
        "GET /users/activity",
        member.get("/users/activity").await.cost,
    );
    within(
        "GET /users/my-committee-users",
        member.get("/users/my-committee-users").await.cost,
    );
    let own = format!("/users/{}", member.user().user_id);
    within(
        "GET /users/{userId}/export",
        member.get(&format!("{own}/export")).await.cost,
    );
    within(
        "PUT /users/{userId}",
        member.put(&own, json!({ "name": "Leïla" })).await.cost,
    );
    let picture = include_bytes!("../../functions/files/src/default.png");
    let sent = member
        .with("content-type", "image/png")
        .send(
            Method::POST,
            "/api/v1/users/avatar",
            picture.as_slice().into(),
        )
        .await;
    within("POST /users/avatar", sent.cost);
    let path = format!("/users/user-status/{}", other.user_id);
    within(
        "PUT /users/user-status/{userId}",
        admin.put(&path, json!({ "isActive": false })).await.cost,
    );
    within(
        "PUT /team/{userId}",
        admin
            .put(
                &format!("/team/{}", other.user_id),
                json!({ "role": "Trésorier" }),
            )
            .await
            .cost,
    );
    within("GET /audit", admin.get("/audit").await.cost);
    let erased = member
        .json()
        .send(
            Method::DELETE,
            &format!("/api/v1{own}"),
            json!({ "password": PASSWORD }).to_string().into(),
        )
        .await;
    erased.expect_success(Message::UserDeleted);
    within("DELETE /users/{userId}", erased.cost);
}

async fn ways_in(world: &World, within: Within<'_>) {
    let someone = NewPerson::with(Profile::Member)
        .unverified()
        .with_phone("216", "20123456");
    let member = counted(world.person(someone).await).await;
    let email = member.user().email.to_string();
    let anonymous = counted(world.anonymous()).await;
    let asked = anonymous
        .post("/auth/passwordless", json!({ "email": email }))
        .await;
    within("POST /auth/passwordless", asked.cost);
    let code = world.mailed_code(&email).await;
    let arriving = counted(
        world
            .anonymous()
            .with_token(asked.json()["token"].as_str().unwrap()),
    )
    .await;
    let arrived = arriving
        .get(&format!("/auth/passwordless?code={code}"))
        .await;
    arrived.expect_success(Message::LoginSuccess);
    within("GET /auth/passwordless", arrived.cost);
    within(
        "GET /users/reset-password",
        anonymous
            .get(&format!(
                "/users/reset-password?sendMethode=email&email={email}"
            ))
            .await
            .cost,
    );
    let code = world.mailed_code(&email).await;
    let wish = json!({ "email": email, "code": code, "newPassword": "cinq cigognes au nord", "confirmPassword": "cinq cigognes au nord" });
    let reset = anonymous.post("/users/reset-password", wish).await;
    reset.expect_success(Message::PasswordChanged);
    within("POST /users/reset-password", reset.cost);

    let member = counted(
        world
            .signed_in(world.user(member.user().user_id).await)
            .await,
    )
    .await;
    within(
        "POST /users/email-verification",
        member
            .post("/users/email-verification", json!({}))
            .await
            .cost,
    );
    let code = world.mailed_code(&email).await;
    let verified = anonymous
        .put(
            "/users/email-verification",
            json!({ "email": email, "code": code }),
        )
        .await;
    verified.expect_success(Message::EmailVerified);
    within("PUT /users/email-verification", verified.cost);
    within(
        "POST /users/phone-verification",
        member
            .post("/users/phone-verification", json!({}))
            .await
            .cost,
    );
    let code = world.texted_code("+21620123456").await;
    let verified = member
        .put("/users/phone-verification", json!({ "code": code }))
        .await;
    verified.expect_success(Message::PhoneVerified);
    within("PUT /users/phone-verification", verified.cost);
}

async fn one_time_passwords(world: &World, admin: &Person, within: Within<'_>) {
    let member = counted(world.member().await).await;
    within("GET /otp/generate", member.get("/otp/generate").await.cost);
    let totp_app = TotpApp::enrolled_by(world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    let email = member.user().email.as_str();
    let step = world
        .anonymous()
        .login(email, PASSWORD)
        .await
        .expect_success(Message::OtpRequired)["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let arriving = counted(world.anonymous().with_token(&step)).await;
    let arrived = arriving
        .post("/otp/verify", json!({ "code": totp_app.code(world) }))
        .await;
    arrived.expect_success(Message::OtpVerified);
    within("POST /otp/verify", arrived.cost);
    world.clock().advance(Duration::from_secs(30));
    let member = counted(
        world
            .signed_in(world.user(member.user().user_id).await)
            .await,
    )
    .await;
    let renewed = member
        .post(
            "/otp/recovery-codes",
            json!({ "code": totp_app.code(world) }),
        )
        .await;
    renewed.expect_success(Message::RecoveryCodes);
    within("POST /otp/recovery-codes", renewed.cost);
    world.clock().advance(Duration::from_secs(30));
    let wish = json!({ "password": PASSWORD, "code": totp_app.code(world) }).to_string();
    let disabled = counted(member)
        .await
        .json()
        .send(Method::DELETE, "/api/v1/otp", wish.into())
        .await;
    disabled.expect_success(Message::OtpDisabled);
    within("DELETE /otp", disabled.cost);

    let other = world.member().await;
    TotpApp::enrolled_by(world, &other).await;
    let admin = counted(admin.clone()).await;
    let reset = admin
        .delete(&format!("/team/{}/otp", other.user().user_id))
        .await;
    reset.expect_success(Message::OtpReset);
    within("DELETE /team/{userId}/otp", reset.cost);
}

#[test]
fn cost_table_has_one_row_per_operation() {
    let rows: BTreeSet<String> = COSTS.iter().map(|budget| budget.route.to_owned()).collect();
    let mut operations: BTreeSet<String> = Document::get().operations().into_iter().collect();
    operations.remove("GET /media/{key}");
    operations.extend(["GET /nowhere", "GET /courses/search-all?q="].map(str::to_owned));
    assert_eq!(rows, operations);
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
        "the limit; beside it session, user and committee"
    );
}

/// A page of twenty courses of usual length, and what is done to one of them. The same at any number of
/// courses: `cargo bench-scale`.
async fn courses(world: &World, within: Within<'_>) {
    let admin = counted(world.person(NewPerson::with(Profile::CommitteeAdmin)).await).await;
    let wish = json!({
        "courseTitle": "Sécurité électrique dans les ateliers", "courseSubTitle": "Habilitation niveau 1",
        "description": "Tout ce qu’il faut savoir, en trois jours. ".repeat(14), "courseType": "ONSITE", "sectionOfMatter": "Énergie",
        "region": "Sfax", "city": "Sfax", "location": "Centre de formation, salle 3", "contactEmail": "cours@example.org", "price": 250,
        "startAt": "2027-01-10", "endAt": "2027-01-12",
    });
    let mut path = String::new();
    for _ in 0..21 {
        let created = admin
            .post("/courses", wish.clone())
            .await
            .expect_success(Message::CourseCreated);
        path = format!(
            "/courses/{}",
            created["course"]["courseID"].as_str().unwrap()
        );
        admin
            .post(&format!("{path}/publish"), json!({}))
            .await
            .expect_success(Message::CoursePublished);
    }
    world.deliver().await;
    within(
        "GET /courses/committee",
        admin.get("/courses/committee?state=PUBLISHED").await.cost,
    );
    within(
        "GET /courses/search-all",
        admin.get("/courses/search-all").await.cost,
    );
    within(
        "GET /courses/search-all?q=",
        admin
            .get("/courses/search-all?q=securite+ateliers")
            .await
            .cost,
    );
    within(
        "GET /courses/{courseId}/to-draft",
        admin.get(&format!("{path}/to-draft")).await.cost,
    );
    within(
        "GET /courses/{courseId}/publish",
        admin.get(&format!("{path}/publish")).await.cost,
    );
    within(
        "POST /courses/{courseId}/to-draft",
        admin
            .post(&format!("{path}/to-draft"), json!({}))
            .await
            .cost,
    );
    within(
        "POST /courses/{courseId}/publish",
        admin.post(&format!("{path}/publish"), json!({})).await.cost,
    );
    within(
        "PUT /courses/{courseId}",
        admin.put(&path, wish.clone()).await.cost,
    );
    within("POST /courses", admin.post("/courses", wish).await.cost);
    let questions: Vec<_> =
        (0..10).map(|_| json!({ "language": "FR", "question": "Pourquoi ce cours ?", "questionType": "LONG_REPLY" })).collect();
    let questions_path = path.replace("/courses/", "/courses/questions/");
    let added = admin
        .post(&questions_path, json!({ "questions": questions }))
        .await;
    within("POST /courses/questions/{courseId}", added.cost);
    let added = added.expect_success(Message::QuestionsAdded);
    let one = format!(
        "{questions_path}/{}",
        added["questions"][0]["questionID"].as_str().unwrap()
    );
    within("GET /courses/{courseId}", admin.get(&path).await.cost);
    within(
        "GET /courses/questions/{courseId}/{questionId}",
        admin.get(&one).await.cost,
    );
    within(
        "PUT /courses/questions/{courseId}/{questionId}",
        admin.put(&one, questions[0].clone()).await.cost,
    );
    within(
        "DELETE /courses/questions/{courseId}/{questionId}",
        admin.delete(&one).await.cost,
    );
    within("DELETE /courses/{courseId}", admin.delete(&path).await.cost);
}

async fn files(world: &World, within: Within<'_>) {
    let member = counted(world.member().await).await;
    let wish =
        json!({ "name": "a.txt", "contentType": "text/plain", "size": 5, "visibility": "public" });
    let announced = member.post("/files", wish).await;
    within("POST /files", announced.cost);
    let path = format!(
        "/files/{}",
        announced.expect_success(Message::FileCreated)["file"]["fileID"]
            .as_str()
            .unwrap()
    );
    let key = announced.json()["upload"]["fields"]["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let bucket = storage::Objects::new(&world.setup().aws, &world.setup().settings).unwrap();
    bucket
        .put(&key, "text/plain", b"hallo".as_slice().into())
        .await
        .unwrap();
    within(
        "POST /files/{fileId}/complete",
        member
            .post(&format!("{path}/complete"), json!({}))
            .await
            .cost,
    );
    within(
        "GET /files/my-files",
        member.get("/files/my-files").await.cost,
    );
    within("GET /files/{fileId}", member.get(&path).await.cost);
    let anonymous = counted(world.anonymous()).await;
    within(
        "GET /files/public/{fileId}",
        anonymous
            .get(&path.replace("/files/", "/files/public/"))
            .await
            .cost,
    );
    within("DELETE /files/{fileId}", member.delete(&path).await.cost);
}

async fn sms(world: &World, within: Within<'_>) {
    let admin = counted(world.admin().await).await;
    let single = json!({ "to": "+21620123456", "message": "Bonjour" });
    let sent = admin.post("/sms/single", single).await;
    within("POST /sms/single", sent.cost);
    let path = format!(
        "/sms/{}",
        sent.expect_success(Message::SmsAccepted)["sms"]["smsID"]
            .as_str()
            .unwrap()
    );
    let recipients: Vec<String> = (0..100)
        .map(|number| format!("+216201{number:05}"))
        .collect();
    let sent = admin
        .post(
            "/sms/bulk",
            json!({ "recipients": recipients, "message": "Bonjour" }),
        )
        .await;
    within("POST /sms/bulk", sent.cost);
    let batch = sent.expect_success(Message::SmsBulkAccepted)["batch"]["batchID"]
        .as_str()
        .unwrap()
        .to_owned();
    world.deliver().await;
    within("GET /sms", admin.get("/sms").await.cost);
    within("GET /sms/{smsId}", admin.get(&path).await.cost);
    within(
        "GET /sms/bulk/{batchId}",
        admin.get(&format!("/sms/bulk/{batch}")).await.cost,
    );
    within(
        "PUT /sms/opt-outs/{number}",
        admin
            .put("/sms/opt-outs/+21620123456", json!({}))
            .await
            .cost,
    );
    within("GET /sms/opt-outs", admin.get("/sms/opt-outs").await.cost);
    within(
        "GET /sms/opt-outs/{number}",
        admin.get("/sms/opt-outs/+21620123456").await.cost,
    );
    within(
        "DELETE /sms/opt-outs/{number}",
        admin.delete("/sms/opt-outs/+21620123456").await.cost,
    );
}

async fn cpanel(world: &World, admin: &Person, within: Within<'_>) {
    let admin = counted(admin.clone()).await;
    // the first one tries the token
    admin.get("/cpanel/domains").await.expect_ok();
    for path in ["/cpanel/subdomain", "/cpanel/domains", "/cpanel/db"] {
        within(&format!("GET {path}"), admin.get(path).await.cost);
    }
    let created = admin
        .post(
            "/cpanel/subdomain",
            json!({ "domain": "cours", "rootdomain": "formation.example.org" }),
        )
        .await;
    created.expect_success(Message::SubdomainCreated);
    within("POST /cpanel/subdomain", created.cost);
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
